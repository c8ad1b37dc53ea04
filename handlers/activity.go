package handlers

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"postroom/domain/mailbox"
	"postroom/domain/session"
	"postroom/views"
)

// GetActivity answers GET /activity.
func (h *Handlers) GetActivity(c echo.Context) error {
	who, err := h.here(c)
	if err != nil {
		return err
	}
	shell, _, err := h.shell(c, "Activity", "activity", "")
	if err != nil {
		return err
	}
	shell.Topics = url.Values{"activity": {"1"}, "home": {"1"}}.Encode()
	a, err := h.Presenter.Activity(c.Request().Context(), who.Organization)
	if err != nil {
		return err
	}
	return render(c, http.StatusOK, views.ActivityScreen(views.ActivityPage{Shell: shell, Activity: a}))
}

// Activity shows what goes on.
func (p *Presenter) Activity(ctx context.Context, organization string) (views.Activity, error) {
	now := p.clock()
	found, err := p.directory.Activity(ctx, organization, now)
	if err != nil {
		return views.Activity{}, err
	}
	a := views.Activity{Now: now, Limit: p.modelCalls, Queued: found.Queued, Oldest: found.Oldest}
	for _, r := range found.Runs {
		one := views.ActivityRun{
			Request: r.Request, SeatID: r.Seat, Mailbox: r.Mailbox, Session: r.Session, Writer: r.By, Tokens: r.Tokens,
			Queued: r.Status == session.Queued, Since: r.QueuedAt,
		}
		if !one.Queued {
			a.Running++
			one.Since = r.StartedAt
		}
		if one.SeatID == "" {
			one.SeatID = seatOfTalk(r.Session)
		}
		a.Runs = append(a.Runs, one)
	}
	for _, q := range found.Queue {
		one := views.ActivityQueue{Where: q.Session, Next: q.Next, N: q.N, Oldest: q.Oldest}
		if parent, seatID, isConversation := strings.Cut(q.Session, "~"); isConversation {
			one.Where, one.Mailbox = views.SeatName(seatID)+" in "+parent, parent
		} else if q.Kind == mailbox.BuiltinKind {
			one.Mailbox = q.Session
		}
		a.Queue = append(a.Queue, one)
	}
	for _, m := range found.Minutes {
		a.Minutes = append(a.Minutes, views.ActivityMinute{At: m.At, Posts: m.Posts, Answers: m.Answers})
	}
	for i, n := range found.Waits {
		w := views.ActivityWait{N: n}
		if i < len(mailbox.Waits) {
			w.Seconds = mailbox.Waits[i]
		}
		a.Waits = append(a.Waits, w)
	}
	a.Half, _ = found.Within(0.5)
	a.Most, _ = found.Within(0.9)
	for _, r := range found.Failures {
		a.Failures = append(a.Failures, p.failure(r))
	}
	return a, nil
}

// failure is a failed request in words, with where to look.
func (p *Presenter) failure(r session.Request) views.ActivityFailure {
	shown := p.Failed(r)
	f := views.ActivityFailure{ID: r.ID, Code: shown.Code, Message: shown.Message, Where: r.Session, At: r.FinishedAt}
	switch {
	case r.Kind == mailbox.BuiltinKind && r.Lane == session.Beside:
		f.What, f.Href = "A line was not handed on", "/mailboxes/"+url.PathEscape(r.Session)
	case r.Kind == mailbox.BuiltinKind:
		f.What, f.Href = "A line was refused", "/mailboxes/"+url.PathEscape(r.Session)
	default:
		f.What, f.Href = "A run failed", "/runs/"+url.PathEscape(r.ID)
	}
	return f
}

// ActivityState renders what goes on as it moves. Times are counted on by the page,
// so that equal states are equal bytes.
func (p *Presenter) ActivityState(ctx context.Context, organization string) ([]StatePart, error) {
	a, err := p.Activity(ctx, organization)
	if err != nil {
		return nil, err
	}
	a.Now = time.Time{}
	r := rendering{ctx: ctx}
	r.part("figures", views.ActivityFigures(a))
	r.part("runs-now", views.ActivityRuns(a))
	r.part("plot", views.ActivityPlot(a))
	r.part("waits", views.ActivityWaits(a))
	r.part("failed-lately", views.ActivityFailures(a))
	r.part("queue", views.ActivityQueues(a))
	return r.parts, r.err
}

// ActivityJSON is what goes on, for programs.
func (p *Presenter) ActivityJSON(ctx context.Context, organization string) (any, error) {
	a, err := p.directory.Activity(ctx, organization, p.clock())
	if err != nil {
		return nil, err
	}
	var posts, answers int64
	for _, m := range a.Minutes {
		posts += m.Posts
		answers += m.Answers
	}
	value := map[string]any{
		"running": a.Running, "queued": a.Queued, "runs": len(a.Runs), "postsLastHour": posts, "answersLastHour": answers,
		"failures": len(a.Failures),
	}
	if half, ok := a.Within(0.5); ok {
		value["halfAnsweredWithinMs"] = half.Milliseconds()
	}
	return value, nil
}

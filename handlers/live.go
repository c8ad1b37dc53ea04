package handlers

import (
	"bytes"
	"context"
	"strconv"
	"time"

	"github.com/a-h/templ"

	"postroom/domain/mailbox"
	"postroom/domain/session"
	"postroom/views"
)

// watchedPosts is how many of the newest posts of a mailbox have a live status.
const watchedPosts = 50

// LogPart is one item of a mailbox's log as HTML.
type LogPart struct {
	ID   string
	HTML string
}

// LogItems renders items of a mailbox's log, by seq.
func (p *Presenter) LogItems(ctx context.Context, organization, id string, items []session.Item) (map[int64]LogPart, error) {
	var entries []mailbox.Entry
	parts := make(map[int64]LogPart, len(items))
	for _, item := range items {
		if e, ok := mailbox.EntryOf(item); ok {
			entries = append(entries, e)
		} else if n, ok := NoticeOf(item); ok {
			html, err := htmlOf(ctx, views.NoticeItem(n))
			if err != nil {
				return nil, err
			}
			parts[item.Seq] = LogPart{"line-" + strconv.FormatInt(item.Seq, 10), html}
		}
	}
	lines, err := p.Lines(ctx, organization, id, entries)
	if err != nil {
		return nil, err
	}
	for _, l := range lines {
		html, err := htmlOf(ctx, views.LineItem(l))
		if err != nil {
			return nil, err
		}
		parts[l.Seq] = LogPart{"line-" + strconv.FormatInt(l.Seq, 10), html}
	}
	return parts, nil
}

// StatePart is one element of a state topic.
type StatePart struct {
	ID   string
	HTML string
	Add  bool
}

// MailboxState renders what moves on a mailbox's page beside its lines: the strip,
// the members, what became of its newest posts, and requests that failed.
func (p *Presenter) MailboxState(ctx context.Context, organization, id string) ([]StatePart, error) {
	strip, err := p.Strip(ctx, organization, id)
	if err != nil {
		return nil, err
	}
	r := rendering{ctx: ctx}
	r.part("runs", views.RunsStrip(strip))
	if opened, err := p.directory.Get(ctx, organization, id); err == nil {
		r.part("members", views.MemberList(p.Members(organization, opened.Members, strip)))
	}
	entries, err := p.directory.Transcript(ctx, organization, id, mailbox.Page{Limit: watchedPosts})
	if err != nil {
		return nil, err
	}
	statuses, err := p.Statuses(ctx, organization, id, entries)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if status, ok := statuses[e.Seq]; ok {
			status.Now = status.Since // the page counts on by itself; so equal states are equal bytes
			r.part("status-"+strconv.FormatInt(e.Seq, 10), views.PostStatusOf(status))
		}
	}
	failed, err := p.directory.Failed(ctx, organization, id, 5)
	if err != nil {
		return nil, err
	}
	for i := len(failed) - 1; i >= 0; i-- {
		if p.clock().Sub(failed[i].FinishedAt) < time.Minute {
			r.add("req-"+failed[i].ID, views.FailedRequestItem(p.Failed(failed[i])))
		}
	}
	return r.parts, r.err
}

// RunsState is the seats at work for a mailbox, for programs.
func (p *Presenter) RunsState(ctx context.Context, organization, id string) (any, error) {
	runs, err := p.directory.Runs(ctx, organization, id)
	if err != nil {
		return nil, err
	}
	type row struct {
		Request string         `json:"requestId"`
		Seat    string         `json:"seat"`
		Post    string         `json:"postId,omitempty"`
		Status  session.Status `json:"status"`
		Since   time.Time      `json:"since"`
	}
	rows := make([]row, len(runs))
	for i, r := range runs {
		rows[i] = row{r.Request, r.Seat, r.Post, r.Status, r.QueuedAt.UTC()}
	}
	return map[string]any{"mailbox": id, "runs": rows}, nil
}

// HomeState renders the list of mailboxes and the rail.
func (p *Presenter) HomeState(ctx context.Context, organization string) ([]StatePart, error) {
	rows, rail, err := p.Home(ctx, organization)
	if err != nil {
		return nil, err
	}
	rows.Now = time.Time{} // the page counts by itself, so equal states are equal bytes
	r := rendering{ctx: ctx}
	r.part("rail-boxes", views.RailBoxes(rail))
	r.part("home-sum", views.HomeSum(rows))
	r.part("home", views.HomeList(rows))
	return r.parts, r.err
}

// RunPageState renders a run's page as it moves.
func (p *Presenter) RunPageState(ctx context.Context, organization, id string) ([]StatePart, error) {
	req, found, err := p.read.Request(ctx, organization, id)
	if err != nil || !found {
		return nil, err
	}
	page, err := p.Run(ctx, req)
	if err != nil {
		return nil, err
	}
	page.Status.Now = page.Status.Started
	r := rendering{ctx: ctx}
	r.part("run-state", views.RunStateOf(page.Status))
	r.part("transcript", views.RunTurns(page))
	return r.parts, r.err
}

// TalkState renders a direct talk with a seat as it moves.
func (p *Presenter) TalkState(ctx context.Context, organization, id string) ([]StatePart, error) {
	seatID := seatOfTalk(id)
	entries, _, err := p.Turns(ctx, organization, id, "", seatID)
	if err != nil {
		return nil, err
	}
	runs, err := p.TalkRuns(ctx, organization, id, seatID)
	if err != nil {
		return nil, err
	}
	r := rendering{ctx: ctx}
	for i := range runs.Runs {
		runs.Now = runs.Runs[i].Since
	}
	r.part("runs", views.RunsStrip(runs))
	if len(entries) > 0 {
		r.part("transcript", views.TalkList(seatID, id, entries))
	}
	return r.parts, r.err
}

// rendering gathers parts; its first error ends it.
type rendering struct {
	ctx   context.Context //nolint:containedctx // one call's.
	parts []StatePart
	err   error
}

func (r *rendering) part(id string, c templ.Component) { r.keep(StatePart{ID: id}, c) }

func (r *rendering) add(id string, c templ.Component) { r.keep(StatePart{ID: id, Add: true}, c) }

func (r *rendering) keep(p StatePart, c templ.Component) {
	if r.err != nil {
		return
	}
	p.HTML, r.err = htmlOf(r.ctx, c)
	r.parts = append(r.parts, p)
}

func htmlOf(ctx context.Context, c templ.Component) (string, error) {
	var out bytes.Buffer
	err := c.Render(ctx, &out)
	return out.String(), err
}

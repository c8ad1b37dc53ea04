package handlers

import (
	"context"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"postroom/domain/fault"
	"postroom/domain/mailbox"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/views"
)

// Presenter turns what the domain knows into what the screens show. Pages and the
// live hub share it, so both show the same.
type Presenter struct {
	directory *mailbox.Directory
	seats     *seat.Seats
	read      session.Reader
	clock     func() time.Time

	modelCalls int
	bodies     *lru.Cache[place, string]
}

// NewPresenter makes what pages and pushes are rendered with.
func NewPresenter(d Deps) *Presenter {
	bodies, err := lru.New[place, string](rememberedBodies)
	if err != nil {
		panic("handlers: " + err.Error()) // of a size that is none
	}
	return &Presenter{directory: d.Directory, seats: d.Seats, read: d.Client.Reader(), clock: d.Clock, modelCalls: d.ModelCalls, bodies: bodies}
}

// conversationStatus is active, finished, failed or cancelled.
func (p *Presenter) conversationStatus(ctx context.Context, s session.Session) (string, error) {
	open, err := p.read.Requests(ctx, session.RequestQuery{
		Organization: s.Organization, Session: s.ID, Statuses: []session.Status{session.Queued, session.Running}, Limit: 1,
	})
	if err != nil {
		return "", err
	}
	if len(open) > 0 {
		return "active", nil
	}
	last, err := p.read.Requests(ctx, session.RequestQuery{Organization: s.Organization, Session: s.ID, Limit: 1})
	if err != nil || len(last) == 0 {
		return "finished", err
	}
	switch last[0].Status {
	case session.Failed:
		return "failed", nil
	case session.Cancelled:
		return "cancelled", nil
	}
	return "finished", nil
}

// Lines shows lines of a mailbox with what came of each.
func (p *Presenter) Lines(ctx context.Context, organization, id string, entries []mailbox.Entry) ([]views.Line, error) {
	statuses, err := p.Statuses(ctx, organization, id, entries)
	if err != nil {
		return nil, err
	}
	lines := make([]views.Line, len(entries))
	for i, e := range entries {
		lines[i] = lineOf(e)
		lines[i].Status = statuses[e.Seq]
		lines[i].Rendered = p.rendered(place{organization, id, e.Seq}, e.Line.Body)
	}
	return lines, nil
}

// place is where a line stands. A line never changes.
type place struct {
	organization, mailbox string
	seq                   int64
}

// What is remembered of bodies as HTML: so many of them, each of this size at most.
const (
	rememberedBodies = 4096
	rememberedBytes  = 8 << 10
)

// rendered is a line's body as HTML, made once while it is remembered.
func (p *Presenter) rendered(at place, body string) string {
	if html, known := p.bodies.Get(at); known {
		return html
	}
	html := views.RenderMarkdown(body)
	if len(html) <= rememberedBytes {
		p.bodies.Add(at, html)
	}
	return html
}

func lineOf(e mailbox.Entry) views.Line {
	l := views.Line{
		Seq: e.Seq, Writer: e.Line.Principal, Verified: e.Line.PrincipalVerified, At: time.UnixMilli(e.Line.At),
		Body: e.Line.Body, Offline: e.Line.Offline, Signed: e.Line.Author,
	}
	if e.Line.SeatAuthored {
		l.Seat, l.SeatID, l.Writer, l.Signed = true, e.Line.Author, views.SeatName(e.Line.Author), ""
	}
	return l
}

// Statuses says of each post who has it and what came of it, by seq.
func (p *Presenter) Statuses(ctx context.Context, organization, id string, entries []mailbox.Entry) (map[int64]views.PostStatus, error) {
	var posts []string
	for _, e := range entries {
		if !e.Line.SeatAuthored {
			posts = append(posts, e.Line.ID)
		}
	}
	reaches, err := p.directory.Reaches(ctx, organization, id, posts)
	if err != nil {
		return nil, err
	}
	statuses := make(map[int64]views.PostStatus, len(posts))
	var undecided []mailbox.Entry
	for _, e := range entries {
		if e.Line.SeatAuthored {
			continue
		}
		told := reaches[e.Line.ID]
		statuses[e.Seq] = p.statusOf(e, told)
		if len(told) == 0 || statuses[e.Seq].Placing {
			undecided = append(undecided, e)
		}
	}
	fanOuts, err := p.directory.FanOuts(ctx, organization, undecided)
	if err != nil {
		return nil, err
	}
	for _, e := range undecided {
		if fanOut, found := fanOuts[e.Request]; found {
			statuses[e.Seq] = handedOn(e, fanOut, statuses[e.Seq])
		}
	}
	return statuses, nil
}

// handedOn is the status of a post whose members are not all told: still being
// handed on, or stopped before it was, or nobody's.
func handedOn(e mailbox.Entry, fanOut session.Request, s views.PostStatus) views.PostStatus {
	switch {
	case fanOut.Failure != nil:
		s.Placing, s.Lost = false, &views.Lost{Code: fanOut.Failure.Code, Message: fanOut.Failure.Message}
	case fanOut.Status.Ended():
		s.Placing, s.Nobody = false, s.Nobody || len(s.Deliveries) == 0
	default:
		s.Placing, s.Since = true, time.UnixMilli(e.Line.At)
	}
	return s
}

func (p *Presenter) statusOf(e mailbox.Entry, told []mailbox.Reach) views.PostStatus {
	s := views.PostStatus{Seq: e.Seq, Now: p.clock()}
	heard := false
	for _, reach := range told {
		row := views.DeliveryRow{Member: reach.Member, State: stateWord(reach), Reason: reach.Reason, Run: reach.Request}
		s.Deliveries = append(s.Deliveries, row)
		heard = heard || reach.State != mailbox.Nobody
		switch {
		case reach.State == mailbox.Failure:
			s.Failed = append(s.Failed, views.FailedRun{SeatID: reach.Member, Code: reach.Code, Message: reach.Reason})
		case reach.State == mailbox.Pending:
			s.Placing, s.Since = true, reach.At
		case reach.Run == nil:
		case !reach.Run.Status.Ended():
			s.Waiting = append(s.Waiting, reach.Member)
			if s.Since.IsZero() || reach.Run.QueuedAt.Before(s.Since) {
				s.Since = reach.Run.QueuedAt
			}
		case reach.AnswerSeq > 0:
			s.Answers = append(s.Answers, views.Answer{SeatID: reach.Member, Seq: reach.AnswerSeq, Took: reach.Run.FinishedAt.Sub(time.UnixMilli(e.Line.At))})
		case reach.Run.Failure != nil:
			s.Failed = append(s.Failed, failedRun(reach))
		default:
			s.Silent = append(s.Silent, reach.Member)
		}
	}
	s.Nobody = len(told) > 0 && !heard
	return s
}

func failedRun(reach mailbox.Reach) views.FailedRun {
	return views.FailedRun{
		SeatID: reach.Member, Run: reach.Run.Request, Code: reach.Run.Failure.Code, Message: reach.Run.Failure.Message,
		Stopped: reach.Run.Status == session.Cancelled,
	}
}

// stateWord is a delivery's state in words.
func stateWord(reach mailbox.Reach) string {
	switch reach.State {
	case mailbox.Pending:
		return "is being told"
	case mailbox.Told:
		return "was told"
	case mailbox.Nobody:
		return "could not be told"
	case mailbox.Skipped:
		return "was not woken"
	case mailbox.Failure:
		return "could not be told: " + reach.Code
	}
	if reach.Run == nil {
		return "was woken"
	}
	switch reach.Run.Status {
	case session.Queued:
		return "is next"
	case session.Running:
		return "is at work"
	case session.Completed:
		return "has finished"
	case session.Cancelled:
		return "was stopped"
	}
	return "failed"
}

// Strip shows the seats at work for a mailbox.
func (p *Presenter) Strip(ctx context.Context, organization, id string) (views.Runs, error) {
	runs, err := p.directory.Runs(ctx, organization, id)
	if err != nil {
		return views.Runs{}, err
	}
	strip := views.Runs{Now: p.clock()}
	for _, r := range runs {
		strip.Runs = append(strip.Runs, views.RunningSeat{
			Request: r.Request, SeatID: r.Seat, Of: r.Writer, Queued: r.Status == session.Queued, Since: r.QueuedAt,
		})
	}
	return strip, nil
}

// Members shows a roster: who hears, who is busy.
func (p *Presenter) Members(organization string, members []string, busy views.Runs) views.Members {
	m := views.Members{Now: p.clock()}
	for _, id := range members {
		s, hired := p.seats.Resolve(organization, "", id)
		one := views.Member{ID: id, Hired: hired, Hears: hired && s.Hears}
		for _, r := range busy.Runs {
			if hired && r.SeatID == s.Address() && !r.Queued {
				one.Busy, one.Since = true, r.Since
			}
		}
		m.Members = append(m.Members, one)
	}
	return m
}

// Failed shows a refused or cancelled request.
func (p *Presenter) Failed(r session.Request) views.FailedRequest {
	f := views.FailedRequest{ID: r.ID, Action: r.Action, By: r.Principal.ID, At: r.QueuedAt}
	if r.Failure == nil {
		r.Failure = fault.FailureOf(fault.ErrInternal)
	}
	f.Code, f.Message = r.Failure.Code, r.Failure.Message
	return f
}

// Home shows the mailboxes by team, for the list and for the rail.
func (p *Presenter) Home(ctx context.Context, organization string) (views.HomeRows, views.Rail, error) {
	overviews, err := p.directory.Overviews(ctx, organization)
	if err != nil {
		return views.HomeRows{}, views.Rail{}, err
	}
	rows, rail := views.HomeRows{Now: p.clock()}, views.Rail{}
	for _, m := range p.directory.Declared() {
		team := teamOf(m.ID)
		if n := len(rows.Teams); n == 0 || rows.Teams[n-1].Name != team {
			rows.Teams = append(rows.Teams, views.HomeTeam{Name: team, Seats: p.seatsOf(team)})
			rail.Teams = append(rail.Teams, views.RailTeam{Name: team})
		}
		o := overviews[m.ID]
		box := views.HomeBox{ID: m.ID, Description: m.Description, Waiting: o.Waiting, Oldest: o.Oldest}
		if o.Last != nil {
			l := lineOf(*o.Last)
			box.Last = &views.LastLine{Writer: l.Writer, At: l.At, Text: oneLine(l.Body)}
		}
		seen := map[string]bool{}
		for _, r := range o.Busy {
			if !seen[r.Seat] && r.Status == session.Running {
				seen[r.Seat] = true
				box.Busy = append(box.Busy, r.Seat)
			}
		}
		home, side := &rows.Teams[len(rows.Teams)-1], &rail.Teams[len(rail.Teams)-1]
		home.Boxes = append(home.Boxes, box)
		side.Boxes = append(side.Boxes, views.RailBox{ID: m.ID, Busy: len(box.Busy) > 0, Waiting: o.Waiting})
	}
	return rows, rail, nil
}

func (p *Presenter) seatsOf(team string) int {
	n := 0
	for _, s := range p.seats.All() {
		if teamOf(s.ID) == team {
			n++
		}
	}
	return n
}

func teamOf(id string) string {
	team, _, inTeam := strings.Cut(id, ".")
	if !inTeam {
		return ""
	}
	return team
}

// oneLine is the beginning of a body without its Markdown signs.
func oneLine(body string) string {
	text := strings.Join(strings.FieldsFunc(body, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' }), " ")
	text = strings.NewReplacer("*", "", "`", "", "#", "", ">", "").Replace(text)
	if runes := []rune(strings.TrimSpace(text)); len(runes) > 160 {
		return string(runes[:159]) + "…"
	}
	return strings.TrimSpace(text)
}

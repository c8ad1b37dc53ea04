package handlers

import (
	"context"
	"strings"

	"postroom/domain/session"
	"postroom/views"
)

// Run shows one run: its turns and how it stands.
func (p *Presenter) Run(ctx context.Context, r session.Request) (views.Run, error) {
	s, _, err := p.read.Session(ctx, r.Organization, r.Session)
	if err != nil {
		return views.Run{}, err
	}
	page := views.Run{ID: r.ID, SeatID: s.FlowID, Session: s.ID, Mailbox: s.Parent, Writer: r.Principal.ID}
	if page.SeatID == "" {
		page.SeatID = seatOfTalk(s.ID)
	}
	if page.Entries, page.Status, err = p.Turns(ctx, r.Organization, r.Session, r.ID, page.SeatID); err != nil {
		return page, err
	}
	post, woken, err := p.directory.PostOf(ctx, r.ID)
	if err != nil {
		return page, err
	}
	if woken {
		page.PostSeq = post.PostSeq
	}
	state := &page.Status
	state.ID, state.Status, state.Attempt, state.Now = r.ID, string(r.Status), r.Attempt, p.clock()
	if woken {
		state.Mailbox, state.PostSeq = post.Mailbox, post.PostSeq
	}
	state.Queued, state.Started, state.Finished = r.QueuedAt, r.StartedAt, r.FinishedAt
	if r.Failure != nil {
		state.Code, state.Message, state.Details = r.Failure.Code, r.Failure.Message, details(r.Failure.Details)
	}
	for _, e := range page.Entries {
		if e.Turn != nil && e.Turn.Code == state.Code {
			state.Code = "" // the turn says it, with all that it is about
		}
	}
	return page, nil
}

// TalkRuns shows the runs of one talk that have not ended.
func (p *Presenter) TalkRuns(ctx context.Context, organization, id, seatID string) (views.Runs, error) {
	open, err := p.read.Requests(ctx, session.RequestQuery{
		Organization: organization, Session: id, Statuses: []session.Status{session.Queued, session.Running}, Limit: pageLines,
	})
	if err != nil {
		return views.Runs{}, err
	}
	runs := views.Runs{Now: p.clock()}
	for i := len(open) - 1; i >= 0; i-- {
		runs.Runs = append(runs.Runs, views.RunningSeat{
			Request: open[i].ID, SeatID: seatID, Queued: open[i].Status == session.Queued, Since: open[i].QueuedAt,
		})
	}
	return runs, nil
}

// seatOfTalk is the seat that a direct talk's session is named after.
func seatOfTalk(id string) string {
	seatID, _, _ := strings.Cut(id, ":")
	return seatID
}

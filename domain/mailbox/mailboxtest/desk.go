// Package mailboxtest is an open desk for tests: mailboxes bound and opened on a
// real store, with seats behind their members.
package mailboxtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"postroom/domain/account"
	"postroom/domain/agent"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

// Desk is an open desk.
type Desk struct {
	*sessiontest.World
	Directory *mailbox.Directory
	Bound     *mailbox.Bound
	t         testing.TB
}

// Setup says what a desk is made of.
type Setup struct {
	Mailboxes []mailbox.Record
	Workers   []seat.Record
	Model     model.Client     // nil: nobody is hired and nobody is told
	Notify    mailbox.Notifier // instead of waking seats
	Evaluator model.Evaluator  // of the route; nil: the kind has none
	Route     mailbox.Router   // instead of one by purpose
	Routed    func() bool      // whether the files still say routing:; nil: they do
	Fallback  mailbox.Notifier // for members whose seat can't hear
	Kinds     []session.Kind   // of one's own
	Tools     []agent.Tool
}

// Box is a record of a mailbox with these members.
func Box(id string, members ...string) mailbox.Record {
	list := make([]any, len(members))
	for i, m := range members {
		list[i] = m
	}
	return mailbox.Record{ID: id, Declared: map[string]any{"description": "For tests.", "members": list}, Body: "Be brief."}
}

// Worker is a record of a worker that may post and read.
func Worker(id string) seat.Record {
	return seat.Record{ID: id, Declared: map[string]any{"description": "For tests.", "tools": []any{seat.PostToMailboxTool, seat.ReadDocumentTool}}}
}

// Open makes and opens a desk. It is closed with the test.
func Open(t testing.TB, s Setup, opts ...sessiontest.Option) *Desk {
	t.Helper()
	own := map[string]session.Kind{}
	for _, k := range s.Kinds {
		own[k.Name()] = k
	}
	tools := append(seat.Tools(), s.Tools...)
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.Name()
	}
	seats, err := seat.Hire(s.Workers, seat.HireOptions{Kinds: own, Tools: names})
	if err != nil {
		t.Fatal(err)
	}
	d := &Desk{t: t}
	notify := s.Notify
	if notify == nil && s.Model != nil {
		var wake []seat.WakeOption
		if s.Fallback != nil {
			wake = append(wake, seat.WithFallback(s.Fallback))
		}
		notify = seat.WakeMembers(seats, wake...)
	}
	route := s.Route
	if s.Evaluator != nil {
		route = seat.RouteByPurpose(seats, s.Evaluator)
	}
	fallback := func(id string) string {
		if s.Routed != nil && !s.Routed() {
			return ""
		}
		m, _ := d.Bound.Get(id)
		return m.Fallback
	}
	inside, err := insideKind()
	if err != nil {
		t.Fatal(err)
	}
	box := mailbox.NewKind(mailbox.KindOptions{Notify: notify, Route: route, Fallback: fallback, Boards: func(id string) []string {
		m, _ := d.Bound.Get(id)
		return m.Boards
	}})
	if d.Bound, err = mailbox.Bind(s.Mailboxes, mailbox.BindOptions{Kinds: map[string]mailbox.Kind{mailbox.BuiltinKind: box}}); err != nil {
		t.Fatal(err)
	}
	d.World = sessiontest.New(t, func(*sessiontest.World) []session.Kind {
		kinds := append([]session.Kind{box.Definition(), inside}, s.Kinds...)
		if s.Model == nil {
			return kinds
		}
		agents, err := seat.NewKind(seat.KindOptions{Seats: seats, Client: s.Model, Model: "scripted", Tools: tools, MaxTurns: 8})
		if err != nil {
			t.Fatal(err)
		}
		return append(kinds, agents)
	}, opts...)
	d.Directory = mailbox.NewDirectory(d.Bound, d.Store, d.Store)
	if err := d.Bound.Open(t.Context(), d.Client(), account.SystemPrincipal(account.DefaultOrganization)); err != nil {
		t.Fatal(err)
	}
	return d
}

// Principal is somebody who is not verified.
func Principal(id string) account.Principal {
	return account.Principal{Organization: account.DefaultOrganization, ID: id}
}

// Ask submits a request and waits until it has ended.
func (d *Desk) Ask(kind, id, action string, by account.Principal, input any) (session.Request, error) {
	d.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.t.Fatal(err)
	}
	r, err := d.Client().Submit(d.t.Context(), session.Submission{Kind: kind, Session: id, Action: action, Input: raw, Principal: by})
	if err != nil {
		return r, err
	}
	return d.Client().Wait(d.t.Context(), account.DefaultOrganization, r.ID)
}

// Post posts as a client does and waits for the post's own turn.
func (d *Desk) Post(id, principal, body, author string) session.Request {
	d.t.Helper()
	input := map[string]string{"body": body}
	if author != "" {
		input["author"] = author
	}
	r, err := d.Ask(mailbox.BuiltinKind, id, "post", Principal(principal), input)
	if err != nil {
		d.t.Fatalf("post: %v", err)
	}
	return r
}

// Lines are all lines of a mailbox, oldest first.
func (d *Desk) Lines(id string) []mailbox.Line {
	d.t.Helper()
	var all []mailbox.Line
	after := int64(0)
	for {
		page, err := d.Directory.Transcript(d.t.Context(), account.DefaultOrganization, id, mailbox.Page{After: after, Limit: session.MaxPage})
		if err != nil {
			d.t.Fatal(err)
		}
		if after == 0 && len(page) > 0 && page[0].Seq > 1 {
			// The zero page is the newest; begin at the beginning.
			page, err = d.Directory.Transcript(d.t.Context(), account.DefaultOrganization, id, mailbox.Page{Before: page[0].Seq, Limit: session.MaxPage})
			if err != nil {
				d.t.Fatal(err)
			}
		}
		for _, e := range page {
			all = append(all, e.Line)
			after = e.Seq
		}
		if len(page) < session.MaxPage {
			return all
		}
	}
}

// insideInput names an internal entry and what it is given.
type insideInput struct {
	Session string          `json:"session"`
	Action  string          `json:"action"`
	Input   json.RawMessage `json:"input"`
}

// insideKind is a flow that dispatches to what no client reaches.
func insideKind() (session.Kind, error) {
	return session.NewKind(session.KindOptions{Name: "inside", Public: map[string]session.Action{
		"do": {Atomic: true, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var in insideInput
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, err
			}
			return session.Dispatch(t, session.Target{Kind: mailbox.BuiltinKind, Session: in.Session, Action: in.Action}, in.Input)
		}},
	}})
}

// Inside has an internal entry of a mailbox called, as a seat's run does, and waits
// until that has ended.
func (d *Desk) Inside(id, action string, input any) (session.Request, error) {
	d.t.Helper()
	raw, err := json.Marshal(input)
	if err != nil {
		d.t.Fatal(err)
	}
	asked, err := d.Ask("inside", "inside", "do", Principal("nobody"), insideInput{id, action, raw})
	var handle session.Handle
	if err == nil {
		err = json.Unmarshal(asked.Output, &handle)
	}
	if err != nil {
		return asked, err
	}
	return d.Client().Wait(d.t.Context(), account.DefaultOrganization, handle.Request)
}

// SettleFanOuts waits until every post was handed on, though runs may go on.
func (d *Desk) SettleFanOuts() {
	d.t.Helper()
	d.settle(func(r session.Request) bool { return r.Kind == mailbox.BuiltinKind })
}

// Settle waits until nothing is queued or running.
func (d *Desk) Settle() {
	d.t.Helper()
	d.settle(func(session.Request) bool { return true })
}

// settle waits until no request of some sort is queued or running.
func (d *Desk) settle(counts func(session.Request) bool) {
	d.t.Helper()
	sub := d.Live.Subscribe("*")
	defer sub.Close()
	for {
		open, err := d.Store.Requests(d.t.Context(), session.RequestQuery{
			Organization: account.DefaultOrganization, Statuses: []session.Status{session.Queued, session.Running}, Limit: session.MaxPage,
		})
		if err != nil {
			d.t.Fatal(err)
		}
		if !slices.ContainsFunc(open, counts) {
			return
		}
		if _, err := sub.Next(d.t.Context()); err != nil {
			d.t.Fatalf("waiting for %s: %v", fmt.Sprint(open), err)
		}
	}
}

package mailbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/mailbox/mailboxtest"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, sessiontest.Leaks()...) }

const org = account.DefaultOrganization

// told gathers deliveries; it fails those of some members.
type told struct {
	mu   sync.Mutex
	all  []mailbox.Delivery
	fail map[string]error
}

func (n *told) Notify(_ context.Context, d mailbox.Delivery) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, d)
	if err := n.fail[d.Member]; err != nil {
		return err
	}
	if d.Body == "panic" {
		panic("a notifier's mistake")
	}
	return nil
}

func (n *told) members() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var all []string
	for _, d := range n.all {
		all = append(all, d.Member)
	}
	return all
}

func plainDesk(t *testing.T, notify mailbox.Notifier) *mailboxtest.Desk {
	t.Helper()
	return mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{mailboxtest.Box("eng.standup", "eng.lead", "eng.analyst"), mailboxtest.Box("eng.other", "eng.lead")}, Notify: notify,
	})
}

type readBack struct {
	ID          string         `json:"id"`
	Description string         `json:"description"`
	Members     []string       `json:"members"`
	Boards      []string       `json:"boards"`
	Transcript  []mailbox.Line `json:"transcript"`
}

func read(t *testing.T, d *mailboxtest.Desk, id string) (readBack, map[string]json.RawMessage) {
	t.Helper()
	r, err := d.Ask("mailbox", id, "read", mailboxtest.Principal("u_42"), map[string]any{})
	if err != nil || r.Status != session.Completed {
		t.Fatalf("read: %+v %v", r, err)
	}
	var out readBack
	var keys map[string]json.RawMessage
	if err := errors.Join(json.Unmarshal(r.Output, &out), json.Unmarshal(r.Output, &keys)); err != nil {
		t.Fatal(err)
	}
	return out, keys
}

func TestAPostLandsAsTheLineThatTheDocumentsShow(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, nil)

	d.Post("eng.standup", "u_42", "shipped the reader", "eng.lead")
	out, keys := read(t, d, "eng.standup")

	if out.ID != "eng.standup" || out.Description != "For tests." || !slices.Equal(out.Members, []string{"eng.lead", "eng.analyst"}) || keys["boards"] != nil {
		t.Errorf("read: %+v", out)
	}
	if len(out.Transcript) != 1 {
		t.Fatalf("transcript: %+v", out.Transcript)
	}
	l := out.Transcript[0]
	if l.Principal != "u_42" || l.Author != "eng.lead" || l.AuthorVerified || l.SeatAuthored || l.Body != "shipped the reader" || l.ID == "" ||
		l.At < sessiontest.NewClock().Now().UnixMilli() {
		t.Errorf("line: %+v", l)
	}
	var spelled map[string]any
	raw, err := json.Marshal(l)
	if err != nil || json.Unmarshal(raw, &spelled) != nil || spelled["authorVerified"] != false || spelled["principalVerified"] != false || spelled["seatAuthored"] != nil {
		t.Errorf("the line's JSON: %s", raw)
	}
}

func TestAPostByAStrangerIsRefusedAndNothingIsWritten(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, nil)

	r := d.Post("eng.standup", "u_42", "hello", "eng.nobody")

	if r.Status != session.Failed || r.Failure.Code != "author-not-a-member" || r.Failure.Details["author"] != "eng.nobody" {
		t.Errorf("request: %+v", r)
	}
	items, err := d.Store.Items(t.Context(), session.ItemQuery{Organization: org, Session: "eng.standup"})
	if err != nil || len(items) != 0 {
		t.Errorf("items: %+v %v", items, err)
	}
}

func TestAnIdThatNobodyOpenedIsNotAMailboxAndStaysInert(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, &told{})

	r := d.Post("eng.nope", "u_42", "hello", "")
	got, err := d.Ask("mailbox", "eng.nope", "read", mailboxtest.Principal("u_42"), map[string]any{})

	if r.Failure == nil || r.Failure.Code != "mailbox-not-bound" || err != nil || got.Failure == nil || got.Failure.Code != "mailbox-not-bound" {
		t.Errorf("post: %+v, read: %+v %v", r, got, err)
	}
	s, found, err := d.Store.Session(t.Context(), org, "eng.nope")
	if err != nil || !found || len(s.State) != 0 || s.LastSeq != 0 {
		t.Errorf("session: %+v %v %v, want it there and empty", s, found, err)
	}
}

func TestAnIdClaimedByAPostBeforeOpeningIsRepaired(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, nil)
	d.Post("eng.late", "u_42", "too early", "")
	bound, err := mailbox.Bind([]mailbox.Record{mailboxtest.Box("eng.late", "eng.lead")}, mailbox.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}

	err = bound.Open(t.Context(), d.Client(), account.SystemPrincipal(org))

	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if r := d.Post("eng.late", "u_42", "now", ""); r.Status != session.Completed || r.Position != 2 {
		t.Errorf("post: %+v", r)
	}
}

func TestOpeningAgainChangesNothingAndTheDirectorySaysWhatTheFileSaysSince(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, nil)
	changed := mailboxtest.Box("eng.standup", "eng.lead", "eng.new")
	changed.Declared["boards"] = []any{"work"}
	bound, err := mailbox.Bind([]mailbox.Record{changed}, mailbox.BindOptions{})
	if err != nil {
		t.Fatal(err)
	}

	if err := bound.Open(t.Context(), d.Client(), account.SystemPrincipal(org)); err != nil {
		t.Fatal(err)
	}
	got, err := mailbox.NewDirectory(bound, d.Store, d.Store).Get(t.Context(), org, "eng.standup")

	if err != nil || !slices.Equal(got.Members, []string{"eng.lead", "eng.analyst"}) || !got.Changed || !slices.Equal(got.Declared.Boards, []string{"work"}) {
		t.Errorf("opened: %+v %v", got, err)
	}
}

func TestAnIdHeldBySomethingElseIsRefusedByName(t *testing.T) {
	t.Parallel()
	system := account.SystemPrincipal(org)
	state := json.RawMessage(`{"members":[],"charter":""}`)
	for name, row := range map[string]struct {
		held session.Session
		want error
		says string
	}{
		"the old kind":     {session.Session{Kind: "channel", Owner: system.ID, State: state}, mailbox.ErrPreRename, "pre-rename-store"},
		"another kind":     {session.Session{Kind: "agent", Owner: system.ID}, mailbox.ErrIDCollision, "mailbox-id-held"},
		"another user's":   {session.Session{Kind: "mailbox", Owner: "somebody", State: state}, mailbox.ErrIDCollision, "mailbox-id-held"},
		"unreadable state": {session.Session{Kind: "mailbox", Owner: system.ID, State: json.RawMessage(`{"rows":[1]}`)}, mailbox.ErrIDCollision, "mailbox-id-held"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := plainDesk(t, nil)
			row.held.Organization, row.held.ID = org, "eng.held"
			if err := d.Client().Create(t.Context(), row.held); err != nil {
				t.Fatal(err)
			}
			bound, err := mailbox.Bind([]mailbox.Record{mailboxtest.Box("eng.held")}, mailbox.BindOptions{})
			if err != nil {
				t.Fatal(err)
			}

			err = bound.Open(t.Context(), d.Client(), system)

			if !errors.Is(err, row.want) || !strings.Contains(err.Error(), "eng.held") {
				t.Errorf("open: %v", err)
			}
			s, _, err := d.Store.Session(t.Context(), org, "eng.held")
			if err != nil || s.Kind != row.held.Kind || string(s.State) != string(row.held.State) {
				t.Errorf("the holder was changed: %+v %v", s, err)
			}
		})
	}
}

func TestTwoPostsAtOnceBothLandInOneOrderForEveryReader(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, nil)
	var posting sync.WaitGroup
	for i := range 40 {
		posting.Go(func() { d.Post("eng.standup", "u", fmt.Sprint(i), "") })
	}
	posting.Wait()

	first, second := d.Lines("eng.standup"), d.Lines("eng.standup")

	if len(first) != 40 || !slices.Equal(first, second) {
		t.Errorf("%d lines, the same for both: %v", len(first), slices.Equal(first, second))
	}
}

func TestReadGivesTheLinesInsideTheLastFiftyRequests(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		notify mailbox.Notifier
		want   int
	}{"without a notifier a post is one request": {nil, 50}, "with one it is two": {&told{}, 25}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := plainDesk(t, row.notify)
			for i := range 53 {
				d.Post("eng.standup", "u", fmt.Sprint(i), "")
			}
			d.Settle()
			read(t, d, "eng.standup") // a read does not count

			out, _ := read(t, d, "eng.standup")

			if len(out.Transcript) != row.want || out.Transcript[len(out.Transcript)-1].Body != "52" {
				t.Errorf("%d lines, want %d", len(out.Transcript), row.want)
			}
			if all := d.Lines("eng.standup"); len(all) != 53 {
				t.Errorf("the log holds %d lines", len(all))
			}
		})
	}
}

func TestEachMemberIsToldOnceAndAFailureIsItsOwn(t *testing.T) {
	t.Parallel()
	n := &told{fail: map[string]error{"eng.lead": errors.New("smtp: password=hunter2")}}
	d := plainDesk(t, n)

	r := d.Post("eng.standup", "u_42", "hello", "eng.analyst")
	d.Settle()

	if got := n.members(); !slices.Equal(got, []string{"eng.lead", "eng.analyst"}) {
		t.Errorf("told: %v", got)
	}
	want := mailbox.Delivery{MailboxID: "eng.standup", Member: "eng.lead", PostID: d.Lines("eng.standup")[0].ID, Body: "hello", Principal: "u_42", Author: "eng.analyst"}
	if fmt.Sprint(n.all[0]) != fmt.Sprint(want) {
		t.Errorf("delivery: %+v", n.all[0])
	}
	reaches, err := d.Directory.Reaches(t.Context(), org, "eng.standup", []string{want.PostID})
	rows := reaches[want.PostID]
	if err != nil || len(rows) != 2 || rows[0].State != mailbox.Failure || rows[0].Code != "delivery-failed" ||
		strings.Contains(rows[0].Reason, "hunter2") || rows[1].State != mailbox.Told {
		t.Errorf("deliveries: %+v %v", rows, err)
	}
	fanOuts, err := d.Directory.FanOuts(t.Context(), org, []mailbox.Entry{{Request: r.ID}, {Request: "req_none"}})
	if err != nil || len(fanOuts) != 1 || fanOuts[r.ID].Status != session.Completed {
		t.Errorf("fan-outs: %+v %v", fanOuts, err)
	}
}

func TestAPanickingNotifierFailsItsDeliveryAndThePostStays(t *testing.T) {
	t.Parallel()
	n := &told{}
	d := plainDesk(t, n)

	d.Post("eng.standup", "u", "panic", "")
	d.Settle()

	if got := n.members(); len(got) != 2 || len(d.Lines("eng.standup")) != 1 {
		t.Errorf("told: %v", got)
	}
}

func TestBodiesAreRefusedBeforeAnythingIsAccepted(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, nil)
	for name, row := range map[string]struct {
		input any
		want  error
	}{
		"empty":                 {map[string]any{"body": ""}, mailbox.ErrBodyEmpty},
		"blank":                 {map[string]any{"body": " \n\t"}, mailbox.ErrBodyEmpty},
		"one byte over 64 KiB":  {map[string]any{"body": strings.Repeat("x", mailbox.MaxBodyBytes+1)}, mailbox.ErrBodyTooLarge},
		"no body":               {map[string]any{}, session.ErrInvalidInput},
		"a number":              {map[string]any{"body": 1}, session.ErrInvalidInput},
		"a principal beside it": {map[string]any{"body": "x", "principal": "y"}, session.ErrInvalidInput},
		"a seat's mark":         {map[string]any{"body": "x", "seatAuthored": true}, session.ErrInvalidInput},
	} {
		if _, err := d.Ask("mailbox", "eng.standup", "post", mailboxtest.Principal("u"), row.input); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
	if requests, err := d.Store.Requests(t.Context(), session.RequestQuery{Organization: org}); err != nil || len(requests) != 0 {
		t.Errorf("requests: %+v %v", requests, err)
	}
	if r := d.Post("eng.standup", "u", strings.Repeat("x", mailbox.MaxBodyBytes), ""); r.Status != session.Completed {
		t.Errorf("exactly 64 KiB: %+v", r.Failure)
	}
}

func TestDoorsForSeatsAreUnknownToClients(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, &told{})
	for _, action := range []string{"seatPost", "onPosted", "answer", "fileTask", "readBoard", "nope"} {
		_, err := d.Ask("mailbox", "eng.standup", action, mailboxtest.Principal("u"), map[string]any{"body": "x", "author": "eng.lead"})
		if !errors.Is(err, session.ErrUnknownAction) {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func TestWhatIsLeftFromBeforeTheRenameIsFound(t *testing.T) {
	t.Parallel()
	d := plainDesk(t, nil)
	clean, err := mailbox.FindPreRenameMarks(t.Context(), d.Store, mailbox.MarksQuery{MailboxIDs: []string{"eng.standup"}, Organizations: []string{org}})
	if err != nil || len(clean.Sessions) != 0 || len(clean.Organizations) != 0 {
		t.Errorf("a clean store: %+v %v", clean, err)
	}
	if err := d.Client().Create(t.Context(), session.Session{Organization: org, ID: "eng.old", Kind: "channel", Owner: "x"}); err != nil {
		t.Fatal(err)
	}

	marks, err := mailbox.FindPreRenameMarks(t.Context(), d.Store, mailbox.MarksQuery{Organizations: []string{org, "acme"}})

	if err != nil || len(marks.Sessions) != 1 || marks.Sessions[0].Session != "eng.old" || !slices.Equal(marks.Organizations, []string{org}) ||
		!strings.Contains(mailbox.DescribePreRenameMarks(marks), "eng.old of default (it runs on the kind channel)") {
		t.Errorf("marks: %+v %v", marks, err)
	}
}

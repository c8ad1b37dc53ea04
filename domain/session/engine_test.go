package session_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postroom/domain/account"
	"postroom/domain/fault"
	"postroom/domain/schema"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, sessiontest.Leaks()...) }

var (
	mara      = account.Principal{Organization: account.DefaultOrganization, ID: "mara"}
	errRefuse = fault.Define(fault.Invalid, "no-thanks", "This one is refused; say something else.")
)

type note struct {
	Text string `json:"text"`
}

// notes is a kind that keeps what it is told: at once, in a turn that takes its
// time, and as a read.
func notes(hold chan struct{}) session.Kind {
	take := func(t *session.Turn, input json.RawMessage) (any, error) {
		var n note
		if err := json.Unmarshal(input, &n); err != nil {
			return nil, err
		}
		if n.Text == "refuse" {
			if _, err := t.Emit(session.Entry{Type: session.TypeMessage, Data: n}); err != nil {
				return nil, err
			}
			return nil, errRefuse.With("text", n.Text)
		}
		if n.Text == "panic" {
			panic("a programmer's mistake")
		}
		_, err := t.Emit(session.Entry{Type: session.TypeMessage, Data: n})
		return n, err
	}
	kind, err := session.NewKind(session.KindOptions{
		Name: "notes",
		Public: map[string]session.Action{
			"add": {Schema: schema.Must(schema.For[note]()), Atomic: true, Repeatable: true, Run: take},
			"slow": {Schema: schema.Must(schema.For[note]()), Repeatable: true, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
				select {
				case <-hold:
				case <-t.Context().Done():
					return nil, t.Context().Err()
				}
				return take(t, input)
			}},
			"once": {Run: func(t *session.Turn, _ json.RawMessage) (any, error) {
				select {
				case <-hold:
				case <-t.Context().Done():
				}
				return nil, t.Context().Err()
			}},
			"count": {Lane: session.ReadLane, Run: func(t *session.Turn, _ json.RawMessage) (any, error) {
				items, err := t.Items(session.ItemQuery{})
				return len(items), err
			}},
		},
		Internal: map[string]session.Action{"secret": {Atomic: true, Run: take}},
	})
	if err != nil {
		panic(err)
	}
	return kind
}

func world(t *testing.T, hold chan struct{}, opts ...sessiontest.Option) *sessiontest.World {
	t.Helper()
	return sessiontest.New(t, func(*sessiontest.World) []session.Kind { return []session.Kind{notes(hold)} }, opts...)
}

func submit(t *testing.T, w *sessiontest.World, id, action, text string) session.Request {
	t.Helper()
	input, err := json.Marshal(note{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.Client().Submit(t.Context(), session.Submission{Kind: "notes", Session: id, Action: action, Input: input, Principal: mara})
	if err != nil {
		t.Fatalf("submit %s %q: %v", action, text, err)
	}
	return r
}

func wait(t *testing.T, w *sessiontest.World, id string) session.Request {
	t.Helper()
	r, err := w.Client().Wait(t.Context(), account.DefaultOrganization, id)
	if err != nil {
		t.Fatalf("wait for %s: %v", id, err)
	}
	return r
}

func texts(t *testing.T, w *sessiontest.World, id string) []string {
	t.Helper()
	items, err := w.Store.Items(t.Context(), session.ItemQuery{Organization: account.DefaultOrganization, Session: id, Type: session.TypeMessage})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, item := range items {
		var n note
		if err := json.Unmarshal(item.Data, &n); err != nil {
			t.Fatal(err)
		}
		if item.Seq != int64(i+1) {
			t.Errorf("seq of item %d: %d, want dense from 1", i, item.Seq)
		}
		all = append(all, n.Text)
	}
	return all
}

func TestARequestIsTakenAndLeavesItsItem(t *testing.T) {
	t.Parallel()
	w := world(t, nil)

	r := wait(t, w, submit(t, w, "a", "add", "hello").ID)

	if r.Status != session.Completed || string(r.Output) != `{"text":"hello"}` || r.Position != 1 || r.Attempt != 1 {
		t.Errorf("request: %+v", r)
	}
	if got := texts(t, w, "a"); len(got) != 1 || got[0] != "hello" {
		t.Errorf("items: %v", got)
	}
}

func TestARefusedTurnWritesNothingAndLeavesAFailedRequest(t *testing.T) {
	t.Parallel()
	w := world(t, nil)

	r := wait(t, w, submit(t, w, "a", "add", "refuse").ID)

	if r.Status != session.Failed || r.Failure == nil || r.Failure.Code != "no-thanks" || r.Failure.Details["text"] != "refuse" {
		t.Errorf("request: %+v", r)
	}
	if got := texts(t, w, "a"); len(got) != 0 {
		t.Errorf("items: %v, want none", got)
	}
}

func TestAPanicFailsItsRequestAndTheNextTurnIsTaken(t *testing.T) {
	t.Parallel()
	w := world(t, nil)

	r := wait(t, w, submit(t, w, "a", "add", "panic").ID)
	next := wait(t, w, submit(t, w, "a", "add", "after").ID)

	if r.Status != session.Failed || r.Failure.Code != "internal" {
		t.Errorf("request: %+v", r)
	}
	if next.Status != session.Completed {
		t.Errorf("next: %+v", next)
	}
}

func TestWhatTheAddressAndTheInputShowIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	w := world(t, nil)
	long := make([]byte, 201)
	for i := range long {
		long[i] = 'x'
	}
	for name, row := range map[string]struct {
		s    session.Submission
		want error
	}{
		"kind":             {session.Submission{Kind: "nope", Session: "a", Action: "add"}, session.ErrUnknownKind},
		"action":           {session.Submission{Kind: "notes", Session: "a", Action: "nope"}, session.ErrUnknownAction},
		"internal action":  {session.Submission{Kind: "notes", Session: "a", Action: "secret"}, session.ErrUnknownAction},
		"no session":       {session.Submission{Kind: "notes", Session: "", Action: "add"}, session.ErrInvalidID},
		"long session":     {session.Submission{Kind: "notes", Session: string(long), Action: "add"}, session.ErrInvalidID},
		"control in id":    {session.Submission{Kind: "notes", Session: "a\nb", Action: "add"}, session.ErrInvalidID},
		"unknown key":      {session.Submission{Kind: "notes", Session: "a", Action: "add", Input: json.RawMessage(`{"text":"x","more":1}`)}, session.ErrInvalidInput},
		"wrong type":       {session.Submission{Kind: "notes", Session: "a", Action: "add", Input: json.RawMessage(`{"text":1}`)}, session.ErrInvalidInput},
		"no input":         {session.Submission{Kind: "notes", Session: "a", Action: "add"}, session.ErrInvalidInput},
		"broken input":     {session.Submission{Kind: "notes", Session: "a", Action: "add", Input: json.RawMessage(`{`)}, session.ErrInvalidInput},
		"control in a key": {session.Submission{Kind: "notes", Session: "a", Action: "add", Input: json.RawMessage(`{"text":"x"}`), Key: "a\x00"}, session.ErrInvalidKey},
	} {
		row.s.Principal = mara

		_, err := w.Client().Submit(t.Context(), row.s)

		if !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
	if found, err := w.Store.Sessions(t.Context(), session.SessionQuery{Organization: account.DefaultOrganization}); err != nil || len(found) != 0 {
		t.Errorf("sessions after refusals: %v %v, want none", found, err)
	}
}

func TestTheSameKeyAgainIsTheFirstRequestAndOtherContentIsRefused(t *testing.T) {
	t.Parallel()
	w := world(t, nil)
	send := func(text string) (session.Request, error) {
		return w.Client().Submit(t.Context(), session.Submission{
			Kind: "notes", Session: "a", Action: "add", Input: json.RawMessage(text), Principal: mara, Key: "k1",
		})
	}

	first, err := send(`{"text":"x"}`)
	again, err2 := send(` { "text" : "x" } `)
	_, err3 := send(`{"text":"y"}`)

	if err != nil || err2 != nil || first.ID != again.ID {
		t.Errorf("again: %v %v, %s and %s", err, err2, first.ID, again.ID)
	}
	if !errors.Is(err3, session.ErrKeyReused) {
		t.Errorf("other content: %v", err3)
	}
	wait(t, w, first.ID)
	if got := texts(t, w, "a"); len(got) != 1 {
		t.Errorf("items: %v, want one", got)
	}
}

func TestAReadIsAnsweredAtOnceWhileATurnRuns(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := world(t, hold)
	slow := submit(t, w, "a", "slow", "later")

	r, err := w.Client().Submit(t.Context(), session.Submission{Kind: "notes", Session: "a", Action: "count", Principal: mara})

	if err != nil || r.Status != session.Completed || string(r.Output) != "0" {
		t.Errorf("read: %+v %v", r, err)
	}
	close(hold)
	if got := wait(t, w, slow.ID); got.Status != session.Completed {
		t.Errorf("slow: %+v", got)
	}
}

func TestASlowTurnHoldsItsOwnSessionAndNoOther(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := world(t, hold)
	slow := submit(t, w, "a", "slow", "first")
	behind := submit(t, w, "a", "add", "second")

	other := wait(t, w, submit(t, w, "b", "add", "elsewhere").ID)

	if other.Status != session.Completed {
		t.Errorf("other session: %+v", other)
	}
	if r, _, err := w.Store.Request(t.Context(), account.DefaultOrganization, behind.ID); err != nil || r.Status != session.Queued {
		t.Errorf("behind: %+v %v, want queued", r, err)
	}
	close(hold)
	wait(t, w, slow.ID)
	wait(t, w, behind.ID)
	if got := texts(t, w, "a"); len(got) != 2 || got[0] != "first" {
		t.Errorf("order: %v", got)
	}
}

func TestCancelEndsARunningTurnAndWhatItThenWritesIsDropped(t *testing.T) {
	t.Parallel()
	w := world(t, make(chan struct{}))
	slow := submit(t, w, "a", "slow", "never")
	running(t, w, slow.ID)

	ended, err := w.Client().Cancel(t.Context(), mara, slow.ID)
	_, again := w.Client().Cancel(t.Context(), mara, slow.ID)
	_, unknown := w.Client().Cancel(t.Context(), mara, "req_nope")
	after := wait(t, w, submit(t, w, "a", "add", "after").ID)

	if err != nil || ended.Status != session.Cancelled || ended.Failure.Code != "cancelled" || ended.Failure.Details["by"] != "mara" {
		t.Errorf("cancel: %+v %v", ended, err)
	}
	if !errors.Is(again, session.ErrAlreadyEnded) || !errors.Is(unknown, session.ErrNoRequest) {
		t.Errorf("again: %v, unknown: %v", again, unknown)
	}
	if after.Status != session.Completed {
		t.Errorf("after: %+v", after)
	}
	if got := texts(t, w, "a"); len(got) != 1 || got[0] != "after" {
		t.Errorf("items: %v", got)
	}
}

// running waits until a request is claimed for the first time.
func running(t *testing.T, w *sessiontest.World, id string) {
	t.Helper()
	runningAs(t, w, id, 1)
}

// runningAs waits until a request is claimed for the nth time.
func runningAs(t *testing.T, w *sessiontest.World, id string, attempt int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for time.Now().Before(deadline) {
		r, _, err := w.Store.Request(t.Context(), account.DefaultOrganization, id)
		if err != nil {
			t.Fatal(err)
		}
		if r.Status == session.Running && r.Attempt == attempt {
			return
		}
	}
	t.Fatalf("request %s never ran", id)
}

func TestARunPastItsDeadlineFailsAndTheNextTurnIsTaken(t *testing.T) {
	t.Parallel()
	w := world(t, make(chan struct{}), sessiontest.WithLimits(session.Limits{RunTimeout: time.Millisecond, Sweep: 10 * time.Millisecond}))

	r := wait(t, w, submit(t, w, "a", "slow", "never").ID)
	next := wait(t, w, submit(t, w, "a", "add", "after").ID)

	if r.Status != session.Failed || r.Failure.Code != "run-timeout" {
		t.Errorf("request: %+v", r)
	}
	if next.Status != session.Completed {
		t.Errorf("next: %+v", next)
	}
}

func TestStoppingHandsARepeatableTurnToTheNextStart(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := world(t, hold)
	slow := submit(t, w, "a", "slow", "resumed")
	running(t, w, slow.ID)

	w.Stop()
	close(hold)
	w.Start()
	r := wait(t, w, slow.ID)

	if r.Status != session.Completed || r.Attempt != 2 {
		t.Errorf("request: %+v", r)
	}
	if got := texts(t, w, "a"); len(got) != 1 {
		t.Errorf("items: %v", got)
	}
}

func TestATurnThatIsNotRepeatableFailsInterruptedAfterACrash(t *testing.T) {
	t.Parallel()
	w := world(t, make(chan struct{}))
	once := submit(t, w, "a", "once", "x")
	running(t, w, once.ID)

	w.Die()
	w.Start()
	r := wait(t, w, once.ID)
	next := wait(t, w, submit(t, w, "a", "add", "after").ID)

	if r.Status != session.Failed || r.Failure.Code != "interrupted" {
		t.Errorf("request: %+v", r)
	}
	if next.Status != session.Completed {
		t.Errorf("next: %+v", next)
	}
}

func TestARepeatableTurnFailsInterruptedAfterThreeAttempts(t *testing.T) {
	t.Parallel()
	w := world(t, make(chan struct{}))
	slow := submit(t, w, "a", "slow", "never")
	for attempt := range 3 {
		runningAs(t, w, slow.ID, attempt+1)
		w.Die()
		w.Start()
	}

	r := wait(t, w, slow.ID)

	if r.Status != session.Failed || r.Failure.Code != "interrupted" || r.Attempt != 3 {
		t.Errorf("request: %+v", r)
	}
}

func TestAWorkerPastItsLeaseCommitsNothing(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	w := world(t, hold, sessiontest.WithLimits(session.Limits{Lease: time.Hour, Sweep: time.Hour}))
	slow := submit(t, w, "a", "slow", "too late")
	running(t, w, slow.ID)

	w.Clock.Advance(2 * time.Hour)
	close(hold)
	w.Stop()

	if got := texts(t, w, "a"); len(got) != 0 {
		t.Errorf("items: %v, want none", got)
	}
	w.Start()
	if r := wait(t, w, slow.ID); r.Status != session.Completed || r.Attempt != 2 {
		t.Errorf("taken over: %+v", r)
	}
}

package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"postroom/domain/account"
	"postroom/domain/fault"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

// echoing is a kind of agents that wake each other: each run wakes the next
// conversation, named by its input.
func echoing(again func(text string) (next string, on bool)) session.Kind {
	kind, err := session.NewKind(session.KindOptions{Name: "echo", Public: map[string]session.Action{"run": {
		Agent: true, Repeatable: true,
		Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var n note
			if err := json.Unmarshal(input, &n); err != nil {
				return nil, err
			}
			next, on := again(n.Text)
			if !on {
				return nil, nil
			}
			_, err := session.Dispatch(t, session.Target{Kind: "echo", Session: next, Action: "run", Parent: "home", FlowID: "echo"}, note{Text: n.Text + " on"})
			return nil, err
		},
	}}})
	if err != nil {
		panic(err)
	}
	return kind
}

func echoWorld(t *testing.T, again func(string) (string, bool), opts ...sessiontest.Option) *sessiontest.World {
	t.Helper()
	return sessiontest.New(t, func(*sessiontest.World) []session.Kind { return []session.Kind{echoing(again)} }, opts...)
}

func run(t *testing.T, w *sessiontest.World, id, text string) session.Request {
	t.Helper()
	r, err := w.Client().Submit(t.Context(), session.Submission{
		Kind: "echo", Session: id, Action: "run", Input: json.RawMessage(fmt.Sprintf(`{"text":%q}`, text)), Principal: mara,
	})
	if err != nil {
		t.Fatal(err)
	}
	return wait(t, w, r.ID)
}

// idle waits until nothing is queued or running.
func idle(t *testing.T, w *sessiontest.World) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		open, err := w.Store.Requests(t.Context(), session.RequestQuery{
			Organization: account.DefaultOrganization, Statuses: []session.Status{session.Queued, session.Running}, Limit: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(open) == 0 {
			return
		}
	}
	t.Fatal("it never came to rest")
}

func notices(t *testing.T, w *sessiontest.World, id string) int {
	t.Helper()
	items, err := w.Store.Items(t.Context(), session.ItemQuery{Organization: account.DefaultOrganization, Session: id, Type: session.TypeFailure})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, item := range items {
		var f fault.Failure
		if json.Unmarshal(item.Data, &f) == nil && f.Code == "loop-stopped" {
			n++
		}
	}
	return n
}

// Field report: an agent's own act woke the same agent, every 80 seconds all night.
func TestAChainOfAgentsThatWakeEachOtherIsStopped(t *testing.T) {
	t.Parallel()
	w := echoWorld(t, func(string) (string, bool) { return "home~a", true })

	run(t, w, "start", "go")
	idle(t, w)

	all, err := w.Store.Requests(t.Context(), session.RequestQuery{Organization: account.DefaultOrganization, Session: "home~a"})
	if err != nil || len(all) != 8 || all[0].Depth != 8 || all[0].Failure == nil || all[0].Failure.Code != "loop-stopped" {
		t.Errorf("%d runs, the last: %+v %v", len(all), all[0], err)
	}
	if n := notices(t, w, "home~a"); n == 0 {
		t.Error("nobody is told")
	}
}

func TestWhatAgentsCauseInOneConversationInAnHourIsBounded(t *testing.T) {
	t.Parallel()
	w := echoWorld(t, func(text string) (string, bool) { return "home~b", text == "go" }, sessiontest.WithLimits(session.Limits{
		CausedPerHour: 5, Sweep: 10 * time.Millisecond,
	}))
	// Each start causes one run there, which says something else and causes nothing.
	caused := func() (ok int) {
		for range 8 {
			if r := run(t, w, "start", "go"); r.Status == session.Completed {
				ok++
			}
		}
		return ok
	}

	first := caused()
	idle(t, w)
	stopped := notices(t, w, "start")
	w.Clock.Advance(2 * time.Hour)
	later := caused()

	if first != 5 || later != 5 {
		t.Errorf("%d, then %d an hour later", first, later)
	}
	if stopped == 0 {
		t.Error("nobody is told")
	}
}

func TestADispatchIsRefusedByName(t *testing.T) {
	t.Parallel()
	var got error
	to := session.Target{}
	kind, err := session.NewKind(session.KindOptions{Name: "caller", Public: map[string]session.Action{"call": {Run: func(t *session.Turn, _ json.RawMessage) (any, error) {
		_, got = session.Dispatch(t, to, note{Text: "x"})
		return nil, nil
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	kinds := func(*sessiontest.World) []session.Kind { return []session.Kind{kind, notes(nil)} }
	call := func(w *sessiontest.World, target session.Target) error {
		t.Helper()
		to, got = target, nil
		r, err := w.Client().Submit(t.Context(), session.Submission{Kind: "caller", Session: "c", Action: "call", Principal: mara})
		if err != nil {
			t.Fatal(err)
		}
		wait(t, w, r.ID)
		return got
	}
	w := sessiontest.New(t, kinds)
	submit(t, w, "there", "add", "x")
	for name, row := range map[string]struct {
		target session.Target
		want   error
	}{
		"nobody opened it": {session.Target{Kind: "notes", Session: "nowhere", Action: "add"}, session.ErrNoSession},
		"another kind's":   {session.Target{Kind: "caller", Session: "there", Action: "call"}, session.ErrUnaddressable},
		"unknown kind":     {session.Target{Kind: "nope", Session: "there", Action: "add"}, session.ErrUnknownKind},
		"unknown action":   {session.Target{Kind: "notes", Session: "there", Action: "nope"}, session.ErrUnknownAction},
		"a good one":       {session.Target{Kind: "notes", Session: "there", Action: "add"}, nil},
		"an internal one":  {session.Target{Kind: "notes", Session: "there", Action: "secret"}, nil},
	} {
		if err := call(w, row.target); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", name, err, row.want)
		}
	}
	if _, found, err := w.Store.Session(t.Context(), account.DefaultOrganization, "nowhere"); found || err != nil {
		t.Error("a refused dispatch made a session")
	}

	external := sessiontest.New(t, kinds, sessiontest.WithDispatcher(sessiontest.External{InProcess: session.NewInProcess(2)}))
	submit(t, external, "there", "add", "x")
	var refused *session.RefusedError
	err = call(external, session.Target{Kind: "notes", Session: "there", Action: "add"})
	if !errors.As(err, &refused) || refused.Refused != "external-dispatcher" || fault.Of(err).Code != "external-dispatcher" || !strings.HasPrefix(err.Error(), "external-dispatcher") {
		t.Errorf("external: %v", err)
	}
}

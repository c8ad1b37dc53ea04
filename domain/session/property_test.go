package session_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"postroom/domain/account"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

// gate lets held turns go on, one life of the test at a time.
type gate struct {
	mu   sync.Mutex
	open chan struct{}
}

func (g *gate) wait() chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.open
}

// letGo releases what waits now; what comes later waits anew.
func (g *gate) letGo() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
	g.open = make(chan struct{})
}

// held is a kind with one action that waits at the gate before it writes, and one
// that does not wait.
func held(g *gate) session.Kind {
	write := func(t *session.Turn, input json.RawMessage) (any, error) {
		var n note
		if err := json.Unmarshal(input, &n); err != nil {
			return nil, err
		}
		_, err := t.Emit(session.Entry{Type: session.TypeMessage, Data: n})
		return n, err
	}
	// A repeatable run finds what an attempt before it wrote, and does not do it again.
	writeOnce := func(t *session.Turn, input json.RawMessage) (any, error) {
		done, err := t.Items(session.ItemQuery{Request: t.Request().ID})
		if err != nil || len(done) > 0 {
			return nil, err
		}
		return write(t, input)
	}
	kind, err := session.NewKind(session.KindOptions{Name: "notes", Public: map[string]session.Action{
		"add": {Atomic: true, Repeatable: true, Run: write},
		"slow": {Repeatable: true, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			select {
			case <-g.wait():
			case <-t.Context().Done():
				return nil, t.Context().Err()
			}
			return writeOnce(t, input)
		}},
		"slow-beside": {Repeatable: true, Lane: session.Beside, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			select {
			case <-g.wait():
			case <-t.Context().Done():
				return nil, t.Context().Err()
			}
			return writeOnce(t, input)
		}},
	}})
	if err != nil {
		panic(err)
	}
	return kind
}

// TestWhateverHappensNothingAcceptedIsLostOrDoneTwice walks random interleavings
// of submitting, cancelling, crashing, stopping, starting and pausing a worker past
// its lease, and then looks at what the store holds.
func TestWhateverHappensNothingAcceptedIsLostOrDoneTwice(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		g := &gate{open: make(chan struct{})}
		w := sessiontest.New(t, func(*sessiontest.World) []session.Kind { return []session.Kind{held(g)} },
			sessiontest.WithLimits(session.Limits{Lease: time.Minute, Sweep: 2 * time.Millisecond, Grace: time.Millisecond, Attempts: 1000}))
		defer w.Close()
		accepted := map[string]session.Request{}
		cancelled := map[string]bool{}
		count := 0
		submit := func(action string) {
			count++
			id := fmt.Sprintf("s%d", rapid.IntRange(0, 2).Draw(rt, "session"))
			input, err := json.Marshal(note{Text: fmt.Sprintf("n%03d", count)})
			if err != nil {
				rt.Fatal(err)
			}
			r, err := w.Client().Submit(t.Context(), session.Submission{Kind: "notes", Session: id, Action: action, Input: input, Principal: mara})
			if err != nil {
				rt.Fatalf("submit: %v", err)
			}
			accepted[r.ID] = r
		}
		for range rapid.IntRange(1, 25).Draw(rt, "steps") {
			switch rapid.SampledFrom([]string{"add", "add", "slow", "slow-beside", "go", "cancel", "crash", "restart", "pause"}).Draw(rt, "step") {
			case "add":
				submit("add")
			case "slow":
				submit("slow")
			case "slow-beside":
				submit("slow-beside")
			case "go":
				g.letGo()
			case "cancel":
				for _, id := range slices.Sorted(keys(accepted)) {
					if _, err := w.Client().Cancel(t.Context(), mara, id); err == nil {
						cancelled[id] = true
						break
					}
				}
			case "crash":
				w.Die()
				w.Start()
			case "restart":
				w.Stop()
				w.Start()
			case "pause":
				w.Clock.Advance(2 * time.Minute) // every lease is over; those who hold one do not know
			}
		}
		for id := range accepted {
			finish(t, rt, w, g, id)
		}
		check(t, rt, w, accepted, cancelled)
	})
}

func keys(m map[string]session.Request) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// finish lets held turns go until the request has ended.
func finish(t *testing.T, rt *rapid.T, w *sessiontest.World, g *gate, id string) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		g.letGo()
		r, found, err := w.Store.Request(t.Context(), account.DefaultOrganization, id)
		if err != nil || !found {
			rt.Fatalf("request %s: found %v, %v", id, found, err)
		}
		if r.Status.Ended() {
			return
		}
	}
	rt.Fatalf("request %s never ended", id)
}

// check looks at everything the store holds.
func check(t *testing.T, rt *rapid.T, w *sessiontest.World, accepted map[string]session.Request, cancelled map[string]bool) {
	t.Helper()
	for i := range 3 {
		id := fmt.Sprintf("s%d", i)
		items, err := w.Store.Items(t.Context(), session.ItemQuery{Organization: account.DefaultOrganization, Session: id})
		if err != nil {
			rt.Fatal(err)
		}
		by := map[string]int{}
		last := int64(0)
		for n, item := range items {
			if item.Seq != int64(n+1) {
				rt.Fatalf("seq %d at place %d of %s", item.Seq, n, id)
			}
			by[item.Request]++
			r := accepted[item.Request]
			if r.Lane != session.TurnLane {
				continue
			}
			if r.Position <= last {
				rt.Fatalf("%s: position %d after %d", id, r.Position, last)
			}
			last = r.Position
		}
		for request, before := range accepted {
			if before.Session != id {
				continue
			}
			r, _, err := w.Store.Request(t.Context(), account.DefaultOrganization, request)
			if err != nil {
				rt.Fatal(err)
			}
			switch {
			case r.Status == session.Completed && by[request] != 1:
				rt.Fatalf("%s completed with %d items", request, by[request])
			case r.Status == session.Cancelled && (!cancelled[request] || by[request] > 1):
				rt.Fatalf("%s is cancelled (asked: %v) with %d items", request, cancelled[request], by[request])
			case r.Status == session.Failed:
				rt.Fatalf("%s failed: %+v", request, r.Failure)
			}
		}
	}
}

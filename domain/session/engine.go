package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"postroom/domain/fault"
	"postroom/domain/live"
)

type change = live.Change

// Deps are what an engine needs from outside. All are required.
type Deps struct {
	Store      Store
	Kinds      []Kind
	Dispatcher Dispatcher
	Live       *live.Broker
	Clock      func() time.Time
	NewID      func(prefix string) string
	Owner      string // names this worker among those of the store; new at every start
	Log        *slog.Logger
}

// Limits bound an engine. Zero means the default in brackets.
type Limits struct {
	Lease         time.Duration // how long a claim holds without renewal [30s]
	RunTimeout    time.Duration // how long a turn that is not atomic may take [5m]
	Grace         time.Duration // how long turns may go on when stopping [20s]
	Sweep         time.Duration // how often lost wake-ups and lapsed leases are looked for [5s]
	Runs          int           // turns that are not atomic, at once [256]
	Attempts      int           // claims of one repeatable request before it fails "interrupted" [3]
	Depth         int           // agents' runs in a chain of causes [8]
	CausedPerHour int           // requests that agents cause in one conversation in an hour [60]
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		have *time.Duration
		want time.Duration
	}{
		{&l.Lease, 30 * time.Second}, {&l.RunTimeout, 5 * time.Minute},
		{&l.Grace, 20 * time.Second}, {&l.Sweep, 5 * time.Second},
	} {
		if *d.have == 0 {
			*d.have = d.want
		}
	}
	for _, d := range []struct {
		have *int
		want int
	}{{&l.Runs, 256}, {&l.Attempts, 3}, {&l.Depth, 8}, {&l.CausedPerHour, 60}} {
		if *d.have == 0 {
			*d.have = d.want
		}
	}
	return l
}

// Engine takes the turns of sessions. Make it with New, start it with Run, ask
// things of it through a Client.
type Engine struct {
	deps   Deps
	limits Limits
	kinds  map[string]Kind
	slots  chan struct{} // one for each turn that may run without being atomic

	mu      sync.Mutex
	runs    map[string]*run // guarded by mu; by request id
	waiting map[Wake]struct{}
	running sync.WaitGroup
}

// run is a turn that is not atomic while this engine works it.
type run struct {
	request Request
	cancel  context.CancelCauseFunc
}

// New checks everything at once and starts nothing.
func New(d Deps, l Limits) (*Engine, error) {
	if d.Store == nil || d.Dispatcher == nil || d.Live == nil || d.Clock == nil || d.NewID == nil || d.Owner == "" || d.Log == nil {
		return nil, errors.New("session: an engine needs all of its Deps")
	}
	e := &Engine{
		deps: d, limits: l.withDefaults(), kinds: make(map[string]Kind, len(d.Kinds)),
		runs: make(map[string]*run), waiting: make(map[Wake]struct{}),
	}
	for _, k := range d.Kinds {
		if _, twice := e.kinds[k.Name()]; twice {
			return nil, errors.New("session: two kinds are called " + k.Name())
		}
		e.kinds[k.Name()] = k
	}
	e.slots = make(chan struct{}, e.limits.Runs)
	return e, nil
}

// Run takes over what the dead left, then takes turns until ctx ends. Then it
// claims no more, gives running turns the grace period, cancels what is left, and
// returns nil. What was cut off is queued again, or resumable at the next start.
func (e *Engine) Run(ctx context.Context) error {
	if err := e.recover(ctx); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // stopped before it began.
		}
		return fmt.Errorf("take over what was left: %w", err)
	}
	runCtx, stopRuns := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stopRuns(nil)
	var keepers sync.WaitGroup
	keeping, stopKeeping := context.WithCancel(runCtx)
	keepers.Go(func() { e.keep(keeping) })
	err := e.deps.Dispatcher.Run(ctx, func(_ context.Context, w Wake) bool { return e.handle(runCtx, w) })
	ended := make(chan struct{})
	go func() {
		e.running.Wait()
		close(ended)
	}()
	grace := time.NewTimer(e.limits.Grace)
	defer grace.Stop()
	select {
	case <-ended:
	case <-grace.C:
		stopRuns(ErrStopping)
		<-ended
	}
	stopKeeping()
	keepers.Wait()
	return err
}

// action finds an action by the names in an address. The internal ones are
// unknown to whom may not call them.
func (e *Engine) action(kind, name string, internal bool) (Action, error) {
	k, ok := e.kinds[kind]
	if !ok {
		return Action{}, ErrUnknownKind.With("kind", kind)
	}
	find := k.Public
	if internal {
		find = k.Any
	}
	a, ok := find(name)
	if !ok {
		return Action{}, ErrUnknownAction.With("kind", kind, "action", name)
	}
	return a, nil
}

// write is one transaction and, once it is durable, what it makes known. The
// caller is waited for even if it has left, so that no wake-up is lost with it.
func (e *Engine) write(ctx context.Context, fn func(tx Tx, fx *effects) error) error {
	var fx effects
	err := e.deps.Store.Write(context.WithoutCancel(ctx), func(tx Tx) error {
		fx = effects{}
		return fn(tx, &fx)
	})
	if err != nil {
		return err
	}
	for _, w := range fx.wakes {
		e.deps.Dispatcher.Committed(w)
	}
	for _, c := range fx.changes {
		e.deps.Live.Publish(c)
	}
	return nil
}

// add keeps a new request and has its session woken once it is durable.
func (e *Engine) add(ctx context.Context, tx Tx, fx *effects, r *Request, s Session) error {
	r.ID = e.deps.NewID("req")
	r.QueuedAt = e.deps.Clock()
	if r.Status == "" {
		r.Status = Queued
	}
	if err := tx.AddRequest(ctx, r); err != nil {
		return err
	}
	if r.Status == Queued {
		w := wakeOf(*r)
		if err := e.deps.Dispatcher.Enqueue(ctx, tx, w); err != nil {
			return err
		}
		fx.wakes = append(fx.wakes, w)
	}
	fx.changes = append(fx.changes, changeOf(s, r.ID, 0))
	return nil
}

func wakeOf(r Request) Wake {
	w := Wake{Organization: r.Organization, Session: r.Session}
	if r.Lane != TurnLane {
		w.Request = r.ID
	}
	return w
}

func changeOf(s Session, request string, seq int64) change {
	return change{Organization: s.Organization, Session: s.ID, Parent: s.Parent, Request: request, Seq: seq}
}

// storeBroke reports whether err is the store's trouble rather than an action's
// answer: then the request stays queued and is tried again.
func storeBroke(err error) bool {
	var f *fault.Fault
	return errors.As(err, &f) && f.Class == fault.Busy && !errors.Is(err, ErrRunTimeout) && !errors.Is(err, ErrInterrupted)
}

// Package sessiontest is a small world for tests of what stands on sessions: a
// real store in a temporary folder, an engine that can be stopped or made to die,
// and a clock that tests move.
package sessiontest

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"postroom/domain/live"
	"postroom/domain/session"
	"postroom/domain/store"
)

// Clock is a clock that stands still until it is moved, a microsecond a look
// aside, so that no two looks are the same instant.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at a fixed instant.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)}
}

// Now is the time it shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Microsecond)
	return c.now
}

// Advance moves it.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// World is one database with at most one living engine.
type World struct {
	Clock *Clock
	NewID func(prefix string) string
	Live  *live.Broker
	Store *store.Store

	t      testing.TB
	limits session.Limits
	kinds  func(w *World) []session.Kind
	born   int

	dispatcher session.Dispatcher

	engine *session.Engine
	stop   context.CancelFunc
	ended  chan error
	dead   *atomic.Bool

	closeStore func()
}

// Option changes a world before it starts.
type Option func(*World)

// WithLimits sets the engine's limits.
func WithLimits(l session.Limits) Option { return func(w *World) { w.limits = l } }

// WithDispatcher has the engine's wake-ups carried another way.
func WithDispatcher(d session.Dispatcher) Option { return func(w *World) { w.dispatcher = d } }

// External is the in-process dispatcher, saying of itself that its workers share
// no lease backend.
type External struct{ *session.InProcess }

// LeaseBackend is false.
func (External) LeaseBackend() bool { return false }

// New makes a world with these kinds and starts it. It is closed with the test.
func New(t testing.TB, kinds func(w *World) []session.Kind, opts ...Option) *World {
	t.Helper()
	clock := NewClock()
	w := &World{
		Clock: clock, NewID: session.ULIDs(clock.Now, nil), Live: live.NewBroker(), t: t, kinds: kinds,
		limits: session.Limits{Sweep: 10 * time.Millisecond, Grace: 50 * time.Millisecond},
	}
	for _, o := range opts {
		o(w)
	}
	w.openStore(filepath.Join(t.TempDir(), "postroom.db"))
	t.Cleanup(w.Close)
	w.Start()
	return w
}

// Discard is a log that keeps nothing.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (w *World) openStore(path string) {
	w.t.Helper()
	s, err := store.Open(context.Background(), store.Options{Path: path, Clock: w.Clock.Now, NewID: w.NewID, Log: Discard()})
	if err != nil {
		w.t.Fatalf("open the store: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	w.Store = s
	w.closeStore = func() {
		cancel()
		if err := errors.Join(<-done, s.Close()); err != nil {
			w.t.Errorf("close the store: %v", err)
		}
	}
}

// Start gives birth to an engine, a new owner each time.
func (w *World) Start() {
	w.t.Helper()
	w.born++
	dispatcher := w.dispatcher
	if dispatcher == nil {
		dispatcher = session.NewInProcess(4)
	}
	w.dead = new(atomic.Bool)
	engine, err := session.New(session.Deps{
		Store: &mortal{Store: w.Store, dead: w.dead}, Kinds: w.kinds(w), Dispatcher: dispatcher, Live: w.Live,
		Clock: w.Clock.Now, NewID: w.NewID, Owner: w.NewID("worker"), Log: Discard(),
	}, w.limits)
	if err != nil {
		w.t.Fatalf("make an engine: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.engine, w.stop, w.ended = engine, cancel, make(chan error, 1)
	go func(ended chan error) { ended <- engine.Run(ctx) }(w.ended)
}

// Client is the way into the living engine.
func (w *World) Client() *session.Client { return w.engine.Client() }

// Stop lets the engine end in good order.
func (w *World) Stop() {
	w.t.Helper()
	if w.engine == nil {
		return
	}
	w.stop()
	if err := <-w.ended; err != nil && !w.dead.Load() {
		w.t.Errorf("the engine ended: %v", err)
	}
	w.engine = nil
}

// Die ends the engine as kill -9 would: from this instant nothing it does reaches
// the store. Its goroutines may go on; see Start for the next life.
func (w *World) Die() {
	w.t.Helper()
	w.dead.Store(true)
	// What it had begun to write is written or not once this returns, as it is when
	// a process is gone.
	if err := w.Store.Write(context.Background(), func(session.Tx) error { return nil }); err != nil {
		w.t.Fatalf("wait for the last writes: %v", err)
	}
	w.stop()
}

// Close ends everything.
func (w *World) Close() {
	w.Stop()
	if w.closeStore != nil {
		w.closeStore()
		w.closeStore = nil
	}
}

// errDead is what a dead engine's writes get.
var errDead = errors.New("this process is dead")

// mortal is a store that stops obeying when its engine dies.
type mortal struct {
	*store.Store
	dead *atomic.Bool
}

func (m *mortal) Write(ctx context.Context, fn func(tx session.Tx) error) error {
	if m.dead.Load() {
		return errDead
	}
	return m.Store.Write(ctx, func(tx session.Tx) error {
		if m.dead.Load() {
			return errDead
		}
		return fn(tx)
	})
}

// Leaks says which goroutines a leak test lets be: gorm's cache of prepared
// statements starts one that it never ends.
func Leaks() []goleak.Option {
	return []goleak.Option{goleak.IgnoreAnyFunction("gorm.io/gorm/internal/lru.NewLRU[...].func1")}
}

package session

import (
	"context"
	"sync"
)

// Wake says that a session has a turn to take or, with Request, that this request
// beside the turns has to run. Losing, delaying or doubling one does no harm.
type Wake struct {
	Organization string
	Session      string
	Request      string
}

// Dispatcher carries wake-ups and nothing else: order and exclusivity live in the
// store.
type Dispatcher interface {
	// Enqueue is called in the transaction that wrote the work.
	Enqueue(ctx context.Context, tx Tx, w Wake) error
	// Committed is called once that transaction is durable.
	Committed(w Wake)
	// Run hands wake-ups to handle, several at once but never the same one twice
	// at a time, until ctx ends. handle reports whether there is more to do; then
	// the wake-up goes to the end of the line, so that no session starves another.
	Run(ctx context.Context, handle func(ctx context.Context, w Wake) (more bool)) error
	// LeaseBackend reports whether all workers share the leases of this store
	// (the seed's WorkerAdapter.leaseBackend). Without, turns cannot dispatch.
	LeaseBackend() bool
}

// InProcess is the dispatcher of a single process: a fair ready queue in memory,
// rebuilt from the store at start.
type InProcess struct {
	workers int

	mu    sync.Mutex
	ready []Wake             // guarded by mu; first in, first out
	state map[Wake]wakeState // guarded by mu
	bell  chan struct{}
}

type wakeState int

const (
	waiting wakeState = iota + 1 // in ready
	handled                      // a worker has it
	dirty                        // a worker has it, and it was woken again
)

var _ Dispatcher = (*InProcess)(nil)

// NewInProcess makes a ready queue served by so many workers; at least one.
func NewInProcess(workers int) *InProcess {
	return &InProcess{workers: max(1, workers), state: make(map[Wake]wakeState), bell: make(chan struct{}, 1)}
}

// Enqueue does nothing: the queue is told after the commit.
func (d *InProcess) Enqueue(context.Context, Tx, Wake) error { return nil }

// LeaseBackend is true: the one process shares its own store.
func (d *InProcess) LeaseBackend() bool { return true }

// Committed puts the wake-up at the end of the line, unless it stands there.
func (d *InProcess) Committed(w Wake) {
	d.mu.Lock()
	switch d.state[w] {
	case waiting, dirty:
		d.mu.Unlock()
		return
	case handled:
		d.state[w] = dirty
		d.mu.Unlock()
		return
	}
	d.state[w] = waiting
	d.ready = append(d.ready, w)
	d.mu.Unlock()
	d.ring()
}

// Run serves the queue.
func (d *InProcess) Run(ctx context.Context, handle func(context.Context, Wake) bool) error {
	var workers sync.WaitGroup
	for range d.workers {
		workers.Go(func() {
			for {
				w, ok := d.next(ctx)
				if !ok {
					return
				}
				d.done(w, handle(ctx, w))
			}
		})
	}
	workers.Wait()
	return nil
}

func (d *InProcess) next(ctx context.Context) (Wake, bool) {
	for {
		d.mu.Lock()
		if len(d.ready) > 0 && ctx.Err() == nil {
			w := d.ready[0]
			d.ready = d.ready[1:]
			d.state[w] = handled
			more := len(d.ready) > 0
			d.mu.Unlock()
			if more {
				d.ring()
			}
			return w, true
		}
		d.mu.Unlock()
		select {
		case <-ctx.Done():
			return Wake{}, false
		case <-d.bell:
		}
	}
}

func (d *InProcess) done(w Wake, more bool) {
	d.mu.Lock()
	again := more || d.state[w] == dirty
	if again {
		d.state[w] = waiting
		d.ready = append(d.ready, w)
	} else {
		delete(d.state, w)
	}
	d.mu.Unlock()
	if again {
		d.ring()
	}
}

// ring wakes one worker; one that finds more than it takes rings on.
func (d *InProcess) ring() {
	select {
	case d.bell <- struct{}{}:
	default:
	}
}

package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"gorm.io/gorm"

	"postroom/domain/session"
)

// maxGroup is the most writes that share one transaction.
const maxGroup = 256

// writer is the one way to change the database. It never waits for more than is
// queued.
//
// A group runs on a context of its own: a caller's cancelled context inside it
// would make SQLite roll the whole transaction back, and later writes would go
// through alone.
type writer struct {
	db   *gorm.DB // on the one connection, for what is not hot
	own  *own
	jobs chan *job
	done chan struct{} // closed when run has returned

	writes, groups, apart atomic.Int64

	mu   sync.Mutex
	last error // guarded by mu; how the last group ended
}

// trouble is how the last group failed, or nil.
func (w *writer) trouble() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

type job struct {
	fn   func(tx session.Tx) error
	err  error
	done chan struct{}
}

func newWriter(db *gorm.DB, o *own) *writer {
	return &writer{db: db, own: o, jobs: make(chan *job, maxGroup), done: make(chan struct{})}
}

func (w *writer) write(ctx context.Context, fn func(tx session.Tx) error) error {
	j := &job{fn: fn, done: make(chan struct{})}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return ctx.Err()
	case <-w.done:
		return ErrClosed
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return ctx.Err()
	case <-w.done:
		// The last group may have had it.
		select {
		case <-j.done:
			return j.err
		default:
			return ErrClosed
		}
	}
}

func (w *writer) run(ctx context.Context) error {
	defer close(w.done)
	for {
		select {
		case j := <-w.jobs:
			w.commit(ctx, w.gather(j))
		case <-ctx.Done():
			for len(w.jobs) > 0 {
				w.commit(ctx, w.gather(<-w.jobs))
			}
			return nil
		}
	}
}

func (w *writer) gather(first *job) []*job {
	group := []*job{first}
	for len(group) < maxGroup {
		select {
		case j := <-w.jobs:
			group = append(group, j)
		default:
			return group
		}
	}
	return group
}

// commit makes one transaction of a group and tells its waiters how it ended.
func (w *writer) commit(ctx context.Context, group []*job) {
	ctx = context.WithoutCancel(ctx)
	w.writes.Add(int64(len(group)))
	w.groups.Add(1)
	err := w.transaction(ctx, group)
	w.mu.Lock()
	w.last = err
	w.mu.Unlock()
	for _, j := range group {
		if j.err == nil {
			j.err = err
		}
		close(j.done)
	}
}

// transaction tries a group without savepoints, which is what nearly always does.
// A write that fails after it has changed something spoils the rows of the others:
// then all is undone and the group runs again, each write in its own savepoint.
func (w *writer) transaction(ctx context.Context, group []*job) error {
	spoilt, err := w.together(ctx, group, false)
	if !spoilt || err != nil {
		return err
	}
	for _, j := range group {
		j.err = nil
	}
	w.apart.Add(1)
	_, err = w.together(ctx, group, true)
	return err
}

func (w *writer) together(ctx context.Context, group []*job, apart bool) (spoilt bool, err error) {
	w.own.forget()
	if err := w.own.run(w.own.begin); err != nil {
		return false, coded("begin to write", err)
	}
	for _, j := range group {
		spoilt, err := w.attempt(ctx, j, apart)
		if err != nil {
			return false, w.undone(coded("write", err))
		}
		if spoilt {
			return true, w.undone(nil)
		}
	}
	if err := w.own.settle(ctx); err != nil {
		return false, w.undone(coded("write", err))
	}
	if err := w.own.run(w.own.commit); err != nil {
		return false, w.undone(coded("commit", err))
	}
	return false, nil
}

// attempt runs one write, in its own savepoint if it is to stand apart, so that its
// failure is its own. An error it returns is the end of the group.
func (w *writer) attempt(ctx context.Context, j *job, apart bool) (spoilt bool, err error) {
	if apart {
		if err := w.own.run(w.own.save); err != nil {
			return false, err
		}
	}
	w.own.start()
	j.err = guarded(func() error { return j.fn(&transaction{reader{db: w.db.WithContext(ctx), own: w.own}}) })
	switch {
	case j.err != nil && ends(j.err):
		err := j.err
		j.err = nil // it gets the group's error like everyone
		return false, err
	case !apart:
		if j.err != nil && !w.own.wrote {
			w.own.unmoved()
		}
		return j.err != nil && w.own.wrote, nil
	case j.err != nil:
		w.own.forget() // what it moved is undone, and nothing of the others is left there
		if err := w.own.run(w.own.back); err != nil {
			return false, err
		}
	}
	if err := w.own.settle(ctx); err != nil {
		return false, err
	}
	return false, w.own.run(w.own.release)
}

// undone rolls a transaction back for a reason. SQLite may have done so by itself;
// then the rollback says so, and that is no news.
func (w *writer) undone(why error) error {
	if err := w.own.run(w.own.rollback); why == nil && err != nil {
		return coded("roll back", err)
	}
	return why
}

// guarded turns a panic of a write into its error, so that the writer lives on.
func guarded(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("a write panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// Stats count what the writer did since the database was opened.
type Stats struct {
	Writes int64 // that were asked for
	Groups int64 // transactions that they shared
	Apart  int64 // groups that ran again, each write by itself
}

// Stats implements what metrics show.
func (s *Store) Stats() Stats {
	w := s.writer
	return Stats{Writes: w.writes.Load(), Groups: w.groups.Load(), Apart: w.apart.Load()}
}

package store

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

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
	db   *gorm.DB
	jobs chan *job
	done chan struct{} // closed when run has returned

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

func newWriter(db *gorm.DB) *writer {
	return &writer{db: db, jobs: make(chan *job, maxGroup), done: make(chan struct{})}
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

func (w *writer) transaction(ctx context.Context, group []*job) error {
	tx := w.db.WithContext(ctx).Begin()
	if tx.Error != nil {
		return coded("begin to write", tx.Error)
	}
	for _, j := range group {
		if err := w.attempt(tx, j); err != nil {
			return undone(tx, coded("write", err))
		}
	}
	if err := tx.Commit().Error; err != nil {
		return undone(tx, coded("commit", err))
	}
	return nil
}

// attempt runs one write in its own savepoint, so that its failure is its own. An
// error it returns is the end of the group.
func (w *writer) attempt(tx *gorm.DB, j *job) error {
	if err := tx.Exec("SAVEPOINT w").Error; err != nil {
		return err
	}
	j.err = guarded(func() error { return j.fn(&transaction{reader{db: tx}}) })
	switch {
	case j.err == nil:
		return tx.Exec("RELEASE w").Error
	case ends(j.err):
		err := j.err
		j.err = nil // it gets the group's error like everyone
		return err
	}
	if err := tx.Exec("ROLLBACK TO w").Error; err != nil {
		return err
	}
	return tx.Exec("RELEASE w").Error
}

// undone rolls a transaction back for a reason. SQLite may have done so by itself;
// then the rollback says so, and that is no news.
func undone(tx *gorm.DB, why error) error {
	_ = tx.Rollback().Error
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

// warm prepares the hot statements outside a transaction: one first prepared
// inside is prepared again at each use. Without arguments they find and change
// nothing: every key is NULL, which equals nothing and which no column takes.
func (w *writer) warm(ctx context.Context) error {
	for _, text := range hot {
		if err := w.prepare(ctx, text); err != nil && code(err)&0xff != constraint {
			return coded("prepare "+text, err)
		}
	}
	return nil
}

// prepare runs a statement without arguments, and reads nothing of it.
func (w *writer) prepare(ctx context.Context, text string) (err error) {
	rows, err := w.db.WithContext(ctx).Raw(text, make([]any, placeholders(text))...).Rows()
	if err != nil {
		return err
	}
	defer func() {
		if closing := rows.Close(); err == nil {
			err = closing
		}
	}()
	for rows.Next() {
	}
	return rows.Err()
}

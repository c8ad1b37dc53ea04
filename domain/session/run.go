package session

import (
	"context"
	"encoding/json"
	"errors"

	"postroom/domain/fault"
)

// start works a claimed turn that is not atomic in a goroutine of its own.
func (e *Engine) start(ctx context.Context, got claimed) {
	ctx, cancel := context.WithCancelCause(ctx)
	e.mu.Lock()
	e.runs[got.request.ID] = &run{request: got.request, cancel: cancel}
	e.mu.Unlock()
	e.running.Go(func() {
		defer cancel(nil)
		e.work(ctx, got)
		e.mu.Lock()
		delete(e.runs, got.request.ID)
		e.mu.Unlock()
		<-e.slots
		e.wakeWaiting()
		e.deps.Dispatcher.Committed(Wake{Organization: got.request.Organization, Session: got.request.Session})
	})
}

// work runs the action to its end and settles it.
func (e *Engine) work(ctx context.Context, got claimed) {
	ctx, done := context.WithTimeoutCause(ctx, e.limits.RunTimeout, ErrRunTimeout)
	defer done()
	t := e.turn(ctx, &got)
	out, err := call(e, t, got.action, got.request.Input)
	if err != nil && ctx.Err() != nil {
		err = toldWhy(context.Cause(ctx), err)
	}
	if errors.Is(err, ErrStopping) {
		e.handBack(got)
		return
	}
	e.finish(context.WithoutCancel(ctx), t, out, err)
}

// toldWhy is why a run ended that was told to end, with the details of what came of
// its end, such as a tool that went on.
func toldWhy(cause, err error) error {
	var why, came *fault.Fault
	if !errors.As(cause, &why) || !errors.As(err, &came) {
		return cause
	}
	for name, value := range came.Details {
		why = why.With(name, value)
	}
	return why
}

// finish settles a turn that is not atomic. The store being in trouble is no
// reason to lose the outcome, but a lease lost is.
func (e *Engine) finish(ctx context.Context, t *Turn, out json.RawMessage, failed error) {
	end := *t
	end.ctx = ctx
	settle := func(failed error) error {
		return end.Atomically(func(tx *Turn) error {
			if failed == nil {
				for _, fn := range t.atEnd {
					if err := fn(tx); err != nil {
						return err
					}
				}
			}
			r := tx.request
			return e.settle(tx, &r, out, failed, tx.Now())
		})
	}
	err := settle(failed)
	if err != nil && failed == nil && !errors.Is(err, ErrLeaseLost) && !storeBroke(err) {
		err = settle(err) // what the end wanted to write was refused: the run failed by it
	}
	switch {
	case err == nil:
		e.logEnd(ctx, t.request, failed)
	case errors.Is(err, ErrLeaseLost):
		e.deps.Log.InfoContext(ctx, "an attempt ended without its lease; its end was dropped", "request", t.request.ID, "attempt", t.request.Attempt)
	default:
		e.deps.Log.ErrorContext(ctx, "could not settle a run; it is taken over when its lease ends", "request", t.request.ID, "error", err)
	}
}

// logEnd writes one line a run, without anything that people wrote.
func (e *Engine) logEnd(ctx context.Context, r Request, failed error) {
	about := []any{
		"request", r.ID, "session", r.Session, "kind", r.Kind, "action", r.Action, "attempt", r.Attempt,
		"ms", e.deps.Clock().Sub(r.StartedAt).Milliseconds(),
	}
	if failed == nil {
		e.deps.Log.InfoContext(ctx, "a run ended", about...)
		return
	}
	// The cause says what a model's provider said, which the coded message does not.
	e.deps.Log.WarnContext(ctx, "a run failed", append(about, "code", fault.Of(failed).Code, "error", failed)...)
}

// handBack puts a turn that stopping cut off where the next start finds it.
func (e *Engine) handBack(got claimed) {
	ctx := context.Background() //nolint:contextcheck // the server's own context has ended by now.
	err := e.write(ctx, func(tx Tx, fx *effects) error { return e.release(ctx, tx, fx, got.request, got.action) })
	if err != nil {
		e.deps.Log.ErrorContext(ctx, "could not hand a run back; the next start takes it over", "request", got.request.ID, "error", err)
	}
}

// release takes a request from an attempt that is over: back to the queue if it
// may be run again, else failed as interrupted.
func (e *Engine) release(ctx context.Context, tx Tx, fx *effects, r Request, a Action) error {
	s, _, err := tx.Session(ctx, r.Organization, r.Session)
	if err != nil {
		return err
	}
	fx.changes = append(fx.changes, changeOf(s, r.ID, 0))
	if a.Repeatable && r.Attempt < e.limits.Attempts {
		fx.wakes = append(fx.wakes, wakeOf(r))
		_, err := tx.Requeue(ctx, r.ID, r.Attempt)
		return err
	}
	why := fault.FailureOf(ErrInterrupted.With("attempts", r.Attempt))
	ended, ok, err := tx.Cancel(ctx, r.Organization, r.ID, why, e.deps.Clock())
	if err != nil || !ok {
		return err
	}
	fx.wakes = append(fx.wakes, Wake{Organization: r.Organization, Session: r.Session})
	if a.Agent {
		t := (&Turn{ctx: ctx, engine: e, request: ended, session: s}).within(tx, fx)
		_, err = t.Emit(Entry{Type: TypeFailure, Data: why})
	}
	return err
}

// wakeWaiting gives turns that found no slot another chance.
func (e *Engine) wakeWaiting() {
	e.mu.Lock()
	waiting := e.waiting
	if len(waiting) > 0 {
		e.waiting = make(map[Wake]struct{})
	}
	e.mu.Unlock()
	for w := range waiting {
		e.deps.Dispatcher.Committed(w)
	}
}

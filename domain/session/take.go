package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"postroom/domain/fault"
)

// claimed is what one look at a wake-up found to do.
type claimed struct {
	request Request
	session Session
	action  Action
	found   bool
	full    bool // a turn that is not atomic found no slot
	settled bool // done whole in the claiming transaction
}

// handle takes one request of a wake-up and reports whether there may be more.
func (e *Engine) handle(ctx context.Context, w Wake) (more bool) {
	var got claimed
	refusal := error(nil)
	err := e.write(ctx, func(tx Tx, fx *effects) error {
		e.free(&got) // a run again of this function starts from nothing
		got, refusal = claimed{}, nil
		if err := e.claim(ctx, tx, w, &got); err != nil || !got.found {
			return err
		}
		if !got.action.Atomic {
			fx.changes = append(fx.changes, changeOf(got.session, got.request.ID, 0))
			return nil
		}
		refusal = e.takeAtomic(ctx, tx, fx, &got)
		return refusal
	})
	switch {
	case refusal != nil && ctx.Err() != nil:
		return false // stopping cut it off; it stays queued for the next start
	case refusal != nil && !storeBroke(refusal):
		return e.refuse(ctx, got, refusal)
	case err != nil:
		e.free(&got)
		e.deps.Log.ErrorContext(ctx, "could not take a turn; it stays queued", "session", w.Session, "request", w.Request, "error", err)
		return false // the sweep comes back to it
	case !got.found:
		return false
	case got.full:
		e.waitForSlot(w)
		return false
	case got.settled:
		return w.Request == ""
	}
	e.start(ctx, got)
	return false // a session's next turn is woken when this one ends
}

// claim finds the wake-up's request and takes it.
func (e *Engine) claim(ctx context.Context, tx Tx, w Wake, got *claimed) error {
	r, ok, err := e.next(ctx, tx, w)
	if err != nil || !ok {
		return err
	}
	s, ok, err := tx.Session(ctx, r.Organization, r.Session)
	if err != nil || !ok {
		return errors.Join(err, notThere(ok, r))
	}
	got.request, got.session, got.found = r, s, true
	got.action, err = e.action(r.Kind, r.Action, true)
	if err != nil {
		// A kind or action that is no longer there: refused at its turn.
		got.action = Action{Atomic: true, Lane: r.Lane, Run: func(*Turn, json.RawMessage) (any, error) { return nil, err }}
	}
	if !got.action.Atomic {
		select {
		case e.slots <- struct{}{}:
		default:
			got.full = true
			return nil
		}
	}
	now := e.deps.Clock()
	got.request, ok, err = tx.Claim(ctx, r.ID, e.deps.Owner, now, now.Add(e.limits.Lease))
	if err == nil && !ok {
		e.free(got)
		got.found = false
	}
	return err
}

func notThere(found bool, r Request) error {
	if found {
		return nil
	}
	return fmt.Errorf("session %s of request %s is gone", r.Session, r.ID)
}

func (e *Engine) next(ctx context.Context, tx Tx, w Wake) (Request, bool, error) {
	if w.Request == "" {
		return tx.NextTurn(ctx, w.Organization, w.Session)
	}
	r, ok, err := tx.Request(ctx, w.Organization, w.Request)
	return r, ok && r.Status == Queued, err
}

// takeAtomic runs an atomic action inside the claiming transaction and settles it.
func (e *Engine) takeAtomic(ctx context.Context, tx Tx, fx *effects, got *claimed) error {
	t := e.turn(ctx, got).within(tx, fx)
	out, err := call(e, t, got.action, got.request.Input)
	if err != nil {
		return err
	}
	got.settled = true
	// Nothing can come between claim and end inside one transaction.
	return e.settle(t, &got.request, out, nil, got.request.StartedAt)
}

// refuse settles a request whose atomic action refused it; all that the action
// wrote is undone.
func (e *Engine) refuse(ctx context.Context, got claimed, refusal error) (more bool) {
	err := e.write(ctx, func(tx Tx, fx *effects) error {
		now := e.deps.Clock()
		r, ok, err := tx.Claim(ctx, got.request.ID, e.deps.Owner, now, now.Add(e.limits.Lease))
		if err != nil || !ok {
			return err // cancelled in between
		}
		got.request = r
		return e.settle(e.turn(ctx, &got).within(tx, fx), &r, nil, refusal, r.StartedAt)
	})
	if err != nil {
		e.deps.Log.ErrorContext(ctx, "could not settle a refused request; it stays queued", "request", got.request.ID, "error", err)
		return false
	}
	return got.request.Lane == TurnLane
}

func (e *Engine) turn(ctx context.Context, got *claimed) *Turn {
	return &Turn{ctx: ctx, engine: e, request: got.request, session: got.session, agent: got.action.Agent}
}

// settle ends the turn's request in its transaction. An attempt whose lease was
// over at the given instant, or that no longer holds the request, gets ErrLeaseLost.
func (e *Engine) settle(t *Turn, r *Request, out json.RawMessage, failed error, at time.Time) error {
	r.FinishedAt, r.Output, r.Status = t.Now(), out, Completed
	if failed != nil {
		if err := e.note(t, r, failed); err != nil {
			return err
		}
	}
	ok, err := t.tx.Settle(t.ctx, *r, at)
	if err != nil {
		return err
	}
	if !ok {
		return ErrLeaseLost.With("request", r.ID, "attempt", r.Attempt)
	}
	t.tell(r.ID, 0)
	return nil
}

// note puts the failure on the request and, for an agent's run, among its items.
func (e *Engine) note(t *Turn, r *Request, failed error) error {
	r.Status, r.Failure = Failed, fault.FailureOf(failed)
	if errors.Is(failed, ErrCancelled) {
		r.Status = Cancelled
	}
	if fault.Of(failed).Class == fault.Internal {
		e.deps.Log.ErrorContext(t.ctx, "a request failed", "request", r.ID, "session", r.Session, "action", r.Action, "error", failed)
	}
	if !t.agent {
		return nil
	}
	_, err := t.Emit(Entry{Type: TypeFailure, Data: r.Failure})
	return err
}

// call runs the action, a panic of which is a failure like any other.
func call(e *Engine, t *Turn, a Action, input json.RawMessage) (out json.RawMessage, err error) {
	defer func() {
		if p := recover(); p != nil {
			e.deps.Log.ErrorContext(t.ctx, "an action panicked", "request", t.request.ID, "action", t.request.Action,
				"panic", p, "stack", string(debug.Stack()))
			out, err = nil, ErrPanicked.Because(fmt.Errorf("panic: %v", p))
		}
	}()
	value, err := a.Run(t, input)
	if err != nil {
		return nil, err
	}
	out, err = json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("output of %s: %w", t.request.Action, err)
	}
	return out, nil
}

// waitForSlot keeps a wake-up until a turn that is not atomic ends.
func (e *Engine) waitForSlot(w Wake) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waiting[w] = struct{}{}
}

// free gives back the slot that a claim took.
func (e *Engine) free(got *claimed) {
	if !got.found || got.full || got.action.Atomic {
		return
	}
	<-e.slots
	got.found = false
}

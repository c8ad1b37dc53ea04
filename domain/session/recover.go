package session

import (
	"context"
	"time"
)

// recover rebuilds the ready queue from the store and takes over what the dead
// left running. It is called before the first turn is taken.
func (e *Engine) recover(ctx context.Context) error {
	if err := e.takeOver(ctx, e.deps.Owner); err != nil {
		return err
	}
	return e.wakeQueued(ctx)
}

// keep renews the leases of this engine's runs, takes over lapsed ones and finds
// work whose wake-up was lost, until ctx ends.
func (e *Engine) keep(ctx context.Context) {
	renew := time.NewTicker(e.limits.Lease / 3)
	defer renew.Stop()
	sweep := time.NewTicker(e.limits.Sweep)
	defer sweep.Stop()
	for {
		var err error
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
			err = e.renew(ctx)
		case <-sweep.C:
			if err = e.takeOver(ctx, ""); err == nil {
				err = e.wakeQueued(ctx)
			}
		}
		if err != nil && ctx.Err() == nil {
			e.deps.Log.ErrorContext(ctx, "keeping leases and the queue failed; trying again", "error", err)
		}
	}
}

func (e *Engine) renew(ctx context.Context) error {
	e.mu.Lock()
	ids := make([]string, 0, len(e.runs))
	for id := range e.runs {
		ids = append(ids, id)
	}
	e.mu.Unlock()
	if len(ids) == 0 {
		return nil
	}
	return e.write(ctx, func(tx Tx, _ *effects) error {
		now := e.deps.Clock()
		return tx.Renew(ctx, e.deps.Owner, ids, now, now.Add(e.limits.Lease))
	})
}

// takeOver releases requests whose lease is over or, with an owner, whoever else
// holds them: then they belong to the dead, as at the start on a store that one
// process has to itself.
func (e *Engine) takeOver(ctx context.Context, notOwner string) error {
	for {
		lapsed, err := e.deps.Store.Lapsed(ctx, e.deps.Clock(), notOwner, MaxPage)
		if err != nil || len(lapsed) == 0 {
			return err
		}
		for _, r := range lapsed {
			a, err := e.action(r.Kind, r.Action, true)
			if err != nil {
				a = Action{} // no longer there: it cannot be repeated
			}
			e.stopRun(r, ErrLeaseLost)
			err = e.write(ctx, func(tx Tx, fx *effects) error {
				now, ok, err := tx.Request(ctx, r.Organization, r.ID)
				if err != nil || !ok || now.Status != Running || now.Attempt != r.Attempt {
					return err // settled or taken over meanwhile
				}
				if notOwner == "" && now.Until.After(e.deps.Clock()) {
					return nil // renewed meanwhile
				}
				return e.release(ctx, tx, fx, now, a)
			})
			if err != nil {
				return err
			}
		}
		if len(lapsed) < MaxPage {
			return nil
		}
	}
}

// wakeQueued puts every session with queued work in the ready queue.
func (e *Engine) wakeQueued(ctx context.Context) error {
	after := ""
	for {
		queued, err := e.deps.Store.Work(ctx, after, MaxPage)
		if err != nil {
			return err
		}
		for _, r := range queued {
			e.deps.Dispatcher.Committed(wakeOf(r))
			after = r.ID
		}
		if len(queued) < MaxPage {
			return nil
		}
	}
}

// stopRun ends this engine's own run of a request's attempt, if there is one.
func (e *Engine) stopRun(r Request, why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if own, ok := e.runs[r.ID]; ok && own.request.Attempt == r.Attempt {
		own.cancel(why)
	}
}

package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Turn is a running request as its action sees it. Everything it writes is fenced
// by (request, attempt): an attempt that lost its lease gets ErrLeaseLost and has
// no effect. It is for the goroutines of its Run only and dead when that returns.
type Turn struct {
	ctx     context.Context //nolint:containedctx // a turn is one call, handed to an action as one value.
	engine  *Engine
	request Request
	session Session
	agent   bool
	tx      Tx       // nil outside a transaction
	effects *effects // what to tell once tx is committed
	atEnd   []func(tx *Turn) error
}

// effects are what a transaction makes known once it is durable.
type effects struct {
	wakes   []Wake
	changes []change
	// follow, when it is set, gathers what a turn has its own session do beside it
	// and that may stand in the same transaction; it is done once the turn has.
	follow *[]followUp
}

// followUp is a request that is to be done in the transaction that made it.
type followUp struct {
	request Request
	action  Action
	session Session
}

// Context ends when the request is cancelled, its deadline passes, or the server stops.
func (t *Turn) Context() context.Context { return t.ctx }

// Request is the request as it was claimed.
func (t *Turn) Request() Request { return t.request }

// Session is the session as it was when the request was claimed; see State for now.
func (t *Turn) Session() Session { return t.session }

// Now is the engine's clock.
func (t *Turn) Now() time.Time { return t.engine.deps.Clock() }

// Tx is the transaction that the turn stands in, for the ports of other packages;
// nil outside Atomically and atomic actions.
func (t *Turn) Tx() Tx { return t.tx }

// Atomically runs fn in one transaction; inside one it joins that. fn may run
// again, so it has no effect but through the turn it is given.
func (t *Turn) Atomically(fn func(tx *Turn) error) error {
	if t.tx != nil {
		return fn(t)
	}
	return t.engine.write(t.ctx, func(tx Tx, fx *effects) error {
		holds, err := tx.Holds(t.ctx, t.request.ID, t.request.Attempt, t.Now())
		if err != nil {
			return err
		}
		if !holds {
			return ErrLeaseLost.With("request", t.request.ID, "attempt", t.request.Attempt)
		}
		return fn(t.within(tx, fx))
	})
}

// AtEnd adds to the transaction that completes the request. It is for turns that
// are not atomic; what an atomic one does is that transaction anyway.
func (t *Turn) AtEnd(fn func(tx *Turn) error) { t.atEnd = append(t.atEnd, fn) }

// Emit appends an item to the session. It returns once the item is stored.
func (t *Turn) Emit(e Entry) (Item, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return Item{}, fmt.Errorf("emit %s: %w", e.Type, err)
	}
	var item Item
	err = t.Atomically(func(tx *Turn) error {
		item = Item{
			ID: tx.engine.deps.NewID("item"), Organization: tx.session.Organization, Session: tx.session.ID,
			Request: tx.request.ID, Position: tx.request.Position, Type: e.Type, Component: e.Component, Data: data, CreatedAt: tx.Now(),
		}
		if err := tx.tx.AppendItem(tx.ctx, &item); err != nil {
			return err
		}
		tx.tell("", item.Seq)
		return nil
	})
	return item, err
}

// Items reads a page of the session's items. Organization and Session of the
// query are filled in.
func (t *Turn) Items(q ItemQuery) ([]Item, error) {
	q.Organization, q.Session = t.session.Organization, t.session.ID
	return t.reader().Items(t.ctx, q)
}

// State is the session's state now; inside a transaction it stays true until its end.
func (t *Turn) State() (json.RawMessage, error) {
	s, found, err := t.reader().Session(t.ctx, t.session.Organization, t.session.ID)
	if err != nil || !found {
		return nil, err
	}
	return s.State, nil
}

// Other looks up another session of the organization, such as the parent.
func (t *Turn) Other(id string) (Session, bool, error) {
	return t.reader().Session(t.ctx, t.session.Organization, id)
}

// SetState replaces the session's state. To change what is there, read and set it
// inside one Atomically.
func (t *Turn) SetState(state json.RawMessage) error {
	return t.Atomically(func(tx *Turn) error {
		return tx.tx.SetState(tx.ctx, tx.session.Organization, tx.session.ID, state)
	})
}

// Changed tells watchers that something a view of this session shows is new,
// though no item is.
func (t *Turn) Changed() { t.tell(t.request.ID, 0) }

func (t *Turn) reader() Reader {
	if t.tx != nil {
		return t.tx
	}
	return t.engine.deps.Store
}

func (t *Turn) within(tx Tx, fx *effects) *Turn {
	inner := *t
	inner.tx, inner.effects, inner.atEnd = tx, fx, nil
	return &inner
}

func (t *Turn) tell(request string, seq int64) {
	c := changeOf(t.session, request, seq)
	if t.effects != nil {
		t.effects.changes = append(t.effects.changes, c)
		return
	}
	t.engine.deps.Live.Publish(c)
}

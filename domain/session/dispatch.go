package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postroom/domain/fault"
)

// Target is where a dispatch goes: the kind you address, and the session by its
// id (never by a key: a key-derived session would be a child of whoever dispatched).
type Target struct {
	Kind    string
	Session string
	Action  string
	// Parent, when set, lets the dispatch create the session as a child of it, a
	// conversation of the seat whose address is FlowID.
	Parent string
	FlowID string
	// Key makes the dispatch happen once: the same again is the first request.
	Key string
}

// Handle is what a dispatch hands back: the request that was queued.
type Handle struct {
	Request string `json:"requestId"`
	Session string `json:"sessionId"`
}

// Dispatch queues a request on another session, in the turn's transaction when it
// stands in one. It reaches public and internal actions. It refuses with
// *RefusedError (external-dispatcher), ErrUnknownKind, ErrUnknownAction,
// ErrInvalidInput, ErrNoSession, ErrUnaddressable and ErrLoopStopped; a refused
// dispatch queues nothing.
func Dispatch(t *Turn, to Target, input any) (Handle, error) {
	if !t.engine.deps.Dispatcher.LeaseBackend() {
		return Handle{}, &RefusedError{Refused: ExternalDispatcher}
	}
	raw, err := canonical(input)
	if err != nil {
		return Handle{}, fmt.Errorf("dispatch %s: %w", to.Action, err)
	}
	action, err := t.engine.action(to.Kind, to.Action, true)
	if err != nil {
		return Handle{}, err
	}
	if err := checkInput(action, raw); err != nil {
		return Handle{}, err
	}
	var handle Handle
	var stopped error
	err = t.Atomically(func(tx *Turn) error {
		stopped = nil
		var err error
		handle, err = tx.dispatch(to, action, raw)
		if errors.Is(err, ErrLoopStopped) {
			// The notice is to be kept, so the transaction goes on; only the
			// dispatch is refused.
			stopped = err
			return tx.noticeLoop(err)
		}
		return err
	})
	if err != nil {
		return Handle{}, err
	}
	return handle, stopped
}

func (t *Turn) dispatch(to Target, action Action, input json.RawMessage) (Handle, error) {
	target, err := t.target(to)
	if err != nil {
		return Handle{}, err
	}
	request := Request{
		Organization: target.Organization, Session: target.ID, Kind: to.Kind, Action: to.Action, Input: input,
		Principal: t.request.Principal, Source: FromDispatch, Cause: t.request.ID, Depth: t.request.Depth,
		Lane: action.Lane, Key: to.Key,
	}
	if target.ID == t.session.ID {
		request.Source = FromInternal
	}
	if t.agent {
		request.Depth++
	}
	if action.Atomic && action.Lane == Beside && target.ID == t.session.ID && t.effects.follow != nil {
		request.Key = "" // the request that makes it is written once, and it with that
		request.ID = t.engine.deps.NewID("req")
		*t.effects.follow = append(*t.effects.follow, followUp{request, action, target})
		return Handle{Request: request.ID, Session: target.ID}, nil
	}
	if to.Key != "" {
		known, found, err := t.tx.Keyed(t.ctx, request)
		if err != nil {
			return Handle{}, err
		}
		if found {
			return Handle{Request: known.ID, Session: known.Session}, nil
		}
	}
	if err := t.guardLoop(target, request); err != nil {
		return Handle{}, err
	}
	if err := t.engine.add(t.ctx, t.tx, t.effects, &request, target); err != nil {
		return Handle{}, err
	}
	return Handle{Request: request.ID, Session: target.ID}, nil
}

// target finds the session a dispatch addresses, or creates the child it may create.
func (t *Turn) target(to Target) (Session, error) {
	found, ok, err := t.tx.Session(t.ctx, t.session.Organization, to.Session)
	switch {
	case err != nil:
		return Session{}, err
	case ok && found.Kind != to.Kind:
		return Session{}, ErrUnaddressable.With("session", to.Session, "kind", to.Kind, "held by", found.Kind)
	case ok:
		return found, nil
	case to.Parent == "":
		return Session{}, ErrNoSession.With("session", to.Session)
	}
	if err := CheckID(to.Session); err != nil {
		return Session{}, err
	}
	made := Session{
		Organization: t.session.Organization, ID: to.Session, Kind: to.Kind, Owner: t.request.Principal.ID,
		Parent: to.Parent, FlowID: to.FlowID, CreatedAt: t.Now(),
	}
	return made, t.tx.CreateSession(t.ctx, made)
}

// guardLoop refuses what agents cause agents to do without end.
func (t *Turn) guardLoop(target Session, r Request) error {
	limits := t.engine.limits
	if r.Depth > limits.Depth {
		return ErrLoopStopped.With("depth", r.Depth, "most", limits.Depth, "session", target.ID)
	}
	if target.Parent == "" || r.Depth == 0 {
		return nil
	}
	caused, err := t.tx.AgentCaused(t.ctx, target.Organization, target.ID, t.Now().Add(-time.Hour))
	if err != nil {
		return err
	}
	if caused >= limits.CausedPerHour {
		return ErrLoopStopped.With("caused in the last hour", caused, "most", limits.CausedPerHour, "session", target.ID)
	}
	return nil
}

// noticeLoop leaves one item that people see, at most once an hour and session.
func (t *Turn) noticeLoop(refusal error) error {
	last, err := t.Items(ItemQuery{Type: TypeFailure, Newest: true, Limit: 1})
	if err != nil {
		return err
	}
	for _, item := range last {
		var said fault.Failure
		if json.Unmarshal(item.Data, &said) == nil && said.Code == ErrLoopStopped.Code && t.Now().Sub(item.CreatedAt) < time.Hour {
			return nil
		}
	}
	_, err = t.Emit(Entry{Type: TypeFailure, Data: fault.FailureOf(refusal)})
	return err
}

package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode"
	"unicode/utf8"

	"postroom/domain/account"
	"postroom/domain/fault"
	"postroom/domain/live"
)

// Client asks things of sessions, as whoever stands outside the engine does:
// handlers, commands, the opening of mailboxes.
type Client struct {
	engine *Engine
}

// Client is the way in.
func (e *Engine) Client() *Client { return &Client{engine: e} }

// Reader looks up what is stored.
func (c *Client) Reader() Reader { return c.engine.deps.Store }

// Submission is a request as a caller makes it.
type Submission struct {
	Kind      string
	Session   string
	Action    string
	Input     json.RawMessage
	Principal account.Principal
	Key       string // idempotency key, at most 200 bytes; empty for none
}

// Submit writes a request down and returns once that is durable. It refuses at
// once what the address and the input alone show: ErrUnknownKind,
// ErrUnknownAction, ErrInvalidID, ErrInvalidInput and the action's own checks,
// ErrWrongKind, ErrKeyReused. What only the turn can know makes the request fail.
// A session that does not exist is created, empty and inert. A read is answered
// at once: the request comes back ended.
func (c *Client) Submit(ctx context.Context, s Submission) (Request, error) {
	action, err := c.engine.action(s.Kind, s.Action, false)
	if err != nil {
		return Request{}, err
	}
	if err := CheckID(s.Session); err != nil {
		return Request{}, err
	}
	if err := checkKey(s.Key); err != nil {
		return Request{}, err
	}
	input, err := canonical(s.Input)
	if err != nil {
		return Request{}, ErrInvalidInput.Because(err)
	}
	if err := checkInput(action, input); err != nil {
		return Request{}, err
	}
	request := Request{
		Organization: s.Principal.Organization, Session: s.Session, Kind: s.Kind, Action: s.Action, Input: input,
		Principal: s.Principal, Source: FromClient, Lane: action.Lane, Key: s.Key,
	}
	asked := request
	err = c.engine.write(ctx, func(tx Tx, fx *effects) error {
		request = asked // a run again of this function starts from nothing
		return c.accept(ctx, tx, fx, &request, action, true)
	})
	if errors.Is(err, errNotAtOnce) {
		err = c.engine.write(ctx, func(tx Tx, fx *effects) error {
			request = asked
			return c.accept(ctx, tx, fx, &request, action, false)
		})
	}
	return request, err
}

// errNotAtOnce undoes a turn that was tried in the transaction that keeps its
// request and refused: it takes its turn as any other, which keeps the refusal.
var errNotAtOnce = errors.New("the turn is to be taken by itself")

// accept keeps the request, or finds the one that its key names. What needs no turn
// of its own, a read or an atomic action of an idle session, is done at once.
func (c *Client) accept(ctx context.Context, tx Tx, fx *effects, r *Request, a Action, atOnce bool) error {
	s, err := c.sessionFor(ctx, tx, *r)
	if err != nil {
		return err
	}
	if r.Key != "" {
		known, found, err := tx.Keyed(ctx, *r)
		switch {
		case err != nil:
			return err
		case found && !bytes.Equal(known.Input, r.Input):
			return ErrKeyReused.With("request", known.ID)
		case found:
			*r = known
			return nil
		}
	}
	switch {
	case a.Lane == ReadLane:
		return c.atOnce(ctx, tx, fx, r, s, a)
	case atOnce && a.Atomic && a.Lane == TurnLane:
		idle, err := tx.Idle(ctx, s.Organization, s.ID)
		if err != nil {
			return err
		}
		if idle {
			return c.atOnce(ctx, tx, fx, r, s, a)
		}
	}
	return c.engine.add(ctx, tx, fx, r, s)
}

// atOnce runs an action in the transaction that keeps its request, which is
// written once, as it ended. A refused turn is undone; a refused read has nothing
// to undo. What the turn has its session do beside it, such as handing a line on,
// is done here too where that is rows alone.
func (c *Client) atOnce(ctx context.Context, tx Tx, fx *effects, r *Request, s Session, a Action) error {
	var follow []followUp
	if a.Lane == TurnLane {
		fx.follow = &follow
	}
	r.ID = c.engine.deps.NewID("req")
	if err := c.whole(ctx, tx, fx, r, s, a); err != nil {
		return err
	}
	fx.follow = nil
	for _, f := range follow {
		if err := c.whole(ctx, tx, fx, &f.request, f.session, f.action); err != nil {
			return err
		}
	}
	return nil
}

// whole does one request from beginning to end.
func (c *Client) whole(ctx context.Context, tx Tx, fx *effects, r *Request, s Session, a Action) error {
	e := c.engine
	r.QueuedAt, r.Status, r.Attempt, r.Owner = e.deps.Clock(), Running, 1, e.deps.Owner
	r.StartedAt = r.QueuedAt
	if err := tx.Place(ctx, r); err != nil {
		return err
	}
	t := (&Turn{ctx: ctx, engine: e, request: *r, session: s, agent: a.Agent}).within(tx, fx)
	out, err := call(e, t, a, r.Input)
	switch {
	case storeBroke(err):
		return err
	case err != nil && a.Lane != ReadLane:
		return errNotAtOnce
	case err != nil:
		if err := e.note(t, r, err); err != nil {
			return err
		}
	default:
		r.Status, r.Output = Completed, out
	}
	r.FinishedAt = e.deps.Clock()
	fx.changes = append(fx.changes, changeOf(s, r.ID, 0))
	return tx.KeepRequest(ctx, *r)
}

func (c *Client) sessionFor(ctx context.Context, tx Tx, r Request) (Session, error) {
	s, found, err := tx.Session(ctx, r.Organization, r.Session)
	switch {
	case err != nil:
		return Session{}, err
	case found && s.Kind != r.Kind:
		return Session{}, ErrWrongKind.With("session", r.Session, "kind", s.Kind)
	case found:
		return s, nil
	}
	s = Session{
		Organization: r.Organization, ID: r.Session, Kind: r.Kind, Owner: r.Principal.ID, CreatedAt: c.engine.deps.Clock(),
	}
	return s, tx.CreateSession(ctx, s)
}

// Wait returns the request once it has ended, or as it is when ctx ends.
func (c *Client) Wait(ctx context.Context, organization, id string) (Request, error) {
	sub := c.engine.deps.Live.Subscribe(live.OfRequest(id))
	defer sub.Close()
	for {
		r, found, err := c.Reader().Request(context.WithoutCancel(ctx), organization, id)
		switch {
		case err != nil:
			return Request{}, err
		case !found:
			return Request{}, ErrNoRequest.With("request", id)
		case r.Status.Ended():
			return r, nil
		}
		if _, err := sub.Next(ctx); err != nil {
			return r, nil //nolint:nilerr // the caller's patience ended; the request is as it was last seen.
		}
	}
}

// Cancel ends a request that has not ended, queued or running. A running one
// loses its lease at once, so nothing of it lands after this returns. It refuses
// with ErrNoRequest and ErrAlreadyEnded.
func (c *Client) Cancel(ctx context.Context, by account.Principal, id string) (Request, error) {
	e := c.engine
	why := fault.FailureOf(ErrCancelled.With("by", by.ID))
	var ended Request
	err := e.write(ctx, func(tx Tx, fx *effects) error {
		r, found, err := tx.Request(ctx, by.Organization, id)
		if err != nil {
			return err
		}
		if !found {
			return ErrNoRequest.With("request", id)
		}
		var ok bool
		ended, ok, err = tx.Cancel(ctx, by.Organization, id, why, e.deps.Clock())
		if err != nil {
			return err
		}
		if !ok {
			return ErrAlreadyEnded.With("request", id, "status", r.Status)
		}
		s, _, err := tx.Session(ctx, r.Organization, r.Session)
		if err != nil {
			return err
		}
		fx.changes = append(fx.changes, changeOf(s, r.ID, 0))
		fx.wakes = append(fx.wakes, Wake{Organization: r.Organization, Session: r.Session})
		if a, err := e.action(r.Kind, r.Action, true); err == nil && a.Agent && r.Status == Running {
			t := (&Turn{ctx: ctx, engine: e, request: ended, session: s}).within(tx, fx)
			_, err = t.Emit(Entry{Type: TypeFailure, Data: why})
			return err
		}
		return nil
	})
	if err != nil {
		return Request{}, err
	}
	e.stopRun(ended, ErrCancelled)
	return ended, nil
}

// Create makes a session, refusing a taken id with ErrSessionTaken.
func (c *Client) Create(ctx context.Context, s Session) error {
	if err := CheckID(s.ID); err != nil {
		return err
	}
	s.CreatedAt = c.engine.deps.Clock()
	return c.engine.write(ctx, func(tx Tx, fx *effects) error {
		fx.changes = append(fx.changes, changeOf(s, "", 0))
		return tx.CreateSession(ctx, s)
	})
}

// ReplaceEmpty puts s in the place of a session that holds nothing: no items and
// no state. It reports false, and changes nothing, when the session holds something.
func (c *Client) ReplaceEmpty(ctx context.Context, s Session) (bool, error) {
	s.CreatedAt = c.engine.deps.Clock()
	var done bool
	err := c.engine.write(ctx, func(tx Tx, fx *effects) error {
		var err error
		done, err = tx.ReplaceEmptySession(ctx, s)
		fx.changes = append(fx.changes, changeOf(s, "", 0))
		return err
	})
	return done && err == nil, err
}

// CheckID refuses what is no session id.
func CheckID(id string) error {
	if id == "" || len(id) > MaxIDBytes || !utf8.ValidString(id) {
		return ErrInvalidID.With("bytes", len(id))
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return ErrInvalidID.With("control character", fmt.Sprintf("%U", r))
		}
	}
	return nil
}

func checkKey(key string) error {
	if key == "" {
		return nil
	}
	if CheckID(key) != nil {
		return ErrInvalidKey.With("bytes", len(key))
	}
	return nil
}

func checkInput(a Action, input json.RawMessage) error {
	if a.Schema != nil {
		if err := a.Schema.Validate(input); err != nil {
			return ErrInvalidInput.Saying("The input does not have the form that the action takes: " + err.Error() + ".").Because(err)
		}
	}
	if a.Check == nil {
		return nil
	}
	return a.Check(input)
}

// canonical is the one form of equal JSON: sorted keys, no blanks. Nothing is {}.
func canonical(input any) (json.RawMessage, error) {
	raw, isRaw := input.(json.RawMessage)
	if !isRaw {
		var err error
		if raw, err = json.Marshal(input); err != nil {
			return nil, err
		}
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return json.RawMessage("{}"), nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one JSON value")
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return nil, err
	}
	return json.RawMessage(bytes.TrimSpace(out.Bytes())), nil
}

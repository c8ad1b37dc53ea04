package session

import (
	"context"
	"time"

	"postroom/domain/fault"
)

// Store keeps sessions, requests and items. Reading it sees what is committed.
type Store interface {
	Reader
	// Write runs fn in one transaction, which is durable when Write returns nil.
	// An error of fn's undoes all of it and comes back as it is. fn may run again,
	// so it has no effect but its rows; it must not call Write. When ctx ends the
	// caller stops waiting, and the write may still happen.
	Write(ctx context.Context, fn func(tx Tx) error) error
}

// Reader looks things up.
type Reader interface {
	Session(ctx context.Context, organization, id string) (Session, bool, error)
	Sessions(ctx context.Context, q SessionQuery) ([]Session, error)
	Request(ctx context.Context, organization, id string) (Request, bool, error)
	Requests(ctx context.Context, q RequestQuery) ([]Request, error)
	Items(ctx context.Context, q ItemQuery) ([]Item, error)
	// Work lists queued requests, oldest first, for the ready queue's rebuilding.
	Work(ctx context.Context, afterID string, limit int) ([]Request, error)
	// Lapsed lists requests that run under a lease that ended by now, or, with an
	// owner, under any other owner's lease.
	Lapsed(ctx context.Context, now time.Time, notOwner string, limit int) ([]Request, error)
}

// Tx is one transaction. It holds the writer, so what it reads stays true until
// it ends.
type Tx interface {
	Reader
	KeepsSessions
	KeepsRequests
	// AppendItem gives the item its Seq and keeps it.
	AppendItem(ctx context.Context, item *Item) error
}

// KeepsSessions changes sessions.
type KeepsSessions interface {
	// CreateSession refuses a taken id with ErrSessionTaken.
	CreateSession(ctx context.Context, s Session) error
	SetState(ctx context.Context, organization, id string, state []byte) error
	// ReplaceEmptySession puts s in the place of the session at its id, if that
	// has no items and empty state; it reports whether it did. The requests made of
	// the empty session stay, and positions go on.
	ReplaceEmptySession(ctx context.Context, s Session) (bool, error)
}

// KeepsRequests changes requests. Each change names what it expects and reports
// whether it found it so.
type KeepsRequests interface {
	// Place gives the request its Position.
	Place(ctx context.Context, r *Request) error
	// Idle reports whether no turn of the session is queued or running.
	Idle(ctx context.Context, organization, session string) (bool, error)
	// KeepRequest keeps a request that has its Position as it is.
	KeepRequest(ctx context.Context, r Request) error
	// AddRequest gives the request its Position and keeps it.
	AddRequest(ctx context.Context, r *Request) error
	// Keyed is the request that a principal made of a session's action under a key.
	Keyed(ctx context.Context, r Request) (Request, bool, error)
	// Claim takes a queued request: running, the owner's until then, one attempt more.
	Claim(ctx context.Context, id, owner string, now, until time.Time) (Request, bool, error)
	// NextTurn is the queued turn of the lowest position, unless a turn is running.
	NextTurn(ctx context.Context, organization, session string) (Request, bool, error)
	// Settle ends a request that runs in this attempt under a lease not yet over.
	Settle(ctx context.Context, r Request, now time.Time) (bool, error)
	// Holds reports whether the attempt runs under a lease not yet over.
	Holds(ctx context.Context, id string, attempt int, now time.Time) (bool, error)
	ChangesRequests
}

// ChangesRequests changes requests from outside their own turn.
type ChangesRequests interface {
	// Renew lengthens the leases of running requests of one owner.
	Renew(ctx context.Context, owner string, ids []string, now, until time.Time) error
	// Requeue puts a request that runs in this attempt back to queued.
	Requeue(ctx context.Context, id string, attempt int) (bool, error)
	// Cancel ends a request that has not ended, whoever runs it.
	Cancel(ctx context.Context, organization, id string, why *fault.Failure, now time.Time) (Request, bool, error)
	// AgentCaused counts requests of a session with Depth > 0 queued since then.
	AgentCaused(ctx context.Context, organization, session string, since time.Time) (int, error)
}

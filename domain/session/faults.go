package session

import "postroom/domain/fault"

// Refusals of the substrate.
var (
	ErrInvalidID     = fault.Define(fault.Invalid, "invalid-session-id", "A session id is 1 to 200 bytes of valid text without control characters; use another.")
	ErrUnknownKind   = fault.Define(fault.NotFound, "unknown-kind", "No such kind is registered here; check the kind in the address.")
	ErrUnknownAction = fault.Define(fault.NotFound, "unknown-action", "The kind has no such action for a caller; check the action in the address.")
	ErrInvalidInput  = fault.Define(fault.Invalid, "invalid-input", "The input does not have the form that the action takes; see details.")
	ErrWrongKind     = fault.Define(fault.Conflict, "wrong-kind", "The session belongs to another kind; address it by that kind.")
	ErrKeyReused     = fault.Define(fault.Conflict, "idempotency-key-reused", "This idempotency key came before with other content; use a new key for a new request.")
	ErrInvalidKey    = fault.Define(fault.Invalid, "invalid-idempotency-key", "An idempotency key is at most 200 bytes of visible text; use a shorter one.")
	ErrNoRequest     = fault.Define(fault.NotFound, "request-not-found", "No request has this id; it may belong to another organization.")
	ErrNoSession     = fault.Define(fault.NotFound, "session-not-found", "No session has this id, and a dispatch creates none; open it first.")
	ErrUnaddressable = fault.Define(fault.Conflict, "session-not-addressable", "The session runs on another kind than the dispatch names; address that kind.")
	ErrSessionTaken  = fault.Define(fault.Conflict, "session-taken", "A session already has this id.")
	ErrAlreadyEnded  = fault.Define(fault.Conflict, "already-ended", "The request has ended already; nothing was cancelled.")
	ErrCancelled     = fault.Define(fault.Conflict, "cancelled", "Somebody cancelled this; ask again if it is still wanted.")
	ErrInterrupted   = fault.Define(fault.Busy, "interrupted", "The server stopped while this ran, and it could not be resumed; ask again.")
	ErrRunTimeout    = fault.Define(fault.Busy, "run-timeout", "The run took longer than it may; ask again, or raise the limit.")
	ErrLeaseLost     = fault.Define(fault.Conflict, "lease-lost", "This attempt no longer holds its request; what it tried to write was dropped.")
	ErrLoopStopped   = fault.Define(fault.Conflict, "loop-stopped", "Agents were causing work for agents without end; the chain was stopped here. A person can go on from the conversation.")
	ErrStopping      = fault.Define(fault.Busy, "shutting-down", "The server is stopping; send the same request again in a moment.")
	ErrPanicked      = fault.Define(fault.Internal, "internal", "Something broke on our side; what was accepted is kept. Try again.")
)

// RefusedError is a dispatch that this deployment cannot carry (the seed's
// DispatchRefusedError). Refused says why, such as "external-dispatcher".
type RefusedError struct {
	Refused string
}

// Error names the reason and the way out.
func (e *RefusedError) Error() string {
	return e.Refused + ": the dispatcher hands work to an external queue whose workers share no lease backend, so an existing session cannot be addressed from a turn"
}

// Unwrap is the coded form of the refusal.
func (e *RefusedError) Unwrap() error {
	return fault.Define(fault.Conflict, e.Refused,
		"Dispatch goes to an external queue whose workers share no lease backend, so an existing session cannot be addressed from a turn.")
}

// ExternalDispatcher is the Refused of a deployment whose workers share no lease backend.
const ExternalDispatcher = "external-dispatcher"

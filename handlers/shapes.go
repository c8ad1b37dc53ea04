package handlers

import (
	"encoding/json"
	"time"

	"postroom/domain/fault"
	"postroom/domain/session"
)

// requestShape is a request as the API shows it.
type requestShape struct {
	ID         string          `json:"id"`
	SessionID  string          `json:"sessionId"`
	Kind       string          `json:"kind"`
	Action     string          `json:"action"`
	Status     session.Status  `json:"status"`
	Failure    *fault.Failure  `json:"failure"`
	Output     json.RawMessage `json:"output"`
	Principal  string          `json:"principal"`
	Source     session.Source  `json:"source"`
	Cause      string          `json:"cause,omitempty"`
	Position   int64           `json:"position"`
	Attempt    int             `json:"attempt"`
	QueuedAt   time.Time       `json:"queuedAt"`
	StartedAt  *time.Time      `json:"startedAt"`
	FinishedAt *time.Time      `json:"finishedAt"`
}

func shapeOf(r session.Request) requestShape {
	out := r.Output
	if len(out) == 0 {
		out = json.RawMessage("null")
	}
	return requestShape{
		ID: r.ID, SessionID: r.Session, Kind: r.Kind, Action: r.Action, Status: r.Status, Failure: r.Failure, Output: out,
		Principal: r.Principal.ID, Source: r.Source, Cause: r.Cause, Position: r.Position, Attempt: r.Attempt,
		QueuedAt: r.QueuedAt.UTC(), StartedAt: instant(r.StartedAt), FinishedAt: instant(r.FinishedAt),
	}
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// sessionShape is a session as the API shows it.
type sessionShape struct {
	ID        string          `json:"id"`
	Kind      string          `json:"kind"`
	Owner     string          `json:"owner"`
	Parent    string          `json:"parent,omitempty"`
	FlowID    string          `json:"flowId,omitempty"`
	Status    string          `json:"status,omitempty"` // of a conversation
	LastSeq   int64           `json:"lastSeq"`
	State     json.RawMessage `json:"state,omitempty"`
	CreatedAt time.Time       `json:"createdAt"`
}

// page is a page of a list: next is what to ask after, or null at the end.
type page[T any] struct {
	Items []T `json:"items"`
	Next  any `json:"next"`
}

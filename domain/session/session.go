package session

import (
	"encoding/json"
	"time"

	"postroom/domain/account"
	"postroom/domain/fault"
)

// MaxIDBytes is the longest a session id may be.
const MaxIDBytes = 200

// Session is one addressable thing that takes turns: a mailbox, a seat's
// conversation, whatever a kind makes of it. Unique by (Organization, ID).
type Session struct {
	Organization string
	ID           string
	Kind         string
	Owner        string // the principal it was created for
	Parent       string // the session it is a child of, or empty
	FlowID       string // a conversation's seat address, or empty
	State        json.RawMessage
	LastSeq      int64 // of its newest item; 0 without any
	CreatedAt    time.Time
}

// Lane says how a request takes its turn.
type Lane string

// The lanes.
const (
	// TurnLane requests of one session run one at a time, in order of position.
	TurnLane Lane = "turn"
	// Beside requests count in the session's history but wait for no turn.
	Beside Lane = "beside"
	// ReadLane requests are answered at once and do not count in the history window.
	ReadLane Lane = "read"
)

// Status is where a request stands: queued → running → one of the three ends.
type Status string

// The statuses.
const (
	Queued    Status = "queued"
	Running   Status = "running"
	Completed Status = "completed"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Ended reports whether a request in this status is over.
func (s Status) Ended() bool { return s == Completed || s == Failed || s == Cancelled }

// Source says through which door a request came.
type Source string

// The sources.
const (
	FromClient   Source = "client"   // an API call or a form
	FromDispatch Source = "dispatch" // another session's turn
	FromInternal Source = "internal" // the session itself, such as a post's fan-out
)

// Request is one thing asked of a session: the audit trail, the queue and the
// activity feed at once.
type Request struct {
	ID           string
	Organization string
	Session      string
	Kind         string
	Action       string
	Input        json.RawMessage
	Principal    account.Principal
	Source       Source
	Cause        string // the request whose turn made this one, or empty
	Depth        int    // how many agents' runs stand in the chain of causes
	Position     int64  // dense per session, from 1
	Lane         Lane
	Status       Status
	Failure      *fault.Failure
	Output       json.RawMessage
	Owner        string // the worker that holds it while it runs
	Until        time.Time
	Attempt      int
	Key          string // the caller's idempotency key, or empty
	QueuedAt     time.Time
	StartedAt    time.Time
	FinishedAt   time.Time
}

// Item is one thing a session's turns left behind. Append only.
type Item struct {
	ID           string          `json:"id"`
	Organization string          `json:"-"`
	Session      string          `json:"-"`
	Request      string          `json:"requestId"`
	Seq          int64           `json:"seq"` // dense per session, from 1
	Type         string          `json:"type"`
	Component    string          `json:"component,omitempty"`
	Data         json.RawMessage `json:"data"`
	CreatedAt    time.Time       `json:"createdAt"`
	Position     int64           `json:"-"` // of its request; for writing only
}

// The types of items.
const (
	TypeComponent  = "component"
	TypeMessage    = "message"
	TypeToolUse    = "tool-use"
	TypeToolResult = "tool-result"
	TypeUsage      = "usage"
	TypeFailure    = "failure"
)

// Entry is an item that is about to be written.
type Entry struct {
	Type      string
	Component string
	Data      any // marshalled to JSON
}

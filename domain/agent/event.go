package agent

import (
	"encoding/json"

	"postroom/domain/model"
)

// Prompt is what a person, or another agent, says: text or blocks.
type Prompt []model.Block

// Text is a prompt of text.
func Text(s string) Prompt { return Prompt{model.Text(s)} }

// Event is one thing that happens in a query. They are passed by value.
type Event interface {
	Type() string
}

// InitEvent comes first.
type InitEvent struct {
	Subtype   string   `json:"subtype"` // "init"
	Model     string   `json:"model"`
	Tools     []string `json:"tools"`
	SessionID string   `json:"session_id"`
}

// Type is "system".
func (InitEvent) Type() string { return "system" }

// StreamEvent is a piece of text while a response arrives.
type StreamEvent struct {
	Text string `json:"text"`
}

// Type is "stream_event".
func (StreamEvent) Type() string { return "stream_event" }

// AssistantEvent comes after each response.
type AssistantEvent struct {
	Message model.Message `json:"message"`
}

// Type is "assistant".
func (AssistantEvent) Type() string { return "assistant" }

// UserEvent comes once a batch of tool calls, with all their results in call order.
type UserEvent struct {
	Message model.Message `json:"message"`
}

// Type is "user".
func (UserEvent) Type() string { return "user" }

// ResultEvent comes last.
type ResultEvent struct {
	Result
}

// Type is "result".
func (ResultEvent) Type() string { return "result" }

// The subtypes of a result.
const (
	Success       = "success"
	Interrupted   = "interrupted"
	Failed        = "error"
	FailedTurns   = "error_max_turns"
	FailedAbort   = "error_abort"
	FailedTimeout = "error_timeout"
)

// Result is how a query ended. A failed run is a result with an error.
type Result struct {
	Subtype    string          `json:"subtype"`
	IsError    bool            `json:"is_error"`
	Text       string          `json:"result"` // the last response's text
	Structured json.RawMessage `json:"structuredResult,omitempty"`
	SessionID  string          `json:"session_id"`
	NumTurns   int             `json:"num_turns"` // model requests
	Usage      model.Usage     `json:"usage"`     // summed over them
	StopReason string          `json:"stop_reason,omitempty"`
	Model      string          `json:"model,omitempty"` // that answered last
	Err        error           `json:"-"`
}

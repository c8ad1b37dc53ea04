package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Offline is the model name under which answers come without a language model.
const Offline = "offline"

// Role says who speaks in a message.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// The types of blocks.
const (
	TextBlock             = "text"
	ToolUseBlock          = "tool_use"
	ToolResultBlock       = "tool_result"
	ThinkingBlock         = "thinking"
	RedactedThinkingBlock = "redacted_thinking"
)

// Block is one part of a message, in the Messages API's spelling. Which fields
// are set depends on Type.
type Block struct {
	Type string `json:"type"`
	Text string `json:"text,omitempty"` // text

	ID    string          `json:"id,omitempty"`    // tool_use
	Name  string          `json:"name,omitempty"`  // tool_use
	Input json.RawMessage `json:"input,omitempty"` // tool_use

	ToolUseID string `json:"tool_use_id,omitempty"` // tool_result
	Content   string `json:"content,omitempty"`     // tool_result
	IsError   bool   `json:"is_error,omitempty"`    // tool_result

	// Thinking goes back to the provider as it came: it refuses a tool's result
	// whose call was thought out in a block that is missing or changed.
	Thinking  string `json:"thinking,omitempty"`  // thinking
	Signature string `json:"signature,omitempty"` // thinking
	Data      string `json:"data,omitempty"`      // redacted_thinking

	// Malformed is a tool call's input that is no JSON, as it came; Input is then an
	// empty object. Such a call is never run.
	Malformed string `json:"malformed,omitempty"` // tool_use
}

// Text is a text block.
func Text(s string) Block { return Block{Type: TextBlock, Text: s} }

// Called is the block of a tool call whose input came as raw: nothing stands for an
// empty object, and what is no JSON object is kept as Malformed.
func Called(id, name string, raw json.RawMessage) Block {
	b := Block{Type: ToolUseBlock, ID: id, Name: name, Input: json.RawMessage("{}")}
	trimmed := bytes.TrimSpace(raw)
	switch {
	case len(trimmed) == 0:
	case trimmed[0] == '{' && json.Valid(trimmed):
		b.Input = json.RawMessage(trimmed)
	default:
		b.Malformed = string(raw)
	}
	return b
}

// Message is one turn of a conversation.
type Message struct {
	Role    Role    `json:"role"`
	Content []Block `json:"content"`
}

// Words is the text of the message's text blocks, joined.
func (m Message) Words() string {
	var words string
	for _, b := range m.Content {
		if b.Type == TextBlock {
			words += b.Text
		}
	}
	return words
}

// ToolUses are the message's tool calls, in order.
func (m Message) ToolUses() []Block {
	var uses []Block
	for _, b := range m.Content {
		if b.Type == ToolUseBlock {
			uses = append(uses, b)
		}
	}
	return uses
}

// Tool is a tool as a model is told of it.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}

// Document is something a model may read beside the conversation.
type Document struct {
	Name  string // as it is cited
	Title string
	Text  string // Markdown
}

// Request asks for one response.
type Request struct {
	Model     string
	System    string
	Messages  []Message
	Tools     []Tool
	MaxTokens int // most tokens of the response; 0: the client's default
	// Thinking and ReasoningEffort are sent only when they are set.
	Thinking        Thinking
	ReasoningEffort string // "low", "high" or "max"
	Force           string // the name of a tool that the response must call
	// Documents are those that a model in the asker's place could read. Clients
	// that send requests elsewhere leave them out: there, reading is a tool.
	Documents []Document
}

// Thinking asks a model to think, or not to, before it answers.
type Thinking struct {
	Mode   string // "adaptive", "enabled" or "disabled"; empty: not sent
	Budget int    // with "enabled": tokens of thought, below the response's most
}

// Usage counts tokens; zeros when the provider reported none.
type Usage struct {
	InputTokens  int `json:"input_tokens"`
	OutputTokens int `json:"output_tokens"`
}

// Add is the sum of both.
func (u Usage) Add(other Usage) Usage {
	return Usage{InputTokens: u.InputTokens + other.InputTokens, OutputTokens: u.OutputTokens + other.OutputTokens}
}

// StopReason says why a response ended.
type StopReason string

// The reasons.
const (
	EndTurn   StopReason = "end_turn"
	ToolUse   StopReason = "tool_use"
	MaxTokens StopReason = "max_tokens"
	Refusal   StopReason = "refusal"
)

// Response is one whole answer of a model.
type Response struct {
	Model      string
	Content    []Block
	StopReason StopReason
	Usage      Usage
}

// ToolCalls are the response's tool calls, in order.
func (r Response) ToolCalls() []Block { return Message{Content: r.Content}.ToolUses() }

// Client asks a model. Respond returns only a response that arrived whole: one cut
// off is an error. While it arrives, each piece of its text goes to delta, if that
// is not nil. It ends with ctx.
type Client interface {
	Respond(ctx context.Context, r Request, delta func(text string)) (Response, error)
}

// Question asks for one of a closed set of answers.
type Question struct {
	Block   string // what asks, such as "mailbox-route"
	Name    string // such as "member"
	Ask     string
	Choices []Choice
	State   any // what the answer is to be found in; marshals to JSON
}

// Choice is one answer that may be given.
type Choice struct {
	ID          string
	Description string
	// Documents are what stands behind the choice, for evaluators that compare words.
	// Others leave them out.
	Documents []Document
}

// Answer is the choice made, with the scores of all when the evaluator has them.
type Answer struct {
	Choice    string // empty: none of them fits
	Scores    map[string]float64
	Evaluator string // that answered
}

// Evaluator answers questions with a closed set of answers.
type Evaluator interface {
	Evaluate(ctx context.Context, q Question) (Answer, error)
}

// What makes a response unusable.
var (
	// ErrNoContent is a response without anything in it.
	ErrNoContent = errors.New("the model's response has no content")
	// ErrRefused is a response that the model, or whoever watches it, broke off.
	ErrRefused = errors.New("the model refused to answer")
	// ErrIncomplete is a response that was cut off before its closing event.
	ErrIncomplete = errors.New("the model's response was cut off before its end")
)

// Error is a provider that refused or failed a request.
type Error struct {
	Status   int    // HTTP status; 0 where no answer came
	Type     string // the provider's own name of the fault, such as overloaded_error
	Message  string
	Request  string // the provider's id of the request, for asking there
	Attempts int    // how often it was asked
	Cause    error
}

// Error says what the provider said, and how often it was asked.
func (e *Error) Error() string {
	text := "no answer"
	if e.Status != 0 {
		text = fmt.Sprintf("status %d", e.Status)
	}
	for _, part := range []string{e.Type, e.Message} {
		if part != "" {
			text += ", " + part
		}
	}
	if e.Request != "" {
		text += " (request " + e.Request + ")"
	}
	if e.Cause != nil && e.Message == "" {
		text += ": " + e.Cause.Error()
	}
	if e.Attempts > 1 {
		text += fmt.Sprintf(", after %d attempts", e.Attempts)
	}
	return text
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Cause }

package seat

import (
	"context"
	"sync"

	"postroom/domain/agent"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/session"
)

// running is a seat's run: what its tools and its journal share.
type running struct {
	turn  *session.Turn
	seat  Seat
	model string // that answered last

	woken  mailbox.Delivery // the post that woke it; zero for a talk
	mu     sync.Mutex
	handed bool // guarded by mu; its answer to a routed post was handed over
}

var _ agent.Journal = (*running)(nil)

// Message keeps the prompt and each response.
func (r *running) Message(_ context.Context, m model.Message) error {
	return r.emit(session.TypeMessage, MessageData{Role: m.Role, Content: m.Content})
}

// ToolStarted keeps a call before it is made.
func (r *running) ToolStarted(_ context.Context, c agent.Call) error {
	return r.emit(session.TypeToolUse, ToolUseData{ID: c.ID, Name: c.Name, Input: c.Input})
}

// ToolFinished keeps a call's result.
func (r *running) ToolFinished(_ context.Context, c agent.Call, res agent.ToolResult) error {
	return r.emit(session.TypeToolResult, ToolResultData{ID: c.ID, Name: c.Name, Text: res.Text, IsError: res.IsError, EndTurn: res.EndTurn})
}

// Usage keeps what a response cost.
func (r *running) Usage(_ context.Context, name string, u model.Usage) error {
	r.model = name
	return r.emit(session.TypeUsage, UsageData{Model: name, Usage: u})
}

func (r *running) emit(kind string, data any) error {
	_, err := r.turn.Emit(session.Entry{Type: kind, Data: data})
	return err
}

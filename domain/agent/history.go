package agent

import (
	"context"
	"slices"
	"sync"

	"postroom/domain/model"
)

// HistoryStore keeps one conversation. Load is called once, before the first query.
type HistoryStore interface {
	Load(ctx context.Context) ([]model.Message, error)
	Append(ctx context.Context, m model.Message) error
	Replace(ctx context.Context, all []model.Message) error
}

// MemoryHistory is a history in memory, beginning with these messages.
func MemoryHistory(messages ...model.Message) HistoryStore {
	return &memory{messages: cloned(messages)}
}

type memory struct {
	mu       sync.Mutex
	messages []model.Message
}

func (m *memory) Load(context.Context) ([]model.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return cloned(m.messages), nil
}

func (m *memory) Append(_ context.Context, message model.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = append(m.messages, cloned([]model.Message{message})...)
	return nil
}

func (m *memory) Replace(_ context.Context, all []model.Message) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.messages = cloned(all)
	return nil
}

func cloned(messages []model.Message) []model.Message {
	all := slices.Clone(messages)
	for i := range all {
		all[i].Content = slices.Clone(all[i].Content)
	}
	return all
}

// The words of results that no tool gave.
const (
	textInterrupted = "interrupted: the run ended before this call was finished; its outcome is unknown"
	textNotStarted  = "interrupted: the run ended before this call was started; nothing was done"
)

// Paired is the history with every tool call followed at once by its result: those
// that have none get one that says they were interrupted, results without a call
// are left out, and messages of one role in a row become one. Such a history can
// always be sent.
func Paired(messages []model.Message) []model.Message {
	var all []model.Message
	var open []model.Block // calls of the last assistant message still without a result
	answer := func(content []model.Block) []model.Block {
		results := make([]model.Block, 0, len(open))
		for _, call := range open {
			i := slices.IndexFunc(content, func(b model.Block) bool { return b.Type == model.ToolResultBlock && b.ToolUseID == call.ID })
			if i >= 0 {
				results = append(results, content[i])
				continue
			}
			results = append(results, resultOf(Call{ID: call.ID}, ToolResult{Text: textInterrupted, IsError: true}))
		}
		open = nil
		for _, b := range content {
			if b.Type != model.ToolResultBlock {
				results = append(results, b)
			}
		}
		return results
	}
	for _, m := range messages {
		content := m.Content
		if m.Role == model.User || len(open) > 0 {
			if m.Role != model.User {
				all = append(all, model.Message{Role: model.User, Content: answer(nil)})
			} else {
				content = answer(content)
			}
		}
		if len(content) == 0 {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Role == m.Role {
			all[n-1].Content = append(slices.Clone(all[n-1].Content), content...)
		} else {
			all = append(all, model.Message{Role: m.Role, Content: content[:len(content):len(content)]})
		}
		if m.Role == model.Assistant {
			open = all[len(all)-1].ToolUses()
		}
	}
	if len(open) > 0 {
		all = append(all, model.Message{Role: model.User, Content: answer(nil)})
	}
	return all
}

func resultOf(c Call, r ToolResult) model.Block {
	return model.Block{Type: model.ToolResultBlock, ToolUseID: c.ID, Content: r.Text, IsError: r.IsError}
}

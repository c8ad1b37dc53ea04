package seat

import (
	"encoding/json"
	"fmt"

	"postroom/domain/agent"
	"postroom/domain/model"
	"postroom/domain/session"
)

// historyWindow is how many requests of its conversation back a seat remembers.
const historyWindow = 50

// What the items of a conversation hold, by type; they are the run's trace and the
// model's history at once.
type (
	// MessageData is a message item: the prompt, or a response.
	MessageData struct {
		Role    model.Role    `json:"role"`
		Content []model.Block `json:"content"`
	}
	// ToolUseData is a tool-use item: a call that was started.
	ToolUseData struct {
		ID    string          `json:"id"`
		Name  string          `json:"name"`
		Input json.RawMessage `json:"input"`
	}
	// ToolResultData is a tool-result item: a call that has ended.
	ToolResultData struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Text    string `json:"text"`
		IsError bool   `json:"isError,omitempty"`
		EndTurn bool   `json:"endTurn,omitempty"`
	}
	// UsageData is a usage item: what one response cost.
	UsageData struct {
		Model string `json:"model"`
		model.Usage
	}
)

// remembered is a conversation read back for a run.
type remembered struct {
	messages []model.Message
	begun    bool // the run itself wrote messages before it was cut off
	resume   agent.Resume
}

// remember reads the conversation's items inside the history window, those of the
// run itself included.
func remember(t *session.Turn) (remembered, error) {
	r := remembered{resume: agent.Resume{Started: map[string]bool{}, Finished: map[string]agent.ToolResult{}}}
	b := &replay{}
	own := t.Request().ID
	after := int64(0)
	for {
		page, err := t.Items(session.ItemQuery{Window: historyWindow, WindowBefore: t.Request().Position + 1, After: after})
		if err != nil {
			return r, fmt.Errorf("read the conversation: %w", err)
		}
		for _, item := range page {
			after = item.Seq
			if err := b.add(item); err != nil {
				return r, fmt.Errorf("read item %d of the conversation: %w", item.Seq, err)
			}
			if item.Request == own {
				r.note(item, b)
			}
		}
		if len(page) < session.MaxPage {
			break
		}
	}
	r.messages = b.finish()
	return r, nil
}

// note keeps what the run itself did before it was cut off.
func (r *remembered) note(item session.Item, b *replay) {
	switch item.Type {
	case session.TypeMessage:
		r.begun = true
	case session.TypeToolUse:
		r.resume.Started[b.lastUse.ID] = true
	case session.TypeToolResult:
		r.resume.Finished[b.lastResult.ID] = agent.ToolResult{Text: b.lastResult.Text, IsError: b.lastResult.IsError, EndTurn: b.lastResult.EndTurn}
	}
}

// replay turns items back into messages. The results of a response's calls become
// one message once all are there, or something follows them.
type replay struct {
	messages   []model.Message
	results    []model.Block
	lastUse    ToolUseData
	lastResult ToolResultData
}

func (b *replay) add(item session.Item) error {
	switch item.Type {
	case session.TypeMessage:
		var m MessageData
		if err := json.Unmarshal(item.Data, &m); err != nil {
			return err
		}
		b.flush()
		b.messages = append(b.messages, model.Message{Role: m.Role, Content: m.Content})
	case session.TypeToolUse:
		return json.Unmarshal(item.Data, &b.lastUse)
	case session.TypeToolResult:
		b.lastResult = ToolResultData{}
		if err := json.Unmarshal(item.Data, &b.lastResult); err != nil {
			return err
		}
		b.results = append(b.results, model.Block{
			Type: model.ToolResultBlock, ToolUseID: b.lastResult.ID, Content: b.lastResult.Text, IsError: b.lastResult.IsError,
		})
	}
	return nil
}

func (b *replay) flush() {
	if len(b.results) > 0 {
		b.messages = append(b.messages, model.Message{Role: model.User, Content: b.results})
		b.results = nil
	}
}

// finish leaves the results of the last response out while some are missing: the
// run that is taken up again knows them by its resume.
func (b *replay) finish() []model.Message {
	if n := len(b.messages); n > 0 && len(b.results) < len(b.messages[n-1].ToolUses()) {
		return b.messages
	}
	b.flush()
	return b.messages
}

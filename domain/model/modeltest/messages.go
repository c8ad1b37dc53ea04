package modeltest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"postroom/domain/model"
)

// messagesWire is the Messages API's format.
type messagesWire struct{}

func (messagesWire) decode(body []byte) (model.Request, error) {
	var in struct {
		Model     string `json:"model"`
		MaxTokens int    `json:"max_tokens"`
		Stream    bool   `json:"stream"`
		System    []struct {
			Text string `json:"text"`
		} `json:"system"`
		Messages []struct {
			Role    model.Role      `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Tools []model.Tool `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return model.Request{}, err
	}
	if in.Model == "" || in.MaxTokens < 1 || !in.Stream || len(in.Messages) == 0 {
		return model.Request{}, fmt.Errorf("model, max_tokens, stream and messages are required")
	}
	r := model.Request{Model: in.Model, MaxTokens: in.MaxTokens, Tools: in.Tools}
	for _, part := range in.System {
		r.System += part.Text
	}
	for i, m := range in.Messages {
		blocks, err := content(m.Content)
		if err != nil {
			return r, fmt.Errorf("message %d: %w", i, err)
		}
		r.Messages = append(r.Messages, model.Message{Role: m.Role, Content: blocks})
	}
	return r, pairing(r.Messages)
}

// content reads blocks, whose results may hold text or blocks of text.
func content(raw json.RawMessage) ([]model.Block, error) {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []model.Block{model.Text(text)}, nil
	}
	var parts []struct {
		model.Block
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	blocks := make([]model.Block, len(parts))
	for i, p := range parts {
		blocks[i] = p.Block
		var inner []struct {
			Text string `json:"text"`
		}
		switch {
		case len(p.Content) == 0:
		case json.Unmarshal(p.Content, &blocks[i].Content) == nil:
		case json.Unmarshal(p.Content, &inner) == nil:
			for _, one := range inner {
				blocks[i].Content += one.Text
			}
		}
	}
	return blocks, nil
}

// pairing refuses what the real API refuses with 400: a call without its result in
// the very next message, a result without its call, and an empty message.
func pairing(messages []model.Message) error {
	open := map[string]bool{}
	for i, m := range messages {
		if len(m.Content) == 0 {
			return fmt.Errorf("messages.%d: content is empty", i)
		}
		if i > 0 && messages[i-1].Role == m.Role {
			return fmt.Errorf("messages.%d: two in a row of role %s", i, m.Role)
		}
		for _, b := range m.Content {
			if b.Type != model.ToolResultBlock {
				continue
			}
			if !open[b.ToolUseID] {
				return fmt.Errorf("messages.%d: tool_result %s has no tool_use before it", i, b.ToolUseID)
			}
			delete(open, b.ToolUseID)
		}
		for id := range open {
			return fmt.Errorf("messages.%d: tool_use %s has no tool_result after it", i, id)
		}
		for _, b := range m.ToolUses() {
			if open[b.ID] {
				return fmt.Errorf("messages.%d: tool_use id %s comes twice", i, b.ID)
			}
			open[b.ID] = true
		}
	}
	for id := range open {
		return fmt.Errorf("tool_use %s has no tool_result after it", id)
	}
	return nil
}

type fields map[string]any

func (messagesWire) events(r model.Response, f Fault) []string {
	name := r.Model
	if name == "" {
		name = "wire-model"
	}
	if f == ErrorFirst {
		return []string{sse("error", overloaded)}
	}
	begin := sse("message_start", fields{"type": "message_start", "message": fields{
		"id": "msg_wire", "type": "message", "role": "assistant", "model": name, "content": []any{}, "stop_reason": nil,
		"usage": fields{"input_tokens": r.Usage.InputTokens, "output_tokens": 1},
	}})
	events := []string{begin, sse("ping", fields{"type": "ping"})}
	for i, b := range r.Content {
		index := i
		if f == IndexGap {
			index += 3
		}
		events = append(events, blockEvents(index, b, f)...)
		if f == MadeOfTwo {
			events = append(events, begin)
		}
	}
	if f == ErrorEvent {
		return append(events, sse("error", overloaded))
	}
	var reason any = r.StopReason
	if r.StopReason == "" {
		reason = model.EndTurn
	}
	if f == NoReason {
		reason = nil
	}
	events = append(events,
		sse("message_delta", fields{"type": "message_delta", "delta": fields{"stop_reason": reason}, "usage": fields{"output_tokens": r.Usage.OutputTokens}}),
		sse("message_stop", fields{"type": "message_stop"}))
	marker := "text_delta"
	if f == CutInTool {
		marker = "input_json_delta"
	}
	return cut(events, f, marker)
}

func blockEvents(index int, b model.Block, f Fault) []string {
	start, kind, field := fields{"type": b.Type}, "", ""
	var pieces []string
	switch b.Type {
	case model.ToolUseBlock:
		start["id"], start["name"], start["input"] = b.ID, b.Name, fields{}
		kind, field, pieces = "input_json_delta", "partial_json", halves(input(b, f))
	case model.ThinkingBlock:
		start["thinking"], start["signature"] = "", b.Signature
		kind, field, pieces = "thinking_delta", "thinking", halves(b.Thinking)
	case model.RedactedThinkingBlock:
		start["data"] = b.Data
	default:
		start["text"] = ""
		kind, field, pieces = "text_delta", "text", halves(b.Text)
	}
	events := []string{sse("content_block_start", fields{"type": "content_block_start", "index": index, "content_block": start})}
	for _, piece := range pieces {
		events = append(events, sse("content_block_delta", fields{"type": "content_block_delta", "index": index, "delta": fields{"type": kind, field: piece}}))
	}
	return append(events, sse("content_block_stop", fields{"type": "content_block_stop", "index": index}))
}

var overloaded = fields{"type": "error", "error": fields{"type": "overloaded_error", "message": "Overloaded"}}

func (messagesWire) failure(status int) any {
	kind := map[int]string{
		http.StatusUnauthorized: "authentication_error", http.StatusNotFound: "not_found_error",
		http.StatusTooManyRequests: "rate_limit_error", 529: "overloaded_error",
	}[status]
	if kind == "" {
		kind = "api_error"
		if status < 500 {
			kind = "invalid_request_error"
		}
	}
	return fields{"type": "error", "error": fields{"type": kind, "message": "the wire's " + kind}}
}

package modeltest

import (
	"encoding/json"
	"fmt"
	"strings"

	"postroom/domain/model"
)

// chatWire is the chat completions API's format.
type chatWire struct{}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (chatWire) decode(body []byte) (model.Request, error) {
	var in struct {
		Model    string `json:"model"`
		Most     int    `json:"max_tokens"`
		Stream   bool   `json:"stream"`
		Messages []struct {
			Role       string     `json:"role"`
			Content    string     `json:"content"`
			ToolCalls  []chatCall `json:"tool_calls"`
			ToolCallID string     `json:"tool_call_id"`
		} `json:"messages"`
		Tools []struct {
			Function struct {
				Name        string          `json:"name"`
				Description string          `json:"description"`
				Parameters  json.RawMessage `json:"parameters"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return model.Request{}, err
	}
	if in.Model == "" || !in.Stream || len(in.Messages) == 0 {
		return model.Request{}, fmt.Errorf("model, stream and messages are required")
	}
	r := model.Request{Model: in.Model, MaxTokens: in.Most}
	for _, t := range in.Tools {
		r.Tools = append(r.Tools, model.Tool{Name: t.Function.Name, Description: t.Function.Description, InputSchema: t.Function.Parameters})
	}
	add := func(role model.Role, b model.Block) {
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == role {
			r.Messages[n-1].Content = append(r.Messages[n-1].Content, b)
			return
		}
		r.Messages = append(r.Messages, model.Message{Role: role, Content: []model.Block{b}})
	}
	for _, m := range in.Messages {
		switch m.Role {
		case "system":
			r.System += m.Content
		case "tool":
			text, failed := strings.CutPrefix(m.Content, "Error: ")
			add(model.User, model.Block{Type: model.ToolResultBlock, ToolUseID: m.ToolCallID, Content: text, IsError: failed})
		case "assistant":
			if m.Content != "" {
				add(model.Assistant, model.Text(m.Content))
			}
			for _, c := range m.ToolCalls {
				add(model.Assistant, model.Called(c.ID, c.Function.Name, json.RawMessage(c.Function.Arguments)))
			}
		default:
			add(model.User, model.Text(m.Content))
		}
	}
	return r, pairing(r.Messages)
}

func (chatWire) events(r model.Response, f Fault) []string {
	name := r.Model
	if name == "" {
		name = "wire-model"
	}
	chunk := func(delta fields, reason any) string {
		return sse("", fields{"id": "chatcmpl-wire", "object": "chat.completion.chunk", "created": 1, "model": name,
			"choices": []any{fields{"index": 0, "delta": delta, "finish_reason": reason}}})
	}
	if f == ErrorFirst {
		return []string{sse("", fields{"error": fields{"type": "overloaded_error", "message": "Overloaded"}})}
	}
	events := []string{chunk(fields{"role": "assistant", "content": ""}, nil)}
	calls := 0
	for _, b := range r.Content {
		switch b.Type {
		case model.TextBlock:
			for _, piece := range halves(b.Text) {
				events = append(events, chunk(fields{"content": piece}, nil))
			}
		case model.ToolUseBlock:
			index := calls
			if f == IndexGap {
				index += 3
			}
			calls++
			events = append(events, chunk(fields{"tool_calls": []any{fields{"index": index, "id": b.ID, "type": "function", "function": fields{"name": b.Name, "arguments": ""}}}}, nil))
			for _, piece := range halves(input(b, f)) {
				events = append(events, chunk(fields{"tool_calls": []any{fields{"index": index, "function": fields{"arguments": piece}}}}, nil))
			}
		}
	}
	if f == ErrorEvent {
		return append(events, sse("", fields{"error": fields{"type": "overloaded_error", "message": "Overloaded"}}))
	}
	if f == NoClosing || f == NoReason {
		if f == NoReason {
			events = append(events, "data: [DONE]\n\n")
		}
		return events
	}
	reason := "stop"
	switch r.StopReason {
	case model.MaxTokens:
		reason = "length"
	case model.Refusal:
		reason = "content_filter"
	case model.ToolUse:
		reason = "tool_calls"
	}
	events = append(events, chunk(fields{}, reason),
		sse("", fields{"id": "chatcmpl-wire", "object": "chat.completion.chunk", "created": 1, "model": name, "choices": []any{},
			"usage": fields{"prompt_tokens": r.Usage.InputTokens, "completion_tokens": r.Usage.OutputTokens, "total_tokens": r.Usage.InputTokens + r.Usage.OutputTokens}}),
		"data: [DONE]\n\n")
	marker := `"delta":{"content":"`
	if f == CutInTool {
		marker = `"function":{"arguments":"`
	}
	return cut(events, f, marker)
}

func (chatWire) failure(status int) any {
	kind := "server_error"
	switch {
	case status == 429:
		kind = "rate_limit_exceeded"
	case status == 529:
		kind = "overloaded_error"
	case status < 500:
		kind = "invalid_request_error"
	}
	return fields{"error": fields{"type": kind, "message": "the wire's " + kind, "code": nil, "param": nil}}
}

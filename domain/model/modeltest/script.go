// Package modeltest is a model whose words a test writes.
package modeltest

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"postroom/domain/model"
)

// Script is a client that answers as its function says.
type Script struct {
	answer func(ctx context.Context, call int, r model.Request) (model.Response, error)

	mu       sync.Mutex
	requests []model.Request // guarded by mu
}

var _ model.Client = (*Script)(nil)

// New makes a script. call counts from 0; the function may wait, and should end
// with ctx.
func New(answer func(ctx context.Context, call int, r model.Request) (model.Response, error)) *Script {
	return &Script{answer: answer}
}

// Respond is model.Client's.
func (s *Script) Respond(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	s.mu.Lock()
	call := len(s.requests)
	r.Messages = slices.Clone(r.Messages)
	s.requests = append(s.requests, r)
	s.mu.Unlock()
	response, err := s.answer(ctx, call, r)
	if err == nil && delta != nil {
		delta(model.Message{Content: response.Content}.Words())
	}
	return response, err
}

// Requests are the requests so far.
func (s *Script) Requests() []model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Say is a response of text.
func Say(text string) model.Response {
	return model.Response{Content: []model.Block{model.Text(text)}, StopReason: model.EndTurn, Usage: model.Usage{InputTokens: 10, OutputTokens: 5}}
}

// Call is a response that calls tools: pairs of a name and an input. Ids are
// call_<prefix><place>.
func Call(prefix string, pairs ...any) model.Response {
	r := model.Response{StopReason: model.ToolUse, Usage: model.Usage{InputTokens: 10, OutputTokens: 5}}
	for i := 0; i+1 < len(pairs); i += 2 {
		input, err := json.Marshal(pairs[i+1])
		if err != nil {
			panic("modeltest: " + err.Error())
		}
		name, _ := pairs[i].(string)
		r.Content = append(r.Content, model.Block{
			Type: model.ToolUseBlock, ID: "call_" + prefix + string(rune('a'+i/2)), Name: name, Input: input,
		})
	}
	return r
}

// Streaming is a client that is a function.
type Streaming func(ctx context.Context, r model.Request, delta func(string)) (model.Response, error)

// Respond is model.Client's.
func (s Streaming) Respond(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	return s(ctx, r, delta)
}

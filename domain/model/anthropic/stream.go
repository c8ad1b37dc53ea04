package anthropic

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"postroom/domain/model"
)

// incoming gathers a streamed response. What the stream leaves open or out of order
// makes it unusable: half a tool call must never look like a whole one.
type incoming struct {
	begun  bool
	closed bool
	model  string
	blocks []*block
	stop   model.StopReason
	input  int64
	cached int64
	output int64
}

type block struct {
	kind                      string
	text, signature, redacted strings.Builder
	id, name                  string
	first                     json.RawMessage // the input that came with the start, if any
	json                      strings.Builder
	ended                     bool
}

// add takes one event and gives back the text that came with it.
func (in *incoming) add(e sdk.MessageStreamEventUnion) (text string, err error) {
	switch e.Type {
	case "message_start":
		if in.begun {
			return "", fmt.Errorf("%w: it began twice", model.ErrIncomplete)
		}
		in.begun = true
		in.model = e.Message.Model
		in.input = e.Message.Usage.InputTokens
		in.cached = e.Message.Usage.CacheCreationInputTokens + e.Message.Usage.CacheReadInputTokens
		in.output = e.Message.Usage.OutputTokens
	case "content_block_start":
		return in.start(e)
	case "content_block_delta":
		b, err := in.open(e.Index)
		if err != nil {
			return "", err
		}
		switch e.Delta.Type {
		case "text_delta":
			b.text.WriteString(e.Delta.Text)
			return e.Delta.Text, nil
		case "input_json_delta":
			b.json.WriteString(e.Delta.PartialJSON)
		case "thinking_delta":
			b.text.WriteString(e.Delta.Thinking)
		case "signature_delta":
			b.signature.WriteString(e.Delta.Signature)
		}
	case "content_block_stop":
		b, err := in.open(e.Index)
		if err != nil {
			return "", err
		}
		b.ended = true
	case "message_delta":
		if e.Delta.StopReason != "" {
			in.stop = model.StopReason(e.Delta.StopReason)
		}
		in.output = max(in.output, e.Usage.OutputTokens)
		in.input = max(in.input, e.Usage.InputTokens) // compatible endpoints count at the end
		in.cached = max(in.cached, e.Usage.CacheCreationInputTokens+e.Usage.CacheReadInputTokens)
	case "message_stop":
		in.closed = true
	}
	return "", nil
}

func (in *incoming) start(e sdk.MessageStreamEventUnion) (string, error) {
	if !in.begun || int(e.Index) != len(in.blocks) {
		return "", fmt.Errorf("%w: block %d came where %d was due", model.ErrIncomplete, e.Index, len(in.blocks))
	}
	b := &block{kind: e.ContentBlock.Type, id: e.ContentBlock.ID, name: e.ContentBlock.Name}
	b.text.WriteString(e.ContentBlock.Text)
	b.text.WriteString(e.ContentBlock.Thinking)
	b.signature.WriteString(e.ContentBlock.Signature)
	b.redacted.WriteString(e.ContentBlock.Data)
	if raw := e.ContentBlock.JSON.Input.Raw(); raw != "" && raw != "null" {
		b.first = json.RawMessage(raw)
	}
	in.blocks = append(in.blocks, b)
	return e.ContentBlock.Text, nil
}

func (in *incoming) open(index int64) (*block, error) {
	if index < 0 || int(index) >= len(in.blocks) || in.blocks[index].ended {
		return nil, fmt.Errorf("%w: block %d is not open", model.ErrIncomplete, index)
	}
	return in.blocks[index], nil
}

// whole is the response of a stream that closed as it should.
func (in *incoming) whole(asked string) (model.Response, error) {
	r := model.Response{Model: in.model, StopReason: in.stop, Usage: model.Usage{InputTokens: int(in.input + in.cached), OutputTokens: int(in.output)}}
	if r.Model == "" {
		r.Model = asked
	}
	if in.stop == "" {
		return r, fmt.Errorf("%w: it gives no reason for stopping", model.ErrIncomplete)
	}
	for i, b := range in.blocks {
		if !b.ended {
			return r, fmt.Errorf("%w: block %d was never closed", model.ErrIncomplete, i)
		}
		switch b.kind {
		case model.TextBlock:
			if b.text.Len() > 0 {
				r.Content = append(r.Content, model.Text(b.text.String()))
			}
		case model.ThinkingBlock:
			r.Content = append(r.Content, model.Block{Type: model.ThinkingBlock, Thinking: b.text.String(), Signature: b.signature.String()})
		case model.RedactedThinkingBlock:
			r.Content = append(r.Content, model.Block{Type: model.RedactedThinkingBlock, Data: b.redacted.String()})
		case model.ToolUseBlock:
			input := b.first
			if b.json.Len() > 0 {
				input = json.RawMessage(b.json.String())
			}
			r.Content = append(r.Content, model.Called(b.id, b.name, input))
		}
	}
	return r, nil
}

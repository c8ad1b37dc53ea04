package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"postroom/domain/model"
	"postroom/domain/model/transport"
)

// Options say where and as whom the client asks. Nothing is read from the
// environment: that is the host's to do.
type Options struct {
	APIKey  string        // none is sent when it is empty: local servers need none
	BaseURL string        // up to and with /v1 [https://api.openai.com/v1]
	Idle    time.Duration // without a byte, after which a response is given up [2 min]
	Retry   transport.Retry
}

const (
	defaultBaseURL   = "https://api.openai.com/v1"
	defaultMaxTokens = 16384
	defaultIdle      = 2 * time.Minute
)

// New makes the client. It asks nobody before Respond.
func New(o Options) model.Client {
	if o.BaseURL == "" {
		o.BaseURL = defaultBaseURL
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	opts := []option.RequestOption{
		option.WithBaseURL(strings.TrimSuffix(o.BaseURL, "/") + "/"), option.WithHTTPClient(transport.NewClient(o.Idle)), option.WithMaxRetries(0),
	}
	if o.APIKey != "" {
		opts = append(opts, option.WithAPIKey(o.APIKey))
	}
	return &client{chat: sdk.NewChatCompletionService(opts...), retry: o.Retry, own: o.BaseURL == defaultBaseURL}
}

type client struct {
	chat  sdk.ChatCompletionService
	retry transport.Retry
	own   bool // OpenAI's endpoint, whose newer models refuse max_tokens
}

// Respond is model.Client's. A request that is refused for now (429, 5xx, no
// connection) is made again; one whose response had begun is not, since its first
// words were heard already.
func (c *client) Respond(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	return c.retry.Respond(ctx, func() (model.Response, time.Duration, error) { return c.once(ctx, r, delta) })
}

func (c *client) once(ctx context.Context, r model.Request, delta func(string)) (model.Response, time.Duration, error) {
	stream := c.chat.NewStreaming(ctx, c.request(r))
	defer func() { _ = stream.Close() }()
	var in incoming
	for stream.Next() {
		piece := in.add(stream.Current())
		if piece != "" && delta != nil {
			delta(piece)
		}
	}
	err := stream.Err()
	if err == nil && in.reason != "" {
		response, err := in.whole(r.Model)
		if err != nil {
			err = &transport.Final{Cause: err}
		}
		return response, 0, err
	}
	if ctx.Err() != nil {
		return model.Response{}, 0, &transport.Final{Cause: context.Cause(ctx)}
	}
	if err == nil {
		err = model.ErrIncomplete
	}
	told, wait := explain(err)
	if in.begun {
		return model.Response{}, 0, &transport.Final{Cause: errors.Join(model.ErrIncomplete, told)}
	}
	return model.Response{}, wait, told
}

// explain turns the SDK's error into ours. Its own text holds the request's address
// and the raw body, which belong in no log.
func explain(err error) (*model.Error, time.Duration) {
	var refused *sdk.Error
	if !errors.As(err, &refused) {
		return &model.Error{Cause: err}, 0
	}
	told := &model.Error{Status: refused.StatusCode, Type: transport.Short(refused.Type), Message: transport.Short(refused.Message), Cause: errRefused}
	if told.Type == "" {
		told.Type = transport.Short(refused.Code)
	}
	var wait time.Duration
	if refused.Response != nil {
		told.Request = refused.Response.Header.Get("X-Request-Id")
		wait = transport.Asked(refused.Response.Header, time.Now())
	}
	return told, wait
}

var errRefused = errors.New("the provider refused the request")

// request is a request in the SDK's form.
func (c *client) request(r model.Request) sdk.ChatCompletionNewParams {
	most := int64(r.MaxTokens)
	if most <= 0 {
		most = defaultMaxTokens
	}
	p := sdk.ChatCompletionNewParams{Model: r.Model, StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}}
	if c.own {
		p.MaxCompletionTokens = param.NewOpt(most)
	} else {
		p.MaxTokens = param.NewOpt(most)
	}
	if r.System != "" {
		p.Messages = append(p.Messages, sdk.SystemMessage(r.System))
	}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, outgoing(m)...)
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: parameters(t.InputSchema),
		}))
	}
	if r.Force != "" {
		p.ToolChoice = sdk.ToolChoiceOptionFunctionToolChoice(sdk.ChatCompletionNamedToolChoiceFunctionParam{Name: r.Force})
	}
	switch r.ReasoningEffort {
	case "":
	case "max":
		p.ReasoningEffort = shared.ReasoningEffortXhigh
	default:
		p.ReasoningEffort = shared.ReasoningEffort(r.ReasoningEffort)
	}
	return p
}

// parameters is a schema as the SDK takes it; one that is no object is left out,
// which asks for no input.
func parameters(schema json.RawMessage) shared.FunctionParameters {
	var p shared.FunctionParameters
	if json.Unmarshal(schema, &p) != nil {
		return nil
	}
	return p
}

// outgoing is a message in the chat's form: each result of a tool is a message of
// its own, before whatever else was said.
func outgoing(m model.Message) []sdk.ChatCompletionMessageParamUnion {
	var all []sdk.ChatCompletionMessageParamUnion
	if m.Role == model.Assistant {
		said := &sdk.ChatCompletionAssistantMessageParam{}
		if words := m.Words(); words != "" {
			said.Content.OfString = param.NewOpt(words)
		}
		for _, call := range m.ToolUses() {
			said.ToolCalls = append(said.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: call.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: call.Name, Arguments: string(call.Input)},
			}})
		}
		if said.Content.OfString.Valid() || len(said.ToolCalls) > 0 {
			all = append(all, sdk.ChatCompletionMessageParamUnion{OfAssistant: said})
		}
		return all
	}
	for _, b := range m.Content {
		if b.Type != model.ToolResultBlock {
			continue
		}
		text := b.Content
		if b.IsError {
			text = "Error: " + text
		}
		all = append(all, sdk.ToolMessage(text, b.ToolUseID))
	}
	if words := m.Words(); words != "" {
		all = append(all, sdk.UserMessage(words))
	}
	return all
}

// incoming gathers a streamed response.
type incoming struct {
	begun         bool
	id, model     string
	text, refusal strings.Builder
	calls         []*call
	reason        string
	usage         model.Usage
	torn          error
}

type call struct {
	id, name string
	input    strings.Builder
}

// add takes one chunk and gives back the text that came with it.
func (in *incoming) add(chunk sdk.ChatCompletionChunk) string {
	if chunk.ID != "" {
		in.id = chunk.ID
	}
	if chunk.Model != "" {
		in.model = chunk.Model
	}
	if chunk.Usage.PromptTokens > 0 || chunk.Usage.CompletionTokens > 0 {
		in.usage = model.Usage{InputTokens: int(chunk.Usage.PromptTokens), OutputTokens: int(chunk.Usage.CompletionTokens)}
	}
	if len(chunk.Choices) == 0 {
		return ""
	}
	in.begun = true
	choice := chunk.Choices[0]
	in.text.WriteString(choice.Delta.Content)
	in.refusal.WriteString(choice.Delta.Refusal)
	for _, piece := range choice.Delta.ToolCalls {
		at := int(piece.Index)
		switch {
		case at == len(in.calls):
			in.calls = append(in.calls, &call{})
		case at < 0 || at > len(in.calls):
			in.torn = fmt.Errorf("%w: tool call %d came where %d was due", model.ErrIncomplete, at, len(in.calls))
			return ""
		}
		c := in.calls[at]
		if c.id == "" {
			c.id = piece.ID
		}
		if c.name == "" {
			c.name = piece.Function.Name
		}
		c.input.WriteString(piece.Function.Arguments)
	}
	if choice.FinishReason != "" {
		in.reason = choice.FinishReason
	}
	return choice.Delta.Content
}

// whole is the response of a stream that gave its reason for ending.
func (in *incoming) whole(asked string) (model.Response, error) {
	r := model.Response{Model: in.model, Usage: in.usage}
	if r.Model == "" {
		r.Model = asked
	}
	if in.torn != nil {
		return r, in.torn
	}
	switch in.reason {
	case "length":
		r.StopReason = model.MaxTokens
	case "content_filter":
		r.StopReason = model.Refusal
	case "tool_calls", "function_call":
		r.StopReason = model.ToolUse
	default:
		r.StopReason = model.EndTurn
	}
	text := in.text.String()
	if in.refusal.Len() > 0 {
		text += in.refusal.String()
		r.StopReason = model.Refusal
	}
	if text != "" {
		r.Content = append(r.Content, model.Text(text))
	}
	for i, c := range in.calls {
		if c.id == "" {
			// Some local servers name no calls; the response's id makes it one of its own.
			c.id = fmt.Sprintf("call_%s_%d", in.id, i)
		}
		r.Content = append(r.Content, model.Called(c.id, c.name, json.RawMessage(c.input.String())))
	}
	return r, nil
}

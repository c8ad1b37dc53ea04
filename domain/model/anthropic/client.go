package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"postroom/domain/model"
	"postroom/domain/model/transport"
)

// Options say where and as whom the client asks. Nothing is read from the
// environment: that is the host's to do.
type Options struct {
	APIKey  string
	BaseURL string        // [https://api.anthropic.com]
	Idle    time.Duration // without a byte, after which a response is given up [2 min]
	Retry   transport.Retry
}

const (
	defaultBaseURL   = "https://api.anthropic.com"
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
	c := sdk.NewClient(
		option.WithoutEnvironmentDefaults(), option.WithAPIKey(o.APIKey), option.WithBaseURL(strings.TrimSuffix(o.BaseURL, "/")+"/"),
		option.WithHTTPClient(transport.NewClient(o.Idle)), option.WithMaxRetries(0),
	)
	return &client{sdk: c, retry: o.Retry}
}

type client struct {
	sdk   sdk.Client
	retry transport.Retry
}

// Respond is model.Client's. A request that is refused for now (429, 5xx,
// overloaded, no connection) is made again; one whose response had begun is not,
// since its first words were heard already.
func (c *client) Respond(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	return c.retry.Respond(ctx, func() (model.Response, time.Duration, error) { return c.once(ctx, r, delta) })
}

func (c *client) once(ctx context.Context, r model.Request, delta func(string)) (model.Response, time.Duration, error) {
	stream := c.sdk.Messages.NewStreaming(ctx, request(r))
	defer func() { _ = stream.Close() }()
	var in incoming
	for stream.Next() {
		piece, err := in.add(stream.Current())
		if err != nil {
			return model.Response{}, 0, &transport.Final{Cause: err}
		}
		if piece != "" && delta != nil {
			delta(piece)
		}
		if in.closed {
			break // what a proxy appends is nobody's
		}
	}
	if in.closed {
		response, err := in.whole(r.Model)
		if err != nil {
			err = &transport.Final{Cause: err}
		}
		return response, 0, err
	}
	err := stream.Err()
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
	told := &model.Error{Status: refused.StatusCode, Type: string(refused.Type()), Request: refused.RequestID, Cause: errRefused}
	var body struct {
		Error struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(refused.RawJSON()), &body) == nil {
		told.Message = transport.Short(body.Error.Message)
		if told.Type == "" {
			told.Type = transport.Short(body.Error.Type)
		}
	}
	var wait time.Duration
	if refused.Response != nil {
		wait = transport.Asked(refused.Response.Header, time.Now())
	}
	if status, known := inStream[told.Type]; known && told.Status == 200 {
		told.Status = status // an error event inside a response that began with 200
	}
	return told, wait
}

var errRefused = errors.New("the provider refused the request")

// inStream are the statuses that stand behind the types of error events.
var inStream = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "api_error": 500, "timeout_error": 504, "overloaded_error": 529,
}

// request is a request in the SDK's form.
func request(r model.Request) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: sdk.Model(r.Model), MaxTokens: int64(r.MaxTokens)}
	if p.MaxTokens <= 0 {
		p.MaxTokens = defaultMaxTokens
	}
	if r.System != "" {
		p.System = []sdk.TextBlockParam{{Text: r.System}}
	}
	for _, m := range r.Messages {
		blocks := make([]sdk.ContentBlockParamUnion, 0, len(m.Content))
		for _, b := range m.Content {
			if block, ok := outgoing(b); ok {
				blocks = append(blocks, block)
			}
		}
		if len(blocks) > 0 {
			p.Messages = append(p.Messages, sdk.MessageParam{Role: sdk.MessageParamRole(m.Role), Content: blocks})
		}
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &sdk.ToolParam{
			Name: t.Name, Description: param.NewOpt(t.Description), InputSchema: param.Override[sdk.ToolInputSchemaParam](t.InputSchema),
		}})
	}
	if r.Force != "" {
		p.ToolChoice = sdk.ToolChoiceParamOfTool(r.Force)
	}
	switch r.Thinking.Mode {
	case "adaptive":
		p.Thinking.OfAdaptive = &sdk.ThinkingConfigAdaptiveParam{}
	case "enabled":
		p.Thinking = sdk.ThinkingConfigParamOfEnabled(min(int64(r.Thinking.Budget), p.MaxTokens-1))
	case "disabled":
		p.Thinking.OfDisabled = &sdk.ThinkingConfigDisabledParam{}
	}
	if r.ReasoningEffort != "" {
		p.OutputConfig.Effort = sdk.OutputConfigEffort(r.ReasoningEffort)
	}
	return p
}

func outgoing(b model.Block) (sdk.ContentBlockParamUnion, bool) {
	switch b.Type {
	case model.TextBlock:
		return sdk.NewTextBlock(b.Text), strings.TrimSpace(b.Text) != "" // the API refuses blank ones
	case model.ToolUseBlock:
		input := b.Input
		if len(input) == 0 {
			input = json.RawMessage("{}")
		}
		return sdk.NewToolUseBlock(b.ID, input, b.Name), true
	case model.ToolResultBlock:
		text := b.Content
		if strings.TrimSpace(text) == "" {
			text = "(no output)"
		}
		return sdk.NewToolResultBlock(b.ToolUseID, text, b.IsError), true
	case model.ThinkingBlock:
		return sdk.NewThinkingBlock(b.Signature, b.Thinking), true
	case model.RedactedThinkingBlock:
		return sdk.NewRedactedThinkingBlock(b.Data), true
	}
	return sdk.ContentBlockParamUnion{}, false
}

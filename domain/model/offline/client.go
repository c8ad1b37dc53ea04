package offline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	"postroom/domain/model"
)

// Name is the model name that the offline client answers under.
const Name = model.Offline

// PostTool is the tool that the client calls when a post woke the asker.
const PostTool = "post-to-mailbox"

// Options say how the client answers. Zero values are good.
type Options struct {
	// Delay is how long an answer takes, so that people see a seat at work. It
	// ends with the call's context.
	Delay time.Duration
}

// New makes the client.
func New(o Options) model.Client { return &client{options: o} }

type client struct {
	options Options
}

// Respond is model.Client's. It reads the last thing a person said: after a tool
// result it ends the turn; woken by a post it hands the answer to post-to-mailbox
// where that tool is offered; otherwise it answers in text.
func (c *client) Respond(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	last := lastMessage(r.Messages)
	if answersTool(last) {
		return c.say(r, closing(last), delta), nil
	}
	if c.options.Delay > 0 {
		timer := time.NewTimer(c.options.Delay)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return model.Response{}, ctx.Err()
		case <-timer.C:
		}
	}
	said := last.Words()
	writer, mailbox, body := heard(said)
	text := Answer(r.Documents, body)
	if mailbox == "" || !offers(r.Tools, PostTool) {
		return c.say(r, text, delta), nil
	}
	input, err := json.Marshal(map[string]string{"mailbox": mailbox, "body": text})
	if err != nil {
		return model.Response{}, fmt.Errorf("offline: %w", err)
	}
	// The id is the turn's own, so that the same turn asked again makes the same call.
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s", len(r.Messages), writer, said))
	response := model.Response{Model: Name, StopReason: model.ToolUse, Content: []model.Block{
		{Type: model.ToolUseBlock, ID: "call_" + hex.EncodeToString(sum[:8]), Name: PostTool, Input: input},
	}}
	response.Usage = usage(r, text)
	return response, nil
}

func (c *client) say(r model.Request, text string, delta func(string)) model.Response {
	if delta != nil {
		delta(text)
	}
	return model.Response{Model: Name, Content: []model.Block{model.Text(text)}, StopReason: model.EndTurn, Usage: usage(r, text)}
}

// usage counts words, since there are no tokens.
func usage(r model.Request, text string) model.Usage {
	in := len(strings.Fields(r.System))
	for _, m := range r.Messages {
		in += len(strings.Fields(m.Words()))
	}
	return model.Usage{InputTokens: in, OutputTokens: len(strings.Fields(text))}
}

func lastMessage(messages []model.Message) model.Message {
	if len(messages) == 0 {
		return model.Message{Role: model.User}
	}
	return messages[len(messages)-1]
}

// answersTool reports whether a message ends with a tool's result. One that goes on
// with text is a new turn, which follows a run that was cut off.
func answersTool(m model.Message) bool {
	return len(m.Content) > 0 && m.Content[len(m.Content)-1].Type == model.ToolResultBlock
}

func closing(m model.Message) string {
	for _, b := range m.Content {
		if b.Type == model.ToolResultBlock && b.IsError {
			return "I could not post my answer: " + b.Content
		}
	}
	return "I posted my answer in the mailbox."
}

func offers(tools []model.Tool, name string) bool {
	for _, t := range tools {
		if t.Name == name {
			return true
		}
	}
	return false
}

// wake is the form of a turn that a post woke: "<writer> in <mailbox>: <body>".
var wake = regexp.MustCompile(`(?s)^([^\n]{1,200}?) in ([a-z0-9]+(?:-[a-z0-9]+)*\.[a-z0-9]+(?:-[a-z0-9]+)*): (.*)$`)

// heard parts a wake-up into who wrote where and what. Any other turn is all body.
func heard(said string) (writer, mailbox, body string) {
	m := wake.FindStringSubmatch(said)
	if m == nil {
		return "", "", said
	}
	return m[1], m[2], m[3]
}

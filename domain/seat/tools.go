package seat

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"postroom/domain/agent"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/session"
)

// The tools that the built-in kind brings. A seat is offered those its file names.
const (
	PostToMailboxTool = "post-to-mailbox"
	ReadDocumentTool  = "read-document"
)

// postInput is all that the model says of a post; the author is set by code.
type postInput struct {
	Mailbox string `json:"mailbox" jsonschema:"the mailbox's id, as in 'someone in support.help: …'"`
	Body    string `json:"body" jsonschema:"what to say there, in Markdown"`
}

// errNoRun is a seat's tool called outside a seat's run.
var errNoRun = errors.New("this tool works in a seat's run only")

// PostToMailbox is the tool with which a seat says something in a mailbox. The
// line's author is the seat's id. The tool reports that it handed the post over,
// not that it landed: a refusal shows as a failed request on the mailbox.
func PostToMailbox() agent.Tool {
	t, err := agent.NewTool(PostToMailboxTool, "Say something in a mailbox, as yourself. Name the mailbox by its id.", post, agent.Repeatable())
	if err != nil {
		panic("seat: " + err.Error())
	}
	return t
}

func post(ctx context.Context, in postInput) (agent.ToolResult, error) {
	r, ok := agent.ContextOf(ctx).(*running)
	if !ok {
		return agent.ToolResult{}, errNoRun
	}
	call, _ := agent.CallOf(ctx)
	if strings.TrimSpace(in.Mailbox) == "" || strings.TrimSpace(in.Body) == "" {
		return agent.ToolResult{}, errors.New("mailbox and body must not be empty")
	}
	if r.answers(in.Mailbox) {
		note, err := r.byTool(in.Body)
		if err != nil {
			return agent.ToolResult{}, err
		}
		return noted(note)
	}
	_, err := session.Dispatch(r.turn, session.Target{
		Kind: mailbox.BuiltinKind, Session: in.Mailbox, Action: mailbox.ActionSeatPost, Key: r.turn.Request().ID + ":" + call.ID,
	}, mailbox.SeatPost{Body: in.Body, Author: r.seat.ID, Offline: r.model == model.Offline})
	if err != nil {
		return agent.ToolResult{}, err
	}
	return noted(handedNote{HandedTo: in.Mailbox, Note: noteHanded})
}

func noted(note handedNote) (agent.ToolResult, error) {
	text, err := json.Marshal(note)
	return agent.ToolResult{Text: string(text)}, err
}

// readInput names a document.
type readInput struct {
	Name string `json:"name" jsonschema:"the document's name"`
}

// ReadDocument is the tool with which a seat reads a document in its reach.
func ReadDocument() agent.Tool {
	t, err := agent.NewTool(ReadDocumentTool, "Read one of your documents by its name.", read,
		agent.Repeatable(), agent.ConcurrencySafe(func(readInput) bool { return true }))
	if err != nil {
		panic("seat: " + err.Error())
	}
	return t
}

func read(ctx context.Context, in readInput) (agent.ToolResult, error) {
	r, ok := agent.ContextOf(ctx).(*running)
	if !ok {
		return agent.ToolResult{}, errNoRun
	}
	names := make([]string, 0, len(r.seat.Documents))
	for _, d := range r.seat.Documents {
		if d.Name == in.Name || d.Ref == in.Name {
			return agent.ToolResult{Text: d.Text}, nil
		}
		names = append(names, d.Ref)
	}
	return agent.ToolResult{}, ErrNoDocument.Saying("No document is called " + in.Name + "; these are in reach: " + strings.Join(names, ", ") + ".")
}

// Tools are the tools that the built-in kind brings.
func Tools() []agent.Tool { return []agent.Tool{PostToMailbox(), ReadDocument()} }

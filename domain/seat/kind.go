package seat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postroom/domain/agent"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/schema"
	"postroom/domain/session"
)

// KindOptions say what the built-in agent kind answers with.
type KindOptions struct {
	Seats    *Seats
	Client   model.Client
	Model    string       // for seats whose file names none
	Tools    []agent.Tool // that a worker's tools: may grant
	MaxTurns int          // model requests in one run [50]
}

// kind runs seats.
type kind struct {
	options KindOptions
	tools   map[string]agent.Tool
}

// runInput is what a person says to a seat directly.
type runInput struct {
	Text string `json:"text"`
}

// RunOutput is what a run ends with.
type RunOutput struct {
	Text  string      `json:"text"`
	Model string      `json:"model"`
	Turns int         `json:"turns"` // model requests
	Usage model.Usage `json:"usage"`
}

// NewKind makes the built-in agent kind (the seed's defineAgentWorkerFlow): the
// public action run, and the internal one that hears posts.
func NewKind(o KindOptions) (session.Kind, error) {
	if o.Seats == nil || o.Client == nil || o.Model == "" {
		return session.Kind{}, errors.New("seat: the agent kind needs seats, a client and a model's name")
	}
	k := &kind{options: o, tools: make(map[string]agent.Tool, len(o.Tools))}
	for _, t := range o.Tools {
		k.tools[t.Name()] = t
	}
	return session.NewKind(session.KindOptions{
		Name: AgentKind,
		Public: map[string]session.Action{"run": {
			Schema: schema.Must(schema.For[runInput]()), Check: checkText, Repeatable: true, Agent: true,
			Run: func(t *session.Turn, input json.RawMessage) (any, error) {
				var in runInput
				if err := json.Unmarshal(input, &in); err != nil {
					return nil, fmt.Errorf("read what was said: %w", err)
				}
				return k.run(t, in.Text, mailbox.Delivery{})
			},
		}},
		Internal: map[string]session.Action{hearEntry: {
			Schema: schema.Must(schema.For[mailbox.Delivery]()), Repeatable: true, Agent: true,
			Run: func(t *session.Turn, input json.RawMessage) (any, error) {
				var d mailbox.Delivery
				if err := json.Unmarshal(input, &d); err != nil {
					return nil, fmt.Errorf("read the delivery: %w", err)
				}
				return k.run(t, d.Writer()+" in "+d.MailboxID+": "+d.Body, d)
			},
		}},
	})
}

func checkText(input json.RawMessage) error {
	var in runInput
	if err := json.Unmarshal(input, &in); err != nil {
		return fmt.Errorf("read what was said: %w", err)
	}
	if strings.TrimSpace(in.Text) == "" {
		return mailbox.ErrBodyEmpty
	}
	if len(in.Text) > mailbox.MaxBodyBytes {
		return mailbox.ErrBodyTooLarge.With("bytes", len(in.Text), "most", mailbox.MaxBodyBytes)
	}
	return nil
}

// run is one turn of a seat's conversation; one that was cut off goes on where it was.
// In a routed mailbox it ends with the seat's answer there.
func (k *kind) run(t *session.Turn, said string, woken mailbox.Delivery) (any, error) {
	s, err := k.seat(t)
	if err != nil {
		return nil, err
	}
	known, err := remember(t)
	if err != nil {
		return nil, err
	}
	r := &running{turn: t, seat: s, model: k.model(s), woken: woken, handed: handedBefore(woken, known)}
	system, err := k.system(t, s)
	if err != nil {
		return nil, err
	}
	taken, err := k.takeUp(t.Context(), r, said, known.begun)
	if err != nil {
		return nil, err
	}
	system += s.Skills.prompt(taken) + recentLines(woken)
	a, err := agent.New(agent.Options{
		Name: s.ID, Model: k.model(s), SystemPrompt: system, Client: k.options.Client, Tools: k.granted(s),
		MaxTurns: k.options.MaxTurns, History: agent.MemoryHistory(known.messages...), Documents: readable(s),
	})
	if err != nil {
		return nil, err
	}
	options := []agent.QueryOption{agent.WithJournal(r), agent.WithContext(r)}
	prompt := agent.Text(said)
	if known.begun {
		prompt, options = nil, append(options, agent.WithResume(known.resume))
	}
	res, err := a.Prompt(t.Context(), prompt, options...)
	if err != nil {
		return nil, coded(err)
	}
	if woken.Routed {
		if err := r.reply(res.Text); err != nil {
			return nil, err
		}
	}
	return RunOutput{Text: res.Text, Model: res.Model, Turns: res.NumTurns, Usage: res.Usage}, nil
}

// seat is the one whose conversation this is: by the address the conversation
// carries, else by the session's id up to a colon, for whoever asks.
func (k *kind) seat(t *session.Turn) (Seat, error) {
	own := t.Session()
	if own.FlowID != "" {
		if s, ok := k.options.Seats.At(own.FlowID); ok {
			return s, nil
		}
		return Seat{}, ErrNotHired.With("seat", own.FlowID)
	}
	id, _, _ := strings.Cut(own.ID, ":")
	s, ok := k.options.Seats.Resolve(own.Organization, t.Request().Principal.ID, id)
	if !ok || s.Kind != AgentKind {
		return Seat{}, ErrNotHired.With("seat", id)
	}
	return s, nil
}

func (k *kind) model(s Seat) string {
	if s.Model != "" {
		return s.Model
	}
	return k.options.Model
}

// granted are the tools that the seat's file names; one it doesn't is never offered.
func (k *kind) granted(s Seat) []agent.Tool {
	var all []agent.Tool
	for _, name := range s.Tools {
		if t, ok := k.tools[name]; ok {
			all = append(all, t)
		}
	}
	if s.Skills.Loads && len(s.Skills.Held) > 0 {
		all = append(all, loadSkill())
	}
	return all
}

// readable are the documents that the seat's model can read: those it may be
// given, if it has the tool to read them.
func readable(s Seat) []model.Document {
	if !slices.Contains(s.Tools, ReadDocumentTool) {
		return nil
	}
	all := make([]model.Document, len(s.Documents))
	for i, d := range s.Documents {
		all[i] = model.Document{Name: d.Name, Text: d.Text}
	}
	return all
}

// system is what the seat's model is told before the conversation.
func (k *kind) system(t *session.Turn, s Seat) (string, error) {
	parts := []string{"You are " + s.ID + ", a seat in Postroom, where people and agents work the same mailboxes."}
	for _, text := range []string{s.TeamText, s.Instructions} {
		if text = strings.TrimSpace(text); text != "" {
			parts = append(parts, text)
		}
	}
	if parent := t.Session().Parent; parent != "" {
		box, found, err := t.Other(parent)
		if err != nil {
			return "", fmt.Errorf("read the mailbox: %w", err)
		}
		if kept, ok := mailbox.KeptOf(box); found && ok && strings.TrimSpace(kept.Charter) != "" {
			parts = append(parts, "You hear the mailbox "+parent+". Its charter:\n\n"+strings.TrimSpace(kept.Charter))
		}
	}
	if docs := readable(s); len(docs) > 0 {
		names := make([]string, len(docs))
		for i, d := range docs {
			names[i] = d.Name
		}
		parts = append(parts, "Documents you can read with "+ReadDocumentTool+": "+strings.Join(names, ", ")+".")
	}
	return strings.Join(parts, "\n\n"), nil
}

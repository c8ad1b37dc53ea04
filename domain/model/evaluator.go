package model

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// NewEvaluator makes an evaluator of a client: the model is made to call a tool
// whose one input is the choice, out of a closed set.
func NewEvaluator(c Client, name string) Evaluator { return &evaluator{client: c, model: name} }

type evaluator struct {
	client Client
	model  string
}

// fitsNobody is the choice of none.
const fitsNobody = "none-of-these"

// Evaluate is Evaluator's. An answer that was not offered is given back as it is;
// whoever asks decides what comes of it.
func (e *evaluator) Evaluate(ctx context.Context, q Question) (Answer, error) {
	state, err := json.Marshal(q.State)
	if err != nil {
		return Answer{}, fmt.Errorf("write the question's state: %w", err)
	}
	ids := make([]string, len(q.Choices), len(q.Choices)+1)
	var list strings.Builder
	for i, c := range q.Choices {
		ids[i] = c.ID
		fmt.Fprintf(&list, "- %s: %s\n", c.ID, c.Description)
	}
	fmt.Fprintf(&list, "- %s: it clearly fits none of the others\n", fitsNobody)
	schema, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{q.Name},
		"properties": map[string]any{q.Name: map[string]any{"type": "string", "enum": append(ids, fitsNobody)}},
	})
	if err != nil {
		return Answer{}, fmt.Errorf("write the question's form: %w", err)
	}
	response, err := e.client.Respond(ctx, Request{
		Model:     e.model,
		System:    q.Ask + "\n\nThe choices:\n" + list.String(),
		Messages:  []Message{{Role: User, Content: []Block{Text(string(state))}}},
		Tools:     []Tool{{Name: q.Block, Description: "Give the answer.", InputSchema: schema}},
		Force:     q.Block,
		MaxTokens: 500,
	}, nil)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Evaluator: response.Model}
	calls := response.ToolCalls()
	at := slices.IndexFunc(calls, func(b Block) bool { return b.Name == q.Block && b.Malformed == "" })
	if at < 0 {
		return a, fmt.Errorf("the model %s answered in words and made no choice", e.model)
	}
	var given map[string]string
	if err := json.Unmarshal(calls[at].Input, &given); err != nil {
		return a, fmt.Errorf("read the model's choice: %w", err)
	}
	if a.Choice = given[q.Name]; a.Choice == fitsNobody {
		a.Choice = ""
	}
	return a, nil
}

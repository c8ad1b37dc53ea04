package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"postroom/domain/model"
)

// What an evaluation takes of the words.
const (
	fits   = 0.34 // least share of the post's weight that the best choice's words hold
	recent = 3    // lines before the post that help where it says little itself
	few    = 2    // words that are too little to be about something else
)

// NewEvaluator makes an evaluator that compares words: each choice is ranked by its
// description and the documents behind it. What fits none of them is nobody's.
func NewEvaluator() model.Evaluator { return &evaluator{made: make(map[string]ranked)} }

// evaluator keeps the indexes of the choices it was asked about, which change with
// the workforce only.
type evaluator struct {
	mu   sync.Mutex
	made map[string]ranked // guarded by mu
}

// ranked is an index of all choices' words, and whose each document is.
type ranked struct {
	index *index
	of    []int
}

// mostIndexes is how many sets of choices are remembered.
const mostIndexes = 64

func (e *evaluator) index(choices []model.Choice) (*index, []int) {
	var key strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&key, "%s\x00%s\x00", c.ID, c.Description)
		for _, d := range c.Documents {
			fmt.Fprintf(&key, "%s\x00%d\x00", d.Name, len(d.Text))
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if r, known := e.made[key.String()]; known {
		return r.index, r.of
	}
	var documents []model.Document
	var r ranked
	for i, c := range choices {
		documents = append(documents, model.Document{Text: c.Description})
		r.of = append(r.of, i)
		for _, d := range c.Documents {
			documents = append(documents, d)
			r.of = append(r.of, i)
		}
	}
	r.index = newIndex(documents)
	if len(e.made) >= mostIndexes {
		clear(e.made)
	}
	e.made[key.String()] = r
	return r.index, r.of
}

// rank scores each choice by the best passage of its words, and picks the best.
func rank(ix *index, of []int, choices []model.Choice, text string, a *model.Answer) float64 {
	clear(a.Scores)
	a.Choice = ""
	best := 0.0
	for _, hit := range ix.search(text) {
		id := choices[of[hit.document]].ID
		a.Scores[id] = max(a.Scores[id], hit.covered)
		if a.Choice == "" {
			a.Choice, best = id, hit.covered // the best by BM25 comes first
		}
	}
	return best
}

// state is what a route's question is about.
type state struct {
	Recent []said `json:"recent"`
	Post   said   `json:"post"`
}

type said struct {
	From string `json:"from"`
	Text string `json:"text"`
}

// Evaluate is model.Evaluator's.
func (e *evaluator) Evaluate(ctx context.Context, q model.Question) (model.Answer, error) {
	if err := ctx.Err(); err != nil {
		return model.Answer{}, err
	}
	raw, err := json.Marshal(q.State)
	if err != nil {
		return model.Answer{}, fmt.Errorf("offline: %w", err)
	}
	var s state
	if err := json.Unmarshal(raw, &s); err != nil {
		return model.Answer{}, fmt.Errorf("offline: %w", err)
	}
	a := model.Answer{Evaluator: Name, Scores: map[string]float64{}}
	ix, of := e.index(q.Choices)
	best := rank(ix, of, q.Choices, s.Post.Text, &a)
	if best < fits && len(s.Recent) > 0 && (best > 0 || len(terms(s.Post.Text)) <= few) {
		// It says little by itself: what was talked about before may say it. One that
		// says a lot, and nothing that anybody here knows, is about something else.
		lines := s.Recent[max(0, len(s.Recent)-recent):]
		var all strings.Builder
		for _, l := range lines {
			all.WriteString(l.Text + "\n")
		}
		all.WriteString(s.Post.Text)
		best = rank(ix, of, q.Choices, all.String(), &a)
	}
	if best < fits {
		a.Choice = ""
	}
	return a, nil
}

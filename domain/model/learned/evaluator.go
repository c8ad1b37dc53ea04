package learned

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"postroom/domain/model"
	"postroom/domain/model/lexicon"
)

// Name is what the evaluator's answers carry.
const Name = "learned"

// Of a score, which is a probability times the share of the post's words that were
// seen before.
const (
	sure    = 0.6  // the model decides from here
	nobodys = 0.35 // and below this it is nobody's, where enough was learned
	enough  = 30   // posts a choice that are enough to know what is nobody's
	lean    = 2.0  // how much the comparison of words counts beside what was learned
	seen    = 0.7  // of how much is known, what was seen; the rest is what words say
)

// NewEvaluator makes an evaluator that answers what a model has learned surely, and
// asks next otherwise. learned gives the model for a question; nil: none. words is an
// evaluator that is quick to ask, such as the offline one, whose scores are weighed in.
func NewEvaluator(words, next model.Evaluator, learned func(ctx context.Context, q model.Question) (*Model, error)) model.Evaluator {
	return &evaluator{words, next, learned}
}

type evaluator struct {
	words, next model.Evaluator
	learned     func(ctx context.Context, q model.Question) (*Model, error)
}

// Evaluate is model.Evaluator's.
func (e *evaluator) Evaluate(ctx context.Context, q model.Question) (model.Answer, error) {
	m, err := e.learned(ctx, q)
	if err != nil {
		return model.Answer{}, fmt.Errorf("learned: %w", err)
	}
	if m == nil || len(m.choices) == 0 {
		return e.next.Evaluate(ctx, q)
	}
	text, err := post(q)
	if err != nil {
		return model.Answer{}, err
	}
	said, err := e.words.Evaluate(ctx, q)
	if err != nil {
		return model.Answer{}, err
	}
	a, best := m.weigh(q, text, said.Scores)
	// Of a choice that nothing was learned of, only the words know: where they point to
	// it, the model has nothing to say.
	plenty := said.Choice == "" || m.report.Choices[said.Choice] > 0
	for _, c := range q.Choices {
		n := m.report.Choices[c.ID]
		plenty = plenty && (n == 0 || n >= enough)
	}
	switch {
	case best >= sure || plenty && best >= nobodys:
		return a, nil
	case plenty && len(lexicon.Words(text)) > few:
		a.Choice = ""
		return a, nil
	case e.next == e.words:
		return said, nil
	}
	return e.next.Evaluate(ctx, q)
}

// weigh scores the choices that are offered. One that is gone is never answered, and
// of one that is new only the comparison of words says anything.
func (m *Model) weigh(q model.Question, text string, said map[string]float64) (model.Answer, float64) {
	a := model.Answer{Evaluator: Name, Scores: make(map[string]float64, len(q.Choices))}
	scores, known := m.Place(text)
	sum, heard := 0.0, 0.0
	for _, c := range q.Choices {
		says := said[c.ID]
		if !(says > 0) { // not a number, too
			says = 0
		}
		says = min(1, says)
		a.Scores[c.ID] = scores[c.ID] * math.Exp(lean*says)
		sum += a.Scores[c.ID]
		heard = max(heard, says)
	}
	for _, id := range m.choices { // in order, so that the sum is the same each time
		if _, offered := a.Scores[id]; !offered {
			sum += scores[id] // it may have been theirs who have left
		}
	}
	if sum == 0 {
		return a, 0
	}
	best := 0.0
	for _, c := range q.Choices {
		p := a.Scores[c.ID] / sum * (seen*known + (1-seen)*heard)
		if a.Scores[c.ID] = p; p > best {
			a.Choice, best = c.ID, p
		}
	}
	return a, best
}

// few words depend on what was said before them.
const few = 4

// post is the text of the post that a route's question is about.
func post(q model.Question) (string, error) {
	raw, err := json.Marshal(q.State)
	if err != nil {
		return "", fmt.Errorf("learned: %w", err)
	}
	var state struct {
		Post struct {
			Text string `json:"text"`
		} `json:"post"`
	}
	if err := json.Unmarshal(raw, &state); err != nil {
		return "", fmt.Errorf("learned: %w", err)
	}
	return state.Post.Text, nil
}

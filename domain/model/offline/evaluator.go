package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"postroom/domain/model"
	"postroom/domain/model/lexicon"
)

// What an evaluation takes of the words.
const (
	fits   = 0.44 // least score of the best choice
	recent = 2    // lines of its writer before the post that help where it says little itself
	little = 1.5  // words that are too little to be about something else
)

// NewEvaluator makes an evaluator that compares words: each choice is ranked by its
// description and the documents behind it. What fits none of them is nobody's.
func NewEvaluator() model.Evaluator {
	return &evaluator{seed: maphash.MakeSeed(), made: make(map[uint64]func() *placer)}
}

// evaluator keeps the indexes of the choices it was asked about, which change with
// the workforce only.
type evaluator struct {
	seed maphash.Seed
	mu   sync.Mutex
	made map[uint64]func() *placer // guarded by mu; by all that the choices say
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
	r := e.index(q.Choices)
	best := r.rank(s.Post.Text, &a)
	if best < fits && says(s.Post.Text) <= little {
		// It says little by itself: what its writer talked about before may say it. What
		// others talk about meanwhile does not.
		if before := thread(s); before != "" {
			best = r.rank(before+s.Post.Text, &a)
		}
	}
	if best < fits {
		a.Choice = ""
	}
	return a, nil
}

// replies is the area of words such as yes, no and again, which say little of what
// they reply to.
const (
	replies = "control"
	reply   = 0.3
)

// says is how much a text says of a subject, in words.
func says(text string) (sum float64) {
	for _, w := range lexicon.Read(text) {
		switch {
		case w.Phrase:
		case slices.ContainsFunc(w.Groups, func(g int) bool { return lexicon.Groups()[g].Area == replies }):
			sum += w.Weight * reply
		default:
			sum += w.Weight
		}
	}
	return sum
}

// thread is what the post's writer said last. What came in between may be about
// anything: answers to others, too.
func thread(s state) string {
	var lines []string
	for i := len(s.Recent) - 1; i >= 0 && len(lines) < recent; i-- {
		if s.Recent[i].From == s.Post.From {
			lines = append(lines, s.Recent[i].Text)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

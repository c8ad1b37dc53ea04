package offline

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"

	"postroom/domain/model"
)

// What an evaluation takes of the words.
const (
	fits   = 0.24 // least share of the post's weight that the best choice's words hold
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

// ranked is what the words of each choice are worth.
type ranked struct {
	choices []vocabulary
	holding map[string]int // choices by term
	groups  map[int]int    // choices by group of kin
}

// vocabulary is what a choice speaks of.
type vocabulary struct {
	terms  map[string]float64 // what naming one is worth, 0 to 1
	groups map[int]float64
}

// What a word of the post is worth when a choice has it, or one like it.
const (
	described  = 1.0  // in the description
	documented = 0.75 // in a document
	related    = 0.7  // another word of the same group
	unheard    = 0.5  // of a word's weight, where no choice speaks of it

	alike      = 0.6 // one that begins the same
	alikeBytes = 5
)

// mostIndexes is how many sets of choices are remembered.
const mostIndexes = 64

func (e *evaluator) index(choices []model.Choice) ranked {
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
		return r
	}
	r := ranked{holding: make(map[string]int), groups: make(map[int]int)}
	for _, c := range choices {
		v := vocabulary{make(map[string]float64), make(map[int]float64)}
		v.add(c.Description, described, true)
		for _, d := range c.Documents {
			v.add(d.Name+" "+d.Title+" "+d.Text, documented, false)
		}
		for term := range v.terms {
			r.holding[term]++
		}
		for group := range v.groups {
			r.groups[group]++
		}
		r.choices = append(r.choices, v)
	}
	if len(e.made) >= mostIndexes {
		clear(e.made)
	}
	e.made[key.String()] = r
	return r
}

// add takes a text in; the groups of its words too, where it is a description: a
// document touches on much that is nobody's job.
func (v vocabulary) add(text string, worth float64, groups bool) {
	for _, term := range terms(text) {
		v.terms[term] = max(v.terms[term], worth)
		if groups {
			for _, g := range akin[term] {
				v.groups[g]++
			}
		}
	}
}

// rank scores each choice by the share of the post's weight that it speaks of, and
// picks the best.
func (r ranked) rank(choices []model.Choice, text string, a *model.Answer) float64 {
	clear(a.Scores)
	a.Choice = ""
	scores := make([]float64, len(choices))
	sum := 0.0
	seen := make(map[string]bool)
	for _, term := range terms(text) {
		if seen[term] {
			continue
		}
		seen[term] = true
		worth := make([]float64, len(choices))
		weight := r.weigh(term, worth)
		sum += weight
		for i, w := range worth {
			scores[i] += weight * w
		}
	}
	best := 0.0
	for i, c := range choices {
		if scores[i] == 0 {
			continue
		}
		score := scores[i] / sum
		a.Scores[c.ID] = score
		if score > best {
			a.Choice, best = c.ID, score
		}
	}
	return best
}

// weigh says what a term is worth for each choice, and its weight in the post: the
// fewer choices speak of it, the more.
func (r ranked) weigh(term string, worth []float64) float64 {
	n := float64(len(r.choices))
	rarity := func(holding int) float64 { return math.Log(1 + (n+0.5)/(float64(holding)+0.5)) }
	holding := r.holding[term]
	if holding > 0 {
		for i, v := range r.choices {
			worth[i] = v.terms[term]
		}
	} else if len(term) >= alikeBytes {
		for i, v := range r.choices {
			for other := range v.terms {
				if len(other) >= alikeBytes && (strings.HasPrefix(other, term) || strings.HasPrefix(term, other) || other[:alikeBytes] == term[:alikeBytes]) {
					worth[i] = alike
				}
			}
			if worth[i] > 0 {
				holding++
			}
		}
	}
	weight := rarity(holding)
	touched := map[int]bool{}
	for _, g := range akin[term] {
		if r.groups[g] == 0 {
			continue
		}
		for i, v := range r.choices {
			if v.groups[g] > 0 {
				touched[i] = true
				w := related * min(1, 0.6+0.2*v.groups[g]) * math.Min(1, rarity(r.groups[g])/1.5)
				if worth[i] > 0 {
					worth[i] = max(worth[i], w) + 0.15
				} else {
					worth[i] = max(worth[i], w)
				}
			}
		}
	}
	switch {
	case holding == 0 && len(touched) == 0:
		weight *= unheard
	case holding == 0:
		weight = rarity(len(touched))
	}
	return weight
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
	best := r.rank(q.Choices, s.Post.Text, &a)
	if best < fits && len(s.Recent) > 0 && (best > 0 || len(terms(s.Post.Text)) <= few) {
		// It says little by itself: what was talked about before may say it. One that
		// says a lot, and nothing that anybody here knows, is about something else.
		lines := s.Recent[max(0, len(s.Recent)-recent):]
		var all strings.Builder
		for _, l := range lines {
			all.WriteString(l.Text + "\n")
		}
		all.WriteString(s.Post.Text)
		best = r.rank(q.Choices, all.String(), &a)
	}
	if best < fits {
		a.Choice = ""
	}
	return a, nil
}

package learned_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"

	"postroom/domain/model"
	"postroom/domain/model/learned"
	"postroom/domain/model/modeltest"
)

// taught are posts to two choices, 40 each.
func taught() []learned.Example {
	var all []learned.Example
	for i := range 40 {
		all = append(all,
			learned.Example{Text: fmt.Sprintf("the chain of bike %d is loose and squeaks", i), Choice: "bikes"},
			learned.Example{Text: fmt.Sprintf("loaf %d does not rise, is the dough too wet", i), Choice: "ovens"})
	}
	return all
}

func asked(text string, choices ...string) model.Question {
	q := model.Question{Name: "member", State: map[string]any{"recent": []said{}, "post": said{"somebody", text}}}
	for _, id := range choices {
		q.Choices = append(q.Choices, model.Choice{ID: id, Description: id})
	}
	return q
}

func TestWhatWasLearnedSurelyIsNotAskedOn(t *testing.T) {
	t.Parallel()
	m := learned.Train(taught())
	for name, row := range map[string]struct {
		text    string
		choices []string
		want    string
		asked   int // of the next evaluator
	}{
		"learned":               {"my chain is loose and squeaks", []string{"bikes", "ovens"}, "bikes", 0},
		"nobody's":              {"when does parliament vote on quantum widgets tomorrow", []string{"bikes", "ovens"}, "", 0},
		"short: asked on":       {"and then?", []string{"bikes", "ovens"}, "next", 1},
		"the choice is gone":    {"my chain is loose and squeaks", []string{"ovens", "next"}, "", 0},
		"nothing learned of it": {"the lamp", []string{"lamps", "next"}, "next", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			words := modeltest.NewEvaluator(func(model.Question) (model.Answer, error) { return model.Answer{}, nil })
			next := modeltest.NewEvaluator(func(model.Question) (model.Answer, error) { return model.Answer{Choice: "next"}, nil })
			e := learned.NewEvaluator(words, next, func(context.Context, model.Question) (*learned.Model, error) { return m, nil })
			a, err := e.Evaluate(t.Context(), asked(row.text, row.choices...))
			if err != nil || a.Choice != row.want || len(next.Calls()) != row.asked {
				t.Errorf("%+v %v after %d calls, want %q after %d", a, err, len(next.Calls()), row.want, row.asked)
			}
			if row.asked == 0 && a.Evaluator != learned.Name {
				t.Errorf("%q decided", a.Evaluator)
			}
		})
	}
}

func TestTooFewPostsTeachNothing(t *testing.T) {
	t.Parallel()
	for name, examples := range map[string][]learned.Example{
		"none": nil, "few": taught()[:6], "of one choice": {{"a", "x"}, {"b", "x"}, {"c", ""}},
	} {
		if scores, _ := learned.Train(examples).Place("the chain"); scores != nil {
			t.Errorf("%s: %v", name, scores)
		}
	}
	var none *learned.Model
	if scores, _ := none.Place("x"); scores != nil || none.Report().Posts != 0 {
		t.Error("no model places a post")
	}
}

func TestTheSamePostsTeachTheSame(t *testing.T) {
	t.Parallel()
	a, b := learned.Train(taught()), learned.Train(taught())
	x, _ := a.Place("a wet chain")
	y, _ := b.Place("a wet chain")
	if x["bikes"] != y["bikes"] || x["bikes"] == 0 {
		t.Errorf("%v %v", x, y)
	}
	if r := a.Report(); r.Posts != 80 || r.Checked != 80 || r.Choices["bikes"] != 40 || r.Accuracy < 0.99 {
		t.Errorf("%+v", r)
	}
}

func TestAModelIsAskedByManyAtOnce(t *testing.T) {
	t.Parallel()
	m := learned.Train(taught())
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if scores, _ := m.Place("the chain squeaks"); scores["bikes"] < 0.5 {
				t.Errorf("%v", scores)
			}
		})
	}
	all.Wait()
}

func TestHostileScoresOfWordsAreBounded(t *testing.T) {
	t.Parallel()
	m := learned.Train(taught())
	for _, score := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e9, -500} {
		words := modeltest.NewEvaluator(func(model.Question) (model.Answer, error) {
			return model.Answer{Choice: "bikes", Scores: map[string]float64{"bikes": score, "ovens": score}}, nil
		})
		e := learned.NewEvaluator(words, words, func(context.Context, model.Question) (*learned.Model, error) { return m, nil })
		a, err := e.Evaluate(t.Context(), asked("my chain is loose and squeaks", "bikes", "ovens"))
		if p := a.Scores["bikes"]; err != nil || a.Choice != "bikes" || !(p > 0 && p <= 1) {
			t.Errorf("%v: %+v %v", score, a, err)
		}
	}
}

// However much is given, a training keeps to its bounds.
func TestATrainingIsBounded(t *testing.T) {
	t.Parallel()
	var many []learned.Example
	for i := range 6000 {
		many = append(many, learned.Example{Text: fmt.Sprintf("post %d", i%7), Choice: fmt.Sprintf("choice-%d", i%300)})
	}
	if r := learned.Train(many[:1000]).Report(); len(r.Choices) != 200 {
		t.Errorf("%d choices", len(r.Choices))
	}
	for i := range many {
		many[i].Choice = []string{"bikes", "ovens"}[i%2]
	}
	if r := learned.Train(many).Report(); r.Posts != 5000 {
		t.Errorf("%d posts", r.Posts)
	}
	var single []learned.Example
	for i := range 40 {
		single = append(single, learned.Example{Text: fmt.Sprintf("a post about thing%d", i), Choice: fmt.Sprintf("only-%d", i)})
	}
	if scores, _ := learned.Train(single).Place("a post about thing3 or so"); slices.Max(slices.Collect(maps.Values(scores))) > 0.9 {
		t.Errorf("of choices that were never checked it is sure: %v", scores)
	}
}

package learned_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"postroom/domain/model"
	"postroom/domain/model/learned"
	"postroom/domain/model/offline"
)

type said struct {
	From string `json:"from"`
	Text string `json:"text"`
}

// routing is the routing data: half of each choice's posts to learn from and tune on,
// the other half, and the posts that fit nobody, to be measured on.
type routing struct {
	choices []model.Choice
	train   []learned.Example
	posts   [][]string
	none    [][]string
}

func readRouting(t *testing.T) routing {
	t.Helper()
	dir := os.Getenv("POSTROOM_ROUTING_DATA")
	if dir == "" {
		t.Skip("POSTROOM_ROUTING_DATA names no folder with routing data")
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the folder that POSTROOM_ROUTING_DATA names is not there: " + dir)
	}
	var r routing
	for _, row := range rows(t, dir, "members.csv") {
		r.choices = append(r.choices, model.Choice{ID: row[0], Description: row[1]})
	}
	for i, row := range rows(t, dir, "posts-train.csv") {
		if i%2 == 0 {
			r.train = append(r.train, learned.Example{Text: row[0], Choice: row[1]})
		} else {
			r.posts = append(r.posts, row)
		}
	}
	for i, row := range rows(t, dir, "posts-none.csv") {
		if i%2 == 1 {
			r.none = append(r.none, row)
		}
	}
	return r
}

// taught is the evaluator that has learned, with as it stands without.
func (r routing) taught() (taught, untaught model.Evaluator, m *learned.Model) {
	untaught = offline.NewEvaluator()
	m = learned.Train(r.train)
	taught = learned.NewEvaluator(untaught, untaught, func(context.Context, model.Question) (*learned.Model, error) { return m, nil })
	return taught, untaught, m
}

func (r routing) ask(t *testing.T, e model.Evaluator, recent []said, post said) model.Answer {
	t.Helper()
	a, err := e.Evaluate(t.Context(), model.Question{Name: "member", Choices: r.choices, State: map[string]any{"recent": recent, "post": post}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// top is the choice with the best score, whether that is enough or not.
func top(a model.Answer) (id string, score float64) {
	for choice, s := range a.Scores {
		if s > score || s == score && choice < id {
			id, score = choice, s
		}
	}
	return id, score
}

// TestRoutingDataIsPlaced measures on labelled posts that the machine may have.
func TestRoutingDataIsPlaced(t *testing.T) {
	r := readRouting(t)
	taught, untaught, m := r.taught()
	t.Logf("learned from %d posts, cross-checked %.3f", m.Report().Posts, m.Report().Accuracy)
	for _, row := range []struct {
		name                                 string
		e                                    model.Evaluator
		leastTop, leastFitting, leastRefused float64
	}{{"descriptions alone", untaught, 0.80, 0.75, 0.60}, {"100 posts a member", taught, 0.91, 0.88, 0.60}} {
		best, right, lost, refused := 0, 0, 0, 0
		var hits, all [10]int
		var sums [10]float64
		for _, p := range r.posts {
			a := r.ask(t, row.e, nil, said{"w", p[0]})
			id, score := top(a)
			bucket := min(9, int(score*10))
			all[bucket]++
			sums[bucket] += score
			if id == p[1] {
				best++
				hits[bucket]++
			}
			switch a.Choice {
			case p[1]:
				right++
			case "":
				lost++
			}
		}
		for _, p := range r.none {
			if r.ask(t, row.e, nil, said{"w", p[0]}).Choice == "" {
				refused++
			}
		}
		n, others := float64(len(r.posts)), float64(len(r.none))
		t.Logf("%s: right %.3f without the floor, %.3f with it (%.3f refused); of the others %.3f refused",
			row.name, float64(best)/n, float64(right)/n, float64(lost)/n, float64(refused)/others)
		for i := range all {
			if all[i] > 0 {
				t.Logf("  score %.2f: %4d posts, %.2f right", sums[i]/float64(all[i]), all[i], float64(hits[i])/float64(all[i]))
			}
		}
		if float64(best)/n < row.leastTop || float64(right)/n < row.leastFitting || float64(refused)/others < row.leastRefused {
			t.Errorf("%s: places worse than it did", row.name)
		}
	}
}

// What others talk about meanwhile must not draw a post away from what it says.
func TestRoutingDataIsPlacedInAMixedStream(t *testing.T) {
	const writers, answered, kept = 6, 2, 20 // a post each 30 s, its answer after 40 s: past the next one
	r := readRouting(t)
	taught, untaught, _ := r.taught()
	for name, e := range map[string]model.Evaluator{"descriptions alone": untaught, "100 posts a member": taught} {
		apart, mixed := 0, 0
		var lines []said
		var owed []said
		for i, p := range r.posts {
			post := said{fmt.Sprintf("writer-%d", i*7%writers), p[0]}
			if len(owed) == answered {
				lines = append(lines, owed[0])
				owed = owed[1:]
			}
			if r.ask(t, e, nil, post).Choice == p[1] {
				apart++
			}
			if r.ask(t, e, lines[max(0, len(lines)-kept):], post).Choice == p[1] {
				mixed++
			}
			lines = append(lines, post)
			owed = append(owed, said{p[1], "I have looked into it: " + p[0]})
		}
		n := float64(len(r.posts))
		t.Logf("%s: right %.3f apart, %.3f in a mixed stream", name, float64(apart)/n, float64(mixed)/n)
		if float64(apart-mixed)/n > 0.02 {
			t.Errorf("%s: the stream draws posts away", name)
		}
	}
}

func rows(t *testing.T, dir, name string) [][]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	all, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all[1:]
}

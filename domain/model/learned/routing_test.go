package learned_test

import (
	"context"
	"encoding/csv"
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

// TestRoutingDataIsPlaced measures on labelled posts that the machine may have.
func TestRoutingDataIsPlaced(t *testing.T) {
	dir := os.Getenv("POSTROOM_ROUTING_DATA")
	if dir == "" {
		t.Skip("POSTROOM_ROUTING_DATA names no folder with routing data")
	}
	var choices []model.Choice
	for _, row := range rows(t, dir, "members.csv") {
		choices = append(choices, model.Choice{ID: row[0], Description: row[1]})
	}
	var train []learned.Example
	var posts [][]string
	seen := map[string]int{}
	for _, row := range rows(t, dir, "posts-train.csv") {
		if seen[row[1]]++; seen[row[1]]%2 == 0 {
			train = append(train, learned.Example{Text: row[0], Choice: row[1]})
		} else {
			posts = append(posts, row)
		}
	}
	none := rows(t, dir, "posts-none.csv")
	untaught := offline.NewEvaluator()
	m := learned.Train(train)
	taught := learned.NewEvaluator(untaught, untaught, func(context.Context, model.Question) (*learned.Model, error) { return m, nil })
	for _, row := range []struct {
		name                      string
		e                         model.Evaluator
		leastFitting, leastNobody float64
	}{{"descriptions alone", untaught, 0.60, 0.3}, {"100 posts a member", taught, 0.80, 0.55}} {
		right, refused := 0, 0
		ask := func(text string) string {
			a, err := row.e.Evaluate(t.Context(), model.Question{Name: "member", Choices: choices, State: map[string]any{"recent": []said{}, "post": said{"w", text}}})
			if err != nil {
				t.Fatal(err)
			}
			return a.Choice
		}
		lost := 0
		for _, p := range posts {
			switch ask(p[0]) {
			case p[1]:
				right++
			case "":
				lost++
			}
		}
		for _, p := range none {
			if ask(p[0]) == "" {
				refused++
			}
		}
		fitting, nobody := float64(right)/float64(len(posts)), float64(refused)/float64(len(none))
		t.Logf("%s: %.3f of the fitting right, %.3f of them refused, %.3f of the others refused; cross-checked %.3f", row.name, fitting, float64(lost)/float64(len(posts)), nobody, m.Report().Accuracy)
		if fitting < row.leastFitting || nobody < row.leastNobody {
			t.Errorf("%s: places worse than it did", row.name)
		}
	}
}

func rows(t *testing.T, dir, name string) [][]string {
	f, err := os.Open(filepath.Join(dir, name))
	if err != nil {
		t.Skip(err)
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

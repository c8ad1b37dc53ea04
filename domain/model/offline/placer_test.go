package offline_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"postroom/domain/model"
	"postroom/domain/model/offline"
)

// office are members whose descriptions hold few of the words that people use.
func office() []model.Choice {
	return []model.Choice{
		{ID: "helpdesk", Description: "IT: laptops, printers, network, signing in, software, email."},
		{ID: "people", Description: "Human resources: leave, salaries, hiring, training, benefits."},
		{ID: "shop", Description: "Orders, delivery, returns, discounts, stock."},
		{ID: "building", Description: "The building: heating, cleaning, plumbing, parking, keys and doors."},
	}
}

func place(t *testing.T, e model.Evaluator, choices []model.Choice, text string) model.Answer {
	t.Helper()
	a, err := e.Evaluate(t.Context(), model.Question{Name: "member", Choices: choices, State: map[string]any{"post": said{"tamsin", text}}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAPostIsPlacedByEverydayEnglish(t *testing.T) {
	t.Parallel()
	e := offline.NewEvaluator()
	right, total := 0, 0
	for text, want := range map[string]string{
		"I forgot my passphrase and cannot log on":              "helpdesk",
		"the wifi drops in the upstairs corner":                 "helpdesk",
		"Outlook does not open attachments":                     "helpdesk",
		"My MacBook is stuck on a blue screen":                  "helpdesk",
		"can you install the new version of Chrome for me":      "helpdesk",
		"the scanner chews up every sheet":                      "helpdesk",
		"How many vacation days are left for me?":               "people",
		"when does my paycheck come":                            "people",
		"I would like a raise":                                  "people",
		"how do I refer a candidate for the open position":      "people",
		"does the dental plan include my kids":                  "people",
		"is there a workshop on giving presentations":           "people",
		"Where is my parcel?":                                   "shop",
		"the tracking says it was never dispatched":             "shop",
		"I want my money back for these shoes":                  "shop",
		"is the blue one sold out":                              "shop",
		"my coupon is not accepted at the checkout":             "shop",
		"the toilet on the second floor leaks":                  "building",
		"it is freezing in here, the radiator or boiler is off": "building",
		"who vacuums the meeting corner, there is dust":         "building",
		"the parking lot gate is shut":                          "building",
		"I am locked out, the door lock does not turn":          "building",
		"who won the world cup in rugby":                        "",
		"what did Napoleon do in Egypt":                         "",
		"which planet has the most moons":                       "",
		"name a poem by Keats":                                  "",
		"how do whales sleep":                                   "",
		"solve this equation for x":                             "",
	} {
		total++
		if got := place(t, e, office(), text); got.Choice == want {
			right++
		} else {
			t.Logf("%q went to %q, want %q: %v", text, got.Choice, want, got.Scores)
		}
	}
	if t.Logf("%d of %d", right, total); right < total*3/4 {
		t.Errorf("%d of %d placed right", right, total)
	}
}

func TestWhatOthersTalkAboutDrawsNoPostAway(t *testing.T) {
	t.Parallel()
	e := offline.NewEvaluator()
	mixed := []said{{"tamsin", "my parcel never came"}, {"odo", "the toilet leaks again"}, {"shop", "Which order is it?"}, {"building", "Which floor?"}}
	for text, want := range map[string][2]string{ // of tamsin's, of odo's
		"no, it still does not": {"shop", "building"},
		"the wifi is gone":      {"helpdesk", "helpdesk"},
		"how do whales sleep":   {"", ""},
	} {
		for i, from := range []string{"tamsin", "odo"} {
			a, err := e.Evaluate(t.Context(), model.Question{Choices: office(), State: map[string]any{"recent": mixed, "post": said{from, text}}})
			if err != nil || a.Choice != want[i] {
				t.Errorf("%s: %q went to %q (%v), want %q", from, text, a.Choice, err, want[i])
			}
		}
	}
}

func TestTheSamePostScoresTheSameFromManySides(t *testing.T) {
	t.Parallel()
	e := offline.NewEvaluator()
	want := place(t, e, office(), "the printer in the parking lot has no paper")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				a := place(t, e, office(), "the printer in the parking lot has no paper")
				for id, score := range want.Scores {
					if a.Scores[id] != score || score < 0 || score > 1 {
						t.Errorf("%s: %v, want %v within 0 and 1", id, a.Scores[id], score)
					}
				}
			}
		})
	}
	all.Wait()
}

func TestAnEditOfTheSameLengthIsSeen(t *testing.T) {
	t.Parallel()
	e := offline.NewEvaluator()
	ask := func(first, second string) string {
		a, err := e.Evaluate(t.Context(), model.Question{State: map[string]any{"post": said{"w", "violin piano"}}, Choices: []model.Choice{
			{ID: "a", Description: "One.", Documents: []model.Document{{Name: "d", Text: first}}},
			{ID: "b", Description: "Two.", Documents: []model.Document{{Name: "d", Text: second}}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		return a.Choice
	}
	if first, second := ask("violin piano", "tomato onion"), ask("tomato onion", "violin piano"); first != "a" || second != "b" {
		t.Errorf("%q, and after the documents were swapped %q", first, second)
	}
}

// BenchmarkStrangeWords places a long post of words that nobody has, beside the same
// with few words in the documents: what documents hold makes no lookup longer.
func BenchmarkStrangeWords(b *testing.B) {
	words := func(seed string, n int) string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, "%s%x ", seed, i*2654435761)
		}
		return all.String()
	}
	made := func(n int) (model.Evaluator, model.Question) {
		e := offline.NewEvaluator()
		q := model.Question{State: map[string]any{"post": said{"w", words("x", 4000)}}, Choices: []model.Choice{
			{ID: "a", Description: "Clocks.", Documents: []model.Document{{Text: words("known", n)}}}, {ID: "b", Description: "Bread."},
		}}
		if _, err := e.Evaluate(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		return e, q
	}
	few, asked := made(10)
	began := time.Now()
	const asks = 20
	for range asks {
		_, _ = few.Evaluate(b.Context(), asked)
	}
	beside := time.Since(began) / asks
	many, asked := made(40000)
	for b.Loop() {
		_, _ = many.Evaluate(b.Context(), asked)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(beside), "x-few-words")
}

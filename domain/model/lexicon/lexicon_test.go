package lexicon_test

import (
	"slices"
	"testing"

	"postroom/domain/model/lexicon"
)

// groups are the names of the groups that a text's words stand in.
func groups(text string) (all []string) {
	for _, w := range lexicon.Read(text) {
		for _, g := range w.Groups {
			all = append(all, lexicon.Groups()[g].Name)
		}
	}
	return all
}

func TestWordsOfOneKindShareAGroup(t *testing.T) {
	t.Parallel()
	for _, row := range [][3]string{
		{"petrol", "gasoline", "fuel"}, {"my salaries", "the pay slip", "wage"}, {"laptops", "a notebook", "computer"},
		{"log in", "signing in", "login"}, {"parcels", "shipment", "shipping"},
	} {
		if a, b := groups(row[0]), groups(row[1]); !slices.Contains(a, row[2]) || !slices.Contains(b, row[2]) {
			t.Errorf("%q is in %v, %q in %v, want both in %s", row[0], a, row[1], b, row[2])
		}
	}
}

func TestAWordWeighsWhatItSaysOfTheSubject(t *testing.T) {
	t.Parallel()
	weights := map[string]float64{}
	for _, w := range lexicon.Read("Could you please tell me the price of Susan's blarfo, and cancel the 打印机?") {
		weights[w.Stem] = w.Weight
	}
	if _, there := weights["you"]; there {
		t.Error("who is asked politely is spoken of")
	}
	if !(weights["the"] == 0 && weights["susan"] < weights["cancel"] && weights["cancel"] < weights["price"] && weights["blarfo"] == 1 && weights["打印"] == 1) {
		t.Errorf("weights: %v", weights)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("can you tell me 15% of $3, it's 路由器")
	f.Fuzz(func(t *testing.T, text string) {
		if a, b := lexicon.Read(text), lexicon.Read(text); len(a) != len(b) {
			t.Errorf("%d words, then %d", len(a), len(b))
		}
	})
}

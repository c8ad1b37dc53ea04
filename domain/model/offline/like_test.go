package offline

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"postroom/domain/model"
)

// A word that no choice has is like those that begin as it does, and like no other,
// whichever way they are found.
func TestAWordIsLikeThoseThatBeginAsItDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[ab]{5,9}`)
		p := newPlacer([]model.Choice{
			{ID: "x", Description: strings.Join(rapid.SliceOfN(word, 1, 12).Draw(t, "first"), ", ")},
			{ID: "y", Description: strings.Join(rapid.SliceOfN(word, 1, 12).Draw(t, "second"), ", ")},
		})
		stem := word.Draw(t, "stem")
		var want []float64
		for other, row := range p.words {
			if len(other) < alikeBytes || strings.Contains(other, " ") || !strings.HasPrefix(other, stem) && !strings.HasPrefix(stem, other) {
				continue
			}
			if want == nil {
				want = make([]float64, len(row))
			}
			for i, x := range row {
				want[i] = max(want[i], x)
			}
		}
		if got := p.like(stem); !slices.Equal(got, want) {
			t.Fatalf("%q is like %v, want %v", stem, got, want)
		}
	})
}

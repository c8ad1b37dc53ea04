package offline

import (
	"math"
	"slices"
	"strings"

	"postroom/domain/model"
	"postroom/domain/model/lexicon"
)

// passage is one section of a document.
type passage struct {
	document int
	heading  string
	text     string
	terms    map[string]int
	length   int
}

// index ranks passages by BM25 over stemmed terms.
type index struct {
	documents []model.Document
	passages  []passage
	holding   map[string]int // how many passages hold a term
	mean      float64        // of the passages' lengths, in terms
}

// BM25's usual constants.
const (
	saturation = 1.2
	lengthBias = 0.75
)

func newIndex(documents []model.Document) *index {
	ix := &index{documents: documents, holding: make(map[string]int)}
	total := 0
	for i, d := range documents {
		for _, p := range sections(d.Text) {
			p.document = i
			p.terms = make(map[string]int)
			// The name and headings say what a passage is about, so they count as its text.
			for _, term := range terms(d.Name + " " + d.Title + " " + p.heading + " " + p.text) {
				p.terms[term]++
				p.length++
			}
			for term := range p.terms {
				ix.holding[term]++
			}
			total += p.length
			ix.passages = append(ix.passages, p)
		}
	}
	if len(ix.passages) > 0 {
		ix.mean = float64(total) / float64(len(ix.passages))
	}
	return ix
}

// found is a passage with how well it fits.
type found struct {
	passage
	score   float64
	covered float64 // share of the question's weight that the passage holds, 0 to 1
}

// search ranks the passages that hold anything of the question, best first.
func (ix *index) search(question string) []found {
	weights := make(map[string]float64)
	sum := 0.0
	for _, term := range terms(question) {
		if _, twice := weights[term]; twice {
			continue
		}
		n := float64(ix.holding[term])
		weights[term] = math.Log(1 + (float64(len(ix.passages))-n+0.5)/(n+0.5))
		sum += weights[term]
	}
	var hits []found
	for _, p := range ix.passages {
		hit := found{passage: p}
		for term, weight := range weights {
			count := float64(p.terms[term])
			if count == 0 {
				continue
			}
			hit.covered += weight
			hit.score += weight * count * (saturation + 1) / (count + saturation*(1-lengthBias+lengthBias*float64(p.length)/ix.mean))
		}
		if hit.score > 0 {
			hit.covered /= sum
			hits = append(hits, hit)
		}
	}
	slices.SortStableFunc(hits, func(a, b found) int {
		// Rounded, since the order of a sum over a map is not fixed.
		return int(math.Round(b.score*1e6)) - int(math.Round(a.score*1e6))
	})
	return hits
}

// sections parts Markdown at its headings. Text before the first has none.
func sections(text string) []passage {
	var parts []passage
	current := passage{}
	add := func() {
		current.text = strings.TrimSpace(current.text)
		if current.text != "" {
			parts = append(parts, current)
		}
	}
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "#") {
			add()
			current = passage{heading: strings.TrimSpace(strings.TrimLeft(line, "# "))}
			continue
		}
		current.text += line
	}
	add()
	return parts
}

// terms are the stemmed words of a text, without those that every question has.
func terms(text string) []string {
	var all []string
	for _, w := range lexicon.Words(text) {
		if !filler[w] {
			all = append(all, lexicon.Stem(w))
		}
	}
	return all
}

// filler are words that say nothing of what a question is about.
var filler = words(`a about after all also am an and any are as at be been but by can cant could couldnt did didnt do does
doesnt dont for from get getting give go going got had has have hello help her hi him his how i id if im in into is isnt it its ive just know like long many
me more much my need no not now of ok okay on or our out please really should so some somebody someone something tell than thank thanks that
thats the their take takes them then there these they thing this those to too up us very want was we well were what whats when where
which who why will with wont work working would yes you your`)

func words(text string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

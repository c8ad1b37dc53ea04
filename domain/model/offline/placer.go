package offline

import (
	"hash/maphash"
	"math"
	"slices"
	"strings"
	"sync"

	"postroom/domain/model"
	"postroom/domain/model/lexicon"
)

// placer is what the words of a set of choices are worth.
type placer struct {
	ids    []string
	words  map[string][]float64 // what each choice speaks of, 0 to 1, by stem or phrase
	spoken map[string][]float64 // phrases of fillers alone, such as "who made you"
	// phrases are spoken's keys, in the order in which they were described.
	phrases []string
	groups  map[int][]float64
	areas   map[string][]float64
	you     []float64 // items that speak of whoever they speak to
	// begins are the keys of words, phrases left out, by their first alikeBytes bytes.
	begins map[string][]string
}

// What a word of the post is worth to a choice.
const (
	documented = 0.6  // of a word in the description, when it is in a document
	exact      = 1.0  // the choice has the word
	related    = 0.8  // it has another word of the group
	touching   = 0.3  // it has words of the area
	paired     = 0.5  // it has two neighbouring words side by side: on top
	unheard    = 0.55 // the weight of an everyday word that no choice has anything of
	strange    = 0.3  // and of one that is not everyday English, so perhaps a name
	phrased    = 0.6  // a phrase of fillers alone, twice over to whom it is described
	uttered    = 0.3  // a filler, to whom it is all of an item
	again      = 0.3  // the weight of a phrase, whose words have theirs already
	doubt      = 0.25 // weight that is always unheard, so that one weak word is no sure sign
	address    = 0.5  // that the post speaks of whoever it speaks to
	alikeBytes = 5    // two unheard words that begin the same are perhaps one
	alike      = 0.6
)

// mostIndexes is how many sets of choices are remembered.
const mostIndexes = 64

func (e *evaluator) index(choices []model.Choice) *placer {
	key := e.key(choices)
	e.mu.Lock()
	p, known := e.made[key]
	if !known {
		if len(e.made) >= mostIndexes {
			clear(e.made)
		}
		// Made outside the lock: long documents keep nobody else waiting.
		p = sync.OnceValue(func() *placer { return newPlacer(choices) })
		e.made[key] = p
	}
	e.mu.Unlock()
	return p()
}

// key stands for all that choices say: a document that was edited makes another index.
func (e *evaluator) key(choices []model.Choice) uint64 {
	var h maphash.Hash
	h.SetSeed(e.seed)
	write := func(text string) {
		maphash.WriteComparable(&h, len(text))
		_, _ = h.WriteString(text)
	}
	for _, c := range choices {
		maphash.WriteComparable(&h, len(c.Documents))
		write(c.ID)
		write(c.Description)
		for _, d := range c.Documents {
			write(d.Name)
			write(d.Title)
			write(d.Text)
		}
	}
	return h.Sum64()
}

func newPlacer(choices []model.Choice) *placer {
	p := &placer{words: make(map[string][]float64), spoken: make(map[string][]float64), groups: make(map[int][]float64), areas: make(map[string][]float64), you: make([]float64, len(choices))}
	for i, c := range choices {
		p.ids = append(p.ids, c.ID)
		for _, phrase := range strings.FieldsFunc(c.Description, func(r rune) bool { return strings.ContainsRune(",;:.!?()\n", r) }) {
			p.describe(i, len(choices), phrase)
		}
		for _, d := range c.Documents {
			for _, w := range lexicon.Read(d.Name + " " + d.Title + " " + d.Text) {
				if w.Weight > 0 {
					raise(p.words, w.Stem, i, len(choices), documented)
				}
			}
		}
	}
	p.begins = make(map[string][]string)
	for key := range p.words {
		if len(key) >= alikeBytes && !strings.Contains(key, " ") {
			p.begins[key[:alikeBytes]] = append(p.begins[key[:alikeBytes]], key)
		}
	}
	return p
}

// describe takes one item of a description in. A document's groups are left out: it
// touches on much that is nobody's job.
func (p *placer) describe(i, n int, phrase string) {
	words := lexicon.Read(phrase)
	content := slices.ContainsFunc(words, func(w lexicon.Word) bool { return w.Weight >= 1 && !w.Phrase })
	var all []string
	if addressed(words) {
		p.you[i]++
	}
	length := 0.0
	for _, w := range words {
		if w.Weight > 0 && !w.Phrase {
			length++
		}
	}
	// A word that is an item by itself says more than one of several.
	worth := exact / math.Pow(max(1, length), 0.4)
	before := ""
	for _, w := range words {
		if !w.Phrase {
			all = append(all, w.Stem)
		}
		if w.Weight > 0 || w.Phrase || len(words) == 1 {
			raise(p.words, w.Stem, i, n, worth)
		}
		if w.Weight > 0 && !w.Phrase {
			if before != "" {
				raise(p.words, before+" "+w.Stem, i, n, exact)
			}
			before = w.Stem
		}
		if w.Weight == 0 && len(words) > 1 {
			continue
		}
		for _, g := range w.Groups {
			share := max(w.Weight, 0.3) / math.Sqrt(float64(len(w.Groups)))
			if w.Phrase {
				share *= 1.5
			}
			at(p.groups, g, n)[i] += share
			at(p.areas, lexicon.Groups()[g].Area, n)[i] += share
		}
	}
	if !content && len(all) > 1 {
		key := strings.Join(all, " ")
		if p.spoken[key] == nil {
			p.phrases = append(p.phrases, key)
		}
		raise(p.spoken, key, i, n, exact)
	}
}

// addressed reports whether a text speaks of the one it speaks to, other than to ask.
func addressed(words []lexicon.Word) bool {
	return slices.ContainsFunc(words, func(w lexicon.Word) bool { return w.Stem == "you" || w.Stem == "your" || w.Stem == "yourself" })
}

func at[K comparable](m map[K][]float64, key K, n int) []float64 {
	row, there := m[key]
	if !there {
		row = make([]float64, n)
		m[key] = row
	}
	return row
}

func raise(m map[string][]float64, key string, i, n int, worth float64) {
	row := at(m, key, n)
	row[i] = max(row[i], worth)
}

// rank scores each choice by the share of the post's weight that it speaks of, and
// picks the best.
func (p *placer) rank(text string, a *model.Answer) float64 {
	clear(a.Scores)
	a.Choice = ""
	scores := make([]float64, len(p.ids))
	sum := 0.0
	seen := make(map[string]bool)
	before := ""
	var stems []string
	read := lexicon.Read(text)
	for _, w := range read {
		if !w.Phrase {
			stems = append(stems, w.Stem)
			if w.Weight > 0 && before != "" {
				p.score(p.words[before+" "+w.Stem], paired, scores)
			}
			if w.Weight > 0 {
				before = w.Stem
			}
		}
		if seen[w.Stem] {
			continue
		}
		seen[w.Stem] = true
		sum += p.weigh(w, scores)
	}
	whole := " " + strings.Join(stems, " ") + " "
	for _, phrase := range p.phrases { // in order, so that the sum is the same each time
		if strings.Contains(whole, " "+phrase+" ") {
			p.score(p.spoken[phrase], 2*phrased, scores)
			sum += phrased
		}
	}
	// Who is spoken to is a subject only where descriptions speak to them.
	if addressed(read) && p.score(p.you, address, scores) {
		sum += address
	}
	best := 0.0
	for i, id := range p.ids {
		if scores[i] <= 0 || sum == 0 {
			continue
		}
		score := min(1, scores[i]/(sum+doubt))
		a.Scores[id] = score
		if score > best {
			a.Choice, best = id, score
		}
	}
	return best
}

// score shares what is worth something out among those that it speaks for: the fewer
// they are, the more each has of it.
func (p *placer) score(row []float64, worth float64, scores []float64) bool {
	if row == nil {
		return false
	}
	sum := 0.0
	for _, x := range row {
		sum += x
	}
	if sum == 0 {
		return false
	}
	for i, x := range row {
		scores[i] += worth * x / sum * math.Sqrt(min(1, sum))
	}
	return true
}

// weigh adds what a word says for each choice, and gives its weight in the post.
func (p *placer) weigh(w lexicon.Word, scores []float64) float64 {
	weight := w.Weight
	row := p.words[w.Stem]
	if weight == 0 {
		p.score(row, uttered, scores)
		return 0
	}
	heard := p.score(row, weight*exact, scores)
	if !heard && len(w.Stem) >= alikeBytes && len(w.Groups) == 0 {
		heard = p.score(p.like(w.Stem), weight*alike, scores)
	}
	// Of the senses that a word has, those that somebody here speaks of count.
	senses := 0
	for _, g := range w.Groups {
		if p.groups[g] != nil {
			senses++
		}
	}
	shared := 1 / math.Sqrt(float64(max(1, senses)))
	for _, g := range w.Groups {
		if p.score(p.groups[g], weight*related*shared, scores) {
			heard = true
		}
		p.score(p.areas[lexicon.Groups()[g].Area], weight*touching*shared, scores)
	}
	switch {
	case w.Phrase:
		return weight * again // its words are weighed already
	case heard:
		return weight
	case w.Name || w.Weight < 0.5:
		return weight * strange
	}
	return weight * unheard
}

// like is a row of words that begin as one does which no choice has.
func (p *placer) like(stem string) []float64 {
	var found []float64
	for _, other := range p.begins[stem[:alikeBytes]] {
		if !strings.HasPrefix(other, stem) && !strings.HasPrefix(stem, other) {
			continue
		}
		if found == nil {
			found = make([]float64, len(p.ids))
		}
		for i, x := range p.words[other] {
			found[i] = max(found[i], x)
		}
	}
	return found
}

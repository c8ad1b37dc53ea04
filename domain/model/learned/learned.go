// Package learned is an evaluator that learns from labelled posts: a linear
// classifier over words and character n-grams, trained in process.
package learned

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"postroom/domain/model/lexicon"
)

// Example is a labelled post. Choice is empty where it fits nobody.
type Example struct {
	Text, Choice string
}

// Report says what a model learned from.
type Report struct {
	Posts    int            // that have a choice
	Choices  map[string]int // posts by choice
	Accuracy float64        // share of Checked placed right by models that had not seen them, 0 to 1
	Checked  int
}

// Model places posts. The zero value, and nil, is never sure.
type Model struct {
	linear
	report Report
}

// What a training takes.
const (
	fewest  = 10 // posts below which nothing is learned
	folds   = 5
	rounds  = 12
	rate    = 0.5
	decay   = 1e-5
	kindred = 0.8 // the value of a group that a word stands in, beside its own of 1
	region  = 0.5 // and of the group's area
	// commonplace is what a word that says nothing of a subject counts less where it is
	// asked how much of a post is known.
	commonplace = 0.7
	longest     = 600 // runes of a post that are looked at
	// What bounds a training.
	most         = 5000   // posts, the last ones
	mostChoices  = 200    // others are left out
	mostFeatures = 100000 // above which those of one post alone are left out
)

// Train learns from posts, the same from the same: from the last 5,000 of them, and
// of each from its beginning. Those that fit nobody train nothing by themselves: a
// post is nobody's where the model is unsure.
func Train(examples []Example) *Model {
	examples = examples[max(0, len(examples)-most):]
	var labelled []lesson
	m := &Model{report: Report{Choices: make(map[string]int)}}
	for _, e := range examples {
		_, known := m.report.Choices[e.Choice]
		if e.Choice != "" && strings.TrimSpace(e.Text) != "" && (known || len(m.report.Choices) < mostChoices) {
			labelled = append(labelled, lesson{grams(e.Text), e.Choice})
			m.report.Choices[e.Choice]++
		}
	}
	m.report.Posts = len(labelled)
	if len(labelled) < fewest || len(m.report.Choices) < 2 {
		return m
	}
	right := 0
	scale := []sample{}
	for fold := range folds {
		var in, out []lesson
		for i, e := range labelled {
			if i%folds == fold {
				out = append(out, e)
			} else {
				in = append(in, e)
			}
		}
		part := fit(in)
		for _, e := range out {
			vector, _ := part.vector(e.grams)
			logits, choice := part.score(vector), slices.Index(part.choices, e.choice)
			scale = append(scale, sample{logits, choice})
			if best(logits) == choice {
				right++
			}
		}
	}
	m.linear = fit(labelled)
	m.temperature = calibrate(scale)
	m.report.Checked, m.report.Accuracy = len(labelled), float64(right)/float64(len(labelled))
	return m
}

// Report says what the model learned from.
func (m *Model) Report() Report {
	if m == nil {
		return Report{}
	}
	return m.report
}

// Place gives the probability of each choice, and the share of the post's words, by
// their weight, that the model has seen; nothing where it learned nothing.
func (m *Model) Place(text string) (scores map[string]float64, known float64) {
	if m == nil || len(m.choices) == 0 {
		return nil, 0
	}
	vector, known := m.vector(grams(text))
	scores = make(map[string]float64, len(m.choices))
	for i, p := range softmax(m.score(vector), m.temperature) {
		scores[m.choices[i]] = p
	}
	return scores, known
}

// linear is a softmax regression.
type linear struct {
	choices     []string
	features    map[string]int
	rarity      []float64
	weights     [][]float64 // by feature, by choice
	bias        []float64
	temperature float64
}

type sample struct {
	logits []float64
	right  int
}

// lesson is an example as it is learned from.
type lesson struct {
	grams  map[string]float64
	choice string
}

type feature struct {
	at    int
	value float64
}

func fit(examples []lesson) linear {
	l := linear{features: make(map[string]int), temperature: 1}
	counts := []int{}
	for _, e := range examples {
		if !slices.Contains(l.choices, e.choice) {
			l.choices = append(l.choices, e.choice)
		}
		for _, name := range sorted(e.grams) {
			at, known := l.features[name]
			if !known {
				at = len(counts)
				l.features[name], counts = at, append(counts, 0)
			}
			counts[at]++
		}
	}
	if len(counts) > mostFeatures {
		counts = l.prune(counts)
	}
	slices.Sort(l.choices)
	l.rarity = make([]float64, len(counts))
	l.weights = make([][]float64, len(counts))
	flat := make([]float64, len(counts)*len(l.choices))
	for i, n := range counts {
		l.rarity[i] = math.Log(float64(len(examples)+1)/float64(n)) + 0.3
		l.weights[i] = flat[i*len(l.choices) : (i+1)*len(l.choices)]
	}
	l.bias = make([]float64, len(l.choices))
	vectors := make([][]feature, len(examples))
	labels := make([]int, len(examples))
	for i, e := range examples {
		vectors[i], _ = l.vector(e.grams)
		labels[i] = slices.Index(l.choices, e.choice)
	}
	squares := make([]float64, len(flat))
	state := uint64(1)
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	for range rounds {
		for i := len(order) - 1; i > 0; i-- { // shuffled, the same each time
			state = state*6364136223846793005 + 1442695040888963407
			j := int((state >> 33) % uint64(i+1))
			order[i], order[j] = order[j], order[i]
		}
		for _, i := range order {
			l.learn(vectors[i], labels[i], squares)
		}
	}
	return l
}

// prune leaves out the features that one post alone has.
func (l *linear) prune(counts []int) []int {
	kept, moved := counts[:0:0], make([]int, len(counts))
	for at, n := range counts {
		if moved[at] = -1; n > 1 {
			moved[at] = len(kept)
			kept = append(kept, n)
		}
	}
	for name, at := range l.features {
		if moved[at] < 0 {
			delete(l.features, name)
		} else {
			l.features[name] = moved[at]
		}
	}
	return kept
}

// learn takes one step (AdaGrad's) towards a post's label.
func (l *linear) learn(vector []feature, label int, squares []float64) {
	p := softmax(l.score(vector), 1)
	p[label]--
	n := len(l.choices)
	for _, f := range vector {
		for c, gradient := range p {
			g := gradient*f.value + decay*l.weights[f.at][c]
			squares[f.at*n+c] += g * g
			l.weights[f.at][c] -= rate * g / (math.Sqrt(squares[f.at*n+c]) + 0.05)
		}
	}
	for c, gradient := range p {
		l.bias[c] -= 0.02 * gradient
	}
}

func (l *linear) score(vector []feature) []float64 {
	logits := slices.Clone(l.bias)
	for _, f := range vector {
		for c, w := range l.weights[f.at] {
			logits[c] += w * f.value
		}
	}
	return logits
}

// vector weighs a post's features by rarity, to length one; known is the share of
// the weight of its words that the model has seen.
func (l *linear) vector(text map[string]float64) (vector []feature, known float64) {
	sum, all, seen := 0.0, 0.0, 0.0
	unseen := math.Log(float64(len(l.features)+1)) * 0.7
	for _, name := range sorted(text) {
		at, there := l.features[name]
		value := text[name]
		if there {
			value *= l.rarity[at]
			vector = append(vector, feature{at, value})
		} else {
			value *= unseen
		}
		sum += value * value
		if word, is := strings.CutPrefix(name, "w "); is {
			value *= 1 - commonplace*(1-lexicon.Weigh(word))
			all += value
			if there {
				seen += value
			}
		}
	}
	for i := range vector {
		vector[i].value /= math.Sqrt(sum)
	}
	if all > 0 {
		known = seen / all
	}
	return vector, known
}

// grams are a post's words, neighbouring pairs of them, and runs of four characters.
func grams(text string) map[string]float64 {
	text = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		if r == '\'' || r == '’' {
			return -1
		}
		return ' '
	}, text)
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest])
	}
	all := make(map[string]float64)
	before := "^"
	for word := range strings.FieldsSeq(text) {
		all["w "+word] = 1
		all["p "+before+" "+word] = 0.7
		before = word
		runes := []rune(" " + word + " ")
		for i := 0; i+4 <= len(runes); i++ {
			all["c "+string(runes[i:i+4])] = 0.6
		}
		if len(runes) < 4 || unicode.Is(unicode.Han, runes[1]) {
			for i := 1; i+2 < len(runes); i++ {
				all["c "+string(runes[i:i+2])] = 0.6
			}
		}
	}
	for _, w := range lexicon.Read(text) {
		for _, g := range w.Groups {
			// Words of one kind teach for each other, where few posts are labelled.
			group := lexicon.Groups()[g]
			all["g "+group.Name] = max(all["g "+group.Name], kindred*w.Weight)
			all["a "+group.Area] = max(all["a "+group.Area], region*w.Weight)
		}
	}
	return all
}

func sorted(set map[string]float64) []string {
	names := make([]string, 0, len(set))
	for name := range set {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func softmax(logits []float64, temperature float64) []float64 {
	p := make([]float64, len(logits))
	most, sum := slices.Max(logits), 0.0
	for i, x := range logits {
		p[i] = math.Exp((x - most) / temperature)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func best(logits []float64) int {
	at := 0
	for i, x := range logits {
		if x > logits[at] {
			at = i
		}
	}
	return at
}

// calibrate finds the temperature at which posts that were not trained on get the
// probabilities that they turn out to have.
func calibrate(samples []sample) float64 {
	least, found := math.Inf(1), 1.0
	if !slices.ContainsFunc(samples, func(s sample) bool { return s.right >= 0 }) {
		return found
	}
	for t := 0.2; t < 4; t *= 1.1 {
		loss := 0.0
		for _, s := range samples {
			if s.right >= 0 {
				loss -= math.Log(softmax(s.logits, t)[s.right] + 1e-9)
			}
		}
		if loss < least {
			least, found = loss, t
		}
	}
	return found
}

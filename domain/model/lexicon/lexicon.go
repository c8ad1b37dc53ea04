package lexicon

import (
	"strings"
	"sync"
	"unicode"

	"github.com/kljensen/snowball"
)

// Word is a word of a text, or a phrase that the thesaurus knows.
type Word struct {
	Stem   string
	Weight float64 // what it says of the text's subject, 0 to 1
	Groups []int   // groups that it stands in
	Phrase bool    // of several words, each of which is there by itself too
	Name   bool    // of a person, or one that is not everyday English
}

// Group is a set of words of one kind.
type Group struct {
	Name, Area string
}

// What a word says of a text's subject.
const (
	filler = 0.0  // nothing: each text has it
	weak   = 0.3  // little: asks for something, whatever it is
	person = 0.15 // a name may stand in any text
	deed   = 0.65 // what is to be done says less than what it is to be done with
	whole  = 1.0
)

// longestPhrase is how many words a phrase of the thesaurus has at most.
const longestPhrase = 5

type table struct {
	groups  []Group
	words   map[string][]int // by stems joined with a blank
	weights map[string]float64
}

// known is read on first use, since a program that asks a model never needs it.
var known = sync.OnceValue(func() *table {
	t := &table{words: make(map[string][]int), weights: make(map[string]float64)}
	area := ""
	for line := range strings.Lines(thesaurus) {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "= "); ok {
			area = name
			continue
		}
		name, words, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		at := len(t.groups)
		t.groups = append(t.groups, Group{name, area})
		for word := range strings.FieldsSeq(words) {
			stems := stemmed(Words(strings.ReplaceAll(word, "_", " ")))
			key := strings.Join(stems, " ")
			if in := t.words[key]; len(in) == 0 || in[len(in)-1] != at {
				t.words[key] = append(in, at)
			}
		}
	}
	for word := range strings.FieldsSeq(names) {
		t.weights[Stem(word)] = person
	}
	for word := range strings.FieldsSeq(weakWords) {
		t.weights[Stem(word)] = weak
	}
	for word := range strings.FieldsSeq(deeds) {
		t.weights[Stem(word)] = deed
	}
	for word := range strings.FieldsSeq(fillers) {
		t.weights[Stem(word)] = filler
	}
	return t
})

// Groups are all groups, by number.
func Groups() []Group { return known().groups }

// Read parts a text into its words, and the phrases among them.
func Read(text string) []Word {
	t := known()
	stems := stemmed(Words(polite.Replace(" " + strings.ToLower(text) + " ")))
	words := make([]Word, 0, len(stems)+4)
	for i, s := range stems {
		weight, weighed := t.weigh(s)
		groups := t.words[s]
		words = append(words, Word{Stem: s, Weight: weight, Groups: groups, Name: weight == person || !weighed && len(groups) == 0})
		for n := 2; n <= longestPhrase && i+n <= len(stems); n++ {
			key := strings.Join(stems[i:i+n], " ")
			if groups := t.words[key]; len(groups) > 0 {
				words = append(words, Word{Stem: key, Weight: whole, Groups: groups, Phrase: true})
			}
		}
	}
	return words
}

// Weigh is what a word says of a text's subject, 0 to 1.
func Weigh(word string) float64 {
	weight, _ := known().weigh(Stem(strings.ToLower(word)))
	return weight
}

// weigh tells also whether the word is one of those that say less than most.
func (t *table) weigh(stem string) (weight float64, weighed bool) {
	if weight, weighed = t.weights[stem]; weighed {
		return weight, true
	}
	return whole, false
}

// Words parts a text into lower-case words, in any script: runs of letters and digits,
// apostrophes left out. Scripts without blanks between words fall
// into overlapping pairs.
func Words(text string) []string {
	var all []string
	word := make([]rune, 0, 16)
	var before rune
	flush := func() {
		if len(word) > 0 {
			all = append(all, string(word))
			word = word[:0]
		}
	}
	for _, r := range strings.ToLower(text) {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai) {
			flush()
			if before != 0 {
				all = append(all, string([]rune{before, r}))
			} else {
				all = append(all, string(r))
			}
			before = r
			continue
		}
		before = 0
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			word = append(word, r)
		case r == '\'' || r == '’': // "won't" is one word: wont
		case r == '+':
			flush()
			all = append(all, "plus")
		case r == '%':
			flush()
			all = append(all, "percent")
		case r == '$' || r == '€' || r == '£':
			flush()
			all = append(all, "money")
		default:
			flush()
		}
	}
	flush()
	return all
}

func stemmed(words []string) []string {
	for i, w := range words {
		words[i] = Stem(w)
	}
	return words
}

// Stem is what the forms of an English word have in common; other words stay as they are.
func Stem(word string) string {
	if s, err := snowball.Stem(word, "english", true); err == nil && s != "" {
		return s
	}
	return word
}

// polite takes away the ways to begin a request, in which "you" is nobody.
var polite = strings.NewReplacer(
	" can you ", " ", " could you ", " ", " would you ", " ", " will you ", " ", " do you know ", " ", " do you think ", " ", " are you able to ", " ",
	" i want you to ", " ", " i need you to ", " ", " i would like you to ", " ", " i'd like you to ", " ", " if you can ", " ", " please ", " ",
	" let me know ", " ", " tell me ", " ", " i want to ", " ", " i need to ", " ", " i would like to ", " ", " i'd like to ", " ", " help me ", " ",
)

// fillers say nothing of what a text is about.
const fillers = `a an the and or but if so as at by for from in into of off on onto out over to up with without about after before again
i im id ive ill me my mine myself we our us you your yours he him his she her it its they them their this that these those there here
am is are was were be been being do does did done doing have has had having can could will would shall should may must might
what whats which who whos whom whose when whens where wheres why how hows not no dont doesnt didnt cant couldnt wont wouldnt isnt arent
too very just also only then than some any all each every both few more most other such own same really still yet
ok okay well please hello like want need get got getting give gives gave go goes going gone went come let lets put
s t d ll m re ve u r thing things something anything somebody someone anybody anyone way lot kind sort now right`

// deeds are done with many things.
const deeds = `cancel share send report schedule book order call open close remove delete add buy confirm submit request apply convert pick roll lost pay buying connect play`

// weakWords ask for something, whatever it is.
const weakWords = `know tell find look show see say said ask help make made take took use used using try trying check keep set turn add
think believe feel seem mean sure possible able long much many new old good bad best better big small high low next last first current currently
today tomorrow tonight yesterday week month year day monday tuesday wednesday thursday friday saturday sunday
january february march april june july august september october november december one two three four five six seven eight nine ten
start stop change update happen work provide inform explain describe list read number name place people person info information
wonder wondering figure assist require required normal usual usually often ever never always already around between since until through
during because while total amount item part type status report issue problem question answer idea reason matter`

package offline

import (
	"strings"
	"unicode/utf8"

	"postroom/domain/model"
)

// What an answer takes of the documents.
const (
	floor     = 0.42 // least share of the question's weight that its best passage holds
	nearBest  = 0.85 // a second passage is quoted when it scores this share of the best
	mostQuote = 1200 // most characters quoted of one passage
)

// Answer answers a question from documents, in Markdown: the best passage or two
// of one document as they stand, then the document's name; or that it does not know.
func Answer(documents []model.Document, question string) string {
	if courtesy(question) {
		return "You’re welcome. Ask again whenever something comes up."
	}
	hits := newIndex(documents).search(question)
	if len(hits) == 0 || hits[0].covered < floor {
		return unknown(documents)
	}
	best := hits[0]
	var b strings.Builder
	quote(&b, best.passage)
	for _, next := range hits[1:] {
		if next.document == best.document && next.score >= nearBest*best.score {
			b.WriteString("\n\n")
			quote(&b, next.passage)
			break
		}
	}
	b.WriteString("\n\nFrom *" + documents[best.document].Name + "*.")
	return b.String()
}

func quote(b *strings.Builder, p passage) {
	if p.heading != "" {
		b.WriteString("**" + p.heading + "**\n\n")
	}
	text := p.text
	if utf8.RuneCountInString(text) > mostQuote {
		cut := string([]rune(text)[:mostQuote])
		if end := strings.LastIndexAny(cut, ".\n"); end > mostQuote/2 {
			cut = cut[:end+1]
		}
		text = strings.TrimSpace(cut) + " …"
	}
	b.WriteString(text)
}

// unknown says that nothing fits, and what was looked through.
func unknown(documents []model.Document) string {
	if len(documents) == 0 {
		return "I don’t know: I have no documents to look in. Someone from the team should take this."
	}
	names := make([]string, 0, 5)
	for i, d := range documents {
		if i == 4 && len(documents) > 5 {
			names = append(names, "others")
			break
		}
		names = append(names, "*"+d.Name+"*")
	}
	list := names[0]
	if n := len(names); n > 1 {
		list = strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return "I don’t know: nothing in my documents fits this. I looked in " + list + ". Someone from the team should take it."
}

// courtesy reports whether a text only thanks.
func courtesy(text string) bool {
	if !strings.Contains(strings.ToLower(text), "thank") {
		return false
	}
	return len(terms(text)) == 0
}

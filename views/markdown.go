package views

import (
	"bytes"
	"html"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	goldmarkhtml "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"
)

// Bounds of what is read as Markdown. Beyond them goldmark takes time that grows
// with the square of the body, and it cannot be stopped; such a body shows as
// plain text.
const (
	mostMarkers  = 32  // nested block markers on a line
	mostColumns  = 64  // columns of a table
	mostBrackets = 500 // unclosed brackets, and other delimiters that wait for their end
	mostRendered = 1 << 20
)

// markdown turns bodies into HTML that is safe to show.
type markdown struct {
	engine goldmark.Markdown
	policy *bluemonday.Policy
}

var rendering = newMarkdown()

func newMarkdown() *markdown {
	p := bluemonday.NewPolicy()
	p.AllowElements("p", "br", "hr", "strong", "em", "del", "code", "pre", "blockquote", "ul", "ol", "li",
		"h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td")
	p.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre")
	p.AllowAttrs("class").Matching(regexp.MustCompile(`^language-[A-Za-z0-9+#-]{1,32}$`)).OnElements("code")
	p.AllowAttrs("href").OnElements("a")
	p.AllowURLSchemes("http", "https", "mailto")
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(false)
	p.RequireNoFollowOnLinks(true)
	p.RequireNoReferrerOnLinks(true)
	return &markdown{
		engine: goldmark.New(
			goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify),
			goldmark.WithParserOptions(parser.WithASTTransformers(util.Prioritized(plainImages{}, 100))),
			goldmark.WithRendererOptions(goldmarkhtml.WithHardWraps(),
				renderer.WithNodeRenderers(util.Prioritized(escapedHTML{}, 100))),
		),
		policy: p,
	}
}

// RenderMarkdown is a body as HTML that is safe to show: links to http, https and
// mailto only, raw HTML as the text it is, nothing loaded from elsewhere.
func RenderMarkdown(body string) string {
	if hostile(body) {
		return plainText(body)
	}
	var out bytes.Buffer
	if err := rendering.engine.Convert([]byte(body), &out); err != nil || out.Len() > mostRendered {
		return plainText(body)
	}
	return rendering.policy.Sanitize(strings.ReplaceAll(out.String(), "<pre>", `<pre tabindex="0">`))
}

// plainText shows a body as it is, line by line.
func plainText(body string) string {
	var b strings.Builder
	b.WriteString("<p>")
	for i, line := range strings.Split(body, "\n") {
		if i > 0 {
			b.WriteString("<br>")
		}
		b.WriteString(html.EscapeString(line))
	}
	b.WriteString("</p>")
	return b.String()
}

// hostile reports whether a body would keep the parser busy.
func hostile(body string) bool {
	open, delimiters, references, angles := 0, 0, 0, 0
	for line := range strings.Lines(body) {
		if markers(line) > mostMarkers || strings.Count(line, "|") > mostColumns {
			return true
		}
		if strings.HasPrefix(strings.TrimLeft(line, " "), "[") && strings.Contains(line, "]:") {
			references++
		}
		if strings.TrimSpace(line) == "" {
			delimiters = 0 // emphasis ends with its paragraph
		}
		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '[', '(':
				open++
			case ']', ')':
				open = max(0, open-1)
			case '<':
				angles++
			case '*', '_', '~', '`':
				if i == 0 || line[i-1] != line[i] {
					delimiters++
				}
			}
		}
		if open > mostBrackets || delimiters > 2*mostBrackets || references > mostBrackets || angles > 4*mostBrackets {
			return true
		}
	}
	return false
}

// markers counts what can nest blocks at the start of a line: quote signs, list
// markers and the indentation that keeps lists open.
func markers(line string) int {
	n, blanks := 0, 0
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '>':
			n++
		case c == '-' || c == '+' || c == '*':
			if i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t' || line[i+1] == '\n') {
				n++
				continue
			}
			return n + blanks/2
		case c == ' ':
			blanks++
		case c == '\t':
			blanks += 4
		case c >= '0' && c <= '9' || (c == '.' || c == ')') && i > 0:
			if c == '.' || c == ')' {
				n++
			}
		default:
			return n + blanks/2
		}
	}
	return n
}

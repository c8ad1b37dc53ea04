package views_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"postroom/views"
)

func TestMarkdownIsShownAndNothingInItRunsOrLoads(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ body, want string }{
		"bold":                 {"**hi**", "<strong>hi</strong>"},
		"line breaks are kept": {"a\nb", "a<br"},
		"code block":           {"```go\nx := 1\n```", `<pre tabindex="0"><code class="language-go">x := 1`},
		"table":                {"| a |\n|---|\n| 1 |", "<td>1</td>"},
		"strikethrough":        {"~~no~~", "<del>no</del>"},
		"web link":             {"[a](https://example.com/x)", `href="https://example.com/x"`},
		"mail link":            {"[a](mailto:a@example.com)", `href="mailto:a@example.com"`},
		"bare link":            {"see https://example.com/x", `href="https://example.com/x"`},
		"raw html is text":     {"<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"},
		"html block is text":   {"<div>\nx\n</div>", "&lt;div&gt;"},
		"an image is a link":   {"![cat](https://example.com/cat.png)", `<a href="https://example.com/cat.png"`},
		"an ampersand":         {"a & b <c", "a &amp; b &lt;c"},
	} {
		if got := views.RenderMarkdown(row.body); !strings.Contains(got, row.want) {
			t.Errorf("%s: %q, want %q in it", name, got, row.want)
		}
	}
}

// active is what would run or load something.
var active = regexp.MustCompile(`(?i)<(script|img|iframe|object|embed|svg|style|form|input|link|meta)|<[^>]+\son\w+\s*=|href="(?:[^"]*)(?:javascript|data|vbscript):|<[^>]+style\s*=|src\s*=\s*"`)

// Field report: a link to javascript: in a message or an answer became live.
func TestHostileLinksAndHTMLAreInert(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"[a](JaVaScRiPt:alert(1))", "[b](data:text/html,x)", "<img src=x onerror=1>", "[c](vbscript:x)",
		"[d][1]\n\n[1]: javascript:alert(1)", "<javascript:alert(1)>", "[e](&#106;avascript:alert(1))", "[f](java\nscript:alert(1))",
		"[g](\x01javascript:alert(1))", "[h](//example.com/x)", "[i](/requests/1/cancel)", "![j](javascript:alert(1))",
		"<svg onload=alert(1)>", "<a href=\"javascript:alert(1)\">x</a>", "<style>*{display:none}</style>",
		"[k](https://example.com/\"onmouseover=\"alert(1))", "<form action=/x><button>", "javascript:alert(1)",
	} {
		if got := views.RenderMarkdown(body); active.MatchString(got) {
			t.Errorf("%q shows as %q", body, got)
		}
	}
	if got := views.RenderMarkdown("[h](//example.com/x) [i](/requests/1/cancel)"); strings.Contains(got, "href") {
		t.Errorf("links without a scheme: %q", got)
	}
}

// hostileBodies are shapes that keep a Markdown parser busy.
func hostileBodies() map[string]string {
	const size = 64 << 10
	full := func(s string) string { return strings.Repeat(s, size/len(s)) }
	return map[string]string{
		"table columns":    full("|a") + "\n" + full("|-"),
		"quotes":           full(">"),
		"spaced quotes":    full("> "),
		"links":            full("[a]("),
		"brackets":         full("["),
		"closing brackets": full("]"),
		"images":           full("![a]("),
		"emphasis":         full("*a_ "),
		"stars":            full("*a **b "),
		"underscores":      full("_a__b"),
		"backticks": func() string {
			var b strings.Builder
			for i := 1; b.Len() < size; i++ {
				b.WriteString(strings.Repeat("`", i) + "a")
			}
			return b.String()
		}(),
		"references":     full("[a]: x\n"),
		"reference uses": full("[a]: /x\n")[:size/2] + full("[a]")[:size/2],
		"angles":         full("<"),
		"autolinks":      full("<a:"),
		"comments":       full("<!--"),
		"declarations":   full("<!A "),
		"instructions":   full("<?"),
		"lists":          full("- "),
		"numbers":        full("1. "),
		"deep lists": func() string {
			var b strings.Builder
			for i := 0; b.Len() < size-300; i++ {
				b.WriteString(strings.Repeat(" ", 2*(i%100)) + "- a\n")
			}
			return b.String()
		}(),
		"quoted lists":      full("> - > - a\n"),
		"fences":            full("~~~\n"),
		"strikes":           full("~~a~ "),
		"entities":          full("&a;"),
		"www":               full("www.a"),
		"mails":             full("a@b."),
		"http":              full("http://a("),
		"tabs":              full("\t> "),
		"line of pluses":    full("+\n"),
		"setext":            full("a\n=\n"),
		"nested table rows": full("|a|b|c\n|-|-|-\n|1|2|3\n\n"),
		"nulls":             full("\x00"),
		"escapes":           full("\\["),
		"parens":            "[a](" + full("("),
		"titles":            full("[a](b \"c\n"),
		"headings":          full("# "),
	}
}

func TestHostileBodiesStallNothing(t *testing.T) {
	t.Parallel()
	for name, body := range hostileBodies() {
		began := time.Now()

		got := views.RenderMarkdown(body)

		// Bodies this hostile took seconds to minutes unbounded; a good one of the
		// same size takes a few milliseconds.
		if testing.Verbose() {
			t.Logf("%s: %v", name, time.Since(began))
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if len(got) > 2<<20 {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
}

func TestAHostileBodyShowsAsThePlainTextItIs(t *testing.T) {
	t.Parallel()
	got := views.RenderMarkdown(strings.Repeat("[a](", 600) + "\n<b>end</b>")

	if !strings.HasPrefix(got, "<p>[a](") || !strings.HasSuffix(got, "<br>&lt;b&gt;end&lt;/b&gt;</p>") {
		t.Errorf("shows as %.80q … %q", got, got[len(got)-60:])
	}
}

func FuzzMarkdown(f *testing.F) {
	for _, body := range hostileBodies() {
		f.Add(body[:min(len(body), 400)])
	}
	f.Add("[a](JaVaScRiPt:alert(1)) <img src=x onerror=1>")
	f.Fuzz(func(t *testing.T, body string) {
		if len(body) > 64<<10 {
			return // longer than a post may be
		}
		began := time.Now()
		got := views.RenderMarkdown(body)
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("took %v", took)
		}
		if active.MatchString(got) {
			t.Errorf("shows as %q", got)
		}
		if len(got) > 16*len(body)+1<<20 {
			t.Errorf("%d bytes out of %d", len(got), len(body))
		}
	})
}

package web_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"postroom/domain/model"
	"postroom/domain/model/offline"
	"postroom/web"
	"postroom/web/webtest"
)

// held is the offline model, which waits until it is let go.
func held(gate chan struct{}) webtest.Option {
	client := offline.New(offline.Options{})
	return func(o *web.Options) {
		o.Model = gated{client, gate}
	}
}

type gated struct {
	model.Client
	gate chan struct{}
}

func (g gated) Respond(ctx context.Context, r model.Request, delta func(string)) (model.Response, error) {
	select {
	case <-g.gate:
		return g.Client.Respond(ctx, r, delta)
	case <-ctx.Done():
		return model.Response{}, ctx.Err()
	}
}

// TestInTheBrowser drives a real one. Its parts share it, and run one after the other.
func TestInTheBrowser(t *testing.T) {
	browser := webtest.Open(t)
	for name, part := range map[string]func(*testing.T, *webtest.Browser){
		"a question is answered live in two browsers at once":    twoBrowsers,
		"the first visit asks for a name and goes on":            firstVisit,
		"nothing that arrives touches the composer":              composerIsLeftAlone,
		"an input method's Enter sends nothing":                  inputMethod,
		"a draft survives a reload and a failed send":            drafts,
		"someone reading old lines is not moved":                 placeIsKept,
		"a seat's answer that is hostile stays inert":            hostileLines,
		"days break by the reader's calendar":                    dayBreaks,
		"older lines come by scrolling up":                       olderLines,
		"a run can be watched and stopped":                       watchAndStop,
		"a seat can be talked to directly":                       directTalk,
		"everything needed is there by keyboard and for a phone": keyboardAndPhone,
		"no screen has an accessibility fault":                   accessibility,
		"pages come back after a cut connection without a gap":   cutConnection,
		"pages work without script":                              withoutScript,
	} {
		t.Run(name, func(t *testing.T) { part(t, browser.For(t)) })
	}
}

// post types into the composer and sends with Enter.
func post(p *webtest.Page, text string) {
	p.Do(chromedp.SendKeys(chromedp.CSS("#body"), text))
	p.Press("Enter")
}

func twoBrowsers(t *testing.T, b *webtest.Browser) {
	gate := make(chan struct{})
	s := webtest.Start(t, everybody, held(gate))
	mara, odo := b.Page(s, "Mara Quill"), b.Page(s, "Odo Fenwick")
	mara.Go("/mailboxes/support.help")
	odo.Go("/mailboxes/support.help")
	mara.Live()
	odo.Live()

	post(mara, "The printer prints blank receipts")

	for _, p := range []*webtest.Page{mara, odo} {
		p.Line("The printer prints blank receipts")
		p.Until("the seats are seen at work", `document.querySelectorAll("#runs .run").length === 2`)
		p.Until("the post says who has it", `document.querySelector("#transcript .waiting")?.innerText.replace(/\s+/g, " ").includes("Devices and Accounts have this")`)
		p.Until("the rail says so", `document.querySelector("#rail-support\\.help .pulse") !== null`)
		p.Until("the members are busy", `document.querySelectorAll("#members .sign.busy").length === 2`)
	}
	close(gate)
	for _, p := range []*webtest.Page{mara, odo} {
		p.Line("thermal paper prints on one side only")
		p.Until("nobody is at work any more", `document.getElementById("runs").innerText.includes("Nobody is at work")`)
		p.Until("the post says who answered", `document.querySelector("#transcript .tie")?.innerText.includes("Answered by")`)
		p.Until("the answer is marked offline", `document.querySelector("[data-seat] .source")?.innerText.includes("Offline answer")`)
	}
	if n := webtest.Eval[int](odo, `document.querySelectorAll("#transcript [data-seq]").length`); n != 3 {
		t.Errorf("%d lines, want 3", n)
	}
	if writer := webtest.Eval[string](odo, `document.querySelector("#transcript .line-head").innerText`); !strings.Contains(writer, "Mara Quill") || !strings.Contains(writer, "not verified") {
		t.Errorf("the writer shows as %q", writer)
	}
}

func firstVisit(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	p := b.Page(s, "")
	p.Go("/mailboxes/a.box")
	p.Do(chromedp.SendKeys(chromedp.CSS("#name"), "Tamsin Orrel"))
	p.Press("Enter")

	p.Until("the mailbox is there", `location.pathname === "/mailboxes/a.box" && document.body.innerText.includes("Nothing posted yet")`)

	if who := webtest.Eval[string](p, `document.querySelector(".rail-foot").innerText`); !strings.Contains(who, "Tamsin Orrel") {
		t.Errorf("the page knows %q", who)
	}
}

// Field report: somebody else's change wiped a half-written note.
func composerIsLeftAlone(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()
	text := strings.Repeat("half written ", 16)
	p.Do(chromedp.SendKeys(chromedp.CSS("#body"), text))
	webtest.Eval[bool](p, `(() => { const b = document.getElementById("body"); b.setSelectionRange(5, 9); return true; })()`)

	for i := range 50 {
		s.Post("a.box", "u", fmt.Sprint("line ", i))
	}
	p.Line("line 49")

	state := webtest.Eval[string](p, `(() => { const b = document.getElementById("body"); return [b.value, b.selectionStart, b.selectionEnd, document.activeElement === b].join("|"); })()`)
	if state != text+"|5|9|true" {
		t.Errorf("the composer: %q", state)
	}
	p.Go("/mailboxes/a.box")
	if kept := webtest.Eval[string](p, `document.getElementById("body").value`); kept != text {
		t.Errorf("after a reload: %q", kept)
	}
}

// Field report: the Enter that confirms a candidate of an input method sent the message.
func inputMethod(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()
	webtest.Eval[bool](p, `(() => {
		const b = document.getElementById("body");
		b.focus(); b.value = "日本語";
		b.dispatchEvent(new CompositionEvent("compositionstart"));
		b.dispatchEvent(new CompositionEvent("compositionend"));
		b.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter", keyCode: 229, isComposing: false, bubbles: true, cancelable: true}));
		return true;
	})()`)
	s.Post("a.box", "u", "after the candidate")
	p.Line("after the candidate")
	if lines := s.Lines("a.box"); len(lines) != 1 {
		t.Errorf("lines: %+v", lines)
	}

	p.Do(chromedp.Focus(chromedp.CSS("#body")))
	p.Press("Enter")

	p.Line("日本語")
}

func drafts(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()
	// The first send reaches the server, and its answer is lost.
	webtest.Eval[bool](p, `(() => {
		const real = window.fetch; let lost = false;
		window.fetch = async (...a) => { const r = await real(...a); if (!lost && String(a[0]).includes("/lines")) { lost = true; throw new TypeError("cut"); } return r; };
		return true;
	})()`)
	post(p, "sent once")
	p.Until("the failure is said", `document.querySelector("[data-error]").hidden === false && document.querySelector("button[type=submit].primary").textContent === "Try again"`)
	if kept := webtest.Eval[string](p, `document.getElementById("body").value`); kept != "sent once" {
		t.Errorf("the text is %q", kept)
	}
	p.Go("/mailboxes/a.box")
	p.Until("the draft is back", `document.getElementById("body").value === "sent once"`)

	p.Do(chromedp.Focus(chromedp.CSS("#body")))
	p.Press("Enter")
	p.Until("it was taken", `document.getElementById("body").value === ""`)

	if lines := s.Lines("a.box"); len(lines) != 1 {
		t.Errorf("lines: %+v, want one", lines)
	}
}

func placeIsKept(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	for i := range 40 {
		s.Post("a.box", "u", fmt.Sprintf("old %d\n\nwith some height", i))
	}
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()
	webtest.Eval[bool](p, `(() => { document.querySelector("[data-transcript]").scrollTop = -900; return true; })()`)
	where := `Math.round([...document.querySelectorAll("#transcript [data-seq]")].find((l) => l.innerText.includes("old 20")).getBoundingClientRect().top)`
	before := webtest.Eval[int](p, where)

	s.Post("a.box", "u", "new one")
	s.Post("a.box", "u", "new two")
	p.Until("the button counts them", `document.querySelector("[data-new-lines]").innerText.includes("2 new lines")`)

	if after := webtest.Eval[int](p, where); after < before-1 || after > before+1 {
		t.Errorf("the line being read moved from %d to %d", before, after)
	}
	p.Do(chromedp.Click(chromedp.CSS("[data-new-lines]")))
	p.Until("the end is shown", `document.querySelector("[data-new-lines]").hidden && Math.abs(document.querySelector("[data-transcript]").scrollTop) < 48`)
}

func hostileLines(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()

	s.Post("a.box", "<b>u</b>", `[a](JaVaScRiPt:alert(1)) [b](data:text/html,x) <img src=x onerror="document.title='run'"> [c](https://example.com)`)
	p.Line("onerror")

	if found := webtest.Eval[string](p, `[...document.querySelectorAll(".md a")].map((a) => a.href).join() + "|" + document.querySelectorAll(".md img").length + "|" + document.title`); found != "https://example.com/|0|box · Postroom" {
		t.Errorf("the line holds %q", found)
	}
	if writer := webtest.Eval[string](p, `document.querySelector(".line-head b").textContent`); writer != "<b>u</b>" {
		t.Errorf("the writer shows as %q", writer)
	}
}

// Field report: days broke by UTC, so yesterday's lines stood under today.
func dayBreaks(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	s.Post("a.box", "u", "late")
	s.Post("a.box", "u", "later")
	for zone, want := range map[string]int{"Europe/Berlin": 1, "UTC": 2} {
		p := b.Page(s, "Mara Quill")
		p.Zone(zone)
		p.Go("/mailboxes/a.box")
		got := webtest.Eval[int](p, `(async () => {
			const { days } = await import(document.querySelector("script[type=module]").src.replace("app.js", "days.js"));
			const [a, b] = document.querySelectorAll("#transcript [data-at]");
			a.dataset.at = "2026-03-28T23:30:00Z"; b.dataset.at = "2026-03-29T00:30:00Z";
			days(document.getElementById("transcript"));
			return document.querySelectorAll("#transcript .day").length;
		})()`)
		if got != want {
			t.Errorf("%s: %d days, want %d", zone, got, want)
		}
	}
}

func olderLines(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	for i := range 120 {
		s.Post("a.box", "u", fmt.Sprint("line ", i))
	}
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()
	if n := webtest.Eval[int](p, `document.querySelectorAll("#transcript [data-seq]").length`); n > 100 {
		t.Errorf("the page begins with %d lines", n)
	}
	// Each scroll is waited for: the browser tells of it later, and of two as of one.
	const shown = `document.querySelectorAll("#transcript [data-seq]").length`
	for have := webtest.Eval[int](p, shown); have < 120; have = webtest.Eval[int](p, shown) {
		webtest.Eval[bool](p, `(() => { const s = document.querySelector("[data-transcript]"); s.scrollTop = -s.scrollHeight; return true; })()`)
		p.Until("a page came", fmt.Sprint(shown, " > ", have, ` && document.querySelectorAll("#transcript [aria-busy]").length === 0`))
	}
	p.Until("all lines are there", `document.querySelectorAll("#transcript [data-seq]").length === 120`)

	if order := webtest.Eval[bool](p, `[...document.querySelectorAll("#transcript [data-seq]")].every((l, i) => Number(l.dataset.seq) === i + 1)`); !order {
		t.Error("the lines are out of order")
	}
}

func watchAndStop(t *testing.T, b *webtest.Browser) {
	gate := make(chan struct{})
	defer close(gate)
	s := webtest.Start(t, held(gate))
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/support.desk")
	p.Live()
	post(p, "What does a reader cost?")
	p.Until("the seat is at work", `document.querySelectorAll("#runs .run").length === 1`)
	watching := b.Page(s, "Odo Fenwick")
	watching.Go(webtest.Eval[string](p, `document.querySelector("#runs .run a").getAttribute("href")`))
	watching.Live()
	watching.Until("what was heard is shown", `document.body.innerText.includes("Mara Quill in support.desk: What does a reader cost?")`)

	p.Do(chromedp.Click(chromedp.CSS("#runs .run button")))

	p.Until("the post says so", `document.querySelector("#transcript .waiting.bad")?.innerText.includes("was stopped")`)
	watching.Until("the run says so", `document.getElementById("run-state").innerText.includes("Stopped") && document.body.innerText.includes("cancelled")`)
}

func directTalk(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t)
	p := b.Page(s, "Mara Quill")
	p.Go("/seats/support.product")
	p.Live()

	post(p, "How long is the warranty?")

	p.Until("the answer is there", `document.getElementById("transcript").innerText.includes("two years of warranty")`)
	p.Go("/seats/support.product")
	if text := webtest.Eval[string](p, `document.getElementById("transcript").innerText`); !strings.Contains(text, "two years of warranty") {
		t.Errorf("after a reload: %q", text)
	}
	other := b.Page(s, "Odo Fenwick")
	other.Go("/seats/support.product")
	if text := webtest.Eval[string](other, `document.getElementById("transcript").innerText`); strings.Contains(text, "warranty") {
		t.Errorf("somebody else reads the talk: %q", text)
	}
}

func keyboardAndPhone(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	s.Post("a.box", "u", "one")
	s.Post("a.box", "u", "two")
	p := b.Page(s, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()
	p.Press("k")
	if at := webtest.Eval[string](p, `document.activeElement.id`); at != "line-2" {
		t.Errorf("K went to %q", at)
	}
	p.Press("k")
	p.Press("/")
	if at := webtest.Eval[string](p, `document.activeElement.id`); at != "body" {
		t.Errorf("/ went to %q", at)
	}
	p.Do(chromedp.SendKeys(chromedp.CSS("#body"), "jk"))
	if text := webtest.Eval[string](p, `document.getElementById("body").value`); text != "jk" {
		t.Errorf("letters typed in a field: %q", text)
	}
	for _, width := range []int64{320, 390} {
		p.Size(width, 800, true)
		for _, path := range []string{"/", "/mailboxes/a.box", "/seats", "/activity", "/name"} {
			p.Go(path)
			if over := webtest.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s at %d px is %d px too wide", path, width, over)
			}
		}
	}
}

func accessibility(t *testing.T, b *webtest.Browser) {
	axe, err := os.ReadFile(filepath.Join("..", "node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		t.Fatalf("axe-core is not installed; `npm ci` installs it: %v", err)
	}
	s := webtest.Start(t, everybody)
	s.Post("support.help", "Juno Pell", "The printer prints **blank** receipts\n\n```\ncode\n```")
	s.Eventually("the seats have answered", func() bool { return len(s.Lines("support.help")) == 3 })
	if _, err := s.Do("POST", "/api/flows/mailbox/support.help/actions/post?wait=5s", []byte(`{"input":{"body":"x","author":"support.stock"}}`), nil); err != nil {
		t.Fatal(err)
	}
	p := b.Page(s, "Mara Quill")
	p.Cookie("postroom-details", "1")
	p.Go("/mailboxes/support.help")
	run := webtest.Eval[string](p, `document.querySelector('a[href^="/runs/"]').getAttribute("href")`)
	for _, theme := range []string{"light", "dark"} {
		p.Cookie("postroom-theme", theme)
		for _, phone := range []bool{false, true} {
			if p.Size(1280, 860, false); phone {
				p.Size(390, 844, true)
			}
			for _, path := range []string{"/", "/mailboxes/support.help", "/mailboxes/engineering.standup", "/seats", "/seats/support.devices", run, "/activity", "/name", "/nowhere"} {
				p.Go(path)
				webtest.Eval[bool](p, string(axe)+"; true")
				faults := webtest.Eval[string](p, `axe.run(document, {resultTypes: ["violations"]}).then((r) => r.violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ")).join(", ")).join("\n"))`)
				if faults != "" {
					t.Errorf("%s %s phone=%v:\n%s", path, theme, phone, faults)
				}
			}
		}
	}
}

// Field report: each reconnect replayed the whole session, or missed a line.
func cutConnection(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	s.Post("a.box", "u", "seen")
	line := webtest.Through(t, s)
	p := b.PageAt(line.URL, "Mara Quill")
	p.Go("/mailboxes/a.box")
	p.Live()
	webtest.Eval[bool](p, `(() => {
		const Real = window.WebSocket; window.urls = [];
		window.WebSocket = class extends Real { constructor(u) { super(u); window.urls.push(String(u)); } };
		return true;
	})()`)
	s.Post("a.box", "u", "live")
	p.Line("live")
	line.Cut()
	p.Until("the page knows", `document.getElementById("live").dataset.state === "off"`)
	for i := range 3 {
		s.Post("a.box", "u", fmt.Sprint("missed ", i))
	}

	line.Mend()
	p.Line("missed 2")

	got := webtest.Eval[string](p, `[...document.querySelectorAll("#transcript [data-seq]")].map((l) => l.dataset.seq).join()`)
	if got != "1,2,3,4,5" {
		t.Errorf("lines: %s", got)
	}
	if url := webtest.Eval[string](p, `window.urls.at(-1)`); !strings.Contains(url, "after=2") {
		t.Errorf("the page came back asking %s", url)
	}
}

func withoutScript(t *testing.T, b *webtest.Browser) {
	s := webtest.Start(t, quiet)
	p := b.Page(s, "Mara Quill")
	p.Script(false)
	p.Go("/mailboxes/a.box")

	p.Do(chromedp.SendKeys(chromedp.CSS("#body"), "plain"), chromedp.Click(chromedp.CSS("button.primary")))

	s.Eventually("the line is there", func() bool { return len(s.Lines("a.box")) == 1 })
	p.Script(true)
	p.Go("/mailboxes/a.box")
	if !strings.Contains(webtest.Eval[string](p, `document.body.innerText`), "plain") {
		t.Error("the page does not show the line")
	}
}

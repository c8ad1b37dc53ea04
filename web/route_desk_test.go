package web_test

import (
	"fmt"
	"testing"

	"postroom/web/webtest"
)

// TestTheDemosDeskInTheBrowser asks the demo's routed help offline, as a person does:
// each post is answered once, by the specialist whose job it is.
func TestTheDemosDeskInTheBrowser(t *testing.T) {
	t.Parallel()
	browser := webtest.Open(t)
	for name, posts := range map[string][]struct{ body, author string }{
		"a printer":                     {{"The receipt printer prints blank receipts", "support.devices"}},
		"a login, and what comes of it": {{"I cannot log in, the password is not taken", "support.accounts"}, {"it fails right after the password", "support.accounts"}},
		"nobody's job":                  {{"The canary sings at noon", "support.general"}},
		"one after another": {
			{"my printer is jammed", "support.devices"}, {"I cannot log in, the password is not taken", "support.accounts"},
			{"it fails right after the password", "support.accounts"}, {"The canary sings at noon", "support.general"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := webtest.Start(t)
			p := browser.For(t).Page(s, "Mara Quill")
			p.Go("/mailboxes/support.help")
			p.Live()
			for i, one := range posts {
				post(p, one.body)
				p.Line(one.body)
				// Nobody at work and a line by a seat: nothing more is on its way.
				p.Until("it is answered, and nobody is at work", fmt.Sprintf(
					`document.querySelectorAll("#transcript [data-seat]").length >= %d && document.getElementById("runs").innerText.includes("Nobody is at work")`, i+1))
				lines := s.Lines("support.help")
				if len(lines) != 2*(i+1) {
					t.Fatalf("%q: %d lines, want %d: %+v", one.body, len(lines), 2*(i+1), lines)
				}
				if got := lines[2*i+1]; !got.SeatAuthored || got.Author != one.author {
					t.Errorf("%q was answered by %s, want %s", one.body, got.Author, one.author)
				}
				if n := webtest.Eval[int](p, `document.querySelectorAll("#transcript [data-seat]").length`); n != i+1 {
					t.Errorf("%q: %d answers on the page, want %d", one.body, n, i+1)
				}
			}
		})
	}
}

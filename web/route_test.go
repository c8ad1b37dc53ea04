package web_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"postroom/web"
	"postroom/web/webtest"
)

// routedTree is a small desk: two specialists with documents, and one for the rest.
func routedTree(o *web.Options) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	worker := func(description string) *fstest.MapFile {
		return file("---\ndescription: " + description + "\ntools: [post-to-mailbox, read-document]\n---\n")
	}
	o.Workforce = fstest.MapFS{
		"teams/a/mailboxes/box/MAILBOX.md":               file("---\ndescription: Ask.\nmembers: [a.devices, a.accounts, a.general]\nrouting:\n  fallback: a.general\n---\n"),
		"teams/a/workers/devices/WORKER.md":              worker("Printers, tablets and wifi."),
		"teams/a/workers/devices/references/printer.md":  file("---\ndescription: x\nllmReadable: true\n---\n# Paper\n\nOpen the rear tray when the paper is jammed.\n"),
		"teams/a/workers/accounts/WORKER.md":             worker("Passwords, logins and invoices."),
		"teams/a/workers/accounts/references/sign-in.md": file("---\ndescription: x\nllmReadable: true\n---\n# Passwords\n\nA password is set anew by mail. When signing in fails right after it, wait a minute.\n"),
		"teams/a/workers/general/WORKER.md":              worker("The rest."),
	}
}

// Offline, over HTTP: each post reaches one specialist and is answered by one line,
// which says of the post whose answer it is.
func TestARoutedMailboxAnswersEachPostOnce(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, routedTree)
	for i, row := range []struct{ post, author string }{
		{"the paper is jammed in my printer", "a.devices"},
		{"my password does not work", "a.accounts"},
		{"the zebra sings at noon", "a.general"},
	} {
		s.Post("a.box", "tamsin", row.post)
		s.Eventually("it is answered", func() bool { return len(s.Lines("a.box")) == 2*(i+1) })
		if got := s.Lines("a.box")[2*i+1]; got.Author != row.author || !got.SeatAuthored {
			t.Errorf("%q was answered by %+v", row.post, got)
		}
	}
	page, err := s.Do(http.MethodGet, "/mailboxes/a.box", nil, map[string]string{"Accept": "text/html", "Cookie": "postroom-name=x; postroom-details=1"})
	if err != nil || !strings.Contains(string(page.Raw), "Picked for what the post is about (offline") || !strings.Contains(string(page.Raw), "Takes what the route cannot place. It fits nobody") {
		t.Errorf("the page does not say why: %d %v", page.Status, err)
	}
	if a, err := s.Do(http.MethodPost, "/api/flows/mailbox/a.box/actions/answer", []byte(`{"input":{"postId":"x","body":"y","author":"a.devices"}}`), nil); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("a client may answer for a member: %+v %v", a, err)
	}
}

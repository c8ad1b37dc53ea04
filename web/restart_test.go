package web_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"testing/fstest"

	"postroom/web"
	"postroom/web/webtest"
)

// on serves one MAILBOX.md on a database that outlives the server.
func on(database, record string) webtest.Option {
	return func(o *web.Options) {
		o.Config.Database = database
		o.Workforce = fstest.MapFS{"teams/a/mailboxes/box/MAILBOX.md": &fstest.MapFile{Data: []byte(record)}}
	}
}

func TestAMailboxKeepsWhatItWasOpenedWithAndItsPageSaysWhatTheFileSaysSince(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "postroom.db")
	page := map[string]string{"Accept": "text/html", "Cookie": "postroom-name=Mara"}
	first := webtest.Start(t, on(database, "---\ndescription: The first words.\nmembers: [a.w]\n---\nThe first charter.\n"))
	first.Post("a.box", "u", "kept across the restart")
	if a := do(t, first, "GET", "/mailboxes/a.box", "", page); bytes.Contains(a.Raw, []byte("The file has changed since")) {
		t.Error("an unchanged file is said to have changed")
	}
	first.Stop()

	second := webtest.Start(t, on(database, "---\ndescription: The second words.\nmembers: [a.w, a.new]\nboards: [todo]\n---\nThe second charter.\n"))
	a := do(t, second, "GET", "/mailboxes/a.box", "", page)

	for _, want := range []string{
		"The file has changed since", "The first words.", "The second words.", "a.w, a.new", "The first charter.", "a.box.todo", "kept across the restart",
	} {
		if !bytes.Contains(a.Raw, []byte(want)) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if refused := do(t, second, "POST", "/api/flows/mailbox/a.box/actions/post?wait=5s", `{"input":{"body":"x","author":"a.new"}}`, nil); refused.Request.Failure == nil || refused.Request.Failure.Code != "author-not-a-member" {
		t.Errorf("a member of the file only: %s", refused.Raw)
	}
}

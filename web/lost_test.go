package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"
	"testing/fstest"

	"postroom/domain/mailbox"
	"postroom/web"
	"postroom/web/webtest"
)

func TestAPostWhoseHandingOnWasCancelledNeverWaitsInSilence(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, func(o *web.Options) {
		o.Workforce = fstest.MapFS{"teams/a/mailboxes/box/MAILBOX.md": &fstest.MapFile{Data: []byte("---\ndescription: x\nmembers: [a.w]\n---\n")}}
		o.Notify = mailbox.NotifierFunc(func(ctx context.Context, _ mailbox.Delivery) error {
			<-ctx.Done() // an address that never answers
			return ctx.Err()
		})
	})
	page := map[string]string{"Accept": "text/html", "Cookie": "postroom-name=Mara"}
	s.Post("a.box", "u", "hello")
	var running struct{ Items []struct{ ID, Action string } }
	s.Eventually("the post is being handed on", func() bool {
		a := do(t, s, "GET", "/api/sessions/a.box/requests?status=running", "", nil)
		return json.Unmarshal(a.Raw, &running) == nil && len(running.Items) == 1 && running.Items[0].Action == "onPosted"
	})
	if a := do(t, s, "GET", "/mailboxes/a.box", "", page); !bytes.Contains(a.Raw, []byte("Being handed to the members")) {
		t.Error("the page does not say that it is being handed on")
	}

	do(t, s, "POST", "/api/requests/"+running.Items[0].ID+"/cancel", "", nil)

	a := do(t, s, "GET", "/mailboxes/a.box", "", page)
	if bytes.Contains(a.Raw, []byte("Being handed to the members")) || !bytes.Contains(a.Raw, []byte("Not everybody was told of this.")) || !bytes.Contains(a.Raw, []byte("hello")) {
		t.Error("the page does not say that nobody was told")
	}
}

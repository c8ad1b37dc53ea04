package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"postroom/domain/model/offline"
	"postroom/web"
	"postroom/web/webtest"
)

// asPage are the headers of a browser's form without script.
func asPage(more ...string) map[string]string {
	header := map[string]string{
		"Accept": "text/html", "Cookie": "postroom-name=Mara+Quill", "Content-Type": "application/x-www-form-urlencoded",
	}
	for i := 0; i < len(more); i += 2 {
		header[more[i]] = more[i+1]
	}
	return header
}

func TestAFormWithoutScriptShowsItsLineOrWhyThereIsNone(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)

	posted := do(t, s, "POST", "/mailboxes/support.help/lines", "key=k1&body=it+hums", asPage())
	page := do(t, s, "GET", "/mailboxes/support.help", "", asPage())
	refused := do(t, s, "POST", "/mailboxes/support.help/lines", "key=k2&body=keep+me&author=support.stranger", asPage())

	if posted.Status != http.StatusSeeOther || !bytes.Contains(page.Raw, []byte("it hums")) {
		t.Errorf("posted: %d, on the page: %v", posted.Status, bytes.Contains(page.Raw, []byte("it hums")))
	}
	if refused.Status != http.StatusUnprocessableEntity || !bytes.Contains(refused.Raw, []byte("author-not-a-member")) || !bytes.Contains(refused.Raw, []byte("keep me</textarea>")) {
		t.Errorf("refused by the turn: %d", refused.Status)
	}
}

func TestAFormWithoutANameAsksForOneAndComesBackToItsPage(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)

	person := do(t, s, "POST", "/mailboxes/a.box/lines", "key=k1&body=x", asPage("Cookie", ""))
	program := do(t, s, "POST", "/mailboxes/a.box/lines", "key=k2&body=from+a+program", asPage("Cookie", "", "Accept", "application/json"))

	if person.Status != http.StatusSeeOther || person.Header.Get("Location") != "/name?to=%2Fmailboxes%2Fa.box" {
		t.Errorf("a person: %d %s", person.Status, person.Header.Get("Location"))
	}
	if program.Status != http.StatusAccepted {
		t.Errorf("a program: %d %s", program.Status, program.Raw)
	}
	s.Eventually("the program's line stands, as nobody's in particular", func() bool {
		lines := s.Lines("a.box")
		return len(lines) == 1 && lines[0].Principal == "anonymous"
	})
}

func TestABrokenOrLargeBodyIsRefusedAndNeverLooksEmpty(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	const at = "/api/flows/mailbox/a.box/actions/post"
	large := "body=" + strings.Repeat("x", 3<<20)
	api := map[string]string{"Accept": "application/json"}
	for name, row := range map[string]struct {
		path, body string
		header     map[string]string
		status     int
		code       string
	}{
		"a large form":                {"/mailboxes/a.box/lines", large, asPage(), 413, "body-too-large"},
		"a large form of a script":    {"/mailboxes/a.box/lines", large, asPage("Accept", "application/json"), 413, "body-too-large"},
		"a broken form":               {"/mailboxes/a.box/lines", "body=%zz", asPage("Accept", "application/json"), 400, "invalid-form"},
		"a key in other letters":      {at, `{"userid":"u","input":{"body":"x"}}`, api, 422, "invalid-input"},
		"an input key so":             {at, `{"input":{"Body":"x"}}`, api, 422, "invalid-input"},
		"bytes that are no UTF-8":     {at, "{\"input\":{\"body\":\"\xff\"}}", api, 400, "invalid-json"},
		"null":                        {at, `null`, api, 422, "invalid-input"},
		"another method, from a page": {"/", "", asPage(), 405, "method-not-allowed"},
	} {
		a := do(t, s, "POST", row.path, row.body, row.header)

		if a.Status != row.status || !bytes.Contains(a.Raw, []byte(row.code)) {
			t.Errorf("%s: %d %s, want %d %s", name, a.Status, a.Raw[:min(len(a.Raw), 300)], row.status, row.code)
		}
	}
	if lines := s.Lines("a.box"); len(lines) != 0 {
		t.Errorf("refused posts wrote %d lines", len(lines))
	}
}

func TestPagesAreCompressedForThoseWhoAsk(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)

	plain := do(t, s, "GET", "/", "", asPage("Accept-Encoding", "identity"))
	small := do(t, s, "GET", "/", "", asPage("Accept-Encoding", "gzip"))

	if small.Header.Get("Content-Encoding") != "gzip" || small.Header.Get("Vary") == "" || len(small.Raw)*2 > len(plain.Raw) {
		t.Fatalf("%d bytes instead of %d: %v", len(small.Raw), len(plain.Raw), small.Header)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(small.Raw))
	if err != nil {
		t.Fatal(err)
	}
	if page, err := io.ReadAll(unpack); err != nil || !bytes.HasSuffix(bytes.TrimSpace(page), []byte("</html>")) {
		t.Errorf("unpacked: %d bytes, %v", len(page), err)
	}
}

func TestEvenRefusalsForbidForeignScript(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)

	a := do(t, s, "GET", "/", "", asPage("Host", "example.com"))

	if a.Status != http.StatusForbidden || !strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'self'") {
		t.Errorf("%d %v", a.Status, a.Header)
	}
}

// Pages stay connected while the last turns end, so that they show how those ended.
func TestSocketsOutlastTheTurnsWhenTheServerStops(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	s := webtest.Start(t, everybody, func(o *web.Options) { o.Model = gated{offline.New(offline.Options{}), gate} })
	w := watch(t, s, "format=json&runs=support.help")
	s.Post("support.help", "tamsin", "my printer is offline")
	until := func(what string, holds func(state string) bool) {
		t.Helper()
		for {
			f, err := w.next()
			if err != nil {
				t.Fatalf("before %s: %v", what, err)
			}
			if f.Type == "state" && holds(string(f.State)) {
				return
			}
		}
	}
	until("the seat is at work", func(state string) bool { return strings.Contains(state, `"status":"running"`) })

	stopped := make(chan struct{})
	go func() { defer close(stopped); s.Stop() }()
	s.Eventually("nothing new is accepted", func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.URL, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	close(gate)

	until("its run has ended", func(state string) bool { return !strings.Contains(state, `"status":"running"`) })
	for {
		if _, err := w.next(); err != nil {
			if !websocket.IsCloseError(err, 4002) {
				t.Errorf("closed with %v, want 4002", err)
			}
			break
		}
	}
	<-stopped
}

package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/labstack/echo/v4"

	"postroom/domain/agent"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/model/modeltest"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/web"
	"postroom/web/config"
)

// A program of one's own: the server mounted in another Echo application, with a
// kind of mailbox, a notifier and a tool of the program's.
func TestTheServerCanBeMountedWithAKindANotifierAndAToolOfOnesOwn(t *testing.T) {
	t.Parallel()
	type line struct {
		ID   string `json:"id"`
		Body string `json:"body"`
	}
	diary, err := session.NewKind(session.KindOptions{Name: "diary", Public: map[string]session.Action{
		"post": {Repeatable: true, Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var l line
			if err := json.Unmarshal(input, &l); err != nil {
				return nil, err
			}
			l.ID = t.Request().ID
			return l, mailbox.EmitPostLine(t, l)
		}},
		"read": {Lane: session.ReadLane, Run: func(t *session.Turn, _ json.RawMessage) (any, error) { return mailbox.ReadPostLines[line](t) }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var told, rang atomic.Int32
	bell, err := agent.NewTool("ring-bell", "Rings.", func(context.Context, struct{}) (agent.ToolResult, error) {
		rang.Add(1)
		return agent.ToolResult{Text: "ding"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	server, err := web.New(web.Options{
		Config: config.Config{Database: filepath.Join(t.TempDir(), "own.db")},
		Workforce: fstest.MapFS{
			"teams/a/mailboxes/notes/MAILBOX.md": file("---\ndescription: x\nflow: diary\n---\n"),
			"teams/a/mailboxes/box/MAILBOX.md":   file("---\ndescription: x\nmembers: [a.w]\n---\n"),
			"teams/a/workers/w/WORKER.md":        file("---\ndescription: x\ntools: [ring-bell]\n---\n"),
		},
		Kinds:  map[string]session.Kind{"diary": diary},
		Notify: mailbox.NotifierFunc(func(context.Context, mailbox.Delivery) error { told.Add(1); return nil }),
		Tools:  []agent.Tool{bell},
		Model: modeltest.New(func(_ context.Context, call int, _ model.Request) (model.Response, error) {
			if call == 0 {
				return modeltest.Call("1", "ring-bell", struct{}{}), nil
			}
			return modeltest.Say("rang it"), nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	app := echo.New()
	app.Any("/*", echo.WrapHandler(server.Handler()))
	app.GET("/own", func(c echo.Context) error { return c.String(http.StatusOK, "mine") })
	host := httptest.NewServer(app)
	defer func() {
		host.Close()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("run: %v", err)
		}
	}()
	call := func(path, input string) string {
		t.Helper()
		res, err := http.Post(host.URL+"/api/flows/"+path+"?wait=10s", "application/json", strings.NewReader(`{"input":`+input+`}`)) //nolint:noctx // the test's own server.
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // decoded below.
		var out struct {
			Request struct {
				Status string
				Output json.RawMessage
			}
		}
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.Request.Status != "completed" {
			t.Fatalf("%s: %d %+v %v", path, res.StatusCode, out, err)
		}
		return string(out.Request.Output)
	}
	deadline := time.Now().Add(10 * time.Second)
	for ready := false; !ready && time.Now().Before(deadline); {
		res, err := http.Get(host.URL + "/readyz") //nolint:noctx // the test's own server.
		if err != nil {
			t.Fatal(err)
		}
		ready = res.StatusCode == http.StatusOK
		_ = res.Body.Close()
	}

	call("diary/a.notes/actions/post", `{"body":"dear diary"}`)
	lines := call("diary/a.notes/actions/read", `{}`)
	call("mailbox/a.box/actions/post", `{"body":"hello"}`)
	var out seat.RunOutput
	if err := json.Unmarshal([]byte(call("agent/a.w/actions/run", `{"text":"ring"}`)), &out); err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(lines, "dear diary") || out.Text != "rang it" || rang.Load() != 1 {
		t.Errorf("lines %s, run %+v, rang %d times", lines, out, rang.Load())
	}
	for told.Load() == 0 && time.Now().Before(deadline) {
	}
	if told.Load() != 1 {
		t.Errorf("told %d times", told.Load())
	}
}

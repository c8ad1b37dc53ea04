package web_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"postroom/domain/model"
	"postroom/domain/model/modeltest"
	"postroom/web"
	"postroom/web/webtest"
)

// counted is a server on which two posts were answered, one is being answered, one
// line was refused and one run failed.
func counted(t *testing.T) (s *webtest.Server, metrics string) {
	t.Helper()
	gate := make(chan struct{})
	t.Cleanup(func() { close(gate) })
	script := modeltest.New(func(ctx context.Context, _ int, r model.Request) (model.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		said := last.Content[len(last.Content)-1].Text // what came before it may have gone unanswered
		switch {
		case last.Content[0].Type == model.ToolResultBlock:
			return modeltest.Say("done"), nil
		case strings.Contains(said, "break"):
			return model.Response{}, &model.Error{Status: 529, Type: "overloaded_error", Attempts: 4}
		case strings.Contains(said, "hold"):
			select {
			case <-gate:
			case <-ctx.Done():
			}
			return model.Response{}, context.Canceled
		}
		return modeltest.Call(said[len(said)-1:], "post-to-mailbox", map[string]string{"mailbox": "support.desk", "body": "an answer"}), nil
	})
	s = webtest.Start(t, func(o *web.Options) { o.Model = script })
	for _, body := range []string{"please answer 1", "please answer 2", "please break 3"} {
		s.Post("support.desk", "mara", body)
	}
	if a, err := s.Do(http.MethodPost, "/api/flows/mailbox/support.desk/actions/post?wait=5s", []byte(`{"input":{"body":"x","author":"support.nobody"}}`), nil); err != nil || a.Request.Status != "failed" {
		t.Fatalf("refused: %+v %v", a, err)
	}
	s.Post("support.desk", "mara", "please hold 4")
	s.Eventually("two answers and a failure are counted", func() bool {
		metrics = scrape(t, s.URL+"/metrics")
		return strings.Contains(metrics, "postroom_answers_total 2") && strings.Contains(metrics, "postroom_failures_total 2") && strings.Contains(metrics, "postroom_requests_running 1")
	})
	return s, metrics
}

func scrape(t *testing.T, url string) string {
	t.Helper()
	res, err := http.Get(url) //nolint:noctx,gosec // the test's own server.
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%d %v", res.StatusCode, err)
	}
	return string(raw)
}

func TestActivityAndMetricsShowTheSameCounts(t *testing.T) {
	t.Parallel()
	s, metrics := counted(t)
	for _, want := range []string{
		"postroom_posts_total 4", "postroom_requests_queued 0", "postroom_answer_seconds_count 2", `postroom_answer_seconds_bucket{le="3600"} 2`,
		"postroom_store_writable 1", `postroom_http_requests_total{method="POST",route="/api/flows/:kind/:session/actions/:action",status="200"} 5`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %q in the metrics", want)
		}
	}
	if strings.Contains(metrics, "please") || strings.Contains(metrics, "mara") {
		t.Error("the metrics hold what people wrote")
	}

	page, err := s.Do(http.MethodGet, "/activity", nil, map[string]string{"Accept": "text/html"})
	if err != nil || page.Status != http.StatusOK {
		t.Fatalf("%d %v", page.Status, err)
	}
	shown := string(page.Raw)
	for what, want := range map[string]string{
		"runs":           `<dt>Runs now</dt><dd>1<small>of 8 at once`,
		"answers":        `last hour, 2 answers`,
		"the run":        `Cancel the run of Product`,
		"a refused line": `A line was refused`,
		"a failed run":   `A run failed`,
		"its code":       `model-failed`,
		"the plot":       `4 posts and 2 answers in all`,
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s: no %q", what, want)
		}
	}
}

func TestActivityIsPushedToProgramsAndCancelEndsARun(t *testing.T) {
	t.Parallel()
	s, _ := counted(t)
	conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/live?format=json&activity=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // of an upgrade there is none
	defer conn.Close()   //nolint:errcheck // the server closes it too.
	next := func() map[string]any {
		for {
			if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			var f struct {
				Type, Topic string
				State       map[string]any
			}
			if err := conn.ReadJSON(&f); err != nil {
				t.Fatal(err)
			}
			if f.Type == "state" && f.Topic == "activity" {
				return f.State
			}
		}
	}
	first := next()
	if first["running"] != 1.0 || first["answersLastHour"] != 2.0 || first["failures"] != 2.0 {
		t.Errorf("first: %v", first)
	}

	page, err := s.Do(http.MethodGet, "/activity", nil, map[string]string{"Accept": "text/html"})
	found := regexp.MustCompile(`/requests/(req_\w+)/cancel`).FindSubmatch(page.Raw)
	if err != nil || found == nil {
		t.Fatalf("no run to cancel: %v", err)
	}
	if a, err := s.Do(http.MethodPost, "/api/requests/"+string(found[1])+"/cancel", nil, nil); err != nil || a.Status != http.StatusOK {
		t.Fatalf("cancel: %+v %v", a, err)
	}
	for state := next(); state["running"] != 0.0; state = next() {
	}
}

func TestMetricsStandOnTheirOwnAddressWhenAsked(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	lines := &lockedWriter{to: &logged}
	s := webtest.Start(t, quiet, func(o *web.Options) { o.Config.MetricsAddr, o.Log = "127.0.0.1:0", lines.logger() })
	found := regexp.MustCompile(`msg=metrics url=(\S+)`).FindStringSubmatch(lines.text())
	if found == nil {
		t.Fatalf("log: %s", lines.text())
	}
	if text := scrape(t, found[1]); !strings.Contains(text, "postroom_posts_total 0") {
		t.Error("no counts there")
	}
	if a, err := s.Do(http.MethodGet, "/metrics", nil, nil); err != nil || a.Status != http.StatusNotFound {
		t.Errorf("on the main address: %d %v", a.Status, err)
	}
}

func TestTheLogJoinsACallWithTheRequestItMade(t *testing.T) {
	t.Parallel()
	var logged strings.Builder
	lines := &lockedWriter{to: &logged}
	s := webtest.Start(t, quiet, func(o *web.Options) { o.Log = lines.logger() })
	a := s.Post("a.box", "mara", "a secret between us")
	want := fmt.Sprintf("http=%s request=%s", a.Header.Get("X-Request-Id"), a.Request.ID)
	if text := lines.text(); !strings.Contains(text, want) || strings.Contains(text, "secret") {
		t.Errorf("no %q in %s", want, text)
	}
}

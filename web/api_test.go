package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"postroom/domain/session/sessiontest"
	"postroom/web/webtest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, append(sessiontest.Leaks(), goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))...)
}

const posting = "/api/flows/mailbox/support.help/actions/post"

func do(t *testing.T, s *webtest.Server, method, path, body string, header map[string]string) webtest.Answer {
	t.Helper()
	var raw []byte
	if body != "" {
		raw = []byte(body)
	}
	a, err := s.Do(method, path, raw, header)
	if err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func TestEveryLimitOfTheAPIHasItsStatusAndCode(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)
	ok := `{"userId":"u","input":{"body":"x"}}`
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	for name, row := range map[string]struct {
		method, path, body string
		header             map[string]string
		status             int
		code               string
	}{
		"malformed JSON":        {"POST", posting, `{"input":`, nil, 400, "invalid-json"},
		"two values":            {"POST", posting, ok + ok, nil, 400, "invalid-json"},
		"not an object":         {"POST", posting, `[1]`, nil, 422, "invalid-input"},
		"an unknown key":        {"POST", posting, `{"user":"u","input":{"body":"x"}}`, nil, 422, "invalid-input"},
		"a key twice":           {"POST", posting, `{"input":{"body":"x","body":"y"}}`, nil, 422, "invalid-input"},
		"a number for a name":   {"POST", posting, `{"userId":7,"input":{"body":"x"}}`, nil, 422, "invalid-input"},
		"nested too deep":       {"POST", posting, `{"input":` + deep + `}`, nil, 422, "invalid-input"},
		"a user without end":    {"POST", posting, `{"userId":"` + strings.Repeat("u", 201) + `","input":{"body":"x"}}`, nil, 422, "invalid-user-id"},
		"a user with controls":  {"POST", posting, `{"userId":"a\u0007b","input":{"body":"x"}}`, nil, 422, "invalid-user-id"},
		"the server's own name": {"POST", posting, `{"userId":"system","input":{"body":"x"}}`, nil, 422, "invalid-user-id"},
		"no input":              {"POST", posting, `{"userId":"u"}`, nil, 422, "invalid-input"},
		"an unknown input key":  {"POST", posting, `{"input":{"body":"x","principal":"y"}}`, nil, 422, "invalid-input"},
		"a wrong input type":    {"POST", posting, `{"input":{"body":[1]}}`, nil, 422, "invalid-input"},
		"an empty body":         {"POST", posting, `{"input":{"body":"  "}}`, nil, 422, "body-empty"},
		"a long body":           {"POST", posting, `{"input":{"body":"` + strings.Repeat("x", 65537) + `"}}`, nil, 413, "body-too-large"},
		"a long HTTP body":      {"POST", posting, `{"input":{"body":"` + strings.Repeat("x", 3<<20) + `"}}`, nil, 413, "body-too-large"},
		"another content type":  {"POST", posting, ok, map[string]string{"Content-Type": "text/plain"}, 415, "unsupported-media-type"},
		"an unknown kind":       {"POST", "/api/flows/nope/support.help/actions/post", ok, nil, 404, "unknown-kind"},
		"an unknown action":     {"POST", "/api/flows/mailbox/support.help/actions/nope", ok, nil, 404, "unknown-action"},
		"a dispatch-only entry": {"POST", "/api/flows/mailbox/support.help/actions/seatPost", ok, nil, 404, "unknown-action"},
		"another kind's":        {"POST", "/api/flows/agent/support.help/actions/run", `{"input":{"text":"x"}}`, nil, 409, "wrong-kind"},
		"a long session id":     {"POST", "/api/flows/mailbox/" + strings.Repeat("x", 201) + "/actions/post", ok, nil, 422, "invalid-session-id"},
		"a control character":   {"POST", "/api/flows/mailbox/a%0Ab/actions/post", ok, nil, 422, "invalid-session-id"},
		"a bad wait":            {"POST", posting + "?wait=forever", ok, nil, 422, "invalid-input"},
		"too long a wait":       {"POST", posting + "?wait=31s", ok, nil, 422, "invalid-input"},
		"a long key":            {"POST", posting, ok, map[string]string{"Idempotency-Key": strings.Repeat("k", 201)}, 422, "invalid-idempotency-key"},
		"another site's page":   {"POST", posting, ok, map[string]string{"Sec-Fetch-Site": "cross-site"}, 403, "cross-origin"},
		"another origin":        {"POST", posting, ok, map[string]string{"Origin": "https://example.com"}, 403, "cross-origin"},
		"a foreign host":        {"GET", "/", "", map[string]string{"Host": "example.com"}, 403, "host-not-allowed"},
		"no such request":       {"GET", "/api/requests/req_nope", "", nil, 404, "request-not-found"},
		"cancelling none":       {"POST", "/api/requests/req_nope/cancel", "", nil, 404, "request-not-found"},
		"no such session":       {"GET", "/api/sessions/nope", "", nil, 404, "session-not-found"},
		"items of none":         {"GET", "/api/sessions/nope/items", "", nil, 404, "session-not-found"},
		"a bad limit":           {"GET", "/api/sessions?limit=0", "", nil, 422, "invalid-input"},
		"too high a limit":      {"GET", "/api/sessions?limit=201", "", nil, 422, "invalid-input"},
		"a bad include":         {"GET", "/api/sessions?include=all", "", nil, 422, "invalid-input"},
		"a bad cursor":          {"GET", "/api/sessions/support.help/items?after=-1", "", nil, 422, "invalid-input"},
		"a bad status":          {"GET", "/api/sessions/support.help/requests?status=nope", "", nil, 422, "invalid-input"},
		"an unknown inventory":  {"GET", "/api/inventory/nope", "", nil, 404, "unknown-inventory"},
		"no such address":       {"GET", "/api/nope", "", nil, 404, "not-found"},
		"another method":        {"DELETE", posting, "", nil, 405, "method-not-allowed"},
	} {
		a := do(t, s, row.method, row.path, row.body, row.header)

		if a.Status != row.status || a.Error == nil || a.Error.Code != row.code || a.Error.Message == "" {
			t.Errorf("%s: %d %s, want %d %s", name, a.Status, a.Raw[:min(len(a.Raw), 300)], row.status, row.code)
		}
	}
	if lines := s.Lines("support.help"); len(lines) != 0 {
		t.Errorf("refused posts wrote %+v", lines)
	}
}

func TestAPostIsAcceptedAndWhatTheTurnKnowsFailsItsRequest(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)

	accepted := do(t, s, "POST", posting, `{"userId":"u_42","input":{"body":"hello"}}`, nil)
	stranger := do(t, s, "POST", posting+"?wait=5s", `{"input":{"body":"hello","author":"support.nobody"}}`, nil)
	unbound := do(t, s, "POST", "/api/flows/mailbox/support.nope/actions/post?wait=5s", `{"input":{"body":"hello"}}`, nil)

	if accepted.Status != http.StatusAccepted || accepted.Request.SessionID != "support.help" || accepted.Request.Failure != nil {
		t.Errorf("accepted: %d %s", accepted.Status, accepted.Raw)
	}
	if stranger.Status != http.StatusOK || stranger.Request.Status != "failed" || stranger.Request.Failure.Code != "author-not-a-member" {
		t.Errorf("stranger: %d %s", stranger.Status, stranger.Raw)
	}
	if unbound.Request.Status != "failed" || unbound.Request.Failure.Code != "mailbox-not-bound" {
		t.Errorf("unbound: %d %s", unbound.Status, unbound.Raw)
	}
	s.Eventually("the post is completed", func() bool {
		return do(t, s, "GET", "/api/requests/"+accepted.Request.ID, "", nil).Request.Status == "completed"
	})
	again := do(t, s, "POST", "/api/requests/"+accepted.Request.ID+"/cancel", "", nil)
	if again.Status != http.StatusConflict || again.Error.Code != "already-ended" {
		t.Errorf("cancel of an ended request: %d %s", again.Status, again.Raw)
	}
}

// Field report: the answer of a POST was lost, the client sent it again, and the
// line was there twice.
func TestTheSameKeyAtTheSameInstantIsOneLine(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)
	ids := make([]string, 8)
	var sending sync.WaitGroup
	for i := range ids {
		sending.Go(func() {
			a, err := s.Do("POST", posting, []byte(`{"userId":"u","input":{"body":"once"}}`), map[string]string{"Idempotency-Key": "k1"})
			if err != nil || a.Status != http.StatusAccepted {
				t.Errorf("post: %d %s %v", a.Status, a.Raw, err)
			}
			ids[i] = a.Request.ID
		})
	}
	sending.Wait()

	other := do(t, s, "POST", posting, `{"userId":"u","input":{"body":"twice"}}`, map[string]string{"Idempotency-Key": "k1"})
	else1 := do(t, s, "POST", posting, `{"userId":"v","input":{"body":"once"}}`, map[string]string{"Idempotency-Key": "k1"})

	for _, id := range ids {
		if id != ids[0] {
			t.Errorf("request ids: %v", ids)
		}
	}
	if other.Status != http.StatusConflict || other.Error.Code != "idempotency-key-reused" {
		t.Errorf("other content: %d %s", other.Status, other.Raw)
	}
	if else1.Status != http.StatusAccepted || else1.Request.ID == ids[0] {
		t.Errorf("somebody else's key: %d %s", else1.Status, else1.Raw)
	}
	s.Eventually("both lines are there", func() bool {
		n := 0
		for _, l := range s.Lines("support.help") {
			if l.Body == "once" {
				n++
			}
		}
		return n == 2
	})
}

func TestSessionsItemsAndRequestsAreListedByKey(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, everybody)
	for i := range 5 {
		s.Post("support.help", "u", fmt.Sprintf("printer %d", i))
	}
	s.Eventually("the seats have answered", func() bool { return len(s.Lines("support.help")) == 15 })
	var sessions struct {
		Items []struct{ ID, Kind, Parent, FlowID, Status string }
		Next  *string
	}
	var items struct {
		Items []struct {
			Seq       int64
			Component string
			Data      webtest.Line
		}
		Next *int64
	}
	get := func(path string, into any) {
		t.Helper()
		a := do(t, s, "GET", path, "", nil)
		if a.Status != http.StatusOK || json.Unmarshal(a.Raw, into) != nil {
			t.Fatalf("%s: %d %s", path, a.Status, a.Raw)
		}
	}

	get("/api/sessions", &sessions)
	if len(sessions.Items) != 4 {
		t.Errorf("without conversations: %+v", sessions)
	}
	get("/api/sessions?include=dispatch-runs&parent=support.help", &sessions)
	if len(sessions.Items) != 2 || sessions.Items[0].Kind != "agent" || sessions.Items[0].Parent != "support.help" || sessions.Items[0].FlowID != "support.accounts" {
		t.Errorf("conversations: %+v", sessions)
	}
	get("/api/sessions/support.help/items?type=component&component=mailbox-post&limit=10", &items)
	if len(items.Items) != 10 || items.Next == nil || *items.Next != items.Items[9].Seq || items.Items[0].Data.Body != "printer 0" {
		t.Errorf("items: %+v", items)
	}
	get(fmt.Sprintf("/api/sessions/support.help/items?component=mailbox-post&after=%d", *items.Next), &items)
	if len(items.Items) != 5 {
		t.Errorf("the rest: %+v", items)
	}
	get("/api/sessions/support.help/items?component=mailbox-post&before=4&limit=2", &items)
	if len(items.Items) != 2 || items.Items[1].Seq != 3 {
		t.Errorf("before: %+v", items)
	}
}

func TestHealthReadinessAndInventory(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)
	for _, path := range []string{"/healthz", "/readyz", "/api/openapi.json"} {
		if a := do(t, s, "GET", path, "", nil); a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.Status, a.Raw)
		}
	}
	for _, path := range []string{"/healthz", "/readyz", "/name"} {
		if a := do(t, s, "HEAD", path, "", nil); a.Status != http.StatusOK || len(a.Raw) != 0 {
			t.Errorf("HEAD %s: %d with %d bytes", path, a.Status, len(a.Raw))
		}
	}
	for what, want := range map[string]string{
		"mailboxes": `"id":"support.help","kind":"mailbox","open":true`, "seats": `"id":"chief-of-staff"`,
		"boards": `"id":"support.help.escalations"`, "teams": `"id":"engineering"`,
	} {
		if a := do(t, s, "GET", "/api/inventory/"+what, "", nil); a.Status != http.StatusOK || !bytes.Contains(a.Raw, []byte(want)) {
			t.Errorf("%s: %d %s", what, a.Status, a.Raw)
		}
	}
}

func TestPagesWorkByPlainGetAndPost(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)
	page := map[string]string{"Accept": "text/html", "Cookie": "postroom-name=Mara+Quill"}
	form := map[string]string{"Accept": "text/html", "Cookie": "postroom-name=Mara+Quill", "Content-Type": "application/x-www-form-urlencoded"}

	first := do(t, s, "GET", "/mailboxes/support.help?before=9", "", map[string]string{"Accept": "text/html"})
	if first.Status != http.StatusSeeOther || first.Header.Get("Location") != "/name?to=%2Fmailboxes%2Fsupport.help%3Fbefore%3D9" {
		t.Errorf("a first visit: %d %s", first.Status, first.Header.Get("Location"))
	}
	for name, location := range map[string]string{"/seats": "/seats", "https://example.com/": "/", "//example.com": "/", `/\example.com`: "/"} {
		named := do(t, s, "POST", "/name", "name=Mara+Quill&to="+name, form)
		if named.Status != http.StatusSeeOther || named.Header.Get("Location") != location || !strings.Contains(named.Header.Get("Set-Cookie"), "HttpOnly") {
			t.Errorf("name, then %s: %d %s", name, named.Status, named.Header)
		}
	}
	if bad := do(t, s, "POST", "/name", "name=%01&to=/", form); bad.Status != http.StatusUnprocessableEntity || !bytes.Contains(bad.Raw, []byte("1 to 60")) {
		t.Errorf("a bad name: %d", bad.Status)
	}
	posted := do(t, s, "POST", "/mailboxes/support.help/lines", "key=k&body=from+a+form", form)
	if posted.Status != http.StatusSeeOther || posted.Header.Get("Location") != "/mailboxes/support.help#end" {
		t.Errorf("post: %d %s", posted.Status, posted.Raw)
	}
	refused := do(t, s, "POST", "/mailboxes/support.help/lines", "key=k2&body=+", form)
	if refused.Status != http.StatusUnprocessableEntity || !bytes.Contains(refused.Raw, []byte("body-empty")) || !bytes.Contains(refused.Raw, []byte("<textarea")) {
		t.Errorf("refused: %d", refused.Status)
	}
	s.Eventually("the line is on the page", func() bool {
		return bytes.Contains(do(t, s, "GET", "/mailboxes/support.help", "", page).Raw, []byte("from a form"))
	})
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/":                       {200, "Ask the support team anything."},
		"/seats":                  {200, "Card readers, tablets"},
		"/seats/support.devices":  {200, "receipt-printer"},
		"/seats/support.nobody":   {404, "seat-not-hired"},
		"/mailboxes/support.hepl": {404, "Did you mean support.help?"},
		"/runs/req_nope":          {404, "request-not-found"},
		"/nowhere":                {404, "not-found"},
	} {
		if a := do(t, s, "GET", path, "", page); a.Status != want.status || !bytes.Contains(a.Raw, []byte(want.text)) {
			t.Errorf("%s: %d, want %d and %q", path, a.Status, want.status, want.text)
		}
	}
}

func TestPagesAllowNoInlineScriptOrStyle(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t)
	a := do(t, s, "GET", "/", "", map[string]string{"Accept": "text/html", "Cookie": "postroom-name=x"})

	csp := a.Header.Get("Content-Security-Policy")
	if !strings.Contains(csp, "default-src 'self'") || strings.Contains(csp, "unsafe") || a.Header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers: %v", a.Header)
	}
	if bytes.Contains(a.Raw, []byte("style=")) || bytes.Contains(a.Raw, []byte("<script>")) || bytes.Contains(a.Raw, []byte(" onclick")) {
		t.Error("the page holds inline script or style")
	}
}

// Field report: under load, reads before writes in deferred transactions answered
// 500 with "database is locked".
func TestManyWorkersAtOnceGetNoServerError(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, everybody)
	var working sync.WaitGroup
	for i := range 50 {
		working.Go(func() {
			for n := range 6 {
				box := []string{"support.help", "support.desk", "engineering.standup"}[(i+n)%3]
				a, err := s.Do("POST", "/api/flows/mailbox/"+box+"/actions/post", fmt.Appendf(nil, `{"userId":"u%d","input":{"body":"printer %d"}}`, i, n), nil)
				if err != nil || a.Status != http.StatusAccepted {
					t.Errorf("post: %d %s %v", a.Status, a.Raw, err)
				}
				if a, err = s.Do("POST", "/api/flows/mailbox/"+box+"/actions/read", []byte(`{"input":{}}`), nil); err != nil || a.Status != http.StatusOK {
					t.Errorf("read: %d %s %v", a.Status, a.Raw, err)
				}
			}
		})
	}
	working.Wait()
}

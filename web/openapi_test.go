package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"postroom/domain/schema"
	"postroom/web/webtest"
)

// described is the API's description, as far as the tests need it.
type described struct {
	Paths map[string]map[string]struct {
		Responses map[string]struct {
			Content map[string]struct{ Schema json.RawMessage }
		}
	}
	Components struct{ Schemas map[string]json.RawMessage }
}

// whole puts the components beside a schema, so that it stands by itself.
func (d described) whole(t *testing.T, raw json.RawMessage) *schema.Schema {
	t.Helper()
	all, err := json.Marshal(map[string]any{"$defs": d.Components.Schemas, "allOf": []json.RawMessage{raw}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := schema.Parse([]byte(strings.ReplaceAll(string(all), "#/components/schemas/", "#/$defs/")))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestAnswersAreAsTheAPIDescriptionSays(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, everybody)
	var d described
	if err := json.Unmarshal(do(t, s, "GET", "/api/openapi.json", "", nil).Raw, &d); err != nil {
		t.Fatal(err)
	}
	posted := s.Post("support.help", "u", "my printer is offline")
	s.Eventually("the seats have answered", func() bool { return len(s.Lines("support.help")) == 3 })
	action := "/api/flows/{kind}/{session}/actions/{action}"
	for _, call := range []struct {
		path, at, method, body string
		status                 int
	}{
		{action, posting, "POST", `{"input":{"body":"x"}}`, http.StatusAccepted},
		{action, posting + "?wait=5s", "POST", `{"input":{"body":"x","author":"support.x"}}`, http.StatusOK},
		{action, "/api/flows/mailbox/support.help/actions/read", "POST", `{"input":{}}`, http.StatusOK},
		{action, posting, "POST", `{`, http.StatusBadRequest},
		{action, posting, "POST", `{"input":{"body":""}}`, http.StatusUnprocessableEntity},
		{action, "/api/flows/x/y/actions/z", "POST", `{}`, http.StatusNotFound},
		{"/api/requests/{id}", "/api/requests/" + posted.Request.ID, "GET", "", http.StatusOK},
		{"/api/requests/{id}", "/api/requests/nope", "GET", "", http.StatusNotFound},
		{"/api/requests/{id}/cancel", "/api/requests/" + posted.Request.ID + "/cancel", "POST", "", http.StatusConflict},
		{"/api/sessions", "/api/sessions?include=dispatch-runs&limit=2", "GET", "", http.StatusOK},
		{"/api/sessions/{id}", "/api/sessions/support.help", "GET", "", http.StatusOK},
		{"/api/sessions/{id}", "/api/sessions/support.help~support.devices", "GET", "", http.StatusOK},
		{"/api/sessions/{id}/items", "/api/sessions/support.help~support.devices/items", "GET", "", http.StatusOK},
		{"/api/sessions/{id}/items", "/api/sessions/support.help/items?limit=1", "GET", "", http.StatusOK},
		{"/api/sessions/{id}/requests", "/api/sessions/support.help/requests", "GET", "", http.StatusOK},
		{"/api/sessions/{id}/requests", "/api/sessions/support.help/requests?status=x", "GET", "", http.StatusUnprocessableEntity},
		{"/api/inventory/{what}", "/api/inventory/mailboxes", "GET", "", http.StatusOK},
		{"/api/inventory/{what}", "/api/inventory/seats", "GET", "", http.StatusOK},
		{"/api/inventory/{what}", "/api/inventory/boards", "GET", "", http.StatusOK},
		{"/api/inventory/{what}", "/api/inventory/teams", "GET", "", http.StatusOK},
		{"/healthz", "/healthz", "GET", "", http.StatusOK},
		{"/readyz", "/readyz", "GET", "", http.StatusOK},
	} {
		a := do(t, s, call.method, call.at, call.body, nil)

		if a.Status != call.status {
			t.Errorf("%s %s: %d %s, want %d", call.method, call.at, a.Status, a.Raw, call.status)
			continue
		}
		said, ok := d.Paths[call.path][strings.ToLower(call.method)].Responses[fmt.Sprint(call.status)]
		if !ok {
			t.Errorf("%s %s: %d is not described", call.method, call.path, call.status)
			continue
		}
		if err := d.whole(t, said.Content["application/json"].Schema).Validate(a.Raw); err != nil {
			t.Errorf("%s %s: %v\n%s", call.method, call.at, err, a.Raw)
		}
	}
}

package views_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/go-cmp/cmp"

	"postroom/views"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestPartsLookAsTheyDid(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 9, 38, 0, 0, time.UTC)
	person := views.Line{Seq: 120, Writer: "Bram Ockley", At: at, Body: "I am signed out **again**."}
	signed, seat := person, person
	signed.Signed = "support.lead"
	seat.Seat, seat.SeatID, seat.Writer, seat.Offline = true, "support.accounts", "Accounts", true
	status := func(s views.PostStatus) templ.Component {
		s.Seq, s.Now = 120, at.Add(2*time.Minute+14*time.Second)
		return views.PostStatusOf(s)
	}
	for name, part := range map[string]templ.Component{
		"line-person":      views.LineItem(person),
		"line-signed":      views.LineItem(signed),
		"line-seat":        views.LineItem(seat),
		"status-placing":   status(views.PostStatus{Placing: true, Since: at}),
		"status-waiting":   status(views.PostStatus{Waiting: []string{"support.devices", "support.accounts"}, Since: at}),
		"status-failed":    status(views.PostStatus{Failed: []views.FailedRun{{SeatID: "support.devices", Run: "req_1", Code: "model-failed", Message: "The model did not answer."}}}),
		"status-stopped":   status(views.PostStatus{Failed: []views.FailedRun{{SeatID: "support.devices", Run: "req_1", Code: "cancelled", Stopped: true}}}),
		"status-lost":      status(views.PostStatus{Lost: &views.Lost{Code: "cancelled", Message: "Somebody cancelled this."}}),
		"status-nobody":    status(views.PostStatus{Nobody: true, Deliveries: []views.DeliveryRow{{Member: "a.b", State: "could not be told", Reason: "Nobody was hired."}}}),
		"status-answered":  status(views.PostStatus{Answers: []views.Answer{{SeatID: "support.accounts", Seq: 121, Took: 52 * time.Second}}}),
		"failed-request":   views.FailedRequestItem(views.FailedRequest{ID: "req_7", Action: "post", Code: "author-not-a-member", Message: "Nothing was written.", By: "<b>x</b>", At: at}),
		"strip-empty":      views.RunsStrip(views.Runs{}),
		"strip-busy":       views.RunsStrip(views.Runs{Now: at, Runs: []views.RunningSeat{{Request: "req_1", SeatID: "support.devices", Of: "Bram", Since: at}, {Request: "req_2", SeatID: "support.accounts", Queued: true, Since: at}}}),
		"members":          views.MemberList(views.Members{Now: at, Members: []views.Member{{ID: "a.busy", Hired: true, Hears: true, Busy: true, Since: at}, {ID: "a.hears", Hired: true, Hears: true}, {ID: "a.deaf", Hired: true}, {ID: "a.gone"}}}),
		"members-none":     views.MemberList(views.Members{}),
		"notice":           views.NoticeItem(views.Notice{Seq: 9, Code: "loop-stopped", Message: "Agents were causing work without end.", At: at}),
		"turn-calls":       views.TurnItem(views.TurnEntry{Seq: 4, Who: "Turn 1", Seat: true, At: at, Text: "Looking.", Calls: []views.Call{{ID: "c1", Name: "read-document", Input: `{"name":"x"}`, Result: "<script>"}, {ID: "c2", Name: "post-to-mailbox", Input: "{}", Pending: true}}}),
		"turn-failed":      views.TurnItem(views.TurnEntry{Seq: 5, Who: "Failed", At: at, Code: "run-timeout", Message: "It took longer than it may."}),
		"home-empty":       views.HomeList(views.HomeRows{}),
		"home":             views.HomeList(views.HomeRows{Now: at, Teams: []views.HomeTeam{{Name: "support", Seats: 1, Boxes: []views.HomeBox{{ID: "support.help", Description: "Ask.", Last: &views.LastLine{Writer: "Bram", At: at, Text: "hello"}, Busy: []string{"support.devices"}, Waiting: 1, Oldest: at}, {ID: "support.quiet"}}}}}),
		"run-state-failed": views.RunStateOf(views.RunState{ID: "req_1", Status: "failed", Started: at, Finished: at.Add(82 * time.Second), Model: "offline", In: 10, Out: 5, Attempt: 2, Code: "model-failed", Message: "The model did not answer."}),
		"run-state-busy":   views.RunStateOf(views.RunState{ID: "req_1", Status: "running", Started: at, Now: at}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			if err := part.Render(t.Context(), &got); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(got.Bytes(), []byte("style=")) || bytes.Contains(got.Bytes(), []byte("<script")) || bytes.Contains(got.Bytes(), []byte(" onclick")) {
				t.Errorf("inline style or script: %s", got.Bytes())
			}
			path := filepath.Join("testdata", name+".html")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s changed; look at it, then run with -update: %s", name, diff)
			}
		})
	}
}

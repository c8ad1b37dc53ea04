package seat_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/mailbox/mailboxtest"
	"postroom/domain/model"
	"postroom/domain/model/modeltest"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, sessiontest.Leaks()...) }

// replies is a model that answers each wake with the tool and then ends its turn.
func replies() *modeltest.Script {
	return modeltest.New(func(_ context.Context, _ int, r model.Request) (model.Response, error) {
		return answer(r), nil
	})
}

func answer(r model.Request) model.Response {
	last := r.Messages[len(r.Messages)-1]
	if last.Content[0].Type == model.ToolResultBlock {
		return modeltest.Say("done")
	}
	said := last.Words()
	_, rest, _ := strings.Cut(said, " in ")
	box, body, _ := strings.Cut(rest, ": ")
	return modeltest.Call(body+"-", seat.PostToMailboxTool, map[string]string{"mailbox": box, "body": "re: " + body})
}

func desk(t *testing.T, client model.Client, opts ...sessiontest.Option) *mailboxtest.Desk {
	t.Helper()
	return mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{mailboxtest.Box("support.help", "support.devices"), mailboxtest.Box("support.desk", "support.accounts")},
		Workers:   []seat.Record{mailboxtest.Worker("support.devices"), mailboxtest.Worker("support.accounts")},
		Model:     client,
	}, opts...)
}

func TestAPostWakesTheMembersSeatAndItsAnswerLandsInTheMailbox(t *testing.T) {
	t.Parallel()
	script := replies()
	d := desk(t, script)

	r := d.Post("support.help", "tamsin", "is it on?", "")
	d.Settle()

	if r.Status != session.Completed {
		t.Fatalf("post: %+v", r)
	}
	lines := d.Lines("support.help")
	if len(lines) != 2 || lines[0].Principal != "tamsin" || lines[0].SeatAuthored ||
		lines[1].Author != "support.devices" || !lines[1].SeatAuthored || lines[1].AuthorVerified || lines[1].Body != "re: is it on?" {
		t.Errorf("lines: %+v", lines)
	}
	if said := script.Requests()[0].Messages[0].Words(); said != "tamsin in support.help: is it on?" {
		t.Errorf("the seat heard %q", said)
	}
	if n := len(script.Requests()); n != 2 {
		t.Errorf("model requests: %d, want 2: a seat's line wakes nobody", n)
	}
	children, err := d.Store.Sessions(t.Context(), session.SessionQuery{Organization: account.DefaultOrganization, Parent: "support.help"})
	if err != nil || len(children) != 1 || children[0].FlowID != "support.devices" {
		t.Errorf("conversations: %+v %v", children, err)
	}
}

func TestTheWriterASeatHearsIsTheAuthorElseThePrincipal(t *testing.T) {
	t.Parallel()
	script := replies()
	d := desk(t, script)

	d.Post("support.help", "tamsin", "look", "support.devices")
	d.Settle()

	if said := script.Requests()[0].Messages[0].Words(); said != "support.devices in support.help: look" {
		t.Errorf("the seat heard %q", said)
	}
}

func TestASeatRemembersTheThreadAndTheCharter(t *testing.T) {
	t.Parallel()
	script := replies()
	d := desk(t, script)
	d.Post("support.help", "tamsin", "one", "")
	d.Settle()

	d.Post("support.help", "tamsin", "two", "")
	d.Settle()

	last := script.Requests()[2]
	if len(last.Messages) != 5 || last.Messages[0].Words() != "tamsin in support.help: one" {
		t.Errorf("history: %+v", last.Messages)
	}
	if !strings.Contains(last.System, "Be brief.") {
		t.Errorf("system text without the charter: %q", last.System)
	}
}

// Field report: messages queued while the agent was busy were delivered twice.
func TestPostsThatComeWhileASeatIsBusyAreEachSeenOnce(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	var heard atomic.Int32
	d := desk(t, modeltest.New(func(ctx context.Context, call int, r model.Request) (model.Response, error) {
		if call == 0 {
			select {
			case <-hold:
			case <-ctx.Done():
				return model.Response{}, ctx.Err()
			}
		}
		if r.Messages[len(r.Messages)-1].Content[0].Type == model.TextBlock {
			heard.Add(1)
		}
		return answer(r), nil
	}))
	for _, body := range []string{"a", "b", "c", "d", "e", "f"} {
		d.Post("support.help", "tamsin", body, "")
	}

	close(hold)
	d.Settle()

	if heard.Load() != 6 {
		t.Errorf("turns: %d, want 6", heard.Load())
	}
	got := map[string]int{}
	for _, l := range d.Lines("support.help") {
		got[l.Body]++
	}
	for _, body := range []string{"a", "b", "c", "d", "e", "f"} {
		if got[body] != 1 || got["re: "+body] != 1 {
			t.Errorf("%s: %d lines, %d answers", body, got[body], got["re: "+body])
		}
	}
}

// Field report: redelivery after a restart answered one message four times.
func TestACrashAtAnyMomentLeavesExactlyOneAnswer(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int{"while the model is asked": 0, "after the answer was handed over": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{}, 8)
			var crashed atomic.Bool
			d := desk(t, modeltest.New(func(ctx context.Context, call int, r model.Request) (model.Response, error) {
				if call == at && !crashed.Load() {
					reached <- struct{}{}
					<-ctx.Done()
					return model.Response{}, ctx.Err()
				}
				return answer(r), nil
			}))
			d.Post("support.help", "tamsin", "once", "")
			<-reached

			crashed.Store(true)
			d.Die()
			d.Start()
			d.Settle()

			if lines := d.Lines("support.help"); len(lines) != 2 || lines[1].Body != "re: once" {
				t.Errorf("lines: %+v", lines)
			}
		})
	}
}

func TestASeatsPostIsRefusedByNameOrByTheMailbox(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		input  any
		result string // of the tool, when it is told
		failed string // code of the mailbox's own failed request
	}{
		"an author in the input":  {map[string]string{"mailbox": "support.help", "body": "x", "author": "support.accounts"}, "author", ""},
		"an empty body":           {map[string]string{"mailbox": "support.help", "body": " "}, "must not be empty", ""},
		"a mailbox nobody opened": {map[string]string{"mailbox": "support.nope", "body": "x"}, "session-not-found", ""},
		"a session that is none":  {map[string]string{"mailbox": "support.help~support.devices", "body": "x"}, "session-not-addressable", ""},
		"not a member":            {map[string]string{"mailbox": "support.desk", "body": "x"}, "handedTo", "author-not-a-member"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told string
			d := desk(t, modeltest.New(func(_ context.Context, call int, r model.Request) (model.Response, error) {
				if call == 0 {
					return modeltest.Call("1", seat.PostToMailboxTool, row.input), nil
				}
				told = r.Messages[len(r.Messages)-1].Content[0].Content
				return modeltest.Say("done"), nil
			}))

			d.Post("support.help", "tamsin", "hello", "")
			d.Settle()

			if !strings.Contains(told, row.result) {
				t.Errorf("the tool said %q, want %q", told, row.result)
			}
			if lines := d.Lines("support.help"); len(lines) != 1 {
				t.Errorf("lines: %+v", lines)
			}
			failed, err := d.Directory.Failed(t.Context(), account.DefaultOrganization, "support.desk", 5)
			if err != nil || row.failed == "" && len(failed) > 0 || row.failed != "" && (len(failed) != 1 || failed[0].Failure.Code != row.failed) {
				t.Errorf("failed: %+v %v", failed, err)
			}
			if _, found, err := d.Store.Session(t.Context(), account.DefaultOrganization, "support.nope"); err != nil || found {
				t.Errorf("a session was made: %v %v", found, err)
			}
		})
	}
}

func TestAToolThatASeatDoesNotNameIsNeverOffered(t *testing.T) {
	t.Parallel()
	script := replies()
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{mailboxtest.Box("support.help", "support.devices")},
		Workers:   []seat.Record{{ID: "support.devices", Declared: map[string]any{"description": "x"}}},
		Model:     script,
	})

	d.Post("support.help", "tamsin", "hello", "")
	d.Settle()

	if tools := script.Requests()[0].Tools; len(tools) != 0 {
		t.Errorf("tools offered: %+v", tools)
	}
}

func TestASeatCanBeTalkedToDirectlyAndKeepsTheTalk(t *testing.T) {
	t.Parallel()
	d := desk(t, modeltest.New(func(_ context.Context, _ int, r model.Request) (model.Response, error) {
		return modeltest.Say("heard " + r.Messages[len(r.Messages)-1].Words()), nil
	}))

	r, err := d.Ask(seat.AgentKind, "support.devices:mara", "run", mailboxtest.Principal("mara"), map[string]string{"text": "hi"})
	missing, err2 := d.Ask(seat.AgentKind, "support.nobody", "run", mailboxtest.Principal("mara"), map[string]string{"text": "hi"})
	_, empty := d.Ask(seat.AgentKind, "support.devices", "run", mailboxtest.Principal("mara"), map[string]string{"text": " "})

	var out seat.RunOutput
	if err != nil || json.Unmarshal(r.Output, &out) != nil || out.Text != "heard hi" {
		t.Errorf("run: %+v %v", r, err)
	}
	if err2 != nil || missing.Failure == nil || missing.Failure.Code != "seat-not-hired" {
		t.Errorf("missing: %+v %v", missing, err2)
	}
	if !errors.Is(empty, mailbox.ErrBodyEmpty) {
		t.Errorf("empty: %v", empty)
	}
}

func TestAModelThatFailsFailsTheRunWithACodeAndAFailureItem(t *testing.T) {
	t.Parallel()
	for _, cause := range []error{errors.New("connection reset"), context.DeadlineExceeded, context.Canceled} {
		t.Run(cause.Error(), func(t *testing.T) { t.Parallel(); failedRun(t, cause) })
	}
}

func failedRun(t *testing.T, cause error) {
	t.Helper()
	d := desk(t, modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return model.Response{}, cause
	}))

	d.Post("support.help", "tamsin", "hello", "")
	d.Settle()

	reaches, err := d.Directory.Reaches(t.Context(), account.DefaultOrganization, "support.help", []string{d.Lines("support.help")[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range reaches {
		run := all[0].Run
		if run.Status != session.Failed || run.Failure.Code != "model-failed" {
			t.Errorf("run: %+v", run)
		}
		items, err := d.Store.Items(t.Context(), session.ItemQuery{Organization: account.DefaultOrganization, Session: run.Conversation, Type: session.TypeFailure})
		if err != nil || len(items) != 1 {
			t.Errorf("failure items: %+v %v", items, err)
		}
	}
}

func TestTheOfflineModelAnswersFromTheSeatsDocuments(t *testing.T) {
	t.Parallel()
	worker := mailboxtest.Worker("support.devices")
	worker.Documents = []seat.Document{
		{Name: "printers", Ref: "printers", Folder: "references", Readable: true, Text: "# Printers\n\nOpen the rear tray when paper is jammed."},
		{Name: "secret", Ref: "secret", Folder: "references", Text: "The jammed paper is our little secret."},
	}
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{mailboxtest.Box("support.help", "support.devices")},
		Workers:   []seat.Record{worker}, Model: offline.New(offline.Options{}),
	})

	d.Post("support.help", "tamsin", "the paper is jammed", "")
	d.Settle()

	lines := d.Lines("support.help")
	if len(lines) != 2 || !strings.Contains(lines[1].Body, "rear tray") || !strings.Contains(lines[1].Body, "*printers*") ||
		strings.Contains(lines[1].Body, "secret") || !lines[1].Offline {
		t.Errorf("lines: %+v", lines)
	}
}

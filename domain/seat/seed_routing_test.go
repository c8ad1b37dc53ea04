package seat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/mailbox/mailboxtest"
	"postroom/domain/model"
	"postroom/domain/model/modeltest"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

// The documents' rules of routed mailboxes, one test a rule, by the documents' headings.

// undescribed is a worker whose file says nothing of its job.
func undescribed(id string) seat.Record { return seat.Record{ID: id, Declared: map[string]any{}} }

// held is a desk whose seats wait with posts that say "hold" until the test lets go.
func held(t *testing.T, e model.Evaluator) (d *mailboxtest.Desk, script *modeltest.Script, let func()) {
	t.Helper()
	hold := make(chan struct{})
	let = sync.OnceFunc(func() { close(hold) })
	script = answersOf(hold)
	d = routedDesk(t, script, e)
	t.Cleanup(let)
	return d, script, let
}

// posted posts and waits until the post was handed on.
func posted(d *mailboxtest.Desk, who, body string) {
	d.Post("support.help", who, body, "")
	d.SettleFanOuts()
}

// went are the decisions as "source member".
func went(t *testing.T, d *mailboxtest.Desk) []string {
	t.Helper()
	var all []string
	for _, one := range decisions(t, d) {
		all = append(all, strings.TrimSpace(one.Source+" "+one.Member))
	}
	return all
}

func wantWent(t *testing.T, d *mailboxtest.Desk, want ...string) {
	t.Helper()
	if got := went(t, d); !slices.Equal(got, want) {
		t.Errorf("decisions: %q, want %q", got, want)
	}
}

func wantBodies(t *testing.T, d *mailboxtest.Desk, want ...string) {
	t.Helper()
	if got := bodies(d); !slices.Equal(got, want) {
		t.Errorf("lines: %q, want %q", got, want)
	}
}

func deliveriesOf(t *testing.T, d *mailboxtest.Desk, post string) []mailbox.Reach {
	t.Helper()
	all, err := d.Directory.Reaches(t.Context(), account.DefaultOrganization, "support.help", []string{post})
	if err != nil {
		t.Fatal(err)
	}
	return all[post]
}

// answered lands an answer as a seat's run does.
func answered(t *testing.T, d *mailboxtest.Desk, post, author string) {
	t.Helper()
	r, err := d.Inside("support.help", mailbox.ActionAnswer, mailbox.SeatAnswer{PostID: post, Body: "here", Author: author})
	if err != nil || r.Status != session.Completed || string(r.Output) == "null" {
		t.Fatalf("answer: %+v %v", r, err)
	}
	d.SettleFanOuts()
}

// outOfWindow pushes all that was said out of the mailbox's history window: as many
// requests as it reaches back, none of which writes a line.
func outOfWindow(t *testing.T, d *mailboxtest.Desk) {
	t.Helper()
	for range 50 {
		if r := d.Post("support.help", "tamsin", "x", "support.stranger"); r.Status != session.Failed {
			t.Fatalf("a stranger's post: %+v", r)
		}
	}
}

func ledger(t *testing.T, d *mailboxtest.Desk) (mailbox.Ledger, bool) {
	t.Helper()
	s, _, err := d.Store.Session(t.Context(), account.DefaultOrganization, "support.help")
	if err != nil {
		t.Fatal(err)
	}
	return mailbox.LedgerOf(s)
}

// forget takes the ledger out of the mailbox's state, as it stands while the app
// runs its kind without a route.
func forget(t *testing.T, d *mailboxtest.Desk) {
	t.Helper()
	s, _, err := d.Store.Session(t.Context(), account.DefaultOrganization, "support.help")
	if err != nil {
		t.Fatal(err)
	}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(s.State, &state); err != nil {
		t.Fatal(err)
	}
	delete(state, "mailboxRouteLedger")
	raw, err := json.Marshal(state)
	if err == nil {
		err = d.Store.Write(t.Context(), func(tx session.Tx) error {
			return tx.SetState(t.Context(), account.DefaultOrganization, "support.help", raw)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// How a post finds its member

func TestAHeldMemberKeepsThePostUntilItAnswers(t *testing.T) {
	t.Parallel()
	e := byWord()
	d, _, let := held(t, e)
	posted(d, "tamsin", "hold: my printer is jammed")
	posted(d, "tamsin", "and my login fails")
	if n := len(e.Calls()); n != 1 {
		t.Errorf("%d calls, want none for the post that is held", n)
	}
	let()
	d.Settle()
	posted(d, "tamsin", "my login still fails")
	wantWent(t, d, "evaluator support.devices", "held support.devices", "evaluator support.accounts")
}

func TestAMemberThatTookAPostAsTheFallbackHoldsTheNextOne(t *testing.T) {
	t.Parallel()
	d, _, _ := held(t, byWord())
	posted(d, "tamsin", "hold: where is the sun")
	posted(d, "tamsin", "and my login fails")
	wantWent(t, d, "fallback support.general", "held support.general")
}

func TestAPostHeldThisWayHoldsNothing(t *testing.T) {
	t.Parallel()
	d, _, _ := held(t, byWord())
	posted(d, "tamsin", "hold: my printer is jammed")
	posted(d, "tamsin", "and what now")
	posted(d, "tamsin", "my login fails")
	wantWent(t, d, "evaluator support.devices", "held support.devices", "evaluator support.accounts")
}

func TestAPostWhoseRouteIsNotRecordedYetHoldsNothing(t *testing.T) {
	t.Parallel()
	asked, over := make(chan struct{}), make(chan struct{})
	let := sync.OnceFunc(func() { close(over) })
	byPost := byWord()
	e := modeltest.NewEvaluator(func(q model.Question) (model.Answer, error) {
		if raw, _ := json.Marshal(q.State); strings.Contains(string(raw), `"post":{"from":"tamsin","text":"my printer`) {
			close(asked)
			<-over
		}
		return byPost.Evaluate(context.Background(), q)
	})
	d, _, _ := held(t, e)
	t.Cleanup(let)
	d.Post("support.help", "tamsin", "my printer is jammed", "")
	<-asked
	d.Post("support.help", "tamsin", "my login fails", "")
	let()
	d.Settle()
	got := went(t, d)
	slices.Sort(got) // whichever route was recorded first
	if !slices.Equal(got, []string{"evaluator support.accounts", "evaluator support.devices"}) {
		t.Errorf("decisions: %q", got)
	}
}

func TestAPostIsHeldOnlyByTheLastPostOfTheSamePrincipal(t *testing.T) {
	t.Parallel()
	d, _, _ := held(t, byWord())
	posted(d, "tamsin", "hold: my printer is jammed")
	posted(d, "bram", "hold: my login fails")
	posted(d, "tamsin", "and my login")
	wantWent(t, d, "evaluator support.devices", "evaluator support.accounts", "held support.devices")
}

func TestAnAnswerToSomebodyElsesEarlierPostFreesNothing(t *testing.T) {
	t.Parallel()
	d, _, _ := held(t, byWord())
	posted(d, "bram", "hold: my printer is jammed")
	first := d.Lines("support.help")[0].ID
	posted(d, "bram", "hold: and it beeps")
	posted(d, "tamsin", "hold: my printer is out of ink")
	answered(t, d, first, "support.devices")
	posted(d, "tamsin", "and my login")
	wantWent(t, d, "evaluator support.devices", "held support.devices", "evaluator support.devices", "held support.devices")
}

func TestAnAnswerToAnEarlierPostLeavesTheLastOneHolding(t *testing.T) {
	t.Parallel()
	d, _, _ := held(t, byWord())
	posted(d, "tamsin", "hold: my printer is jammed")
	first := d.Lines("support.help")[0].ID
	posted(d, "tamsin", "hold: and it beeps")
	posted(d, "tamsin", "hold: the other printer too")
	answered(t, d, first, "support.devices")
	posted(d, "tamsin", "and my login")
	wantWent(t, d, "evaluator support.devices", "held support.devices", "evaluator support.devices", "held support.devices")
}

func TestTheChoicesAreTheMembersWhoseSeatHearsAndHasADescription(t *testing.T) {
	t.Parallel()
	deaf, err := session.NewKind(session.KindOptions{Name: "deaf"})
	if err != nil {
		t.Fatal(err)
	}
	e := byWord()
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.deaf", "support.devices", "support.later", "support.nobody", "support.general")},
		Workers: []seat.Record{
			{ID: "support.deaf", Declared: map[string]any{"description": "Hears nothing.", "flow": "deaf"}},
			described("support.devices", "Printers and wifi."), undescribed("support.later"), described("support.general", "Anything else."),
			described("support.outsider", "No member."),
		},
		Model: answersOf(nil), Evaluator: e, Kinds: []session.Kind{deaf},
	})
	posted(d, "tamsin", "my printer is jammed")
	d.Settle()
	var got []string
	for _, c := range e.Calls()[0].Choices {
		got = append(got, c.ID+": "+c.Description)
	}
	if !slices.Equal(got, []string{"support.devices: Printers and wifi.", "support.general: Anything else."}) {
		t.Errorf("choices: %q", got)
	}
}

func TestTheRoutesModelAlsoSeesTheRecentLines(t *testing.T) {
	t.Parallel()
	e := byWord()
	d := routedDesk(t, answersOf(nil), e)
	posted(d, "tamsin", "my login wants a password")
	d.Settle()
	posted(d, "bram", "it fails right after the password")
	d.Settle()
	raw, err := json.Marshal(e.Calls()[1].State)
	want := `{"post":{"from":"bram","text":"it fails right after the password"},"recent":[` +
		`{"from":"tamsin","text":"my login wants a password"},{"from":"support.accounts","text":"re: my login wants a password"}]}`
	if err != nil || string(raw) != want {
		t.Errorf("shown %s %v", raw, err)
	}
}

// laterIsFallback is a desk whose fallback has no description.
func laterIsFallback(t *testing.T, e model.Evaluator, hold <-chan struct{}, workers ...seat.Record) *mailboxtest.Desk {
	t.Helper()
	return mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices", "support.later")},
		Workers:   workers, Model: answersOf(hold), Evaluator: e,
	})
}

func TestASeatWithoutADescriptionIsNeverAChoiceButTakesPostsAsTheFallbackAndThenHolds(t *testing.T) {
	t.Parallel()
	e, hold := byWord(), make(chan struct{})
	d := laterIsFallback(t, e, hold, described("support.devices", "Printers."), undescribed("support.later"))
	t.Cleanup(func() { close(hold) })
	posted(d, "tamsin", "hold: where is the sun")
	posted(d, "tamsin", "my printer is jammed")
	wantWent(t, d, "fallback support.later", "held support.later")
	if calls := e.Calls(); len(calls) != 1 || len(calls[0].Choices) != 1 || calls[0].Choices[0].ID != "support.devices" {
		t.Errorf("asked: %+v", calls)
	}
}

func TestWhenNoMemberHasADescriptionThereIsNoCallAndTheFallbackTakesThePost(t *testing.T) {
	t.Parallel()
	e := byWord()
	d := laterIsFallback(t, e, nil, undescribed("support.devices"), undescribed("support.later"))
	posted(d, "tamsin", "my printer is jammed")
	d.Settle()
	wantWent(t, d, "fallback support.later")
	wantBodies(t, d, "tamsin: my printer is jammed", "support.later: re: my printer is jammed")
	if got := decisions(t, d)[0]; len(e.Calls()) != 0 || !strings.Contains(got.Reason, "description") {
		t.Errorf("%d calls, %+v", len(e.Calls()), got)
	}
}

func wantFallback(t *testing.T, text, reason string) {
	t.Helper()
	d := routedDesk(t, answersOf(nil), byWord())
	posted(d, "tamsin", text)
	d.Settle()
	wantWent(t, d, "fallback support.general")
	wantBodies(t, d, "tamsin: "+text, "support.general: re: "+text)
	if got := decisions(t, d)[0].Reason; !strings.Contains(got, reason) {
		t.Errorf("reason: %q", got)
	}
}

func TestWhenTheCallFailsTheFallbackTakesThePost(t *testing.T) {
	t.Parallel()
	wantFallback(t, "is this broken", "the evaluator is away")
}

func TestWhenTheAnswerIsOutsideTheChoicesTheFallbackTakesThePost(t *testing.T) {
	t.Parallel()
	wantFallback(t, "something odd", `"support.nobody"`)
}

func TestWithAModelThatCannotEvaluateEveryPostGoesToTheFallback(t *testing.T) {
	t.Parallel()
	words := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		return modeltest.Say("devices, I think"), nil
	})
	d := routedDesk(t, answersOf(nil), model.NewEvaluator(words, "wordy"))
	for _, text := range []string{"my printer is jammed", "my login fails"} {
		posted(d, "tamsin", text)
		d.Settle()
	}
	wantWent(t, d, "fallback support.general", "fallback support.general")
	if n := len(words.Requests()); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// unhired is a route whose fallback passed when the files were read, but has no seat
// that the writer can reach.
type unhired struct{ mailbox.Router }

func (unhired) Hears(string) bool { return true }

func TestWhenNoSeatOfTheFallbackCanBeReachedNobodyAnswersAndTheRouteAndTheDeliverySayWhy(t *testing.T) {
	t.Parallel()
	hired := hire(t, account.DefaultOrganization, "mara", "support.general") // mara's own
	script := answersOf(nil)
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices", "support.general")},
		Workers:   []seat.Record{described("support.devices", "Printers."), described("support.general", "The rest.")},
		Model:     script, Route: unhired{seat.RouteByPurpose(hired, byWord())},
	})
	posted(d, "tamsin", "where is the sun")
	d.Settle()
	wantWent(t, d, "nobody")
	wantBodies(t, d, "tamsin: where is the sun")
	const why = "The fallback support.general has no hired seat"
	if got := decisions(t, d)[0]; !strings.Contains(got.Reason, why) {
		t.Errorf("decision: %+v", got)
	}
	all := deliveriesOf(t, d, d.Lines("support.help")[0].ID)
	if len(all) != 1 || all[0].State != mailbox.Nobody || all[0].Member != "support.general" || !strings.Contains(all[0].Reason, why) || all[0].Run != nil {
		t.Errorf("delivery: %+v", all)
	}
	if len(script.Requests()) != 0 {
		t.Error("a seat was asked")
	}
}

func TestAFallbackWithADescriptionIsOneOfTheChoices(t *testing.T) {
	t.Parallel()
	d := routedDesk(t, answersOf(nil), modeltest.NewEvaluator(func(model.Question) (model.Answer, error) {
		return model.Answer{Choice: "support.general"}, nil
	}))
	posted(d, "tamsin", "where is the sun")
	wantWent(t, d, "evaluator support.general")
	if got := decisions(t, d)[0].Reason; got != "" {
		t.Errorf("reason: %q", got)
	}
}

func TestOnlyThePickedMemberIsTold(t *testing.T) {
	t.Parallel()
	script, others := answersOf(nil), &heard{}
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices", "support.nobody", "support.general")},
		Workers:   []seat.Record{described("support.devices", "Printers."), described("support.general", "The rest.")},
		Model:     script, Evaluator: byWord(), Fallback: others,
	})
	d.Post("support.help", "tamsin", "my printer is jammed", "")
	d.Settle()
	all := deliveriesOf(t, d, d.Lines("support.help")[0].ID)
	if len(all) != 1 || all[0].Member != "support.devices" || all[0].State != mailbox.Woken {
		t.Errorf("deliveries: %+v", all)
	}
	if len(script.Requests()) != 1 || slices.Contains(others.all, "support.nobody: my printer is jammed") {
		t.Errorf("%d runs, told: %q", len(script.Requests()), others.all)
	}
}

func TestASeatsLineIsNeverRoutedAndWakesNobody(t *testing.T) {
	t.Parallel()
	script, e := answersOf(nil), byWord()
	d := routedDesk(t, script, e)
	if r, err := d.Inside("support.help", mailbox.ActionSeatPost, mailbox.SeatPost{Body: "my printer is jammed", Author: "support.accounts"}); err != nil || r.Status != session.Completed {
		t.Fatalf("%+v %v", r, err)
	}
	d.Settle()
	wantWent(t, d)
	wantBodies(t, d, "support.accounts: my printer is jammed")
	if len(e.Calls()) != 0 || len(script.Requests()) != 0 {
		t.Errorf("%d calls, %d runs", len(e.Calls()), len(script.Requests()))
	}
}

func TestAClientPostIsRoutedWhetherOrNotItSetsAuthor(t *testing.T) {
	t.Parallel()
	e := byWord()
	d := routedDesk(t, answersOf(nil), e)
	d.Post("support.help", "tamsin", "my printer is jammed", "support.accounts")
	d.Settle()
	wantWent(t, d, "evaluator support.devices")
	if raw, _ := json.Marshal(e.Calls()[0].State); !strings.Contains(string(raw), `"from":"support.accounts"`) {
		t.Errorf("asked of %s", raw)
	}
}

func TestEachDecisionIsRecordedAndNeverShowsAsALine(t *testing.T) {
	t.Parallel()
	d, _, let := held(t, byWord())
	for _, text := range []string{"hold: printer", "and this", "where is the sun"} {
		posted(d, "tamsin", text)
	}
	let()
	d.Settle()
	lines := d.Lines("support.help")
	for i, got := range decisions(t, d) {
		if got.PostID != lines[i].ID || (got.Reason != "") != (got.Source == mailbox.SourceFallback) {
			t.Errorf("decision %d: %+v", i, got)
		}
	}
	wantWent(t, d, "evaluator support.devices", "held support.devices", "fallback support.general")
	r, err := d.Ask(mailbox.BuiltinKind, "support.help", "read", mailboxtest.Principal("tamsin"), struct{}{})
	var back struct{ Transcript []mailbox.Line }
	if err != nil || json.Unmarshal(r.Output, &back) != nil || len(back.Transcript) != 6 || len(lines) != 6 {
		t.Errorf("%d lines, read: %s %v", len(lines), r.Output, err)
	}
}

// What the route remembers

func TestEveryMailboxOnAKindWithARouteKeepsARecordRoutedOrNot(t *testing.T) {
	t.Parallel()
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{mailboxtest.Box("support.help", "support.devices")},
		Workers:   []seat.Record{undescribed("support.devices")}, Model: answersOf(nil), Evaluator: byWord(),
	})
	posted(d, "tamsin", "hello")
	l, kept := ledger(t, d)
	if !kept || len(l.Lines) == 0 || len(l.LastPosts) != 1 || l.LastPosts[0].PostID != d.Lines("support.help")[0].ID || l.LastPosts[0].Member != "" {
		t.Errorf("ledger: %v %+v", kept, l)
	}
}

func TestNeitherTheLinesNorTheHoldIsLimitedByTheHistoryWindow(t *testing.T) {
	t.Parallel()
	d, script, let := held(t, byWord())
	posted(d, "tamsin", "hold: my printer is jammed")
	outOfWindow(t, d)
	posted(d, "tamsin", "and my login")
	wantWent(t, d, "evaluator support.devices", "held support.devices")
	let()
	d.Settle()
	if shown := script.Requests()[1].System; !strings.Contains(shown, "tamsin: hold: my printer is jammed") {
		t.Errorf("shown: %q", shown)
	}
}

func TestLinesFromBeforeRoutingWasAddedAreNotLimitedByTheHistoryWindow(t *testing.T) {
	t.Parallel()
	routed := false
	script := answersOf(nil)
	d := switched(t, script, &routed)
	posted(d, "tamsin", "the red laptop is good")
	d.Settle()
	outOfWindow(t, d)
	routed = true
	before := len(script.Requests())
	posted(d, "tamsin", "can it use my printer")
	d.Settle()
	if shown := script.Requests()[before].System; !strings.Contains(shown, "tamsin: the red laptop is good") {
		t.Errorf("shown: %q", shown)
	}
}

// switched is a desk whose file says routing: while *routed.
func switched(t *testing.T, client model.Client, routed *bool) *mailboxtest.Desk {
	t.Helper()
	return mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices", "support.accounts", "support.general")},
		Workers:   []seat.Record{described("support.devices", "Printers."), described("support.accounts", "Logins."), described("support.general", "The rest.")},
		Model:     client, Evaluator: byWord(), Routed: func() bool { return *routed },
	})
}

func TestTheFirstPostAfterAKindGainsARouteIsNeverHeldAndSeesTheHistoryWindowOnly(t *testing.T) {
	t.Parallel()
	d, script, let := held(t, byWord())
	posted(d, "tamsin", "hold: my printer is jammed")
	outOfWindow(t, d)
	posted(d, "bram", "hold: within the window")
	forget(t, d)
	posted(d, "tamsin", "my login fails")
	wantWent(t, d, "evaluator support.devices", "fallback support.general", "evaluator support.accounts")
	let()
	d.Settle()
	all := script.Requests()
	at := slices.IndexFunc(all, func(r model.Request) bool { return strings.Contains(r.System, "You are support.accounts") })
	if at < 0 || strings.Contains(all[at].System, "my printer is jammed") || !strings.Contains(all[at].System, "bram: hold: within the window") {
		t.Errorf("shown: %+v", all)
	}
}

func TestRemovingRoutingAndRestoringItLosesNoLines(t *testing.T) {
	t.Parallel()
	routed := true
	script := answersOf(nil)
	d := switched(t, script, &routed)
	posted(d, "tamsin", "the red laptop is good")
	d.Settle()
	routed = false
	posted(d, "bram", "the blue one is better")
	d.Settle()
	outOfWindow(t, d)
	routed = true
	before := len(script.Requests())
	posted(d, "tamsin", "can they use my printer")
	d.Settle()
	shown := script.Requests()[before].System
	for _, line := range []string{"tamsin: the red laptop is good", "bram: the blue one is better"} {
		if !strings.Contains(shown, line) {
			t.Errorf("without %q: %q", line, shown)
		}
	}
}

func TestAMailboxOnAKindWithoutARouteKeepsNoRecord(t *testing.T) {
	t.Parallel()
	d := desk(t, replies())
	posted(d, "tamsin", "hello")
	d.Settle()
	if l, kept := ledger(t, d); kept {
		t.Errorf("ledger: %+v", l)
	}
}

// The answer lands in the mailbox

func TestTheReplyIsPostedAsTheMembersLineWithoutTheTool(t *testing.T) {
	t.Parallel()
	script := answersOf(nil)
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices")},
		Workers:   []seat.Record{undescribed("support.devices")}, Model: script, Evaluator: byWord(),
	})
	posted(d, "tamsin", "hello")
	d.Settle()
	lines := d.Lines("support.help")
	if len(script.Requests()[0].Tools) != 0 || len(lines) != 2 || lines[1].Body != "re: hello" || lines[1].Author != "support.devices" ||
		!lines[1].SeatAuthored || lines[1].AuthorVerified || lines[1].Answers != lines[0].ID {
		t.Errorf("lines: %+v", lines)
	}
}

// says is a desk whose seat says these responses, one after the other.
func says(t *testing.T, all ...model.Response) (*mailboxtest.Desk, *modeltest.Script) {
	t.Helper()
	script := modeltest.New(func(_ context.Context, call int, _ model.Request) (model.Response, error) {
		if call >= len(all) {
			return model.Response{}, errors.New("it was asked once too often")
		}
		return all[call], nil
	})
	d := routedDesk(t, script, byWord())
	posted(d, "tamsin", "printer")
	d.Settle()
	return d, script
}

func byToolSays(id, body string) model.Response {
	return modeltest.Call(id, seat.PostToMailboxTool, map[string]string{"mailbox": "support.help", "body": body})
}

func TestTheToolsFirstCallIntoTheMailboxIsTheAnswerAndALaterOneIsToldSo(t *testing.T) {
	t.Parallel()
	d, script := says(t, byToolSays("1", "one"), byToolSays("2", "two"), modeltest.Say("three"))
	wantBodies(t, d, "tamsin: printer", "support.devices: one")
	if lines := d.Lines("support.help"); lines[1].Answers != lines[0].ID {
		t.Errorf("the tool's line: %+v", lines[1])
	}
	last := script.Requests()[2].Messages
	if told := last[len(last)-1].Content[0]; told.IsError || !strings.Contains(told.Content, "handed over before") {
		t.Errorf("told: %+v", told)
	}
}

func TestTheReplyLandsOnlyIfTheToolsAnswerDidNot(t *testing.T) {
	t.Parallel()
	d, _ := says(t, byToolSays("1", strings.Repeat("x", mailbox.MaxBodyBytes+1)), modeltest.Say("in words"))
	wantBodies(t, d, "tamsin: printer", "support.devices: in words")
}

func TestAnEmptyReplyPostsNothingAndFailsTheRun(t *testing.T) {
	t.Parallel()
	d, _ := says(t, modeltest.Say(" \n"))
	wantBodies(t, d, "tamsin: printer")
	if run := onlyRun(t, d); run.Status != session.Failed || run.Failure == nil || run.Failure.Code != "seat-said-nothing" {
		t.Errorf("run: %+v", run)
	}
}

func TestAnEmptyReplyAfterTheToolsAnswerDoesNotFailTheRun(t *testing.T) {
	t.Parallel()
	d, _ := says(t, byToolSays("1", "one"), modeltest.Say(""))
	wantBodies(t, d, "tamsin: printer", "support.devices: one")
	if run := onlyRun(t, d); run.Status != session.Completed {
		t.Errorf("run: %+v", run)
	}
}

func TestNoClientReachesTheEntryThatAnswersLandThrough(t *testing.T) {
	t.Parallel()
	d, _, _ := held(t, byWord())
	posted(d, "tamsin", "hold: printer")
	_, err := d.Ask(mailbox.BuiltinKind, "support.help", mailbox.ActionAnswer, mailboxtest.Principal("eve"),
		mailbox.SeatAnswer{PostID: d.Lines("support.help")[0].ID, Body: "x", Author: "support.devices"})
	if !errors.Is(err, session.ErrUnknownAction) {
		t.Errorf("a client: %v", err)
	}
	wantBodies(t, d, "tamsin: hold: printer")
}

func TestTheModelCannotSetTheAuthorOfItsAnswer(t *testing.T) {
	t.Parallel()
	d, _ := says(t, modeltest.Call("1", seat.PostToMailboxTool, map[string]string{"mailbox": "support.help", "body": "x", "author": "support.general"}), modeltest.Say("in words"))
	wantBodies(t, d, "tamsin: printer", "support.devices: in words")
}

func TestAnAnswerThatIsRefusedWritesNothingAndUsesNothingUp(t *testing.T) {
	t.Parallel()
	d, _, _ := held(t, byWord())
	posted(d, "tamsin", "hold: printer")
	post := d.Lines("support.help")[0].ID
	r, err := d.Inside("support.help", mailbox.ActionAnswer, mailbox.SeatAnswer{PostID: post, Body: "x", Author: "support.stranger"})
	failed, err2 := d.Directory.Failed(t.Context(), account.DefaultOrganization, "support.help", 5)
	if err != nil || err2 != nil || len(failed) != 1 || failed[0].ID != r.ID || failed[0].Failure.Code != "author-not-a-member" {
		t.Errorf("failed: %+v %v %v", failed, err, err2)
	}
	answered(t, d, post, "support.devices")
	wantBodies(t, d, "tamsin: hold: printer", "support.devices: here")
}

func TestOfAnswersSentAtTheSameMomentOneLands(t *testing.T) {
	t.Parallel()
	d, _, let := held(t, byWord())
	posted(d, "tamsin", "hold: printer")
	post := d.Lines("support.help")[0].ID
	var sending sync.WaitGroup
	for i := range 12 {
		sending.Go(func() {
			in := map[string]any{"session": "support.help", "action": mailbox.ActionAnswer, "input": mailbox.SeatAnswer{PostID: post, Body: fmt.Sprint(i), Author: "support.general"}}
			if r, err := d.Ask("inside", fmt.Sprint("inside-", i), "do", mailboxtest.Principal("nobody"), in); err != nil || r.Status != session.Completed {
				t.Errorf("%+v %v", r, err)
			}
		})
	}
	let()
	sending.Wait()
	d.Settle()
	if got := bodies(d); len(got) != 2 {
		t.Errorf("lines: %q", got)
	}
}

func TestAKindOfYourOwnGetsRoutedAndTheRecentLinesAndItsReplyIsNotPosted(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var got []mailbox.Delivery
	own, err := session.NewKind(session.KindOptions{Name: "own", Internal: map[string]session.Action{"onMailboxPost": {
		Run: func(_ *session.Turn, input json.RawMessage) (any, error) {
			var d mailbox.Delivery
			err := json.Unmarshal(input, &d)
			mu.Lock()
			defer mu.Unlock()
			got = append(got, d)
			return map[string]string{"text": "a reply"}, err
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.own")},
		Workers:   []seat.Record{{ID: "support.own", Declared: map[string]any{"description": "x", "flow": "own"}}},
		Model:     answersOf(nil), Evaluator: byWord(), Kinds: []session.Kind{own},
	})
	for _, text := range []string{"one", "two"} {
		posted(d, "tamsin", text)
		d.Settle()
	}
	if len(got) != 2 || !got[1].Routed || len(got[1].Recent) != 1 || got[1].Recent[0].Body != "one" || got[1].Body != "two" {
		t.Errorf("deliveries: %+v", got)
	}
	wantBodies(t, d, "tamsin: one", "tamsin: two")
}

// What the member sees when it answers

func TestARoutedMemberSeesTheLastTwentyLinesWhoeverWroteThemAndItsConversationKeepsItsOwn(t *testing.T) {
	t.Parallel()
	script := answersOf(nil)
	d := routedDesk(t, script, byWord())
	posted(d, "tamsin", "my login fails")
	d.Settle()
	for i := range 11 { // 22 lines, with the answers
		posted(d, "bram", fmt.Sprintf("printer <%d>", i))
		d.Settle()
	}
	posted(d, "tamsin", "my login again")
	d.Settle()
	all := script.Requests()
	last := all[len(all)-1]
	_, shown, _ := strings.Cut(last.System, "# The last lines in support.help")
	if strings.Count(shown, "\nbram: ") != 10 || strings.Count(shown, "\nsupport.devices: ") != 10 || strings.Contains(shown, "<0>") || strings.Contains(shown, "login") {
		t.Errorf("shown: %q", shown)
	}
	var kept []string
	for _, m := range last.Messages {
		kept = append(kept, m.Words())
	}
	if !slices.Equal(kept, []string{"tamsin in support.help: my login fails", "re: my login fails", "tamsin in support.help: my login again"}) {
		t.Errorf("kept: %q", kept)
	}
}

func TestASeatWokenUnroutedOrTalkedToDirectlyGetsNoLines(t *testing.T) {
	t.Parallel()
	routed := true
	script := answersOf(nil)
	d := switched(t, script, &routed)
	posted(d, "tamsin", "the red laptop prints on no printer")
	d.Settle()
	routed = false
	posted(d, "tamsin", "hello all")
	d.Settle()
	if _, err := d.Ask(seat.AgentKind, "support.accounts:mara", "run", mailboxtest.Principal("mara"), map[string]string{"text": "hi"}); err != nil {
		t.Fatal(err)
	}
	all := script.Requests()
	if len(all) != 5 {
		t.Fatalf("%d requests", len(all))
	}
	for _, r := range all[1:] {
		if strings.Contains(r.System, "# The last lines") || strings.Contains(r.System, "laptop") {
			t.Errorf("shown: %q", r.System)
		}
	}
}

// What routing can't do

func TestAFollowUpAfterAnAnswerReliesOnTheEvaluator(t *testing.T) {
	t.Parallel()
	d := routedDesk(t, answersOf(nil), byWord())
	posted(d, "tamsin", "my printer is jammed")
	d.Settle()
	posted(d, "tamsin", "still broken")
	wantWent(t, d, "evaluator support.devices", "fallback support.general")
}

func fanOut(t *testing.T, d *mailboxtest.Desk, post session.Request) session.Request {
	t.Helper()
	all, err := d.Directory.FanOuts(t.Context(), account.DefaultOrganization, []mailbox.Entry{{Request: post.ID}})
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := d.Store.Request(t.Context(), account.DefaultOrganization, all[post.ID].ID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestACancelBeforeTheRouteIsRecordedWakesNobodyTheFallbackIncluded(t *testing.T) {
	t.Parallel()
	asked, over := make(chan struct{}), make(chan struct{})
	e := modeltest.NewEvaluator(func(model.Question) (model.Answer, error) {
		close(asked)
		<-over
		return model.Answer{Choice: "support.devices"}, nil
	})
	script := answersOf(nil)
	d := routedDesk(t, script, e)
	post := d.Post("support.help", "tamsin", "my printer is jammed", "")
	<-asked
	_, err := d.Client().Cancel(t.Context(), mailboxtest.Principal("tamsin"), fanOut(t, d, post).ID)
	close(over)
	d.Stop() // what still goes on has gone on
	d.Start()
	d.Settle()
	if r := fanOut(t, d, post); err != nil || r.Status != session.Cancelled {
		t.Errorf("fan-out: %+v %v", r, err)
	}
	wantWent(t, d)
	wantBodies(t, d, "tamsin: my printer is jammed")
	if l, _ := ledger(t, d); len(script.Requests()) != 0 || l.LastPosts[0].Member != "" {
		t.Errorf("%d runs, ledger: %+v", len(script.Requests()), l)
	}
}

func TestACancelAfterTheRouteIsRecordedComesTooLateAndTheMemberAnswers(t *testing.T) {
	t.Parallel()
	d, _, let := held(t, byWord())
	post := d.Post("support.help", "tamsin", "hold: my printer is jammed", "")
	d.SettleFanOuts()
	if _, err := d.Client().Cancel(t.Context(), mailboxtest.Principal("tamsin"), fanOut(t, d, post).ID); !errors.Is(err, session.ErrAlreadyEnded) {
		t.Errorf("cancel: %v", err)
	}
	let()
	d.Settle()
	if got := bodies(d); len(got) != 2 {
		t.Errorf("lines: %q", got)
	}
}

func TestTwoMailboxesOnOneKindRouteWithTheSameModel(t *testing.T) {
	t.Parallel()
	e := byWord()
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices"), routedBox("support.desk", "support.devices")},
		Workers:   []seat.Record{described("support.devices", "Printers.")}, Model: answersOf(nil), Evaluator: e,
	})
	for _, id := range []string{"support.help", "support.desk"} {
		d.Post(id, "tamsin", "printer in "+id, "")
		d.Settle()
		if n := len(d.Lines(id)); n != 2 {
			t.Errorf("%s: %d lines", id, n)
		}
	}
	if n := len(e.Calls()); n != 2 {
		t.Errorf("%d calls", n)
	}
}

func TestAChangeToRoutingWaitsForTheNextStart(t *testing.T) {
	t.Parallel()
	box := routedBox("support.help", "support.devices", "support.general")
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{box}, Workers: []seat.Record{described("support.devices", "Printers."), described("support.general", "The rest.")},
		Model: answersOf(nil), Evaluator: byWord(),
	})
	delete(box.Declared, "routing")
	posted(d, "tamsin", "my printer is jammed")
	wantWent(t, d, "evaluator support.devices")
}

func TestBehindAnExternalDispatcherARoutedPostIsWrittenButNobodyIsPickedOrWoken(t *testing.T) {
	t.Parallel()
	script, e := answersOf(nil), byWord()
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices")},
		Workers:   []seat.Record{described("support.devices", "Printers.")}, Model: script, Evaluator: e,
	}, sessiontest.WithDispatcher(sessiontest.External{InProcess: session.NewInProcess(2)}))
	r := d.Post("support.help", "tamsin", "my printer is jammed", "")
	d.Settle()
	if r.Status != session.Completed || !strings.Contains(string(r.Output), `"untold":"external-dispatcher"`) {
		t.Errorf("post: %+v %s", r, r.Output)
	}
	wantWent(t, d)
	wantBodies(t, d, "tamsin: my printer is jammed")
	if len(e.Calls()) != 0 || len(script.Requests()) != 0 {
		t.Errorf("%d calls, %d runs", len(e.Calls()), len(script.Requests()))
	}
}

// Testing a routed mailbox

func TestARouteIsScriptedByItsBlockNameAndItsCallsAreRecorded(t *testing.T) {
	t.Parallel()
	byPost := byWord()
	e := modeltest.NewEvaluator(func(q model.Question) (model.Answer, error) {
		if q.Block != "mailbox-route" || q.Name != "member" {
			return model.Answer{}, fmt.Errorf("nobody scripted %s of %s", q.Name, q.Block)
		}
		return byPost.Evaluate(context.Background(), q)
	})
	d, _, let := held(t, e)
	posted(d, "tamsin", "hold: my printer is jammed")
	posted(d, "tamsin", "held, so no call")
	let()
	d.Settle()
	wantWent(t, d, "evaluator support.devices", "held support.devices")
	calls := e.Calls()
	if len(calls) != 1 {
		t.Fatalf("%d calls", len(calls))
	}
	if raw, err := json.Marshal(calls[0].State); err != nil || string(raw) != `{"post":{"from":"tamsin","text":"hold: my printer is jammed"},"recent":[]}` {
		t.Errorf("handed %s %v", raw, err)
	}
}

// A seat that will not stop, and a server that dies

func TestASeatThatPostsByToolOnEveryTurnStopsAtTheCapWithOneNotice(t *testing.T) {
	t.Parallel()
	script := modeltest.New(func(_ context.Context, call int, _ model.Request) (model.Response, error) {
		return byToolSays(fmt.Sprint(call), fmt.Sprint("again ", call)), nil
	})
	d := routedDesk(t, script, byWord())
	posted(d, "tamsin", "printer")
	d.Settle()
	wantBodies(t, d, "tamsin: printer", "support.devices: again 0")
	run := onlyRun(t, d)
	if n := len(script.Requests()); n != 8 || run.Failure == nil || run.Failure.Code != "max-turns-exceeded" {
		t.Errorf("%d model requests, run %+v", n, run)
	}
	notices, err := d.Store.Items(t.Context(), session.ItemQuery{Organization: account.DefaultOrganization, Session: run.Conversation, Type: session.TypeFailure})
	if err != nil || len(notices) != 1 {
		t.Errorf("notices: %+v %v", notices, err)
	}
}

func TestKilledAfterTheAnswerWasWrittenNoSecondOneLands(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	d := routedDesk(t, modeltest.New(func(ctx context.Context, call int, _ model.Request) (model.Response, error) {
		switch call {
		case 0:
			return byToolSays("1", "by the tool"), nil
		case 1:
			close(reached)
			<-ctx.Done()
			return model.Response{}, ctx.Err()
		}
		return modeltest.Say("in words"), nil
	}), byWord())
	d.Post("support.help", "tamsin", "printer", "")
	<-reached
	d.SettleFanOuts()
	wantBodies(t, d, "tamsin: printer", "support.devices: by the tool")
	d.Die()
	d.Start()
	d.Settle()
	wantBodies(t, d, "tamsin: printer", "support.devices: by the tool")
	if run := onlyRun(t, d); run.Status != session.Completed {
		t.Errorf("run: %+v", run)
	}
}

// The record keeps the last client post and those that may still hold, and grows with
// nothing else.
func TestTheRecordForgetsPostsThatHoldNothing(t *testing.T) {
	t.Parallel()
	routed := false
	d := switched(t, answersOf(nil), &routed)
	for i := range 5 {
		posted(d, fmt.Sprintf("writer-%d", i), "hello")
	}
	if l, _ := ledger(t, d); len(l.LastPosts) != 1 || l.LastPosts[0].Principal != "writer-4" {
		t.Errorf("unrouted: %+v", l.LastPosts)
	}
	d.Settle()
	routed = true
	for i := range 3 {
		posted(d, fmt.Sprintf("writer-%d", i), "my printer is jammed")
		d.Settle()
	}
	if l, _ := ledger(t, d); len(l.LastPosts) != 1 || l.LastPosts[0].Principal != "writer-2" || l.LastPosts[0].Member != "support.devices" {
		t.Errorf("answered: %+v", l.LastPosts)
	}
}

package seat_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/mailbox/mailboxtest"
	"postroom/domain/model"
	"postroom/domain/model/modeltest"
	"postroom/domain/seat"
	"postroom/domain/session"
)

// routedBox is a mailbox whose fallback is the last of its members.
func routedBox(id string, members ...string) mailbox.Record {
	r := mailboxtest.Box(id, members...)
	r.Declared["routing"] = map[string]any{"fallback": members[len(members)-1]}
	return r
}

func described(id, description string) seat.Record {
	r := mailboxtest.Worker(id)
	r.Declared["description"] = description
	return r
}

// byWord routes a post with "printer" in it to devices, one with "login" to
// accounts, one with "odd" to somebody who was not offered, and none of the rest.
func byWord() *modeltest.Evaluator {
	return modeltest.NewEvaluator(func(q model.Question) (model.Answer, error) {
		raw, err := json.Marshal(q.State)
		if err != nil {
			return model.Answer{}, err
		}
		var state struct{ Post struct{ From, Text string } }
		if err := json.Unmarshal(raw, &state); err != nil {
			return model.Answer{}, err
		}
		for word, member := range map[string]string{"printer": "support.devices", "login": "support.accounts", "odd": "support.nobody"} {
			if strings.Contains(state.Post.Text, word) {
				return model.Answer{Choice: member, Evaluator: "scripted"}, nil
			}
		}
		if strings.Contains(state.Post.Text, "broken") {
			return model.Answer{}, errors.New("the evaluator is away")
		}
		return model.Answer{}, nil
	})
}

// answersOf is a model that says "re: …" to the last post.
func answersOf(hold <-chan struct{}) *modeltest.Script {
	return modeltest.New(func(ctx context.Context, _ int, r model.Request) (model.Response, error) {
		last := r.Messages[len(r.Messages)-1]
		said := last.Content[len(last.Content)-1].Text
		if hold != nil && strings.Contains(said, "hold") {
			select {
			case <-hold:
			case <-ctx.Done():
				return model.Response{}, ctx.Err()
			}
		}
		_, body, _ := strings.Cut(said, ": ")
		return modeltest.Say("re: " + body), nil
	})
}

func routedDesk(t *testing.T, client model.Client, e model.Evaluator) *mailboxtest.Desk {
	t.Helper()
	return mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices", "support.accounts", "support.general")},
		Workers: []seat.Record{
			described("support.devices", "Printers and wifi."), described("support.accounts", "Logins."), described("support.general", "Anything else."),
		},
		Model: client, Evaluator: e,
	})
}

// decisions are a mailbox's mailbox-route items.
func decisions(t *testing.T, d *mailboxtest.Desk) []mailbox.Decision {
	t.Helper()
	items, err := d.Store.Items(t.Context(), session.ItemQuery{
		Organization: account.DefaultOrganization, Session: "support.help", Components: []string{mailbox.ComponentRoute},
	})
	if err != nil {
		t.Fatal(err)
	}
	all := make([]mailbox.Decision, len(items))
	for i, item := range items {
		if err := json.Unmarshal(item.Data, &all[i]); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func bodies(d *mailboxtest.Desk) []string {
	var all []string
	for _, l := range d.Lines("support.help") {
		who := l.Principal
		if l.SeatAuthored {
			who = l.Author
		}
		all = append(all, who+": "+l.Body)
	}
	return all
}

// How a post finds its member, 2: one evaluator call. And: only that member receives
// the post; the answer lands once, as that member's line.
func TestAPostReachesTheOneMemberWhoseJobFitsItAndIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	script, e := answersOf(nil), byWord()
	d := routedDesk(t, script, e)
	d.Post("support.help", "tamsin", "my printer is jammed", "")
	d.Settle()
	if got := bodies(d); !slices.Equal(got, []string{"tamsin: my printer is jammed", "support.devices: re: my printer is jammed"}) {
		t.Errorf("lines: %v", got)
	}
	lines := d.Lines("support.help")
	if !lines[1].SeatAuthored || lines[1].Answers != lines[0].ID || lines[1].AuthorVerified {
		t.Errorf("the answer: %+v", lines[1])
	}
	if n := len(script.Requests()); n != 1 {
		t.Errorf("%d seats were asked", n)
	}
	calls := e.Calls()
	if len(calls) != 1 || calls[0].Block != seat.RouteBlock || calls[0].Name != "member" || len(calls[0].Choices) != 3 || calls[0].Choices[0].Description != "Printers and wifi." {
		t.Errorf("the question: %+v", calls)
	}
	if got := decisions(t, d); len(got) != 1 || got[0].Source != mailbox.SourceEvaluator || got[0].Member != "support.devices" || got[0].PostID != lines[0].ID {
		t.Errorf("decisions: %+v", got)
	}
}

// How a post finds its member, 3: the fallback, with its reason.
func TestAPostThatCannotBePlacedGoesToTheFallbackWithItsReason(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		"is this broken":   "could not be asked: the evaluator is away",
		"something odd":    `"support.nobody", which was not offered`,
		"where is the sun": "fits nobody's job",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			d := routedDesk(t, answersOf(nil), byWord())
			d.Post("support.help", "tamsin", text, "")
			d.Settle()
			got := decisions(t, d)
			if len(got) != 1 || got[0].Source != mailbox.SourceFallback || got[0].Member != "support.general" || !strings.Contains(got[0].Reason, reason) {
				t.Errorf("decisions: %+v", got)
			}
			if lines := bodies(d); len(lines) != 2 || !strings.HasPrefix(lines[1], "support.general: ") {
				t.Errorf("lines: %v", lines)
			}
		})
	}
}

// How a post finds its member, 1: the member already on it, with no call. A post
// held this way holds nothing.
func TestAPostIsHeldByTheMemberWhoStillOwesTheSamePersonAnAnswer(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	e := byWord()
	d := routedDesk(t, answersOf(hold), e)
	d.Post("support.help", "tamsin", "hold: my printer is jammed", "")
	d.SettleFanOuts()
	d.Post("support.help", "tamsin", "and what about my login", "")
	d.SettleFanOuts()
	d.Post("support.help", "bram", "my login fails", "") // somebody else's is not held
	d.SettleFanOuts()
	d.Post("support.help", "tamsin", "my login again", "")
	d.SettleFanOuts()
	close(hold)
	d.Settle()
	var got []string
	for _, one := range decisions(t, d) {
		got = append(got, one.Source+" "+one.Member)
	}
	want := []string{"evaluator support.devices", "held support.devices", "evaluator support.accounts", "evaluator support.accounts"}
	if !slices.Equal(got, want) || len(e.Calls()) != 3 {
		t.Errorf("decisions: %v after %d calls", got, len(e.Calls()))
	}
	d.Post("support.help", "tamsin", "a printer again", "")
	d.Settle()
	if all := decisions(t, d); all[len(all)-1].Source != mailbox.SourceEvaluator {
		t.Errorf("after the answer: %+v", all[len(all)-1])
	}
}

// The answer lands in the mailbox: from tool and reply there is one; an empty reply
// fails the run, unless the tool has answered.
func TestOfToolAndReplyOneAnswerLands(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		first, second model.Response
		lines         []string
		failed        string
	}{
		"by the tool, then words": {modeltest.Call("1", seat.PostToMailboxTool, map[string]string{"mailbox": "support.help", "body": "by the tool"}), modeltest.Say("in words"), []string{"by the tool"}, ""},
		"twice by the tool": {modeltest.Call("1", seat.PostToMailboxTool, map[string]string{"mailbox": "support.help", "body": "one"},
			seat.PostToMailboxTool, map[string]string{"mailbox": "support.help", "body": "two"}), modeltest.Say("three"), []string{"one"}, ""},
		"by the tool, then silence": {modeltest.Call("1", seat.PostToMailboxTool, map[string]string{"mailbox": "support.help", "body": "by the tool"}), modeltest.Say(" "), []string{"by the tool"}, ""},
		"silence":                   {modeltest.Say("  "), modeltest.Say(""), nil, "seat-said-nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := routedDesk(t, modeltest.New(func(_ context.Context, call int, _ model.Request) (model.Response, error) {
				if call == 0 {
					return row.first, nil
				}
				return row.second, nil
			}), byWord())
			d.Post("support.help", "tamsin", "printer", "")
			d.Settle()
			var got []string
			for _, l := range d.Lines("support.help")[1:] {
				got = append(got, l.Body)
			}
			if !slices.Equal(got, row.lines) {
				t.Errorf("lines: %v", got)
			}
			run := onlyRun(t, d)
			if row.failed == "" && run.Status != session.Completed || row.failed != "" && (run.Failure == nil || run.Failure.Code != row.failed) {
				t.Errorf("run: %+v", run)
			}
		})
	}
}

// What the member sees when it answers: the last 20 lines, for that answer only.
func TestARoutedMemberSeesTheLastLinesForThatAnswerOnly(t *testing.T) {
	t.Parallel()
	script := answersOf(nil)
	d := routedDesk(t, script, byWord())
	d.Post("support.help", "tamsin", "which laptop has a printer port", "")
	d.Settle()
	d.Post("support.help", "bram", "where can I login to buy it", "")
	d.Settle()
	second := script.Requests()[1]
	if !strings.Contains(second.System, "tamsin: which laptop has a printer port") || !strings.Contains(second.System, "support.devices: re: which laptop") ||
		strings.Contains(second.System, "where can I login") || len(second.Messages) != 1 {
		t.Errorf("shown: %q, %d messages", second.System, len(second.Messages))
	}
	d.Post("support.help", "bram", "login once more", "")
	d.Settle()
	for _, m := range script.Requests()[2].Messages {
		if strings.Contains(m.Words(), "laptop") {
			t.Errorf("the conversation kept a line: %q", m.Words())
		}
	}
}

// What the route remembers: its last 20 lines, and where each person's last post went.
func TestTheLedgerKeepsTwentyLinesAndEachPersonsLastPost(t *testing.T) {
	t.Parallel()
	d := routedDesk(t, answersOf(nil), byWord())
	for i := range 15 {
		d.Post("support.help", "tamsin", fmt.Sprint("printer ", i), "")
		d.Settle()
	}
	s, _, err := d.Store.Session(t.Context(), account.DefaultOrganization, "support.help")
	if err != nil {
		t.Fatal(err)
	}
	l, kept := mailbox.LedgerOf(s)
	if !kept || len(l.Lines) != 20 || len(l.LastPosts) != 1 || l.LastPosts[0].Member != "support.devices" || !slices.Contains(l.LastPosts[0].Spoke, "support.devices") {
		t.Errorf("ledger: %+v", l)
	}
	if box, ok := mailbox.KeptOf(s); !ok || len(box.Members) != 3 || box.Charter == "" {
		t.Errorf("the mailbox's own state: %+v", box)
	}
}

// A fallback that cannot be reached: nobody answers, and the route says why.
func TestARouteThatReachesNobodySaysWhy(t *testing.T) {
	t.Parallel()
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices")},
		Workers:   []seat.Record{described("support.devices", "Printers.")},
		Model:     answersOf(nil), Route: outOfReach{},
	})
	d.Post("support.help", "tamsin", "printer", "")
	d.Settle()
	got := decisions(t, d)
	if len(got) != 1 || got[0].Source != mailbox.SourceNobody || got[0].Member != "" || !strings.Contains(got[0].Reason, "support.devices has no hired seat") {
		t.Errorf("decisions: %+v", got)
	}
	if lines := bodies(d); len(lines) != 1 {
		t.Errorf("lines: %v", lines)
	}
}

// outOfReach is a route whose seats nobody can reach.
type outOfReach struct{}

func (outOfReach) Hears(string) bool                                       { return true }
func (outOfReach) Candidates(string, string, []string) []mailbox.Candidate { return nil }
func (outOfReach) Pick(context.Context, mailbox.Line, []mailbox.Line, []mailbox.Candidate) (mailbox.Picked, error) {
	return mailbox.Picked{}, errors.New("it is not asked")
}

// At most one answer a post, even when two arrive in the same instant.
func TestTwoAnswersInTheSameInstantAreOne(t *testing.T) {
	t.Parallel()
	d := routedDesk(t, answersOf(nil), byWord())
	d.Post("support.help", "tamsin", "printer", "")
	d.Settle()
	post := d.Lines("support.help")[0].ID
	var landed atomic.Int32
	for i := range 12 {
		r, err := d.Inside("support.help", mailbox.ActionAnswer, mailbox.SeatAnswer{PostID: post, Body: fmt.Sprint("late ", i), Author: "support.general"})
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != session.Completed {
			t.Errorf("a late answer: %+v", r)
		}
		if string(r.Output) != "null" {
			landed.Add(1)
		}
	}
	d.Settle()
	if n := len(d.Lines("support.help")); n != 2 || landed.Load() != 0 {
		t.Errorf("%d lines, %d late answers landed", n, landed.Load())
	}
}

// Field report: redelivery after a restart answered one message four times. In a
// routed mailbox the server dies at each of its moments.
func TestACrashAtAnyMomentOfARouteLeavesOneDecisionAndOneAnswer(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"while the evaluator is asked", "while the model is asked", "after the tool handed the answer over"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{}, 8)
			over := make(chan struct{})
			var crashed atomic.Bool
			stopHere := func(ctx context.Context, here string) bool {
				if here != at || crashed.Load() {
					return false
				}
				reached <- struct{}{}
				select {
				case <-ctx.Done():
				case <-over:
				}
				return true
			}
			e := modeltest.NewEvaluator(func(model.Question) (model.Answer, error) {
				if stopHere(context.Background(), "while the evaluator is asked") {
					return model.Answer{}, errors.New("this process is dead")
				}
				return model.Answer{Choice: "support.devices"}, nil
			})
			client := modeltest.New(func(ctx context.Context, _ int, r model.Request) (model.Response, error) {
				last := r.Messages[len(r.Messages)-1].Content
				if last[len(last)-1].Type != model.ToolResultBlock {
					if stopHere(ctx, "while the model is asked") {
						return model.Response{}, errors.New("this process is dead")
					}
					return modeltest.Call("1", seat.PostToMailboxTool, map[string]string{"mailbox": "support.help", "body": "by the tool"}), nil
				}
				if stopHere(ctx, "after the tool handed the answer over") {
					return model.Response{}, errors.New("this process is dead")
				}
				return modeltest.Say("in words"), nil
			})
			d := routedDesk(t, client, e)
			d.Post("support.help", "tamsin", "printer", "")
			<-reached
			crashed.Store(true)
			d.Die()
			close(over)
			d.Start()
			d.Settle()
			if got := bodies(d); len(got) != 2 || got[1] != "support.devices: by the tool" {
				t.Errorf("lines: %v", got)
			}
			if got := decisions(t, d); len(got) != 1 || got[0].Source != mailbox.SourceEvaluator {
				t.Errorf("decisions: %+v", got)
			}
		})
	}
}

// Removing routing: from a mailbox's file and restoring it loses no lines, and a
// post made meanwhile holds nothing.
func TestAPostMadeWhileRoutingWasRemovedHoldsNothing(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	routed := true
	e := byWord()
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{routedBox("support.help", "support.devices", "support.accounts", "support.general")},
		Workers: []seat.Record{
			described("support.devices", "Printers and wifi."), described("support.accounts", "Logins."), described("support.general", "Anything else."),
		},
		Model: answersOf(hold), Evaluator: e, Routed: func() bool { return routed },
	})
	d.Post("support.help", "tamsin", "hold: my printer is jammed", "")
	d.SettleFanOuts()
	routed = false
	d.Post("support.help", "tamsin", "hold: everybody hears this", "")
	d.SettleFanOuts()
	routed = true
	d.Post("support.help", "tamsin", "my login fails", "")
	d.SettleFanOuts()
	close(hold)
	d.Settle()
	got := decisions(t, d)
	if len(got) != 2 || got[1].Source != mailbox.SourceEvaluator || got[1].Member != "support.accounts" {
		t.Errorf("decisions: %+v", got)
	}
	people := 0
	for _, l := range d.Lines("support.help") {
		if !l.SeatAuthored {
			people++
		}
	}
	if people != 3 {
		t.Errorf("%d lines of people", people)
	}
}

// A client never answers for a member, and an answer that is refused uses nothing up.
func TestAnAnswerIsCheckedLikeAPost(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	d := routedDesk(t, answersOf(hold), byWord())
	d.Post("support.help", "tamsin", "hold: printer", "")
	d.SettleFanOuts()
	post := d.Lines("support.help")[0].ID
	if _, err := d.Ask(mailbox.BuiltinKind, "support.help", mailbox.ActionAnswer, mailboxtest.Principal("eve"), mailbox.SeatAnswer{PostID: post, Body: "x", Author: "support.devices"}); !errors.Is(err, session.ErrUnknownAction) {
		t.Errorf("a client: %v", err)
	}
	r, err := d.Inside("support.help", mailbox.ActionAnswer, mailbox.SeatAnswer{PostID: post, Body: "x", Author: "support.nobody"})
	if err != nil || r.Failure == nil || r.Failure.Code != "author-not-a-member" {
		t.Errorf("not a member: %+v %v", r, err)
	}
	close(hold)
	d.Settle()
	if got := bodies(d); len(got) != 2 {
		t.Errorf("lines: %v", got)
	}
}

// A post whose route was stopped before it was decided shows so: it never waits in silence.
func TestARouteThatWasStoppedShowsAtItsPost(t *testing.T) {
	t.Parallel()
	asked, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	e := modeltest.NewEvaluator(func(model.Question) (model.Answer, error) {
		close(asked)
		<-over
		return model.Answer{}, nil
	})
	d := routedDesk(t, answersOf(nil), e)
	r := d.Post("support.help", "tamsin", "my printer is jammed", "")
	<-asked
	posts := []mailbox.Entry{{Request: r.ID}}
	all, err := d.Directory.FanOuts(t.Context(), account.DefaultOrganization, posts)
	if err != nil || all[r.ID].Status != session.Running {
		t.Fatalf("%+v %v", all, err)
	}
	if _, err := d.Client().Cancel(t.Context(), mailboxtest.Principal("tamsin"), all[r.ID].ID); err != nil {
		t.Fatal(err)
	}
	all, err = d.Directory.FanOuts(t.Context(), account.DefaultOrganization, posts)
	if err != nil || all[r.ID].Status != session.Cancelled || all[r.ID].Failure == nil {
		t.Errorf("%+v %v", all, err)
	}
}

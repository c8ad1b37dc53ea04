package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"postroom/domain/model"
	"postroom/domain/model/anthropic"
	"postroom/domain/model/modeltest"
	"postroom/domain/model/openai"
	"postroom/domain/model/transport"
)

const secret = "sk-never-shown"

// quick retries soon, so that tests don't wait.
var quick = transport.Retry{Base: time.Millisecond, Longest: 20 * time.Millisecond}

// clients are both clients, asking one server.
func clients(url string, idle time.Duration) map[string]model.Client {
	return map[string]model.Client{
		"anthropic": anthropic.New(anthropic.Options{APIKey: secret, BaseURL: url, Idle: idle, Retry: quick}),
		"openai":    openai.New(openai.Options{APIKey: secret, BaseURL: url + "/v1", Idle: idle, Retry: quick}),
	}
}

// each runs a test once a client, each with a server of its own.
func each(t *testing.T, idle time.Duration, answer func(call int, r modeltest.Received) modeltest.Reply, test func(t *testing.T, c model.Client, s *modeltest.Server)) {
	t.Helper()
	for _, name := range []string{"anthropic", "openai"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewServer(answer)
			t.Cleanup(s.Close)
			test(t, clients(s.URL, idle)[name], s)
		})
	}
}

func ask() model.Request {
	return model.Request{
		Model: "any-name", System: "Be brief.", MaxTokens: 100,
		Messages: []model.Message{{Role: model.User, Content: []model.Block{model.Text("hello")}}},
		Tools:    []model.Tool{{Name: "look", Description: "Look.", InputSchema: json.RawMessage(`{"additionalProperties":false,"properties":{"at":{"type":"string"}},"required":["at"],"type":"object"}`)}},
	}
}

var both = model.Response{
	StopReason: model.ToolUse, Usage: model.Usage{InputTokens: 11, OutputTokens: 7},
	Content: []model.Block{model.Text("Grüße, 世界"), {Type: model.ToolUseBlock, ID: "call_a", Name: "look", Input: json.RawMessage(`{"at":"the \"tray\""}`)}},
}

func TestAWholeResponseArrivesWithItsTextCallsAndTokens(t *testing.T) {
	t.Parallel()
	each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Response: both} },
		func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
			var heard strings.Builder
			got, err := c.Respond(t.Context(), ask(), func(piece string) { heard.WriteString(piece) })
			want := both
			want.Model = "wire-model"
			if err != nil || cmp.Diff(want, got) != "" || heard.String() != "Grüße, 世界" {
				t.Errorf("%v %q\n%s", err, heard.String(), cmp.Diff(want, got))
			}
			sent := s.Received()[0]
			if d := cmp.Diff(ask(), sent.Request); d != "" {
				t.Errorf("asked:\n%s", d)
			}
		})
}

func TestAConversationWithToolsIsSentPaired(t *testing.T) {
	t.Parallel()
	each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Response: modeltest.Say("done")} },
		func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
			r := ask()
			r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Content: both.Content}, model.Message{Role: model.User, Content: []model.Block{
				{Type: model.ToolResultBlock, ToolUseID: "call_a", Content: "broken", IsError: true}, model.Text("and now?"),
			}})
			if _, err := c.Respond(t.Context(), r, nil); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(r, s.Received()[0].Request); d != "" {
				t.Errorf("asked:\n%s", d)
			}
		})
}

func TestARequestRefusedForNowIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, first := range map[string][]modeltest.Reply{
		"429, then 529":            {{Status: 429, Retry: 5 * time.Millisecond}, {Status: 529}},
		"503":                      {{Status: 503}},
		"asked to wait an hour":    {{Status: 429, Fault: modeltest.HugeRetry}},
		"a reset":                  {{Fault: modeltest.Reset}},
		"overloaded in the stream": {{Fault: modeltest.ErrorFirst}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, time.Minute, func(call int, _ modeltest.Received) modeltest.Reply {
				if call < len(first) {
					return first[call]
				}
				return modeltest.Reply{Response: modeltest.Say("at last")}
			}, func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
				got, err := c.Respond(t.Context(), ask(), nil)
				if err != nil || (model.Message{Content: got.Content}).Words() != "at last" || len(s.Received()) != len(first)+1 {
					t.Errorf("%+v %v after %d requests", got, err, len(s.Received()))
				}
			})
		})
	}
}

func TestARequestThatCannotSucceedIsMadeOnce(t *testing.T) {
	t.Parallel()
	for status, kind := range map[int]string{400: "invalid_request_error", 401: "", 404: ""} {
		each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Status: status} },
			func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
				_, err := c.Respond(t.Context(), ask(), nil)
				var told *model.Error
				if !errors.As(err, &told) || told.Status != status || !strings.Contains(told.Type, kind) || told.Request != "req_wire" || len(s.Received()) != 1 {
					t.Errorf("%d: %v after %d requests", status, err, len(s.Received()))
				}
			})
	}
}

func TestTryingAgainEnds(t *testing.T) {
	t.Parallel()
	each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Status: 529} },
		func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
			_, err := c.Respond(t.Context(), ask(), nil)
			var told *model.Error
			if !errors.As(err, &told) || told.Attempts != 4 || len(s.Received()) != 4 || !strings.Contains(err.Error(), "overloaded_error") {
				t.Errorf("%v after %d requests", err, len(s.Received()))
			}
			if strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), s.URL) {
				t.Errorf("the error says too much: %v", err)
			}
		})
}

// Each of these is a response that must never be taken for a whole one.
func TestAResponseThatIsNotWholeIsAnError(t *testing.T) {
	t.Parallel()
	for _, f := range []modeltest.Fault{
		modeltest.ResetInside, modeltest.Garbage, modeltest.CutInWord, modeltest.CutInTool, modeltest.NoClosing,
		modeltest.ErrorEvent, modeltest.IndexGap, modeltest.NoReason, modeltest.MadeOfTwo, modeltest.HangInside, modeltest.Redirect,
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			each(t, 300*time.Millisecond, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Response: both, Fault: f} },
				func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
					if _, chat := c, strings.HasSuffix(t.Name(), "/openai"); chat && f == modeltest.MadeOfTwo {
						t.Skip("the format has no beginning that could come twice")
					}
					got, err := c.Respond(t.Context(), ask(), nil)
					if err == nil || len(got.Content) > 0 && len(got.ToolCalls()) > 0 {
						t.Fatalf("taken for whole: %+v %v", got, err)
					}
					begun := f != modeltest.Garbage && f != modeltest.Redirect
					if begun && (!errors.Is(err, model.ErrIncomplete) || len(s.Received()) != 1) {
						t.Errorf("%v after %d requests", err, len(s.Received()))
					}
				})
		})
	}
}

func TestAProviderThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	each(t, 50*time.Millisecond, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Fault: modeltest.Hang} },
		func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
			_, err := c.Respond(t.Context(), ask(), nil)
			if !errors.Is(err, transport.ErrIdle) || len(s.Received()) != 4 {
				t.Errorf("%v after %d requests", err, len(s.Received()))
			}
		})
}

func TestACallerWhoLeavesIsNotRetriedFor(t *testing.T) {
	t.Parallel()
	each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Fault: modeltest.Hang} },
		func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := c.Respond(ctx, ask(), nil)
			if !errors.Is(err, context.DeadlineExceeded) || len(s.Received()) != 1 {
				t.Errorf("%v after %d requests", err, len(s.Received()))
			}
		})
}

func TestACallWhoseInputIsNoObjectIsMarked(t *testing.T) {
	t.Parallel()
	for _, f := range []modeltest.Fault{modeltest.BrokenInput, modeltest.StringInput} {
		each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Response: both, Fault: f} },
			func(t *testing.T, c model.Client, _ *modeltest.Server) { //nolint:thelper // it is the test itself.
				got, err := c.Respond(t.Context(), ask(), nil)
				calls := got.ToolCalls()
				if err != nil || len(calls) != 1 || calls[0].Malformed == "" || string(calls[0].Input) != "{}" {
					t.Errorf("%s: %+v %v", f, got, err)
				}
			})
	}
}

func TestTheEndsOfAResponseKeepTheirNames(t *testing.T) {
	t.Parallel()
	for _, stop := range []model.StopReason{model.EndTurn, model.ToolUse, model.MaxTokens, model.Refusal} {
		each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply {
			return modeltest.Reply{Response: model.Response{Content: both.Content, StopReason: stop}}
		}, func(t *testing.T, c model.Client, _ *modeltest.Server) { //nolint:thelper // it is the test itself.
			if got, err := c.Respond(t.Context(), ask(), nil); err != nil || got.StopReason != stop {
				t.Errorf("%s: %+v %v", stop, got, err)
			}
		})
	}
}

func TestThoughtGoesBackAsItCame(t *testing.T) {
	t.Parallel()
	thought := model.Block{Type: model.ThinkingBlock, Thinking: "hm", Signature: "sig"}
	hidden := model.Block{Type: model.RedactedThinkingBlock, Data: "zzz"}
	s := modeltest.NewServer(func(int, modeltest.Received) modeltest.Reply {
		return modeltest.Reply{Response: model.Response{Content: append([]model.Block{thought, hidden}, both.Content...), StopReason: model.ToolUse}}
	})
	defer s.Close()
	c := clients(s.URL, time.Minute)["anthropic"]
	first, err := c.Respond(t.Context(), ask(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := ask()
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Content: first.Content},
		model.Message{Role: model.User, Content: []model.Block{{Type: model.ToolResultBlock, ToolUseID: "call_a", Content: "seen"}}})
	if _, err := c.Respond(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Messages, s.Received()[1].Messages); d != "" {
		t.Error(d)
	}
}

func TestManyCallersShareAClient(t *testing.T) {
	t.Parallel()
	each(t, time.Minute, func(_ int, r modeltest.Received) modeltest.Reply {
		return modeltest.Reply{Response: modeltest.Say("re: " + r.Messages[0].Words())}
	}, func(t *testing.T, c model.Client, _ *modeltest.Server) { //nolint:thelper // it is the test itself.
		var group sync.WaitGroup
		for i := range 32 {
			group.Go(func() {
				r := ask()
				said := strings.Repeat("x", i+1)
				r.Messages = []model.Message{{Role: model.User, Content: []model.Block{model.Text(said)}}}
				got, err := c.Respond(t.Context(), r, nil)
				if err != nil || (model.Message{Content: got.Content}).Words() != "re: "+said {
					t.Errorf("%q: %+v %v", said, got, err)
				}
			})
		}
		group.Wait()
	})
}

func TestAnEvaluatorAsksByAForcedCallWithAClosedSetOfAnswers(t *testing.T) {
	t.Parallel()
	q := model.Question{
		Block: "mailbox-route", Name: "member", Ask: "Which member?", State: map[string]any{"post": "the printer"},
		Choices: []model.Choice{{ID: "a.one", Description: "Printers."}, {ID: "a.two", Description: "Logins."}},
	}
	for name, row := range map[string]struct {
		reply  modeltest.Reply
		choice string
		fails  bool
	}{
		"a choice":           {modeltest.Reply{Response: modeltest.Call("1", "mailbox-route", map[string]string{"member": "a.one"})}, "a.one", false},
		"none of them":       {modeltest.Reply{Response: modeltest.Call("1", "mailbox-route", map[string]string{"member": "none-of-these"})}, "", false},
		"one not offered":    {modeltest.Reply{Response: modeltest.Call("1", "mailbox-route", map[string]string{"member": "a.else"})}, "a.else", false},
		"words":              {modeltest.Reply{Response: modeltest.Say("a.one, surely")}, "", true},
		"half an answer":     {modeltest.Reply{Response: modeltest.Call("1", "mailbox-route", map[string]string{"member": "a.one"}), Fault: modeltest.BrokenInput}, "", true},
		"a model that fails": {modeltest.Reply{Status: 400}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			each(t, time.Minute, func(int, modeltest.Received) modeltest.Reply { return row.reply },
				func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
					a, err := model.NewEvaluator(c, "m").Evaluate(t.Context(), q)
					if a.Choice != row.choice || (err != nil) != row.fails {
						t.Errorf("%+v %v", a, err)
					}
					asked := s.Received()[0]
					if !strings.Contains(string(asked.Body), `"tool_choice":{`) || !strings.Contains(string(asked.Body), `"enum":["a.one","a.two","none-of-these"]`) {
						t.Errorf("asked: %s", asked.Body)
					}
				})
		})
	}
}

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"postroom/domain/agent"
	"postroom/domain/model"
	"postroom/domain/model/anthropic"
	"postroom/domain/model/modeltest"
	"postroom/domain/model/openai"
	"postroom/domain/model/transport"
)

// overTheWire runs a test with a real client of each format against a server.
func overTheWire(t *testing.T, answer func(call int, r modeltest.Received) modeltest.Reply, test func(t *testing.T, c model.Client, s *modeltest.Server)) {
	t.Helper()
	quick := transport.Retry{Base: time.Millisecond, Longest: 5 * time.Millisecond}
	for name, open := range map[string]func(url string) model.Client{
		"anthropic": func(url string) model.Client {
			return anthropic.New(anthropic.Options{APIKey: "k", BaseURL: url, Idle: 300 * time.Millisecond, Retry: quick})
		},
		"openai": func(url string) model.Client {
			return openai.New(openai.Options{BaseURL: url + "/v1", Idle: 300 * time.Millisecond, Retry: quick})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := modeltest.NewServer(answer)
			t.Cleanup(s.Close)
			test(t, open(s.URL), s)
		})
	}
}

func counted(t testing.TB, count *atomic.Int32) agent.Tool {
	t.Helper()
	tool, err := agent.NewTool("echo", "Says it again.", func(_ context.Context, in word) (agent.ToolResult, error) {
		count.Add(1)
		return agent.ToolResult{Text: in.Word + "!"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func made(t testing.TB, o agent.Options) *agent.Agent {
	t.Helper()
	o.Model = "wire-model"
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestNothingOfAResponseThatIsNotWholeIsExecuted(t *testing.T) {
	t.Parallel()
	for _, f := range []modeltest.Fault{
		modeltest.CutInTool, modeltest.NoClosing, modeltest.ErrorEvent, modeltest.ResetInside, modeltest.HangInside, modeltest.IndexGap, modeltest.NoReason, modeltest.Garbage,
	} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			overTheWire(t, func(int, modeltest.Received) modeltest.Reply {
				return modeltest.Reply{Response: modeltest.Call("1", "echo", word{"a word"}, "echo", word{"and another"}), Fault: f}
			}, func(t *testing.T, c model.Client, _ *modeltest.Server) { //nolint:thelper // it is the test itself.
				var count atomic.Int32
				history := agent.MemoryHistory()
				a := made(t, agent.Options{Client: c, Tools: []agent.Tool{counted(t, &count)}, History: history})
				res, err := a.Prompt(t.Context(), agent.Text("go"))
				var api *agent.APIError
				if !errors.As(err, &api) || res.Subtype != agent.Failed || agent.Normalized(err) != "api_error" || count.Load() != 0 {
					t.Errorf("%+v %v, %d calls made", res, err, count.Load())
				}
				if kept, err := history.Load(t.Context()); err != nil || len(kept) != 1 {
					t.Errorf("kept: %+v %v; want the prompt alone", kept, err)
				}
			})
		})
	}
}

func TestAResponseNobodyCanUseIsAnAPIError(t *testing.T) {
	t.Parallel()
	twice := modeltest.Call("1", "echo", word{"a"}, "echo", word{"b"})
	twice.Content[1].ID = twice.Content[0].ID
	refused := modeltest.Call("1", "echo", word{"a"})
	refused.StopReason = model.Refusal
	for name, r := range map[string]model.Response{
		"no content":         {StopReason: model.EndTurn},
		"duplicate call ids": twice,
		"a refusal":          refused,
		"an empty refusal":   {StopReason: model.Refusal},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overTheWire(t, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Response: r} },
				func(t *testing.T, c model.Client, _ *modeltest.Server) { //nolint:thelper // it is the test itself.
					var count atomic.Int32
					_, err := made(t, agent.Options{Client: c, Tools: []agent.Tool{counted(t, &count)}}).Prompt(t.Context(), agent.Text("go"))
					if agent.Normalized(err) != "api_error" || count.Load() != 0 {
						t.Errorf("%v, %d calls made", err, count.Load())
					}
					if r.StopReason == model.Refusal && !errors.Is(err, model.ErrRefused) {
						t.Errorf("a refusal says %v", err)
					}
				})
		})
	}
}

func TestAResponseCutAtItsTokensRunsNoCallAndKeepsItsSentence(t *testing.T) {
	t.Parallel()
	overTheWire(t, func(call int, _ modeltest.Received) modeltest.Reply {
		if call == 0 {
			r := modeltest.Call("1", "echo", word{"a"})
			r.StopReason = model.MaxTokens
			return modeltest.Reply{Response: r, Fault: modeltest.BrokenInput}
		}
		return modeltest.Reply{Response: model.Response{Content: []model.Block{model.Text("half a sen")}, StopReason: model.MaxTokens}}
	}, func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
		var count atomic.Int32
		res, err := made(t, agent.Options{Client: c, Tools: []agent.Tool{counted(t, &count)}}).Prompt(t.Context(), agent.Text("go"))
		if err != nil || res.Text != "half a sen" || res.StopReason != string(model.MaxTokens) || count.Load() != 0 {
			t.Errorf("%+v %v, %d calls made", res, err, count.Load())
		}
		if told := results(s.Received()[1].Request); len(told) != 1 || !told[0].IsError {
			t.Errorf("told of the cut call: %+v", told)
		}
	})
}

func TestACallWhoseInputIsNoJSONIsToldSoAndNotMade(t *testing.T) {
	t.Parallel()
	overTheWire(t, func(call int, _ modeltest.Received) modeltest.Reply {
		if call == 0 {
			return modeltest.Reply{Response: modeltest.Call("1", "echo", word{"a"}), Fault: modeltest.BrokenInput}
		}
		return modeltest.Reply{Response: modeltest.Say("sorry")}
	}, func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
		var count atomic.Int32
		res, err := made(t, agent.Options{Client: c, Tools: []agent.Tool{counted(t, &count)}}).Prompt(t.Context(), agent.Text("go"))
		if err != nil || res.Text != "sorry" || count.Load() != 0 {
			t.Errorf("%+v %v, %d calls made", res, err, count.Load())
		}
		if told := results(s.Received()[1].Request); len(told) != 1 || !told[0].IsError || !strings.Contains(told[0].Content, "not a JSON object") {
			t.Errorf("told: %+v", told)
		}
	})
}

// A provider that counts its calls from zero in each response names two calls
// alike; what one did must never pass for the other.
func TestACallIDThatCameBeforeIsRenamed(t *testing.T) {
	t.Parallel()
	overTheWire(t, func(call int, _ modeltest.Received) modeltest.Reply {
		if call < 3 {
			return modeltest.Reply{Response: modeltest.Call("0", "echo", word{fmt.Sprint(call)})}
		}
		return modeltest.Reply{Response: modeltest.Say("done")}
	}, func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
		var count atomic.Int32
		if _, err := made(t, agent.Options{Client: c, Tools: []agent.Tool{counted(t, &count)}}).Prompt(t.Context(), agent.Text("go")); err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, m := range s.Received()[3].Messages {
			for _, b := range m.ToolUses() {
				ids[b.ID] = true
			}
		}
		if len(ids) != 3 || count.Load() != 3 {
			t.Errorf("ids %v, %d calls made", ids, count.Load())
		}
	})
}

// Field report: cancel stored calls without results, and every later request was
// refused with 400. The server here refuses such a history as the real one does.
func TestAfterACancelInsideABatchTheConversationGoesOn(t *testing.T) {
	t.Parallel()
	overTheWire(t, func(call int, _ modeltest.Received) modeltest.Reply {
		if call == 0 {
			return modeltest.Reply{Response: modeltest.Call("1", "step", word{"first"}, "step", word{"second"}, "step", word{"third"})}
		}
		return modeltest.Reply{Response: modeltest.Say("welcome back")}
	}, func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
		ctx, cancel := context.WithCancel(t.Context())
		step, err := agent.NewTool("step", "One step.", func(ctx context.Context, in word) (agent.ToolResult, error) {
			if in.Word == "second" {
				cancel()
				<-ctx.Done()
				return agent.ToolResult{}, ctx.Err()
			}
			return agent.ToolResult{Text: in.Word}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		a := made(t, agent.Options{Client: c, Tools: []agent.Tool{step}})
		res, err := a.Prompt(ctx, agent.Text("go"))
		if !errors.Is(err, context.Canceled) || res.Subtype != agent.FailedAbort {
			t.Fatalf("%+v %v", res, err)
		}
		res, err = a.Prompt(t.Context(), agent.Text("still there?"))
		if err != nil || res.Text != "welcome back" {
			t.Fatalf("%+v %v", res, err)
		}
		last := s.Received()[1].Messages
		told := results(s.Received()[1].Request)
		if len(last) != 3 || len(last[1].ToolUses()) != 3 || len(told) != 3 {
			t.Fatalf("history: %+v", last)
		}
		if told[0].IsError || told[0].Content != "first" || !told[1].IsError || !told[2].IsError || !strings.HasPrefix(told[2].Content, "interrupted") {
			t.Errorf("results: %+v", told)
		}
	})
}

// Field report: a limit of one second ran for 37, since a tool looked at nothing.
func TestALimitHoldsOutsideAToolThatLooksAtNothing(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	var late sync.WaitGroup
	late.Add(1)
	deaf, err := agent.NewTool("deaf", "Looks at nothing.", func(context.Context, word) (agent.ToolResult, error) {
		defer late.Done()
		<-let
		return agent.ToolResult{Text: "too late"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a, script := scripted(t, agent.Options{Tools: []agent.Tool{deaf, echo(t)}, ToolGrace: 20 * time.Millisecond}, func(call int, _ model.Request) model.Response {
		if call == 0 {
			return modeltest.Call("1", "deaf", word{"x"}, "echo", word{"never"})
		}
		return modeltest.Say("free again")
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	res, err := a.Prompt(ctx, agent.Text("go"))
	var abort *agent.AbortError
	if !errors.As(err, &abort) || !errors.Is(err, context.DeadlineExceeded) || len(abort.Leftover) != 1 || abort.Leftover[0] != "deaf" || !strings.Contains(err.Error(), "deaf") {
		t.Errorf("%+v %v", res, err)
	}
	if res, err := a.Prompt(t.Context(), agent.Text("and now?")); err != nil || res.Text != "free again" {
		t.Errorf("%+v %v", res, err)
	}
	close(let)
	late.Wait()
	if told := results(script.Requests()[1]); !strings.HasPrefix(told[0].Content, "interrupted") || !strings.Contains(told[1].Content, "not") {
		t.Errorf("what the model is told: %+v", told)
	}
}

func TestAClientThatLooksAtNothingCannotHoldTheLoop(t *testing.T) {
	t.Parallel()
	let, left := make(chan struct{}), make(chan struct{})
	script := modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		defer close(left)
		<-let
		return modeltest.Say("too late"), nil
	})
	a := made(t, agent.Options{Client: script, RequestTimeout: 20 * time.Millisecond, ToolGrace: 20 * time.Millisecond})
	res, err := a.Prompt(t.Context(), agent.Text("go"))
	var timeout *agent.TimeoutError
	if !errors.As(err, &timeout) || res.Subtype != agent.FailedTimeout {
		t.Errorf("%+v %v", res, err)
	}
	close(let)
	<-left
}

func TestASideEffectBeforeARetryHappensOnce(t *testing.T) {
	t.Parallel()
	overTheWire(t, func(call int, _ modeltest.Received) modeltest.Reply {
		switch call {
		case 0:
			return modeltest.Reply{Response: modeltest.Call("1", "echo", word{"once"})}
		case 1:
			return modeltest.Reply{Status: 429}
		case 2:
			return modeltest.Reply{Status: 529}
		}
		return modeltest.Reply{Response: modeltest.Say("done")}
	}, func(t *testing.T, c model.Client, s *modeltest.Server) { //nolint:thelper // it is the test itself.
		var count atomic.Int32
		res, err := made(t, agent.Options{Client: c, Tools: []agent.Tool{counted(t, &count)}}).Prompt(t.Context(), agent.Text("go"))
		if err != nil || res.Text != "done" || count.Load() != 1 || len(s.Received()) != 4 || res.NumTurns != 2 {
			t.Errorf("%+v %v, %d calls made, %d requests", res, err, count.Load(), len(s.Received()))
		}
	})
}

func TestLeavingTheRangeEndsTheRequest(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	var deltas = modeltest.Streaming(func(ctx context.Context, _ model.Request, delta func(string)) (model.Response, error) {
		defer close(gone)
		for ctx.Err() == nil {
			delta("word ")
		}
		return model.Response{}, ctx.Err()
	})
	a := made(t, agent.Options{Client: deltas})
	for event, err := range a.Query(t.Context(), agent.Text("go")) {
		if err != nil {
			t.Error(err)
		}
		if event.Type() == "stream_event" {
			break
		}
	}
	<-gone
	if a.Interrupt() {
		t.Error("something is still running")
	}
}

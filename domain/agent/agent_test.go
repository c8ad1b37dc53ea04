package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"postroom/domain/agent"
	"postroom/domain/model"
	"postroom/domain/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type word struct {
	Word string `json:"word"`
}

func echo(t testing.TB, opts ...agent.ToolOption) agent.Tool {
	t.Helper()
	tool, err := agent.NewTool("echo", "Says it again.", func(_ context.Context, in word) (agent.ToolResult, error) {
		switch in.Word {
		case "panic":
			panic("boom")
		case "fail":
			return agent.ToolResult{}, errors.New("no such word")
		case "stop":
			return agent.ToolResult{Text: "stopped here", EndTurn: true}, nil
		}
		return agent.ToolResult{Text: in.Word + "!"}, nil
	}, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func scripted(t testing.TB, o agent.Options, answer func(call int, r model.Request) model.Response) (*agent.Agent, *modeltest.Script) {
	t.Helper()
	script := modeltest.New(func(_ context.Context, call int, r model.Request) (model.Response, error) {
		return answer(call, r), nil
	})
	o.Model, o.Client = "scripted", script
	a, err := agent.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return a, script
}

func results(r model.Request) []model.Block {
	var all []model.Block
	for _, b := range r.Messages[len(r.Messages)-1].Content {
		if b.Type == model.ToolResultBlock {
			all = append(all, b)
		}
	}
	return all
}

func TestCallsAreAnsweredInTheirOrderAndTheLoopGoesOn(t *testing.T) {
	t.Parallel()
	a, script := scripted(t, agent.Options{Tools: []agent.Tool{echo(t)}}, func(call int, _ model.Request) model.Response {
		if call == 0 {
			return modeltest.Call("1", "echo", word{"a"}, "nope", word{"b"}, "echo", map[string]int{"word": 1}, "echo", word{"panic"}, "echo", word{"fail"})
		}
		return modeltest.Say("done")
	})

	res, err := a.Prompt(t.Context(), agent.Text("go"))

	if err != nil || res.Subtype != agent.Success || res.Text != "done" || res.NumTurns != 2 || res.Usage.InputTokens != 20 {
		t.Fatalf("result: %+v %v", res, err)
	}
	got := results(script.Requests()[1])
	for i, want := range []struct {
		text  string
		isErr bool
	}{
		{"a!", false}, {`No tool named "nope"`, true}, {"Tool echo failed: ", true}, {"Tool echo failed: panic: boom", true}, {"Tool echo failed: no such word", true},
	} {
		if !strings.HasPrefix(got[i].Content, want.text) || got[i].IsError != want.isErr || got[i].ToolUseID != "call_1"+string(rune('a'+i)) {
			t.Errorf("result %d: %+v, want %q", i, got[i], want.text)
		}
	}
}

func TestTheModelIsAskedNoMoreThanMaxTurns(t *testing.T) {
	t.Parallel()
	a, script := scripted(t, agent.Options{Tools: []agent.Tool{echo(t)}, MaxTurns: 3}, func(call int, _ model.Request) model.Response {
		return modeltest.Call(fmt.Sprint(call), "echo", word{"again"})
	})

	res, err := a.Prompt(t.Context(), agent.Text("go"))

	var turns *agent.MaxTurnsError
	if !errors.As(err, &turns) || turns.Max != 3 || res.Subtype != agent.FailedTurns || agent.Normalized(err) != "max_turns_exceeded" {
		t.Errorf("result: %+v %v", res, err)
	}
	if n := len(script.Requests()); n != 3 {
		t.Errorf("model requests: %d, want 3", n)
	}
}

func TestATruncatedResponseRunsNoneOfItsCalls(t *testing.T) {
	t.Parallel()
	a, script := scripted(t, agent.Options{Tools: []agent.Tool{echo(t)}}, func(call int, _ model.Request) model.Response {
		r := modeltest.Call("1", "echo", word{"a"})
		if call > 0 {
			return modeltest.Say("shorter")
		}
		r.StopReason = model.MaxTokens
		return r
	})

	res, err := a.Prompt(t.Context(), agent.Text("go"))

	if err != nil || res.Text != "shorter" {
		t.Fatalf("result: %+v %v", res, err)
	}
	if got := results(script.Requests()[1]); !got[0].IsError || !strings.Contains(got[0].Content, "cut off") {
		t.Errorf("result of the cut call: %+v", got)
	}
}

func TestAToolMayEndTheTurn(t *testing.T) {
	t.Parallel()
	a, script := scripted(t, agent.Options{Tools: []agent.Tool{echo(t)}}, func(int, model.Request) model.Response {
		return modeltest.Call("1", "echo", word{"stop"}, "echo", word{"b"})
	})

	res, err := a.Prompt(t.Context(), agent.Text("go"))

	if err != nil || res.Text != "stopped here" || len(script.Requests()) != 1 {
		t.Errorf("result: %+v %v after %d requests", res, err, len(script.Requests()))
	}
}

// A call cut off by a cancel still has its result, so the conversation goes on.
func TestHistoryIsPairedAfterACancelAmongParallelTools(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	tool, err := agent.NewTool("echo", "", func(ctx context.Context, in word) (agent.ToolResult, error) {
		if in.Word == "b" {
			cancel()
			<-ctx.Done()
			return agent.ToolResult{}, ctx.Err()
		}
		return agent.ToolResult{Text: in.Word}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	a, script := scripted(t, agent.Options{Tools: []agent.Tool{tool}}, func(call int, _ model.Request) model.Response {
		if call == 0 {
			return modeltest.Call("1", "echo", word{"a"}, "echo", word{"b"}, "echo", word{"c"})
		}
		return modeltest.Say("again")
	})

	res, err := a.Prompt(ctx, agent.Text("go"))
	if !errors.Is(err, context.Canceled) || res.Subtype != agent.FailedAbort {
		t.Fatalf("cancelled: %+v %v", res, err)
	}
	if _, err := a.Prompt(t.Context(), agent.Text("and now")); err != nil {
		t.Fatal(err)
	}

	sent := script.Requests()[1].Messages
	if len(sent) != 3 || len(sent[1].ToolUses()) != 3 {
		t.Fatalf("messages: %+v", sent)
	}
	for i, call := range sent[1].ToolUses() {
		if b := sent[2].Content[i]; b.Type != model.ToolResultBlock || b.ToolUseID != call.ID || b.IsError != (i > 0) {
			t.Errorf("result %d: %+v", i, b)
		}
	}
}

func TestAResumedRunUsesWhatIsFinishedAndNeverRepeatsWhatWasStarted(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		opts []agent.ToolOption
		want []string
	}{
		"plain":      {nil, []string{"kept", "interrupted", "c!"}},
		"repeatable": {[]agent.ToolOption{agent.Repeatable()}, []string{"kept", "b!", "c!"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cut := modeltest.Call("1", "echo", word{"a"}, "echo", word{"b"}, "echo", word{"c"})
			history := agent.MemoryHistory(
				model.Message{Role: model.User, Content: agent.Text("go")},
				model.Message{Role: model.Assistant, Content: cut.Content},
			)
			a, script := scripted(t, agent.Options{Tools: []agent.Tool{echo(t, row.opts...)}, History: history}, func(int, model.Request) model.Response {
				return modeltest.Say("done")
			})

			res, err := a.Prompt(t.Context(), nil, agent.WithResume(agent.Resume{
				Started:  map[string]bool{"call_1a": true, "call_1b": true},
				Finished: map[string]agent.ToolResult{"call_1a": {Text: "kept"}},
			}))

			if err != nil || res.Text != "done" {
				t.Fatalf("result: %+v %v", res, err)
			}
			for i, b := range results(script.Requests()[0]) {
				if !strings.HasPrefix(b.Content, row.want[i]) {
					t.Errorf("result %d: %q, want %q", i, b.Content, row.want[i])
				}
			}
		})
	}
}

func TestLeavingTheRangeEndsTheRunAndASecondQueryIsRefusedMeanwhile(t *testing.T) {
	t.Parallel()
	a, script := scripted(t, agent.Options{Tools: []agent.Tool{echo(t)}}, func(call int, _ model.Request) model.Response {
		return modeltest.Call(fmt.Sprint(call), "echo", word{"again"})
	})
	var busy *agent.ConcurrentQueryError

	for event, err := range a.Query(t.Context(), agent.Text("go")) {
		if err != nil {
			t.Fatal(err)
		}
		if _, second := a.Prompt(t.Context(), agent.Text("me too")); !errors.As(second, &busy) {
			t.Errorf("second query: %v", second)
		}
		if event.Type() == "user" {
			break
		}
	}

	if n := len(script.Requests()); n != 1 {
		t.Errorf("model requests: %d, want 1", n)
	}
}

func TestInterruptEndsTheModelRequest(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	script := modeltest.New(func(ctx context.Context, _ int, _ model.Request) (model.Response, error) {
		close(asked)
		<-ctx.Done()
		return model.Response{}, ctx.Err()
	})
	a, err := agent.New(agent.Options{Model: "m", Client: script})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-asked
		a.Interrupt()
	}()

	res, err := a.Prompt(t.Context(), agent.Text("go"))

	if err != nil || res.Subtype != agent.Interrupted || res.IsError || a.Interrupt() {
		t.Errorf("result: %+v %v", res, err)
	}
}

func TestAModelThatFailsOrSaysNothingIsAnAPIError(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func() (model.Response, error){
		"fails":   func() (model.Response, error) { return model.Response{}, errors.New("reset") },
		"nothing": func() (model.Response, error) { return model.Response{}, nil },
		"the same call": func() (model.Response, error) {
			r := modeltest.Call("1", "echo", word{"a"})
			r.Content = append(r.Content, r.Content...)
			return r, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := agent.New(agent.Options{Model: "m", Tools: []agent.Tool{echo(t)}, Client: modeltest.New(
				func(context.Context, int, model.Request) (model.Response, error) { return answer() })})
			if err != nil {
				t.Fatal(err)
			}

			res, err := a.Prompt(t.Context(), agent.Text("go"))

			var api *agent.APIError
			if !errors.As(err, &api) || !res.IsError || res.Subtype != agent.Failed {
				t.Errorf("result: %+v %v", res, err)
			}
		})
	}
}

// journal fails at one of its steps, as a lease that was lost does.
type journal struct{ left int }

var errLost = errors.New("lease lost")

func (j *journal) step() error {
	if j.left--; j.left < 0 {
		return errLost
	}
	return nil
}
func (j *journal) Message(context.Context, model.Message) error     { return j.step() }
func (j *journal) ToolStarted(context.Context, agent.Call) error    { return j.step() }
func (j *journal) Usage(context.Context, string, model.Usage) error { return j.step() }
func (j *journal) ToolFinished(context.Context, agent.Call, agent.ToolResult) error {
	return j.step()
}

func TestNothingIsDoneOnceAStepCouldNotBeKept(t *testing.T) {
	t.Parallel()
	// prompt, response, usage, started, finished: a tool may only run after four.
	for steps := range 5 {
		ran := 0
		tool, err := agent.NewTool("echo", "", func(context.Context, word) (agent.ToolResult, error) {
			ran++
			return agent.ToolResult{Text: "x"}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		a, script := scripted(t, agent.Options{Tools: []agent.Tool{tool}}, func(int, model.Request) model.Response {
			return modeltest.Call("1", "echo", word{"a"})
		})

		_, err = a.Prompt(t.Context(), agent.Text("go"), agent.WithJournal(&journal{left: steps}))

		if !errors.Is(err, errLost) {
			t.Errorf("after %d steps: %v", steps, err)
		}
		if wantRan, wantAsked := steps == 4, min(steps, 1); (ran == 1) != wantRan || len(script.Requests()) != wantAsked {
			t.Errorf("after %d steps: tool ran %d times, model asked %d times", steps, ran, len(script.Requests()))
		}
	}
}

func TestAnyHistoryIsPairedAndPairingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var all []model.Message
		for range rapid.IntRange(0, 8).Draw(rt, "messages") {
			m := model.Message{Role: rapid.SampledFrom([]model.Role{model.User, model.Assistant}).Draw(rt, "role")}
			for range rapid.IntRange(0, 3).Draw(rt, "blocks") {
				id := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(rt, "id")
				switch {
				case rapid.Bool().Draw(rt, "text"):
					m.Content = append(m.Content, model.Text("x"))
				case m.Role == model.User:
					m.Content = append(m.Content, model.Block{Type: model.ToolResultBlock, ToolUseID: id, Content: "r"})
				default:
					m.Content = append(m.Content, model.Block{Type: model.ToolUseBlock, ID: fmt.Sprint(len(all), id, len(m.Content)), Name: "t"})
				}
			}
			all = append(all, m)
		}

		paired := agent.Paired(all)

		for i, m := range paired {
			if i > 0 && paired[i-1].Role == m.Role {
				rt.Fatalf("two messages of %s in a row", m.Role)
			}
			var want []string
			if i > 0 {
				for _, c := range paired[i-1].ToolUses() {
					want = append(want, c.ID)
				}
			}
			var got []string
			for _, b := range m.Content {
				if b.Type == model.ToolResultBlock {
					got = append(got, b.ToolUseID)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				rt.Fatalf("results %v after calls %v", got, want)
			}
		}
		if n := len(paired); n > 0 && len(paired[n-1].ToolUses()) > 0 {
			rt.Fatal("the last calls have no results")
		}
		once, _ := json.Marshal(paired)
		twice, _ := json.Marshal(agent.Paired(paired))
		if string(once) != string(twice) {
			rt.Fatalf("paired twice: %s, once: %s", twice, once)
		}
	})
}

func BenchmarkTurnWithOneToolCall(b *testing.B) {
	for b.Loop() {
		fresh, err := agent.New(agent.Options{Model: "m", Client: modeltest.New(func(_ context.Context, call int, _ model.Request) (model.Response, error) {
			if call == 1 {
				return modeltest.Say("done"), nil
			}
			return modeltest.Call("1", "echo", word{"a"}), nil
		}), Tools: []agent.Tool{echo(b)}})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := fresh.Prompt(b.Context(), agent.Text("go")); err != nil {
			b.Fatal(err)
		}
	}
}

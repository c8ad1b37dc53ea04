package seat_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"postroom/domain/account"
	"postroom/domain/agent"
	"postroom/domain/mailbox"
	"postroom/domain/mailbox/mailboxtest"
	"postroom/domain/model"
	"postroom/domain/model/anthropic"
	"postroom/domain/model/modeltest"
	"postroom/domain/model/transport"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

// wired is a desk whose seats ask a server over the Messages API.
func wired(t *testing.T, answer func(call int, r modeltest.Received) modeltest.Reply, s mailboxtest.Setup, opts ...sessiontest.Option) (*mailboxtest.Desk, *modeltest.Server) {
	t.Helper()
	server := modeltest.NewServer(answer)
	t.Cleanup(server.Close)
	s.Model = anthropic.New(anthropic.Options{APIKey: "k", BaseURL: server.URL, Idle: 2 * time.Second, Retry: transport.Retry{Base: time.Millisecond, Longest: 5 * time.Millisecond}})
	if s.Mailboxes == nil {
		s.Mailboxes = []mailbox.Record{mailboxtest.Box("support.help", "support.devices")}
	}
	if s.Workers == nil {
		s.Workers = []seat.Record{mailboxtest.Worker("support.devices")}
	}
	return mailboxtest.Open(t, s, opts...), server
}

// Field report: redelivery after a restart answered one message four times. Here
// the model is asked over the wire, and the server dies at each of its moments.
func TestACrashWithARealClientLeavesExactlyOneAnswer(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]int{"while the model is asked": 0, "after the answer was handed over": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{}, 8)
			var crashed atomic.Bool
			d, _ := wired(t, func(call int, r modeltest.Received) modeltest.Reply {
				if call == at && !crashed.Load() {
					reached <- struct{}{}
					return modeltest.Reply{Fault: modeltest.Hang}
				}
				return modeltest.Reply{Response: answer(r.Request)}
			}, mailboxtest.Setup{})
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

func TestAResponseCutInACallPostsNothingAndFailsTheRun(t *testing.T) {
	t.Parallel()
	for _, f := range []modeltest.Fault{modeltest.CutInTool, modeltest.NoClosing, modeltest.ErrorEvent, modeltest.ResetInside} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			d, _ := wired(t, func(_ int, r modeltest.Received) modeltest.Reply {
				return modeltest.Reply{Response: answer(r.Request), Fault: f}
			}, mailboxtest.Setup{})
			d.Post("support.help", "tamsin", "hello", "")
			d.Settle()
			if lines := d.Lines("support.help"); len(lines) != 1 {
				t.Errorf("lines: %+v", lines)
			}
			if run := onlyRun(t, d); run.Status != session.Failed || run.Failure.Code != "model-failed" {
				t.Errorf("run: %+v", run)
			}
		})
	}
}

func TestAFailedRunSaysWhatTheProviderSaidButNotOfKeys(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]map[string]any{
		529: {"status": 529.0, "type": "overloaded_error", "attempts": 4.0, "providerRequest": "req_wire", "said": "the wire's overloaded_error"},
		401: {"status": 401.0, "type": "authentication_error", "providerRequest": "req_wire"},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			d, _ := wired(t, func(int, modeltest.Received) modeltest.Reply { return modeltest.Reply{Status: status} }, mailboxtest.Setup{})
			d.Post("support.help", "tamsin", "hello", "")
			d.Settle()
			run := onlyRun(t, d)
			if run.Failure == nil || fmt.Sprint(run.Failure.Details) != fmt.Sprint(want) {
				t.Errorf("failure: %+v, want %v", run.Failure, want)
			}
		})
	}
}

func onlyRun(t *testing.T, d *mailboxtest.Desk) mailbox.Run {
	t.Helper()
	reaches, err := d.Directory.Reaches(t.Context(), account.DefaultOrganization, "support.help", []string{d.Lines("support.help")[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, all := range reaches {
		if len(all) == 1 && all[0].Run != nil {
			return *all[0].Run
		}
	}
	t.Fatalf("no run: %+v", reaches)
	return mailbox.Run{}
}

// Field report: a cancel left calls without results, and the conversation was
// refused with 400 for ever.
func TestAfterARunIsCancelledInsideABatchTheConversationGoesOn(t *testing.T) {
	t.Parallel()
	inside := make(chan struct{}, 3)
	d, s := wired(t, func(call int, _ modeltest.Received) modeltest.Reply {
		if call == 0 {
			return modeltest.Reply{Response: modeltest.Call("1", "wait", map[string]string{"for": "a"}, "wait", map[string]string{"for": "b"}, "wait", map[string]string{"for": "c"})}
		}
		return modeltest.Reply{Response: modeltest.Say("here again")}
	}, mailboxtest.Setup{
		Workers: []seat.Record{{ID: "support.devices", Declared: map[string]any{"description": "x", "tools": []any{"wait"}}}},
		Tools:   []agent.Tool{waits(t, inside)},
	})
	d.Post("support.help", "tamsin", "one", "")
	<-inside
	run := onlyRun(t, d)
	if _, err := d.Client().Cancel(t.Context(), mailboxtest.Principal("mara"), run.Request); err != nil {
		t.Fatal(err)
	}
	d.Post("support.help", "tamsin", "two", "")
	d.Settle()
	last := s.Received()[len(s.Received())-1].Messages
	var calls, told int
	for _, m := range last {
		calls += len(m.ToolUses())
		for _, b := range m.Content {
			if b.Type == model.ToolResultBlock {
				told++
				if !b.IsError || !strings.Contains(b.Content, "interrupted") && !strings.Contains(b.Content, "context canceled") {
					t.Errorf("result: %+v", b)
				}
			}
		}
	}
	if calls != 3 || told != 3 {
		t.Errorf("%d calls, %d results in %+v", calls, told, last)
	}
}

func TestARunEndsAtItsLimitAndNamesTheToolThatWentOn(t *testing.T) {
	t.Parallel()
	let, left := make(chan struct{}), make(chan struct{})
	deaf, err := agent.NewTool("deaf", "Looks at nothing.", func(context.Context, struct{}) (agent.ToolResult, error) {
		defer close(left)
		<-let
		return agent.ToolResult{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	d, _ := wired(t, func(int, modeltest.Received) modeltest.Reply {
		return modeltest.Reply{Response: modeltest.Call("1", "deaf", struct{}{})}
	}, mailboxtest.Setup{
		Workers: []seat.Record{{ID: "support.devices", Declared: map[string]any{"description": "x", "tools": []any{"deaf"}}}},
		Tools:   []agent.Tool{deaf},
	}, sessiontest.WithLimits(session.Limits{RunTimeout: 100 * time.Millisecond}))
	d.Post("support.help", "tamsin", "one", "")
	d.Settle()
	run := onlyRun(t, d)
	if run.Failure == nil || run.Failure.Code != "run-timeout" || fmt.Sprint(run.Failure.Details["stillRunning"]) != "[deaf]" {
		t.Errorf("failure: %+v", run.Failure)
	}
	close(let)
	<-left
}

func skilled(skills any) seat.Record {
	declared := map[string]any{"description": "x"}
	if skills != nil {
		declared["skills"] = skills
	}
	return seat.Record{ID: "support.devices", Declared: declared, Skills: []seat.Skill{
		{Name: "plain", Description: "Plain words.", Text: "Use plain words."}, {Name: "steps", Description: "One step at a time.", Text: "Give one step."},
	}}
}

func TestSkillsReachTheModelAsTheFileSays(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		skills        any
		said          string
		taken, listed []string // texts in the system prompt, names of those to load
		tool          bool
	}{
		"none named":       {nil, "hello", nil, []string{"plain", "steps"}, true},
		"one active":       {map[string]any{"active": []any{"plain"}}, "hello", []string{"Use plain words."}, []string{"steps"}, true},
		"without the tool": {map[string]any{"activateTool": false}, "hello", nil, nil, false},
		"asked by a slash": {map[string]any{"activateTool": false}, "/steps please", []string{"Give one step."}, nil, false},
		"by a wrong slash": {nil, "/nope please", nil, []string{"plain", "steps"}, true},
		"classified":       {map[string]any{"enableLlmClassifier": true}, "hello", []string{"Give one step."}, []string{"plain"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, s := wired(t, func(_ int, r modeltest.Received) modeltest.Reply {
				if strings.HasPrefix(r.System, "Name the skills") {
					return modeltest.Reply{Response: modeltest.Say("- steps\nnonsense")}
				}
				return modeltest.Reply{Response: modeltest.Say("ok")}
			}, mailboxtest.Setup{Workers: []seat.Record{skilled(row.skills)}})
			d.Post("support.help", "tamsin", row.said, "")
			d.Settle()
			last := s.Received()[len(s.Received())-1]
			for _, text := range []string{"Use plain words.", "Give one step."} {
				if strings.Contains(last.System, text) != slices.Contains(row.taken, text) {
					t.Errorf("%q in %q", text, last.System)
				}
			}
			for _, name := range []string{"plain", "steps"} {
				if strings.Contains(last.System, "\n- "+name+": ") != slices.Contains(row.listed, name) {
					t.Errorf("%s in %q", name, last.System)
				}
			}
			offered := slices.ContainsFunc(last.Tools, func(t model.Tool) bool { return t.Name == seat.LoadSkillTool })
			if offered != row.tool {
				t.Errorf("load-skill offered: %v", offered)
			}
		})
	}
}

func TestAModelTakesUpASkillByTheTool(t *testing.T) {
	t.Parallel()
	d, s := wired(t, func(call int, _ modeltest.Received) modeltest.Reply {
		switch call {
		case 0:
			return modeltest.Reply{Response: modeltest.Call("1", seat.LoadSkillTool, map[string]string{"name": "steps"}, seat.LoadSkillTool, map[string]string{"name": "nope"})}
		default:
			return modeltest.Reply{Response: modeltest.Say("ok")}
		}
	}, mailboxtest.Setup{Workers: []seat.Record{skilled(nil)}})
	d.Post("support.help", "tamsin", "hello", "")
	d.Settle()
	told := s.Received()[1].Messages[2].Content
	if len(told) != 2 || told[0].Content != "Give one step." || !told[1].IsError || !strings.Contains(told[1].Content, "plain, steps") {
		t.Errorf("told: %+v", told)
	}
}

func TestWrongSkillSettingsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		skills any
		code   string
	}{
		"not a block":     {[]any{"plain"}, seat.CodeInvalidSetting},
		"not a list":      {map[string]any{"active": "plain"}, seat.CodeInvalidSetting},
		"not a switch":    {map[string]any{"activateTool": "yes"}, seat.CodeInvalidSetting},
		"not held":        {map[string]any{"active": []any{"nope"}}, seat.CodeNoSkill},
		"unknown setting": {map[string]any{"actives": []any{}}, seat.CodeUnknownSetting},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := seat.Hire([]seat.Record{skilled(row.skills)}, seat.HireOptions{})
			raw, _ := json.Marshal(err)
			if err == nil || !strings.Contains(err.Error(), row.code) {
				t.Errorf("%v %s", err, raw)
			}
		})
	}
}

// waits is a tool that says it is inside and waits for its context.
func waits(t *testing.T, inside chan<- struct{}) agent.Tool {
	t.Helper()
	type in struct {
		For string `json:"for"`
	}
	tool, err := agent.NewTool("wait", "Waits.", func(ctx context.Context, _ in) (agent.ToolResult, error) {
		inside <- struct{}{}
		<-ctx.Done()
		return agent.ToolResult{}, ctx.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

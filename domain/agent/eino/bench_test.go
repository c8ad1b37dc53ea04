package eino

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cloudwego/eino/components/model"
	"github.com/cloudwego/eino/components/tool"
	"github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/flow/agent/react"
	"github.com/cloudwego/eino/schema"

	"postroom/domain/agent"
	own "postroom/domain/model"
)

const rounds = 10 // tool calls, one after the other, of one query

type question struct {
	City string `json:"city"`
	Days int    `json:"days"`
}

const input = `{"city":"Łódź","days":3}`

// script says what the model of either side answers: calls in so many rounds of so
// many calls each, then words.
type script struct{ rounds, calls int }

// ours answers at once.
type ours struct{ script }

func (o ours) Respond(_ context.Context, r own.Request, _ func(string)) (own.Response, error) {
	round := (len(r.Messages) - 1) / 2
	if round >= o.rounds {
		return own.Response{Content: []own.Block{own.Text("done")}, StopReason: own.EndTurn}, nil
	}
	response := own.Response{StopReason: own.ToolUse}
	for i := range o.calls {
		response.Content = append(response.Content, own.Block{
			Type: own.ToolUseBlock, ID: fmt.Sprintf("call_%d_%d", round, i), Name: "weather", Input: json.RawMessage(input),
		})
	}
	return response, nil
}

// theirs answers at once.
type theirs struct{ script }

func (t theirs) Generate(_ context.Context, messages []*schema.Message, _ ...model.Option) (*schema.Message, error) {
	round := 0
	for _, m := range messages {
		if m.Role == schema.Assistant {
			round++
		}
	}
	if round >= t.rounds {
		return schema.AssistantMessage("done", nil), nil
	}
	calls := make([]schema.ToolCall, t.calls)
	for i := range calls {
		calls[i] = schema.ToolCall{ID: fmt.Sprintf("call_%d_%d", round, i), Function: schema.FunctionCall{Name: "weather", Arguments: input}}
	}
	return schema.AssistantMessage("", calls), nil
}

func (t theirs) Stream(ctx context.Context, messages []*schema.Message, opts ...model.Option) (*schema.StreamReader[*schema.Message], error) {
	m, err := t.Generate(ctx, messages, opts...)
	if err != nil {
		return nil, err
	}
	return schema.StreamReaderFromArray([]*schema.Message{m}), nil
}

func (t theirs) WithTools([]*schema.ToolInfo) (model.ToolCallingChatModel, error) { return t, nil }

func (q question) answer(count *atomic.Int64) string {
	count.Add(1)
	return fmt.Sprintf("%s: rain for %d days", q.City, q.Days)
}

func queryOurs(tb testing.TB, s script, count *atomic.Int64) func() {
	tb.Helper()
	weather, err := agent.NewTool("weather", "Tells the weather.", func(_ context.Context, q question) (agent.ToolResult, error) {
		return agent.ToolResult{Text: q.answer(count)}, nil
	}, agent.ConcurrencySafe(func(question) bool { return true }))
	if err != nil {
		tb.Fatal(err)
	}
	return func() {
		a, err := agent.New(agent.Options{Model: "m", Client: ours{s}, Tools: []agent.Tool{weather}})
		if err != nil {
			tb.Fatal(err)
		}
		if res, err := a.Prompt(context.Background(), agent.Text("What is the weather?")); err != nil || res.Text != "done" {
			tb.Fatal(res, err)
		}
	}
}

func queryTheirs(tb testing.TB, s script, count *atomic.Int64) func() {
	tb.Helper()
	weather, err := utils.InferTool("weather", "Tells the weather.", func(_ context.Context, q question) (string, error) {
		return q.answer(count), nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	ctx := context.Background()
	// Their agent is compiled once and keeps no conversation, so it serves all queries.
	a, err := react.NewAgent(ctx, &react.AgentConfig{
		ToolCallingModel: theirs{s}, ToolsConfig: compose.ToolsNodeConfig{Tools: []tool.BaseTool{weather}}, MaxStep: 4*rounds + 10,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return func() {
		if m, err := a.Generate(ctx, []*schema.Message{schema.UserMessage("What is the weather?")}); err != nil || m.Content != "done" {
			tb.Fatal(m, err)
		}
	}
}

func TestBothSidesCallTheToolAsOften(t *testing.T) {
	for _, s := range []script{{0, 0}, {rounds, 1}, {1, 8}} {
		var mine, other atomic.Int64
		queryOurs(t, s, &mine)()
		queryTheirs(t, s, &other)()
		if mine.Load() != int64(s.rounds*s.calls) || other.Load() != mine.Load() {
			t.Errorf("%+v: %d and %d calls", s, mine.Load(), other.Load())
		}
	}
}

func compare(b *testing.B, s script, per int) {
	b.Helper()
	var count atomic.Int64
	var other float64
	b.Run("eino", func(b *testing.B) {
		query := queryTheirs(b, s, &count)
		b.ReportAllocs()
		for b.Loop() {
			query()
		}
		other = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
		b.ReportMetric(other/float64(per)/1000, "µs/each")
	})
	b.Run("postroom", func(b *testing.B) {
		query := queryOurs(b, s, &count)
		b.ReportAllocs()
		for b.Loop() {
			query()
		}
		took := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
		b.ReportMetric(took/float64(per)/1000, "µs/each")
		if other > 0 {
			b.ReportMetric(100*took/other, "%eino")
		}
	})
}

// BenchmarkTurn is one query of one response of words.
func BenchmarkTurn(b *testing.B) { compare(b, script{0, 0}, 1) }

// BenchmarkToolCall is one query of ten rounds of one call, and then words; each is
// one call with the turn that makes it.
func BenchmarkToolCall(b *testing.B) { compare(b, script{rounds, 1}, rounds) }

// BenchmarkParallelTools is one response of eight calls that run beside each other.
func BenchmarkParallelTools(b *testing.B) { compare(b, script{1, 8}, 8) }

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postroom/domain/model"
)

// query is one run of the loop: ask, run what is called, ask again.
type query struct {
	agent         *Agent
	options       QueryOptions
	ctx           context.Context //nolint:containedctx // a query is one call.
	interruptible context.Context //nolint:containedctx // ends on Interrupt too.
	emit          func(Event, error) bool
	gone          bool // the caller left the range
	tools         []Tool
	byName        map[string]Tool
	used          map[string]bool // ids of calls in the conversation
	leftover      []string        // tools that did not stop when told to
	result        Result
}

// run drives the query to its result.
func (q *query) run(p Prompt) {
	q.tools = append(slices.Clone(q.agent.options.Tools), q.options.Tools...)
	var err error
	if q.byName, err = toolset(q.tools); err != nil {
		q.emit(nil, err)
		return
	}
	q.ctx = context.WithValue(q.ctx, contextKey{}, q.options.Context)
	names := make([]string, len(q.tools))
	for i, t := range q.tools {
		names[i] = t.name
	}
	q.result = Result{SessionID: q.agent.id, Model: q.agent.options.Model}
	if !q.yield(InitEvent{Subtype: "init", Model: q.agent.options.Model, Tools: names, SessionID: q.agent.id}) {
		return
	}
	err = q.loop(p)
	if q.gone {
		return
	}
	abort := q.end(err)
	if q.yield(ResultEvent{q.result}) && abort != nil {
		q.emit(nil, abort)
	}
}

// end turns how the loop ended into the result, and gives back an abort or a
// host's mistake, which comes after it as an error.
func (q *query) end(err error) (after error) {
	r := &q.result
	var turns *MaxTurnsError
	var timeout *TimeoutError
	var api *APIError
	switch {
	case err == nil:
		r.Subtype = Success
		return nil
	case q.ctx.Err() != nil:
		err = &AbortError{Cause: q.ctx.Err(), Leftover: q.leftover}
		r.Subtype, after = FailedAbort, err
	case errors.Is(err, errInterrupted):
		r.Subtype = Interrupted
		return nil
	case errors.As(err, &turns):
		r.Subtype = FailedTurns
	case errors.As(err, &timeout):
		r.Subtype = FailedTimeout
	case errors.As(err, &api):
		r.Subtype = Failed
	default:
		r.Subtype, after = Failed, err
	}
	r.IsError, r.Err = true, err
	return after
}

func (q *query) yield(e Event) bool {
	if q.gone {
		return false
	}
	q.gone = !q.emit(e, nil)
	return !q.gone
}

// loop asks the model until it calls no tool.
func (q *query) loop(p Prompt) error {
	if err := q.begin(p); err != nil {
		return err
	}
	for {
		calls, err := q.nextCalls()
		if err != nil || calls == nil {
			return err
		}
		ended, err := q.batch(calls)
		if err != nil || ended {
			return err
		}
		if context.Cause(q.interruptible) == errInterrupted { //nolint:errorlint // the cause is set by this package.
			return errInterrupted
		}
	}
}

// begin loads the history and adds the prompt.
func (q *query) begin(p Prompt) error {
	if err := q.ctx.Err(); err != nil {
		return err
	}
	a := q.agent
	if !a.loaded {
		loaded, err := a.options.History.Load(q.ctx)
		if err != nil {
			return fmt.Errorf("load the history: %w", err)
		}
		a.messages, a.loaded = loaded, true
	}
	q.used = make(map[string]bool)
	for _, m := range a.messages {
		for _, b := range m.ToolUses() {
			q.used[b.ID] = true
		}
	}
	if q.options.Resume != nil {
		return nil
	}
	if len(p) == 0 {
		return errors.New("agent: the prompt is empty")
	}
	a.messages = Paired(a.messages)
	return q.keep(model.Message{Role: model.User, Content: slices.Clone(p)}, true)
}

// keep adds a message to the history; the journal is told of what it does not
// know from the tools.
func (q *query) keep(m model.Message, journal bool) error {
	if journal && q.options.Journal != nil {
		if err := q.options.Journal.Message(q.ctx, m); err != nil {
			return fmt.Errorf("journal: %w", err)
		}
	}
	q.agent.messages = append(q.agent.messages, m)
	return q.agent.options.History.Append(q.ctx, m)
}

// nextCalls gives the calls to run: those of the response a resumed run was cut
// off at, or those of a new response. nil means the query is done.
func (q *query) nextCalls() ([]model.Block, error) {
	if resumed := q.options.Resume; resumed != nil && len(q.agent.messages) > 0 {
		last := q.agent.messages[len(q.agent.messages)-1]
		if last.Role == model.Assistant {
			q.result.Text = last.Words()
			return last.ToolUses(), nil
		}
	}
	return q.ask()
}

// ask makes one model request.
func (q *query) ask() ([]model.Block, error) {
	o := q.agent.options
	most := o.MaxTurns
	if q.options.MaxTurns > 0 {
		most = q.options.MaxTurns
	}
	if q.result.NumTurns >= most {
		return nil, &MaxTurnsError{Max: most}
	}
	q.result.NumTurns++
	response, err := q.respond(model.Request{
		Model: o.Model, System: o.SystemPrompt, Messages: Paired(q.agent.messages), Tools: q.definitions(),
		MaxTokens: o.MaxTokens, Documents: o.Documents, Thinking: o.Thinking, ReasoningEffort: o.ReasoningEffort,
	})
	if err != nil {
		return nil, err
	}
	q.result.Usage = q.result.Usage.Add(response.Usage)
	q.result.StopReason = string(response.StopReason)
	if response.Model != "" {
		q.result.Model = response.Model
	}
	m := model.Message{Role: model.Assistant, Content: response.Content}
	q.result.Text = m.Words()
	if err := q.keep(m, true); err != nil {
		return nil, err
	}
	if q.options.Journal != nil {
		if err := q.options.Journal.Usage(q.ctx, q.result.Model, response.Usage); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
	}
	if !q.yield(AssistantEvent{Message: m}) {
		return nil, context.Canceled
	}
	calls := m.ToolUses()
	if len(calls) > 0 && response.StopReason == model.MaxTokens {
		return q.cutOff(calls)
	}
	return calls, nil
}

// cutOff answers every call of a truncated response without running any.
func (q *query) cutOff(calls []model.Block) ([]model.Block, error) {
	results := make([]ToolResult, len(calls))
	for i := range results {
		results[i] = ToolResult{IsError: true, Text: "The response was cut off at its token limit, so this call was not run. Make a shorter call."}
	}
	if err := q.answer(calls, results); err != nil {
		return nil, err
	}
	return q.ask()
}

// respond asks the client, within the request's own deadline, and refuses a
// response that cannot be used whole.
func (q *query) respond(r model.Request) (model.Response, error) {
	ctx, cancel := context.WithCancelCause(q.interruptible)
	defer cancel(nil)
	if limit := q.agent.options.RequestTimeout; limit > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, limit, &TimeoutError{})
		defer stop()
	}
	response, err := q.request(ctx, cancel, r)
	switch {
	case q.gone:
		return response, context.Canceled
	case err != nil && ctx.Err() != nil:
		return response, context.Cause(ctx)
	case err != nil:
		return response, &APIError{Cause: err}
	case response.StopReason == model.Refusal:
		return response, &APIError{Cause: model.ErrRefused}
	case len(response.Content) == 0:
		return response, &APIError{Cause: model.ErrNoContent}
	}
	if err := q.named(response.Content); err != nil {
		return response, &APIError{Cause: err}
	}
	return response, nil
}

// request waits for the client, handing on the text as it comes, no longer than
// the context lasts: a client that does not look at its context cannot hold the loop.
func (q *query) request(ctx context.Context, cancel context.CancelCauseFunc, r model.Request) (model.Response, error) {
	type outcome struct {
		response model.Response
		err      error
	}
	pieces := make(chan string)
	ended := make(chan outcome, 1)
	go func() {
		response, err := q.agent.options.Client.Respond(ctx, r, func(text string) {
			select {
			case pieces <- text:
			case <-ctx.Done():
			}
		})
		ended <- outcome{response, err}
	}()
	var grace <-chan time.Time
	over := ctx.Done()
	for {
		select {
		case text := <-pieces:
			if !q.yield(StreamEvent{Text: text}) {
				cancel(context.Canceled)
			}
		case o := <-ended:
			return o.response, o.err
		case <-over:
			over = nil
			timer := time.NewTimer(q.agent.options.ToolGrace)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			return model.Response{}, context.Cause(ctx)
		}
	}
}

// named refuses calls of one response that share an id or have none, and renames
// one whose id came earlier in the conversation: some providers count from zero
// each time, and what a call did is kept under its id.
func (q *query) named(content []model.Block) error {
	here := make(map[string]bool)
	for i, b := range content {
		if b.Type != model.ToolUseBlock {
			continue
		}
		if b.ID == "" || here[b.ID] {
			return fmt.Errorf("tool call id %q comes twice or is empty", b.ID)
		}
		here[b.ID] = true
		for n := 2; q.used[content[i].ID]; n++ {
			content[i].ID = fmt.Sprintf("%s_%d", b.ID, n)
		}
	}
	for _, b := range content {
		if b.Type == model.ToolUseBlock {
			q.used[b.ID] = true
		}
	}
	return nil
}

func (q *query) definitions() []model.Tool {
	all := make([]model.Tool, len(q.tools))
	for i, t := range q.tools {
		all[i] = t.definition()
	}
	return all
}

package agent

import (
	"context"
	"fmt"
	"sync"

	"postroom/domain/model"
)

// batch runs the calls of one response and keeps their results, in call order. It
// reports whether a result ended the query.
func (q *query) batch(blocks []model.Block) (ended bool, err error) {
	results := make([]ToolResult, len(blocks))
	journal := q.perform(blocks, results)
	resumed := q.options.Resume
	q.options.Resume = nil // what was known is used up
	if journal != nil {
		return false, journal
	}
	if err := q.answer(blocks, results); err != nil {
		return false, err
	}
	if err := q.ctx.Err(); err != nil {
		return false, err
	}
	for i, r := range results {
		if !r.EndTurn || r.IsError {
			continue
		}
		if resumed != nil {
			if done, ok := resumed.Finished[blocks[i].ID]; ok {
				r = done
			}
		}
		q.result.Text, q.result.Structured = r.Text, r.Structured
		return true, nil
	}
	return false, nil
}

// answer adds one user message with all results, so that history is paired even
// when the run was aborted.
func (q *query) answer(blocks []model.Block, results []ToolResult) error {
	m := model.Message{Role: model.User, Content: make([]model.Block, len(blocks))}
	for i, b := range blocks {
		m.Content[i] = resultOf(Call{ID: b.ID}, results[i])
	}
	if err := q.keep(m, false); err != nil {
		return err
	}
	if !q.yield(UserEvent{Message: m}) {
		return context.Canceled
	}
	return nil
}

// perform runs the calls: neighbours that may, beside each other; any other alone.
// It returns the first error of the journal, after which nothing more is started.
func (q *query) perform(blocks []model.Block, results []ToolResult) error {
	limits := q.agent.options.Concurrency
	var failed firstError
	for start := 0; start < len(blocks); {
		end := start + 1
		for limits.Mode != "sequential" && q.beside(blocks[start]) && end < len(blocks) && end-start < limits.Max && q.beside(blocks[end]) {
			end++
		}
		var group sync.WaitGroup
		for i := start; i < end; i++ {
			group.Go(func() { results[i] = q.one(blocks[i], &failed) })
		}
		group.Wait()
		start = end
	}
	return failed.get()
}

type firstError struct {
	mu  sync.Mutex
	err error
}

func (f *firstError) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

func (f *firstError) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// beside reports whether a call may run while others do.
func (q *query) beside(b model.Block) bool {
	if q.agent.options.Concurrency.Mode == "all" {
		return true
	}
	t, ok := q.byName[b.Name]
	return ok && t.safe != nil && t.schema.Validate(b.Input) == nil && safely(func() bool { return t.safe(b.Input) })
}

func safely(ask func() bool) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return ask()
}

// one runs a single call, unless it ran before the run was cut off.
func (q *query) one(b model.Block, failed *firstError) ToolResult {
	c := Call{ID: b.ID, Name: b.Name, Input: b.Input}
	t, known := q.byName[b.Name]
	if r := q.options.Resume; r != nil {
		if done, ok := r.Finished[c.ID]; ok {
			return done
		}
		if r.Started[c.ID] && (!known || !t.repeatable) {
			return q.finished(c, ToolResult{Text: textInterrupted, IsError: true}, failed)
		}
	}
	if failed.get() != nil || q.ctx.Err() != nil {
		return ToolResult{Text: textNotStarted, IsError: true}
	}
	if !known {
		return q.finished(c, ToolResult{Text: fmt.Sprintf("No tool named %q is registered.", c.Name), IsError: true}, failed)
	}
	if denied := q.denied(t, c); denied != nil {
		return q.finished(c, *denied, failed)
	}
	if q.options.Journal != nil {
		if err := q.options.Journal.ToolStarted(q.ctx, c); err != nil {
			failed.set(fmt.Errorf("journal: %w", err))
			return ToolResult{Text: textNotStarted, IsError: true}
		}
	}
	result, err := t.perform(q.ctx, c)
	if err != nil {
		result = failure(&ToolExecutionError{Tool: c.Name, Cause: err})
	}
	return q.finished(c, result, failed)
}

func (q *query) denied(t Tool, c Call) *ToolResult {
	ask := q.agent.options.Permission
	if ask == nil {
		return nil
	}
	d, err := ask(q.ctx, c)
	switch {
	case err != nil:
		r := failure(&ToolExecutionError{Tool: t.name, Cause: err})
		return &r
	case d.Deny:
		return &ToolResult{Text: d.Message, IsError: true}
	}
	return nil
}

func (q *query) finished(c Call, r ToolResult, failed *firstError) ToolResult {
	if q.options.Journal != nil {
		if err := q.options.Journal.ToolFinished(context.WithoutCancel(q.ctx), c, r); err != nil {
			failed.set(fmt.Errorf("journal: %w", err))
		}
	}
	return r
}

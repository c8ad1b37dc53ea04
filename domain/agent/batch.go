package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	limits := q.agent.options.ToolConcurrency
	var failed firstError
	checked := make([]error, len(blocks)) // what each tool's schema says of its call's input
	safe := make([]bool, len(blocks))
	for i, b := range blocks {
		if t, known := q.byName[b.Name]; known && b.Malformed == "" {
			checked[i] = t.check(b.Input)
			safe[i] = limits.Mode == "all" || checked[i] == nil && t.safe != nil && safely(func() bool { return t.safe(b.Input) })
		}
	}
	for start := 0; start < len(blocks); {
		end := start + 1
		for limits.Mode != "sequential" && safe[start] && end < len(blocks) && end-start < limits.Max && safe[end] {
			end++
		}
		q.together(blocks[start:end], results[start:end], checked[start:end], &failed)
		start = end
	}
	return failed.get()
}

// together runs calls beside each other. Once the query's context has ended it
// waits no longer than the tools' grace: limits hold outside a tool, or one that
// looks at no context would hold its run for ever. Whatever such a tool answers
// later is nobody's, and the result's error names it.
func (q *query) together(blocks []model.Block, results []ToolResult, checked []error, failed *firstError) {
	type outcome struct {
		at     int
		result ToolResult
		keep   bool // the journal is to know of it
	}
	ended := make(chan outcome, len(blocks))
	for i, b := range blocks {
		go func() {
			r, keep := q.one(b, checked[i], failed)
			ended <- outcome{i, r, keep}
		}()
	}
	open := make(map[int]bool, len(blocks))
	for i := range blocks {
		open[i] = true
	}
	var grace <-chan time.Time
	over := q.ctx.Done()
	for len(open) > 0 {
		select {
		case o := <-ended:
			delete(open, o.at)
			results[o.at] = o.result
			if o.keep {
				q.finished(callOf(blocks[o.at]), o.result, failed)
			}
		case <-over:
			over = nil
			timer := time.NewTimer(q.agent.options.ToolGrace)
			defer timer.Stop()
			grace = timer.C
		case <-grace:
			for i := range blocks {
				if open[i] {
					q.leftover = append(q.leftover, blocks[i].Name)
					results[i] = ToolResult{Text: textInterrupted, IsError: true}
				}
			}
			return
		}
	}
}

func callOf(b model.Block) Call { return Call{ID: b.ID, Name: b.Name, Input: b.Input} }

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

func safely(ask func() bool) (yes bool) {
	defer func() {
		if recover() != nil {
			yes = false
		}
	}()
	return ask()
}

// one runs a single call, unless it ran before the run was cut off. It reports
// whether the journal is to know of the result: not of one it told itself, nor of a
// call that was never made.
func (q *query) one(b model.Block, checked error, failed *firstError) (ToolResult, bool) {
	c := callOf(b)
	t, known := q.byName[b.Name]
	if r := q.options.Resume; r != nil {
		if done, ok := r.Finished[c.ID]; ok {
			return done, false
		}
		if r.Started[c.ID] && (!known || !t.repeatable) {
			return ToolResult{Text: textInterrupted, IsError: true}, true
		}
	}
	if failed.get() != nil || q.ctx.Err() != nil {
		return ToolResult{Text: textNotStarted, IsError: true}, false
	}
	if !known {
		return ToolResult{Text: fmt.Sprintf("No tool named %q is registered.", c.Name), IsError: true}, true
	}
	if b.Malformed != "" {
		return ToolResult{Text: fmt.Sprintf("Tool %s failed: its input is not a JSON object. Call it again with a whole one.", c.Name), IsError: true}, true
	}
	if denied := q.denied(t, c); denied != nil {
		return *denied, true
	}
	if q.ctx.Err() != nil {
		return ToolResult{Text: textNotStarted, IsError: true}, false
	}
	if q.options.Journal != nil {
		if err := q.options.Journal.ToolStarted(q.ctx, c); err != nil {
			failed.set(fmt.Errorf("journal: %w", err))
			return ToolResult{Text: textNotStarted, IsError: true}, false
		}
	}
	if checked != nil {
		return failure(&ToolExecutionError{Tool: c.Name, Cause: checked}), true
	}
	result, err := t.perform(q.ctx, c)
	if err != nil {
		result = failure(&ToolExecutionError{Tool: c.Name, Cause: err})
	}
	return result, true
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

// finished has a result kept, also when the query's context has ended: what was
// done was done.
func (q *query) finished(c Call, r ToolResult, failed *firstError) {
	if q.options.Journal == nil {
		return
	}
	if err := q.options.Journal.ToolFinished(context.WithoutCancel(q.ctx), c, r); err != nil {
		failed.set(fmt.Errorf("journal: %w", err))
	}
}

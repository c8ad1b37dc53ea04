package modeltest

import (
	"context"
	"slices"
	"sync"

	"postroom/domain/model"
)

// Evaluator answers as a test's function says, and keeps what it was asked.
type Evaluator struct {
	answer func(q model.Question) (model.Answer, error)

	mu    sync.Mutex
	calls []model.Question // guarded by mu
}

var _ model.Evaluator = (*Evaluator)(nil)

// NewEvaluator makes an evaluator (the seed's mockEvaluationModel).
func NewEvaluator(answer func(q model.Question) (model.Answer, error)) *Evaluator {
	return &Evaluator{answer: answer}
}

// Evaluate is model.Evaluator's.
func (e *Evaluator) Evaluate(ctx context.Context, q model.Question) (model.Answer, error) {
	e.mu.Lock()
	e.calls = append(e.calls, q)
	e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return model.Answer{}, err
	}
	return e.answer(q)
}

// Calls are the questions so far: a post that was held is none.
func (e *Evaluator) Calls() []model.Question {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.calls)
}

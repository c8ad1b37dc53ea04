package model_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"postroom/domain/model"
	"postroom/domain/model/modeltest"
)

func TestNoMoreCallsAreInFlightThanAllowed(t *testing.T) {
	t.Parallel()
	var now, most atomic.Int32
	release := make(chan struct{})
	limited := model.Limited(modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		<-release
		now.Add(-1)
		return modeltest.Say("done"), nil
	}), 3)
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if _, err := limited.Respond(t.Context(), model.Request{}, nil); err != nil {
				t.Errorf("respond: %v", err)
			}
		})
	}

	close(release)
	calls.Wait()

	if most.Load() > 3 {
		t.Errorf("%d calls at once, want at most 3", most.Load())
	}
}

func TestACallThatWaitsEndsWithItsContext(t *testing.T) {
	t.Parallel()
	hold, entered := make(chan struct{}), make(chan struct{})
	limited := model.Limited(modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		close(entered)
		<-hold
		return modeltest.Say("done"), nil
	}), 1)
	var first sync.WaitGroup
	first.Go(func() { _, _ = limited.Respond(t.Context(), model.Request{}, nil) })
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := limited.Respond(ctx, model.Request{}, nil)

	if !errors.Is(err, context.Canceled) {
		t.Errorf("respond: %v, want context.Canceled", err)
	}
	close(hold)
	first.Wait()
}

package model

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// Limited bounds how many calls of a client are in flight, first come, first
// served. It counts calls, never runs, so nested runs cannot wait for each other.
func Limited(c Client, calls int) Client {
	return &limited{client: c, slots: semaphore.NewWeighted(int64(max(1, calls)))}
}

type limited struct {
	client Client
	slots  *semaphore.Weighted
}

func (l *limited) Respond(ctx context.Context, r Request, delta func(string)) (Response, error) {
	if err := l.slots.Acquire(ctx, 1); err != nil {
		return Response{}, err
	}
	defer l.slots.Release(1)
	return l.client.Respond(ctx, r, delta)
}

package web

import (
	"context"

	"postroom/domain/store"
)

// StoreStats are the store's own counts, for benchmarks.
func (s *Server) StoreStats() store.Stats { return s.store.Stats() }

// Idle reports whether no work is queued.
func (s *Server) Idle(ctx context.Context) bool {
	queued, err := s.store.Work(ctx, "", 1)
	return err == nil && len(queued) == 0
}

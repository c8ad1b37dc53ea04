package seat

import (
	"errors"

	"postroom/domain/agent"
	"postroom/domain/fault"
)

// Refusals and failures of a seat's runs.
var (
	ErrNotHired   = fault.Define(fault.NotFound, "seat-not-hired", "No seat by this name is hired here for whoever asks; hire the worker, or address another seat.")
	ErrMaxTurns   = fault.Define(fault.Conflict, "max-turns-exceeded", "The run asked the model as often as it may and was stopped; ask again with a smaller question.")
	ErrModel      = fault.Define(fault.Conflict, "model-failed", "The model did not answer, or not whole, so nothing of it was used; run again.")
	ErrNoDocument = fault.Define(fault.NotFound, "no-such-document", "No document by this name is in reach; name one of those listed.")
)

// coded gives an agent's error its code.
func coded(err error) error {
	var turns *agent.MaxTurnsError
	var api *agent.APIError
	switch {
	case errors.As(err, &turns):
		return ErrMaxTurns.With("most", turns.Max).Because(err)
	case errors.As(err, &api):
		return ErrModel.Because(err)
	}
	return err // an abort, whose reason the run's context knows, or a fault of the store's
}

package seat

import (
	"errors"

	"postroom/domain/agent"
	"postroom/domain/fault"
	"postroom/domain/model"
)

// Refusals and failures of a seat's runs.
var (
	ErrNotHired   = fault.Define(fault.NotFound, "seat-not-hired", "No seat by this name is hired here for whoever asks; hire the worker, or address another seat.")
	ErrMaxTurns   = fault.Define(fault.Conflict, "max-turns-exceeded", "The run asked the model as often as it may and was stopped; ask again with a smaller question.")
	ErrModel      = fault.Define(fault.Conflict, "model-failed", "The model did not answer, or not whole, so nothing of it was used; run again.")
	ErrRefused    = fault.Define(fault.Conflict, "model-refused", "The model refused to answer this, and nothing of what it said was used; ask in other words, or answer yourself.")
	ErrToolStuck  = fault.Define(fault.Conflict, "tool-still-running", "The run ended while a tool went on, since the tool did not stop when told to; what it does from here is dropped.")
	ErrNoSkill    = fault.Define(fault.NotFound, "no-such-skill", "No skill by this name is held; name one of those listed.")
	ErrSilent     = fault.Define(fault.Conflict, "seat-said-nothing", "The seat was routed a post and said nothing, so nothing was posted; answer the post yourself, or post again.")
	ErrNoDocument = fault.Define(fault.NotFound, "no-such-document", "No document by this name is in reach; name one of those listed.")
)

// coded gives an agent's error its code, and what an admin needs to know of it.
func coded(err error) error {
	var turns *agent.MaxTurnsError
	var abort *agent.AbortError
	var api *agent.APIError
	switch {
	case errors.As(err, &turns):
		return ErrMaxTurns.With("most", turns.Max).Because(err)
	case errors.As(err, &abort) && len(abort.Leftover) > 0:
		return ErrToolStuck.With("stillRunning", abort.Leftover).Because(err)
	case errors.Is(err, model.ErrRefused):
		return ErrRefused.Because(err)
	case errors.As(err, &api):
		return providers(ErrModel, err)
	}
	return err // an abort, whose reason the run's context knows, or a fault of the store's
}

// providers adds what the provider said of its failure.
func providers(f *fault.Fault, err error) *fault.Fault {
	var told *model.Error
	if !errors.As(err, &told) {
		return f.Because(err)
	}
	for _, detail := range []struct {
		name  string
		value any
		there bool
	}{
		{"status", told.Status, told.Status != 0},
		{"type", told.Type, told.Type != ""},
		{"attempts", told.Attempts, told.Attempts > 1},
		{"providerRequest", told.Request, told.Request != ""},
		// What is said of a key that was refused may hold part of it.
		{"said", told.Message, told.Message != "" && told.Status != http401 && told.Status != http403},
	} {
		if detail.there {
			f = f.With(detail.name, detail.value)
		}
	}
	if told.Status == http401 || told.Status == http403 {
		f = f.Saying("The model's provider refused the key; an admin must set a valid one.")
	}
	return f.Because(err)
}

// The statuses of a key that is refused.
const (
	http401 = 401
	http403 = 403
)

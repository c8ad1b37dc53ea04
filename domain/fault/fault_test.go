package fault_test

import (
	"errors"
	"fmt"
	"testing"

	"postroom/domain/fault"
)

var errShut = fault.Define(fault.Conflict, "shut", "The door is shut; open it first.")

func TestAFaultWithDetailsIsStillTheFaultItWasDefinedAs(t *testing.T) {
	t.Parallel()

	err := fmt.Errorf("go in: %w", errShut.With("door", "front"))

	if !errors.Is(err, errShut) {
		t.Errorf("errors.Is(%v, shut) = false", err)
	}
	if errShut.Details != nil {
		t.Errorf("With changed the definition: %v", errShut.Details)
	}
	if got := fault.Of(err).Details["door"]; got != "front" {
		t.Errorf("details: %v", got)
	}
}

func TestAnErrorWithoutACodeShowsAsInternalWithoutItsText(t *testing.T) {
	t.Parallel()

	got := fault.FailureOf(errors.New("password=hunter2"))

	if got.Code != "internal" || got.Message != fault.ErrInternal.Message {
		t.Errorf("failure: %+v", got)
	}
}

func TestNoErrorIsNoFailure(t *testing.T) {
	t.Parallel()

	if got := fault.FailureOf(nil); got != nil {
		t.Errorf("failure: %+v", got)
	}
}

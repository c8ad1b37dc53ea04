package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// MaxTurnsError ends a query that asked the model as often as it may.
type MaxTurnsError struct{ Max int }

// Error says the limit.
func (e *MaxTurnsError) Error() string {
	return fmt.Sprintf("max_turns_exceeded: the model was asked %d times, the most this query may", e.Max)
}

// APIError is a model request that failed, or whose response did not come whole.
type APIError struct{ Cause error }

// Error says why.
func (e *APIError) Error() string {
	return fmt.Sprintf("api_error: the model did not answer: %v", e.Cause)
}

// Unwrap is the cause.
func (e *APIError) Unwrap() error { return e.Cause }

// AbortError is a query whose context ended. It also is context.Canceled or
// DeadlineExceeded.
type AbortError struct {
	Cause error
	// Leftover are the tools that were still running when the run was over, since
	// they did not stop when told to.
	Leftover []string
}

// Error says why, and what is left running.
func (e *AbortError) Error() string {
	text := fmt.Sprintf("the run was aborted: %v", e.Unwrap())
	if len(e.Leftover) > 0 {
		text += "; still running, since they did not stop when told to: " + strings.Join(e.Leftover, ", ")
	}
	return text
}

// Unwrap is the cause.
func (e *AbortError) Unwrap() error {
	if e.Cause == nil {
		return context.Canceled
	}
	return e.Cause
}

// TimeoutError is one model request that took longer than it may.
type TimeoutError struct{ Cause error }

// Error says so.
func (e *TimeoutError) Error() string {
	return "agent_error: the model request took longer than it may"
}

// Unwrap is the cause.
func (e *TimeoutError) Unwrap() error { return e.Cause }

// ToolExecutionError is a tool that failed; the model is told, and the run goes on.
type ToolExecutionError struct {
	Tool  string
	Cause error
}

// Error names the tool.
func (e *ToolExecutionError) Error() string {
	return fmt.Sprintf("Tool %s failed: %v", e.Tool, e.Cause)
}

// Unwrap is the cause.
func (e *ToolExecutionError) Unwrap() error { return e.Cause }

// ConcurrentQueryError refuses a second query while one runs.
type ConcurrentQueryError struct{}

// Error says so.
func (e *ConcurrentQueryError) Error() string {
	return "agent_error: this agent runs a query already; wait for it, or use another agent"
}

// Normalized is the code that teams and screens show for an error of a run; empty
// for an abort, which is a cancellation and no failure.
func Normalized(err error) string {
	var turns *MaxTurnsError
	var api *APIError
	var tool *ToolExecutionError
	var abort *AbortError
	switch {
	case err == nil, errors.As(err, &abort):
		return ""
	case errors.As(err, &turns):
		return "max_turns_exceeded"
	case errors.As(err, &api):
		return "api_error"
	case errors.As(err, &tool):
		return "tool_execution_error"
	}
	return "agent_error"
}

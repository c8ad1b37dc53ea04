package fault

import (
	"errors"
	"maps"
)

// Class says what sort of refusal a fault is; the edge maps it to a status.
type Class string

// The classes. Each is one kind of answer at the edge.
const (
	Malformed    Class = "malformed"    // the bytes could not be read (400)
	Invalid      Class = "invalid"      // read, and refused by a rule (422)
	Unauthorized Class = "unauthorized" // who is asking is not known (401)
	Forbidden    Class = "forbidden"    // known, and not allowed (403)
	NotFound     Class = "not-found"    // no such thing (404)
	Conflict     Class = "conflict"     // at odds with what is there (409)
	TooLarge     Class = "too-large"    // over a stated limit (413)
	Unsupported  Class = "unsupported"  // not in this form (415)
	Busy         Class = "busy"         // try again later (503)
	Internal     Class = "internal"     // ours to mend (500)
)

// Fault is one coded refusal. The zero value is not useful; see Define.
type Fault struct {
	Class   Class
	Code    string         // stable, kebab-case
	Message string         // one sentence: what happened and what to do
	Details map[string]any // what the sentence is about; never secrets
	cause   error
}

// Define makes a fault to be kept in a package variable, beside its rule.
func Define(class Class, code, message string) *Fault {
	return &Fault{Class: class, Code: code, Message: message}
}

// Error is the code, the sentence and, when there is one, the cause.
func (f *Fault) Error() string {
	text := f.Code + ": " + f.Message
	if f.cause != nil {
		text += " (" + f.cause.Error() + ")"
	}
	return text
}

// Is reports whether target is a fault of the same code, so that a fault with
// details still equals the one it was defined as.
func (f *Fault) Is(target error) bool {
	other, ok := target.(*Fault) //nolint:errorlint // Is compares one link of the chain; errors.Is walks it.
	return ok && other.Code == f.Code
}

// Unwrap is the cause, if any.
func (f *Fault) Unwrap() error { return f.cause }

// With copies the fault with details: pairs of a name and a value.
func (f *Fault) With(pairs ...any) *Fault {
	made := *f
	made.Details = maps.Clone(f.Details)
	if made.Details == nil {
		made.Details = make(map[string]any, len(pairs)/2)
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, ok := pairs[i].(string)
		if !ok {
			panic("fault: a detail's name must be a string")
		}
		made.Details[name] = pairs[i+1]
	}
	return &made
}

// Saying copies the fault with a sentence of its own, for a refusal whose words
// depend on what was asked. The code stays.
func (f *Fault) Saying(message string) *Fault {
	made := *f
	made.Message = message
	return &made
}

// Because copies the fault with the error that led to it.
func (f *Fault) Because(cause error) *Fault {
	made := *f
	made.cause = cause
	return &made
}

// ErrInternal stands for every error that has no code of its own. Its cause is
// for the log and never shown.
var ErrInternal = Define(Internal, "internal", "Something broke on our side; what was accepted is kept. Try again.")

// Of is the fault in err's chain, or ErrInternal with err as its cause. Of(nil) is nil.
func Of(err error) *Fault {
	if err == nil {
		return nil
	}
	var found *Fault
	if errors.As(err, &found) {
		return found
	}
	return ErrInternal.Because(err)
}

// Failure is a fault as it is stored and shown: {"code","message","details"}.
type Failure struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details,omitempty"`
}

// FailureOf is err as a failure; an error without a code shows as "internal"
// without its text.
func FailureOf(err error) *Failure {
	f := Of(err)
	if f == nil {
		return nil
	}
	return &Failure{Code: f.Code, Message: f.Message, Details: f.Details}
}

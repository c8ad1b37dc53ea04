package handlers

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"postroom/domain/fault"
)

// statuses give each class of faults its HTTP status, here and nowhere else.
var statuses = map[fault.Class]int{
	fault.Malformed: http.StatusBadRequest, fault.Invalid: http.StatusUnprocessableEntity,
	fault.Unauthorized: http.StatusUnauthorized, fault.Forbidden: http.StatusForbidden,
	fault.NotFound: http.StatusNotFound, fault.Conflict: http.StatusConflict,
	fault.TooLarge: http.StatusRequestEntityTooLarge, fault.Unsupported: http.StatusUnsupportedMediaType,
	fault.Busy: http.StatusServiceUnavailable, fault.Internal: http.StatusInternalServerError,
}

// Status is the HTTP status of a fault.
func Status(f *fault.Fault) int {
	if f.Code == ErrMethod.Code {
		return http.StatusMethodNotAllowed // HTTP's own; no class of the domain's
	}
	return statuses[f.Class]
}

// Refusals of the HTTP surface itself.
var (
	ErrJSON        = fault.Define(fault.Malformed, "invalid-json", "The body is not one JSON value; mend it and send it again.")
	ErrForm        = fault.Define(fault.Malformed, "invalid-form", "The form could not be read; go back and send it again.")
	ErrBodyTooBig  = fault.Define(fault.TooLarge, "body-too-large", "The body is over 1 MiB; send less at once.")
	ErrMediaType   = fault.Define(fault.Unsupported, "unsupported-media-type", "This call takes application/json; set the Content-Type.")
	ErrNoPage      = fault.Define(fault.NotFound, "not-found", "There’s nothing at this address; the link may be old.")
	ErrMethod      = fault.Define(fault.Conflict, "method-not-allowed", "This address doesn’t take that method.")
	ErrHost        = fault.Define(fault.Forbidden, "host-not-allowed", "A server without sign-in answers to loopback names only; open it as localhost or 127.0.0.1.")
	ErrCrossOrigin = fault.Define(fault.Forbidden, "cross-origin", "Another site’s page sent this, so it was refused; nothing was changed.")
	ErrName        = fault.Define(fault.Invalid, "invalid-name", "A name is 1 to 60 visible characters; choose another.")
	ErrInventory   = fault.Define(fault.NotFound, "unknown-inventory", "There is no such inventory; ask for mailboxes, seats, boards or teams.")
)

// FaultOf is any error as a fault, the router's own included.
func FaultOf(err error) *fault.Fault {
	var routed *echo.HTTPError
	if errors.As(err, &routed) {
		switch routed.Code {
		case http.StatusNotFound:
			return ErrNoPage
		case http.StatusMethodNotAllowed:
			return ErrMethod
		}
	}
	return fault.Of(err)
}

// problem is an error as the API shows it.
type problem struct {
	Error *fault.Failure `json:"error"`
}

// WriteProblem answers an API call with a fault.
func WriteProblem(c echo.Context, f *fault.Fault) error {
	return c.JSON(Status(f), problem{fault.FailureOf(f)})
}

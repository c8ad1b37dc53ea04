package views

import "time"

// FailedRequest is a request of the mailbox that was refused or cancelled.
type FailedRequest struct {
	ID      string
	Action  string
	Code    string
	Message string
	By      string
	At      time.Time
}

func (f FailedRequest) title() string {
	switch f.Action {
	case "post", "seatPost":
		return "A line was refused"
	case "onPosted":
		return "A post was not handed on"
	}
	return "A request failed"
}

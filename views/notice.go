package views

import (
	"strconv"
	"time"
)

// Notice is a failure item of a mailbox or conversation, such as a loop that was stopped.
type Notice struct {
	Seq     int64
	Code    string
	Message string
	At      time.Time
}

func (n Notice) id() string { return "line-" + strconv.FormatInt(n.Seq, 10) }

func (n Notice) seq() string { return strconv.FormatInt(n.Seq, 10) }

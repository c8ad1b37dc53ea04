package views

import (
	"strconv"
	"time"
)

// PostStatus says, at a post's own place, who has it and what came of it.
type PostStatus struct {
	Seq        int64
	Waiting    []string // seat ids at work on it
	Since      time.Time
	Now        time.Time
	Placing    bool // who hears it is not decided yet
	Nobody     bool // it reached nobody
	Lost       *Lost
	Failed     []FailedRun
	Answers    []Answer
	Silent     []string // seats that read it and posted nothing
	Deliveries []DeliveryRow
}

// Lost is why a post was not handed on to all of its members.
type Lost struct {
	Code    string
	Message string
}

// FailedRun is a seat's run on a post that did not end well.
type FailedRun struct {
	SeatID  string
	Run     string // request id; empty when the delivery itself failed
	Code    string
	Message string
	Stopped bool // somebody cancelled it
}

// Answer is a seat's line that a post led to.
type Answer struct {
	SeatID string
	Seq    int64
	Took   time.Duration
}

// DeliveryRow is one member's delivery, for the details.
type DeliveryRow struct {
	Member string
	State  string
	Reason string
	Run    string
}

func (s PostStatus) id() string { return "status-" + strconv.FormatInt(s.Seq, 10) }

func lineRef(seq int64) string { return "#line-" + strconv.FormatInt(seq, 10) }

func seatNames(ids []string) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = SeatName(id)
	}
	return names
}

func hasOrHave(n int) string {
	if n == 1 {
		return " has this, waiting "
	}
	return " have this, waiting "
}

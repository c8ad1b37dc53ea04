package views

import "time"

// Runs are the seats at work for a mailbox, or in one conversation.
type Runs struct {
	Runs []RunningSeat
	Now  time.Time
}

// RunningSeat is one of them.
type RunningSeat struct {
	Request string
	SeatID  string
	Of      string // whose post, or empty
	Queued  bool
	Since   time.Time
}

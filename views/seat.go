package views

import "time"

// Seat is one seat's screen: what it is, and a talk with it.
type Seat struct {
	Shell         Shell
	ID            string
	Kind          string
	Description   string
	Instructions  string
	Tools         []string
	Documents     []SeatDocument
	Conversations []Conversation
	Session       string // the talk shown
	Entries       []Entry
	Runs          Runs
	Composer      Composer
}

// SeatDocument is a document that the seat's model can read.
type SeatDocument struct {
	Name string
	Ref  string
	Text string
}

// Conversation is one mailbox that the seat hears.
type Conversation struct {
	Mailbox string
	Status  string // active, finished, failed, cancelled
	LastRun string
	At      time.Time
}

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
	Model         string // its file names, else empty
	Skills        []SeatSkill
	Documents     []SeatDocument
	Conversations []Conversation
	Session       string // the talk shown
	Entries       []Entry
	Runs          Runs
	Composer      Composer
}

// SeatSkill is a skill that the seat may take up.
type SeatSkill struct {
	Name        string
	Description string
	Active      bool // always taken up
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

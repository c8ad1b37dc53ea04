package views

import "time"

// Members are a mailbox's roster.
type Members struct {
	Members []Member
	Now     time.Time
}

// Member is one of them.
type Member struct {
	ID    string
	Hears bool
	Hired bool
	Busy  bool
	Since time.Time
}

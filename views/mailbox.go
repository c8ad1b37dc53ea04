package views

import (
	"strconv"
	"time"
)

// Mailbox is one mailbox's screen.
type Mailbox struct {
	Shell       Shell
	ID          string
	Description string
	Charter     string
	Members     Members
	Boards      []string
	OpenedAt    time.Time
	Changed     []Change // what the file says differently since
	Entries     []Entry  // oldest first
	Older       int64    // seq to page before, or 0
	Newer       bool     // this is not the newest page
	Runs        Runs
	Composer    Composer
}

// Change is one thing that differs between a mailbox as opened and its file.
type Change struct {
	What string
	Kept string
	File string
}

// Entry is one thing in a transcript: exactly one of them is set.
type Entry struct {
	Line   *Line
	Failed *FailedRequest
	Notice *Notice
	Turn   *TurnEntry
}

// Composer is the form at the bottom.
type Composer struct {
	Action      string // where it posts to
	Field       string // name of the text field
	Label       string
	Placeholder string
	Key         string // idempotency key, new for each page
	Who         string
	Authors     []string // names the line may be signed with
	Author      string
	Text        string // kept from a refused post
	Error       string
	Code        string
	Draft       string // where the browser keeps the draft
	Button      string
}

func older(seq int64) string { return "?before=" + strconv.FormatInt(seq, 10) }

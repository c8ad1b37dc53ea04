package views

import (
	"strconv"
	"time"
)

// Run is one conversation at one of its turns.
type Run struct {
	Shell   Shell
	ID      string // request id
	SeatID  string
	Session string
	Mailbox string // whose post woke it, or empty
	PostSeq int64
	Writer  string
	Status  RunState
	Entries []Entry // the run's turns
}

// RunState is replaced whole when the run moves.
type RunState struct {
	ID       string
	Status   string // a session.Status
	Queued   time.Time
	Started  time.Time
	Finished time.Time
	Now      time.Time
	Model    string
	In, Out  int // tokens
	Attempt  int
	Code     string
	Message  string
}

// TurnEntry is one step of a conversation.
type TurnEntry struct {
	Seq     int64
	Who     string // "Heard", "Turn 1", a writer
	Seat    bool
	SeatID  string
	At      time.Time
	Text    string
	Calls   []Call
	Code    string // of a failure
	Message string
	Run     string // the run it belongs to, where that is not the page's own
	Offline bool
}

// Call is a tool call with its result.
type Call struct {
	ID      string
	Name    string
	Input   string
	Result  string
	Failed  bool
	Pending bool
}

func (t TurnEntry) id() string { return "line-" + strconv.FormatInt(t.Seq, 10) }

func (t TurnEntry) seq() string { return strconv.FormatInt(t.Seq, 10) }

func (s RunState) chip() (class, icon, word string) {
	switch s.Status {
	case "queued":
		return "chip", "clock", "Next"
	case "running":
		return "chip accent", "activity", "At work"
	case "completed":
		return "chip good", "check", "Finished"
	case "cancelled":
		return "chip", "x", "Stopped"
	}
	return "chip bad", "warn", "Failed"
}

func (s RunState) took() string {
	switch {
	case s.Started.IsZero():
		return "–"
	case s.Finished.IsZero():
		return Took(s.Now.Sub(s.Started))
	}
	return Took(s.Finished.Sub(s.Started))
}

func (s RunState) open() bool { return s.Status == "queued" || s.Status == "running" }

// short is a call's input in one line.
func short(s string) string {
	runes := []rune(s)
	if len(runes) <= 80 {
		return s
	}
	return string(runes[:79]) + "…"
}

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
	Mailbox  string // whose post woke it, or empty
	PostSeq  int64
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
	Details  []Detail
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
	Details []Detail
	Run     string // the run it belongs to, where that is not the page's own
	Offline bool
	Tokens  int // of a response
}

// Detail is one thing that a failure is about.
type Detail struct {
	Name  string
	Value string
}

// Call is a tool call with its result.
type Call struct {
	ID      string
	Name    string
	Input   string
	Result  string
	Failed  bool
	Pending bool
	Started time.Time // zero before it has begun
	Ended   time.Time
}

// took is how long a call that has ended took, in the smallest fitting unit.
func (c Call) took() string {
	if c.Started.IsZero() || c.Ended.IsZero() {
		return ""
	}
	d := c.Ended.Sub(c.Started)
	switch {
	case d < 0:
		return ""
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	}
	return Took(d)
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

// thousands is a number with its thousands apart.
func thousands(n int) string {
	digits := itoa(n)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// short is a call's input in one line.
func short(s string) string {
	runes := []rune(s)
	if len(runes) <= 80 {
		return s
	}
	return string(runes[:79]) + "…"
}

func pendingWord(c Call) string {
	if c.Started.IsZero() {
		return "not started"
	}
	return "at work"
}

func requestsWord(n int) string {
	if n == 1 {
		return "request"
	}
	return "requests"
}

func postOrTalk(mailbox string) string {
	if mailbox == "" {
		return "talk"
	}
	return "post"
}

func orElse(first, second string) string {
	if first != "" {
		return first
	}
	return second
}

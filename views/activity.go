package views

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ActivityPage is what goes on, in all mailboxes.
type ActivityPage struct {
	Shell    Shell
	Activity Activity
}

// Activity is rendered in parts, each replaced whole when it moves.
type Activity struct {
	Now      time.Time
	Limit    int // model calls at once
	Running  int
	Runs     []ActivityRun
	Queued   int
	Oldest   time.Time
	Queue    []ActivityQueue
	Minutes  []ActivityMinute // the last hour, oldest first
	Waits    []ActivityWait
	Half     time.Duration // half of the last hour's answers came within it; 0: none, or longer than is told apart
	Most     time.Duration // nine in ten
	Failures []ActivityFailure
}

// ActivityRun is one run that has not ended.
type ActivityRun struct {
	Request string
	SeatID  string
	Mailbox string // whose post woke it, or empty
	Session string
	Writer  string
	Tokens  int
	Queued  bool
	Since   time.Time
}

// ActivityQueue is what waits in one session.
type ActivityQueue struct {
	Where   string // a mailbox, or a seat and its mailbox
	Mailbox string // to go to, or empty
	Next    string // action
	N       int
	Oldest  time.Time
}

// ActivityMinute counts one minute.
type ActivityMinute struct {
	At             time.Time
	Posts, Answers int64
}

// ActivityWait counts the answers that took up to so many seconds; 0 is longer.
type ActivityWait struct {
	Seconds int
	N       int64
}

// ActivityFailure is a request that failed.
type ActivityFailure struct {
	ID      string
	What    string // in words, such as "A line was refused"
	Code    string
	Message string
	Where   string
	Href    string // where to look
	At      time.Time
}

// perMinute is the mean of the whole minutes of the last hour.
func (a Activity) perMinute(of func(ActivityMinute) int64) string {
	if len(a.Minutes) < 2 {
		return "0"
	}
	var sum int64
	whole := a.Minutes[:len(a.Minutes)-1] // the last has not ended
	for _, m := range whole {
		sum += of(m)
	}
	mean := float64(sum) / float64(len(whole))
	if mean >= 10 || mean == math.Trunc(mean) {
		return strconv.FormatFloat(mean, 'f', 0, 64)
	}
	return strconv.FormatFloat(mean, 'f', 1, 64)
}

func (a Activity) sums() (posts, answers int64) {
	for _, m := range a.Minutes {
		posts += m.Posts
		answers += m.Answers
	}
	return posts, answers
}

func (a Activity) answered() (n int64) {
	for _, w := range a.Waits {
		n += w.N
	}
	return n
}

func postsOf(m ActivityMinute) int64   { return m.Posts }
func answersOf(m ActivityMinute) int64 { return m.Answers }

// top is the end of the plot's scale: 1, 2 or 5 times a power of ten, and even.
func (a Activity) top() int64 {
	most := int64(2)
	for _, m := range a.Minutes {
		most = max(most, m.Posts, m.Answers)
	}
	for step := int64(1); ; step *= 10 {
		for _, n := range []int64{2, 4, 10} {
			if n*step >= most {
				return n * step
			}
		}
	}
}

// line is the path of a line through one count of each minute, in a box of this
// width whose scale ends above at y and stands on base.
func (a Activity) line(of func(ActivityMinute) int64, width, y, base float64, top int64) string {
	var b strings.Builder
	for i, m := range a.Minutes {
		x := 0.0
		if len(a.Minutes) > 1 {
			x = width * float64(i) / float64(len(a.Minutes)-1)
		}
		letter := "L"
		if i == 0 {
			letter = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", letter, x, base-(base-y)*float64(of(m))/float64(top))
	}
	return b.String()
}

func (a Activity) summary() string {
	posts, answers := a.sums()
	return fmt.Sprintf("Posts and answers a minute over the last hour: %d posts and %d answers in all, at most %d in a minute", posts, answers, a.peak())
}

func (a Activity) peak() int64 {
	var most int64
	for _, m := range a.Minutes {
		most = max(most, m.Posts, m.Answers)
	}
	return most
}

// bars are the times to answer as rectangles.
func (a Activity) bars() []bar {
	most := int64(1)
	for _, w := range a.Waits {
		most = max(most, w.N)
	}
	bars := make([]bar, len(a.Waits))
	width := 560.0 / float64(max(1, len(a.Waits)))
	for i, w := range a.Waits {
		h := 84 * float64(w.N) / float64(most)
		if w.N > 0 && h < 2 {
			h = 2
		}
		bars[i] = bar{X: fmt.Sprintf("%.1f", width*float64(i)), Y: fmt.Sprintf("%.1f", 96-h), W: fmt.Sprintf("%.1f", width-5), H: fmt.Sprintf("%.1f", h), Late: w.Seconds == 0 || w.Seconds > 120}
		if w.N > 0 && w.N == most {
			bars[i].High = true
		}
		if i%3 == 0 || w.Seconds == 0 {
			bars[i].Label = Seconds(w.Seconds)
		}
	}
	return bars
}

type bar struct {
	X, Y, W, H, Label string
	Late, High        bool
}

func (b bar) class() string {
	switch {
	case b.Late:
		return "bar late"
	case b.High:
		return "bar hi"
	}
	return "bar"
}

// Seconds are a bound of time in as few letters as will do; 0 is more than any.
func Seconds(n int) string {
	switch {
	case n == 0:
		return "more"
	case n < 60:
		return strconv.Itoa(n) + " s"
	case n < 3600 && n%60 == 0:
		return strconv.Itoa(n/60) + " min"
	case n < 3600:
		return Took(time.Duration(n) * time.Second)
	}
	return strconv.Itoa(n/3600) + " h"
}

// about is a duration as exact as it is known.
func about(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Second:
		return "under 1 s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Round(time.Second)/time.Second)) + " s"
	}
	return Took(d.Round(time.Second))
}

func (a Activity) waitSummary() string {
	if a.answered() == 0 {
		return "Time to answer: nothing was answered in the last hour"
	}
	return fmt.Sprintf("Time to answer: half within %s, nine in ten within %s", about(a.Half), about(a.Most))
}

func (a Activity) quiet() bool {
	posts, answers := a.sums()
	return posts == 0 && answers == 0
}

// nextWord is an action as people call it.
func nextWord(action string) string {
	switch action {
	case "onMailboxPost":
		return "answer a post"
	case "run":
		return "talk"
	case "onPosted":
		return "hand on"
	case "seatPost":
		return "answer"
	}
	return action
}

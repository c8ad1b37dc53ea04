package mailbox

import (
	"context"
	"fmt"
	"time"

	"postroom/domain/session"
)

// Tallies is what a transaction can do beside session.Tx so that what happens is
// counted where it happens.
type Tallies interface {
	// Tally adds n to what happened in the minute of at, and in all.
	Tally(ctx context.Context, organization string, at time.Time, what string, n int64) error
	// PostOf is the post that woke a run.
	PostOf(ctx context.Context, request string) (Delivered, bool, error)
}

// What is tallied.
const (
	TallyPosts    = "posts"    // lines of people and other flows
	TallyAnswers  = "answers"  // lines of seats
	TallyWaited   = "waited"   // milliseconds from posts to seats' lines in answer, in all
	TallyFailures = "failures" // requests that failed; the store's to count
	tallyWaited   = "waited<="
)

// Waits are the upper bounds, in seconds, between which times to answer are
// counted; what took longer than the last is counted apart.
var Waits = []int{1, 2, 3, 5, 8, 13, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800, 3600}

// TallyWait is what a time to answer is counted as.
func TallyWait(d time.Duration) string {
	for _, bound := range Waits {
		if d <= time.Duration(bound)*time.Second {
			return fmt.Sprintf("%s%d", tallyWaited, bound)
		}
	}
	return tallyWaited + "inf"
}

// tally counts a line. A transaction that keeps no tallies counts nothing.
func tally(t *session.Turn, line Line) error {
	keeper, ok := t.Tx().(Tallies)
	if !ok {
		return nil
	}
	ctx, organization, now := t.Context(), t.Session().Organization, t.Now()
	if !line.SeatAuthored {
		return keeper.Tally(ctx, organization, now, TallyPosts, 1)
	}
	if err := keeper.Tally(ctx, organization, now, TallyAnswers, 1); err != nil {
		return err
	}
	post, woken, err := keeper.PostOf(ctx, t.Request().Cause)
	if err != nil || !woken || post.Mailbox != t.Session().ID {
		return err
	}
	waited := now.Sub(post.MadeAt)
	if err := keeper.Tally(ctx, organization, now, TallyWaited, waited.Milliseconds()); err != nil {
		return err
	}
	return keeper.Tally(ctx, organization, now, TallyWait(waited), 1)
}

// Activity is what goes on in an organization.
type Activity struct {
	At       time.Time
	Runs     []ActiveRun // not ended, oldest first; the first 200
	Running  int         // of all
	Queue    []Queued    // by session, longest first; the first 50
	Queued   int         // of all
	Oldest   time.Time   // of the queue; zero when it is empty
	Minutes  []Minute    // the last hour, oldest first, without gaps
	Waits    []int64     // the last hour's answers by Waits, and one more
	Failures []session.Request
	Totals   map[string]int64 // all time, by what is tallied
}

// ActiveRun is a run with where it is and what it cost so far.
type ActiveRun struct {
	Run
	Mailbox string // that woke it, or empty
	Kind    string
	Session string
	By      string // who asked, where no post did
	Tokens  int
}

// Queued is what waits for its turn in one session.
type Queued struct {
	Session string
	Kind    string
	Next    string // the action that is next
	N       int
	Oldest  time.Time
}

// Minute counts what happened in one minute.
type Minute struct {
	At      time.Time
	Posts   int64
	Answers int64
}

// Journal is what a directory reads of activity.
type Journal interface {
	ActiveRuns(ctx context.Context, organization string, limit int) ([]ActiveRun, error)
	// Depths counts what is queued and what runs, and lists what is queued by session.
	Depths(ctx context.Context, organization string, limit int) (queue []Queued, queued, running int, err error)
	// Tallied gives the tallies from a minute on, by minute; the zero time is all time.
	Tallied(ctx context.Context, organization string, from time.Time) (map[time.Time]map[string]int64, error)
	// FailedLately lists requests that failed, newest first.
	FailedLately(ctx context.Context, organization string, limit int) ([]session.Request, error)
}

const (
	activeRuns   = 200
	queuesShown  = 50
	lastFailures = 20
)

// Activity reads what goes on now and went on in the last hour.
func (d *Directory) Activity(ctx context.Context, organization string, now time.Time) (a Activity, err error) {
	a.At = now
	if a.Runs, err = d.journal.ActiveRuns(ctx, organization, activeRuns); err != nil {
		return a, err
	}
	if a.Queue, a.Queued, a.Running, err = d.journal.Depths(ctx, organization, queuesShown); err != nil {
		return a, err
	}
	for _, q := range a.Queue {
		if a.Oldest.IsZero() || q.Oldest.Before(a.Oldest) {
			a.Oldest = q.Oldest
		}
	}
	first := now.Truncate(time.Minute).Add(-59 * time.Minute)
	counted, err := d.journal.Tallied(ctx, organization, first)
	if err != nil {
		return a, err
	}
	a.Waits = make([]int64, len(Waits)+1)
	for at := first; !at.After(now); at = at.Add(time.Minute) {
		what := counted[at.UTC()]
		a.Minutes = append(a.Minutes, Minute{At: at, Posts: what[TallyPosts], Answers: what[TallyAnswers]})
		for i := range a.Waits {
			a.Waits[i] += what[waitName(i)]
		}
	}
	total, err := d.journal.Tallied(ctx, organization, time.Time{})
	if err != nil {
		return a, err
	}
	a.Totals = total[time.Time{}]
	a.Failures, err = d.journal.FailedLately(ctx, organization, lastFailures)
	return a, err
}

func waitName(i int) string {
	if i == len(Waits) {
		return tallyWaited + "inf"
	}
	return fmt.Sprintf("%s%d", tallyWaited, Waits[i])
}

// WaitTotals are the all-time counts of times to answer, by Waits, and one more.
func (a Activity) WaitTotals() []int64 {
	all := make([]int64, len(Waits)+1)
	for i := range all {
		all[i] = a.Totals[waitName(i)]
	}
	return all
}

// Within is the time in which a share of the last hour's answers came, between 0
// and 1: as exact as the bounds of Waits. It is false where there were none, or
// where the share ends above the last bound.
func (a Activity) Within(share float64) (time.Duration, bool) {
	var all int64
	for _, n := range a.Waits {
		all += n
	}
	if all == 0 {
		return 0, false
	}
	want, sum, from := share*float64(all), 0.0, 0.0
	for i, bound := range Waits {
		n := float64(a.Waits[i])
		if n > 0 && sum+n >= want {
			part := (want - sum) / n
			return time.Duration((from + part*(float64(bound)-from)) * float64(time.Second)), true
		}
		sum, from = sum+n, float64(bound)
	}
	return 0, false
}

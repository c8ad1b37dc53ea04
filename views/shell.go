package views

import "time"

// Shell is what stands around every page.
type Shell struct {
	Title   string
	Theme   string // "", "light" or "dark"
	Who     string // the name the browser posts under
	Path    string // of this page, for links that come back
	Current string // "mailboxes", "seats", "activity" or empty
	Rail    Rail
	Assets  func(name string) string // the address of a static file
	Topics  string                   // what the page watches, as the query of /live; empty: nothing
	Epoch   string
	Banner  *Banner
	Details bool // the reader wants details shown
}

// Banner is a change of the whole page.
type Banner struct {
	Class string // "bad" or "wait"
	Text  string
	Alert bool
}

// Rail lists the mailboxes by team, at the side of every page.
type Rail struct {
	Teams   []RailTeam
	Current string // id of the mailbox shown
}

// RailTeam is one team's mailboxes.
type RailTeam struct {
	Name  string
	Boxes []RailBox
}

// RailBox is one of them.
type RailBox struct {
	ID      string
	Busy    bool
	Waiting int
}

// Home is the list of mailboxes.
type Home struct {
	Shell Shell
	Rows  HomeRows
	Seats []TeamSeats
}

// HomeRows are replaced whole when something moves.
type HomeRows struct {
	Teams []HomeTeam
	Now   time.Time
}

// HomeTeam is one team's mailboxes.
type HomeTeam struct {
	Name  string
	Seats int
	Boxes []HomeBox
}

// HomeBox is one row.
type HomeBox struct {
	ID          string
	Description string
	Last        *LastLine
	Busy        []string // seat ids
	Waiting     int
	Oldest      time.Time
}

// LastLine is the newest line of a mailbox, in short.
type LastLine struct {
	Writer string
	At     time.Time
	Text   string // plain, one line
}

// TeamSeats are the seats hired for a team.
type TeamSeats struct {
	Name  string
	Seats []SeatRow
}

// SeatRow is one of them.
type SeatRow struct {
	ID          string
	Description string
}

func (h HomeRows) waiting() (n int, oldest time.Time) {
	for _, t := range h.Teams {
		for _, b := range t.Boxes {
			n += b.Waiting
			if b.Waiting > 0 && (oldest.IsZero() || b.Oldest.Before(oldest)) {
				oldest = b.Oldest
			}
		}
	}
	return n, oldest
}

func (h HomeRows) atWork() int {
	n := 0
	for _, t := range h.Teams {
		for _, b := range t.Boxes {
			n += len(b.Busy)
		}
	}
	return n
}

func current(is bool) templAttrs {
	if is {
		return templAttrs{"aria-current": "page"}
	}
	return nil
}

// Team is a team's name as a heading.
func Team(name string) string {
	if name == "" {
		return "Organization"
	}
	return SeatName(name)
}

func alert(is bool) templAttrs {
	if is {
		return templAttrs{"role": "alert"}
	}
	return templAttrs{"role": "status"}
}

func nextTheme(now string) string {
	if now == "dark" {
		return "light"
	}
	return "dark"
}

func waitingWord(n int) string {
	if n == 1 {
		return "post waiting, since"
	}
	return "posts waiting, the oldest"
}

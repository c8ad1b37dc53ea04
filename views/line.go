package views

import (
	"strconv"
	"time"
)

// Line is one line of a transcript.
type Line struct {
	Seq      int64
	Writer   string // shown name
	Seat     bool   // a seat wrote it
	SeatID   string
	Signed   string // the author that a person's line claims, or empty
	Verified bool   // a sign-in stood behind the writer
	At       time.Time
	Rendered string // the body as RenderMarkdown made it, where it is remembered
	Body     string // Markdown
	Offline  bool   // a seat wrote it without a language model
	Status   PostStatus
}

func (l Line) id() string { return "line-" + strconv.FormatInt(l.Seq, 10) }

func (l Line) seq() string { return strconv.FormatInt(l.Seq, 10) }

func (l Line) mark() Mark {
	if l.Seat {
		return SeatMark(l.SeatID, "", false)
	}
	return PersonMark(l.Writer, "")
}

package views

import (
	"hash/fnv"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Mark is the sign of a person (round) or of a seat (square).
type Mark struct {
	Text string
	Seat bool
	Hue  string // "1" to "6", for seats
	Busy bool
	Size string // "", "m" or "s"
}

// SeatMark is the mark of a seat's id.
func SeatMark(id, size string, busy bool) Mark {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // never fails
	return Mark{Text: firstRunes(SeatName(id), 2), Seat: true, Hue: string(rune('1' + h.Sum32()%6)), Busy: busy, Size: size}
}

// PersonMark is the mark of a person's name.
func PersonMark(name, size string) Mark {
	fields := strings.FieldsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || r == '.' || r == '-' || r == '_' || r == '@' })
	text := ""
	for _, f := range fields {
		if r, _ := utf8.DecodeRuneInString(f); unicode.IsLetter(r) || unicode.IsDigit(r) {
			text += string(unicode.ToUpper(r))
		}
		if utf8.RuneCountInString(text) == 2 {
			break
		}
	}
	if text == "" {
		text = "?"
	}
	return Mark{Text: text, Size: size}
}

func (m Mark) class() string {
	class := "mark"
	if m.Seat {
		class += " seat"
	}
	if m.Size != "" {
		class += " " + m.Size
	}
	if m.Busy {
		class += " busy"
	}
	return class
}

// SeatName is what a seat is called on screen: the last part of its id, in words.
func SeatName(id string) string {
	name := id[strings.LastIndexByte(id, '.')+1:]
	name = strings.ReplaceAll(name, "-", " ")
	r, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(r)) + name[size:]
}

// LocalName is the last part of a mailbox's id.
func LocalName(id string) string { return id[strings.LastIndexByte(id, '.')+1:] }

func firstRunes(s string, n int) string {
	runes := []rune(s)
	return string(runes[:min(n, len(runes))])
}

// clock is a time of day in UTC, until the page shows the reader's own.
func clock(t time.Time) string { return t.UTC().Format("15:04") }

// instant is a time as the page's script reads it.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Took is a duration as people read it: 0:42, 2:14, 48 min, 5 h, 1 d.
func Took(d time.Duration) string {
	seconds := int(d / time.Second)
	switch {
	case seconds < 0:
		return "0:00"
	case seconds < 3600:
		return itoa(seconds/60) + ":" + pad(seconds%60)
	case seconds < 24*3600:
		return itoa(seconds/3600) + " h"
	}
	return itoa(seconds/86400) + " d"
}

func itoa(n int) string { return strconv.Itoa(n) }

func pad(n int) string {
	if n < 10 {
		return "0" + itoa(n)
	}
	return itoa(n)
}

// plural is "1 post", "2 posts".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if strings.HasSuffix(one, "x") {
		return itoa(n) + " " + one + "es"
	}
	return itoa(n) + " " + one + "s"
}

// Joined is names as people list them.
func Joined(names []string) string {
	switch n := len(names); n {
	case 0:
		return ""
	case 1:
		return names[0]
	default:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
}

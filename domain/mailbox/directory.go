package mailbox

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"postroom/domain/fault"
	"postroom/domain/session"
)

// Entry is one line of a transcript with its place in the mailbox's log.
type Entry struct {
	Seq     int64
	Request string
	Line    Line
}

// Reach is one delivery together with the run it woke and the line it led to.
type Reach struct {
	Delivered
	Run       *Run  // of a woken seat
	AnswerSeq int64 // of the first line that run posted in this mailbox; 0: none yet
}

// Run is a seat's run as a mailbox shows it.
type Run struct {
	Request      string
	Conversation string
	Seat         string // the seat's address
	Post         string // the line it was woken by, or empty
	PostSeq      int64
	Writer       string // of that line
	Status       session.Status
	Failure      *fault.Failure
	QueuedAt     time.Time
	StartedAt    time.Time
	FinishedAt   time.Time
}

// Overview is what the list of mailboxes shows of one.
type Overview struct {
	Last    *Entry // the newest line, or nil
	Busy    []Run  // seats at work, oldest first
	Waiting int    // posts that a run is still to answer
	Oldest  time.Time
}

// Trail is what a directory reads beside sessions and items.
type Trail interface {
	// Reaches lists the deliveries of posts, by post, in roster order.
	Reaches(ctx context.Context, organization, mailboxID string, posts []string) (map[string][]Reach, error)
	// Busy lists the runs not ended in children of mailboxes, oldest first; of one
	// mailbox when it is named.
	Busy(ctx context.Context, organization, mailboxID string) (map[string][]Run, error)
	// LastLines gives the newest post of each of these mailboxes that has one.
	LastLines(ctx context.Context, organization string, mailboxes []string) (map[string]session.Item, error)
	// CausedBy gives the newest request of any of the actions that each of these
	// requests caused, by the cause.
	CausedBy(ctx context.Context, organization string, causes []string, actions ...string) (map[string]session.Request, error)
	// PostOf is the post that woke a run.
	PostOf(ctx context.Context, request string) (Delivered, bool, error)
}

// Opened is a mailbox as it was opened, beside what its file says now.
type Opened struct {
	Kept
	ID       string
	Kind     string
	OpenedAt time.Time
	LastSeq  int64
	Declared Mailbox // what the file says now
	Changed  bool    // description, members or charter differ from what was kept
}

// Directory answers what screens and the inventory ask about mailboxes.
type Directory struct {
	bound   *Bound
	read    session.Reader
	trail   Trail
	journal Journal
}

// NewDirectory makes a directory of the mailboxes bound at this start.
func NewDirectory(bound *Bound, read session.Reader, trail interface {
	Trail
	Journal
}) *Directory {
	return &Directory{bound: bound, read: read, trail: trail, journal: trail}
}

// Declared lists the mailboxes bound at this start, in id order.
func (d *Directory) Declared() []Mailbox { return d.bound.Mailboxes() }

// Get is one open mailbox; ErrNotBound when nobody opened one by that id.
func (d *Directory) Get(ctx context.Context, organization, id string) (Opened, error) {
	s, found, err := d.read.Session(ctx, organization, id)
	if err != nil {
		return Opened{}, err
	}
	declared, isDeclared := d.bound.Get(id)
	kept, unreadable := parseKept(s.State)
	if !found || unreadable != nil || s.Parent != "" || !isDeclared && s.Kind != BuiltinKind {
		return Opened{}, ErrNotBound.With("mailbox", id)
	}
	o := Opened{Kept: kept, ID: id, Kind: s.Kind, OpenedAt: s.CreatedAt, LastSeq: s.LastSeq, Declared: declared}
	o.Changed = isDeclared && (declared.Description != kept.Description || declared.Charter != kept.Charter ||
		!slices.Equal(declared.Members, kept.Members))
	return o, nil
}

// Page picks lines of a transcript by seq. The zero value is the newest page.
type Page struct {
	After  int64 // lines after it, oldest first
	Before int64 // the newest lines before it
	Limit  int   // 1 to session.MaxPage
}

// Transcript is a page of lines, oldest first. Items that do not parse as a line
// are skipped.
func (d *Directory) Transcript(ctx context.Context, organization, id string, p Page) ([]Entry, error) {
	items, err := d.read.Items(ctx, session.ItemQuery{
		Organization: organization, Session: id, Components: []string{ComponentPost},
		After: p.After, Before: p.Before, Newest: p.After == 0, Limit: p.Limit,
	})
	if err != nil {
		return nil, fmt.Errorf("read the transcript of %s: %w", id, err)
	}
	entries := make([]Entry, 0, len(items))
	for _, item := range items {
		if e, ok := EntryOf(item); ok {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// EntryOf reads an item as a line; false when it is none.
func EntryOf(item session.Item) (Entry, bool) {
	e := Entry{Seq: item.Seq, Request: item.Request}
	if item.Component != ComponentPost || json.Unmarshal(item.Data, &e.Line) != nil {
		return Entry{}, false
	}
	return e, true
}

// Reaches tells, for each of these lines, who was told of it and what came of it.
func (d *Directory) Reaches(ctx context.Context, organization, id string, posts []string) (map[string][]Reach, error) {
	if len(posts) == 0 {
		return nil, nil
	}
	return d.trail.Reaches(ctx, organization, id, posts)
}

// FanOuts gives the fan-outs of posts, by the request that posted; one that is not
// there has none: a kind that tells nobody.
func (d *Directory) FanOuts(ctx context.Context, organization string, entries []Entry) (map[string]session.Request, error) {
	causes := make([]string, len(entries))
	for i, e := range entries {
		causes[i] = e.Request
	}
	return d.trail.CausedBy(ctx, organization, causes, actionPosted, actionRouted)
}

// Runs lists the seats at work for a mailbox, oldest first, with the writer whose
// post each is on.
func (d *Directory) Runs(ctx context.Context, organization, id string) ([]Run, error) {
	busy, err := d.trail.Busy(ctx, organization, id)
	if err != nil {
		return nil, err
	}
	runs := busy[id]
	writers := map[int64]string{}
	for i := range runs {
		seq := runs[i].PostSeq
		if seq == 0 {
			continue
		}
		if _, known := writers[seq]; !known {
			page, err := d.Transcript(ctx, organization, id, Page{Before: seq + 1, Limit: 1})
			if err != nil {
				return nil, err
			}
			for _, e := range page {
				writers[e.Seq] = e.Line.Writer()
			}
		}
		runs[i].Writer = writers[seq]
	}
	return runs, nil
}

// PostOf is the post that woke a run; false for one that no post woke.
func (d *Directory) PostOf(ctx context.Context, request string) (Delivered, bool, error) {
	return d.trail.PostOf(ctx, request)
}

// Failed lists a mailbox's newest requests that were refused or cancelled.
func (d *Directory) Failed(ctx context.Context, organization, id string, limit int) ([]session.Request, error) {
	return d.read.Requests(ctx, session.RequestQuery{
		Organization: organization, Session: id, Statuses: []session.Status{session.Failed, session.Cancelled}, Limit: limit,
	})
}

// Notices lists the failure items of a mailbox between two of its lines, and after
// the last with newest.
func (d *Directory) Notices(ctx context.Context, organization, id string, first, last int64, newest bool) ([]session.Item, error) {
	q := session.ItemQuery{Organization: organization, Session: id, Type: session.TypeFailure, After: max(0, first-1), Limit: session.MaxPage}
	if !newest {
		q.Before = last
	}
	return d.read.Items(ctx, q)
}

// Overviews tells of every declared mailbox what the list of them shows, by id.
func (d *Directory) Overviews(ctx context.Context, organization string) (map[string]Overview, error) {
	declared := d.bound.Mailboxes()
	ids := make([]string, len(declared))
	for i, m := range declared {
		ids[i] = m.ID
	}
	last, err := d.trail.LastLines(ctx, organization, ids)
	if err != nil {
		return nil, err
	}
	busy, err := d.trail.Busy(ctx, organization, "")
	if err != nil {
		return nil, err
	}
	all := make(map[string]Overview, len(ids))
	for _, id := range ids {
		o := Overview{Busy: busy[id]}
		if item, ok := last[id]; ok {
			if e, ok := EntryOf(item); ok {
				o.Last = &e
			}
		}
		posts := map[string]bool{}
		for _, run := range o.Busy {
			if run.Post == "" || posts[run.Post] {
				continue
			}
			posts[run.Post] = true
			o.Waiting++
			if o.Oldest.IsZero() || run.QueuedAt.Before(o.Oldest) {
				o.Oldest = run.QueuedAt
			}
		}
		all[id] = o
	}
	return all, nil
}

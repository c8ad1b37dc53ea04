package workforce

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"postroom/domain/board"
	"postroom/domain/mailbox"
	"postroom/domain/seat"
	"postroom/domain/session"
)

// The codes of what is legal but dead.
const (
	WarnNoWorker   = "member-without-worker"
	WarnUnread     = "document-nobody-reads"
	WarnUnattended = "board-unattended"
)

// Finding is one error or warning about a tree.
type Finding struct {
	Code    string `json:"code"`
	Kind    string `json:"kind"` // the load error's kind, or what found it: bind, hire, warning
	Path    string `json:"path"`
	Line    int    `json:"line"` // 0 when no line is to blame
	Message string `json:"message"`
}

// Report is what is wrong with a tree. Errors are only what makes serving refuse.
type Report struct {
	Mailboxes []string  `json:"mailboxes"` // ids that loaded and were not refused
	Errors    []Finding `json:"errors"`
	Warnings  []Finding `json:"warnings"`
}

// CheckOptions say what a tree is checked against.
type CheckOptions struct {
	// MailboxKinds are made once the workers are hired; without seats, nobody was.
	MailboxKinds func(hired *seat.Seats) map[string]mailbox.Kind
	SeatKinds    map[string]session.Kind
	Tools        []string
	Resources    map[string]any
}

// Checked is a tree that was read, bound and hired, as far as it could be.
type Checked struct {
	Report Report
	Bound  *mailbox.Bound // nil when binding refused
	Seats  *seat.Seats    // nil when hiring refused
}

// Check reads a tree, binds its mailboxes and hires its workers, and reports all
// that is wrong at once. The error is about the root only.
func Check(fsys fs.FS, o CheckOptions) (Checked, error) {
	tree, err := Read(fsys)
	if err != nil {
		return Checked{}, err
	}
	c := Checked{Report: Report{Mailboxes: []string{}, Errors: []Finding{}, Warnings: []Finding{}}}
	for _, e := range tree.Errors {
		c.Report.Errors = append(c.Report.Errors, Finding{Code: e.Kind, Kind: e.Kind, Path: e.Path, Line: e.Line, Message: e.Err.Error()})
	}
	c.Seats, err = seat.Hire(tree.Workers, seat.HireOptions{Kinds: o.SeatKinds, Tools: o.Tools})
	var hire *seat.HireError
	if errors.As(err, &hire) {
		for _, p := range hire.Problems {
			c.Report.Errors = append(c.Report.Errors, Finding{Code: p.Code, Kind: "hire", Path: p.Path, Line: p.Line, Message: named(p.SeatID, p.Reason)})
		}
	}
	refused := map[string]bool{}
	c.Bound, err = mailbox.Bind(tree.Mailboxes, mailbox.BindOptions{Kinds: o.kinds(c.Seats), Resources: o.Resources})
	var bind *mailbox.BindError
	if errors.As(err, &bind) {
		for _, p := range bind.Problems {
			refused[p.MailboxID] = true
			c.Report.Errors = append(c.Report.Errors, Finding{Code: p.Code, Kind: "bind", Path: p.Path, Line: p.Line, Message: named(p.MailboxID, p.Reason)})
		}
	}
	for _, r := range tree.Mailboxes {
		if !refused[r.ID] {
			c.Report.Mailboxes = append(c.Report.Mailboxes, r.ID)
		}
	}
	c.warn(tree)
	c.sort()
	return c, nil
}

func (o CheckOptions) kinds(hired *seat.Seats) map[string]mailbox.Kind {
	if o.MailboxKinds == nil {
		return nil
	}
	return o.MailboxKinds(hired)
}

// named puts the id before a reason that does not begin with a sentence of its own.
func named(id, why string) string {
	if id == "" {
		return why
	}
	return id + ": " + why
}

// warn notes what is legal but dead.
func (c *Checked) warn(tree Tree) {
	if c.Bound != nil {
		workers := map[string]bool{}
		for _, r := range tree.Workers {
			workers[r.ID] = true
		}
		for _, m := range c.Bound.Mailboxes() {
			c.warnMembers(m, workers)
			for _, name := range m.Boards {
				c.warning(m.Source, "boards", WarnUnattended, fmt.Sprintf("%s: no hired worker declares board %q (%s), so tasks on it wait for people", m.ID, name, board.LedgerID(m.ID, name)))
			}
		}
	}
	if c.Seats != nil {
		c.warnDocuments(tree)
	}
}

func (c *Checked) warnMembers(m mailbox.Mailbox, workers map[string]bool) {
	for _, member := range m.Members {
		if !workers[member] {
			c.warning(m.Source, "members", WarnNoWorker, fmt.Sprintf("%s: member %q has no worker, so nobody hears for it", m.ID, member))
		}
	}
}

// warnDocuments notes documents that no seat's model can be given.
func (c *Checked) warnDocuments(tree Tree) {
	read := map[string]bool{}
	for _, s := range c.Seats.All() {
		for _, d := range s.Documents {
			read[d.Path] = true
		}
	}
	for _, r := range tree.Workers {
		for _, d := range r.Documents {
			if !read[d.Path] {
				read[d.Path] = true // once
				c.Report.Warnings = append(c.Report.Warnings, Finding{Code: WarnUnread, Kind: "warning", Path: d.Path,
					Message: fmt.Sprintf("no seat can read %s: mark it llmReadable: true, or let a worker in its reach name it", d.Ref)})
			}
		}
	}
}

func (c *Checked) warning(s *mailbox.Source, key, code, message string) {
	f := Finding{Code: code, Kind: "warning", Message: message}
	if s != nil {
		f.Path, f.Line = s.Path, s.Line(key)
	}
	c.Report.Warnings = append(c.Report.Warnings, f)
}

func (c *Checked) sort() {
	order := func(a, b Finding) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line)) }
	slices.SortStableFunc(c.Report.Errors, order)
	slices.SortStableFunc(c.Report.Warnings, order)
	slices.Sort(c.Report.Mailboxes)
}

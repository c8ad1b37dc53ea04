package mailbox

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postroom/domain/board"
	"postroom/domain/session"
)

// Mailbox is one bound record.
type Mailbox struct {
	ID           string
	Kind         string
	Description  string
	Members      []string
	Charter      string
	Boards       []string // local names, sorted
	BoardActions bool
	Fallback     string // of the routing; empty when not routed
	Source       *Source
}

// Template is a record marked mintFor: what every room of a collection is made from.
type Template struct {
	MailboxID  string
	Collection string
	Seats      []string
	Charter    string
}

// BindOptions say what records are bound to.
type BindOptions struct {
	// Kinds are the kinds passed at boot, by name. The built-in is added when it
	// is not among them.
	Kinds map[string]Kind
	// Resources are the organization's collections, by name, as templates may name
	// them; the value is the collection's own.
	Resources map[string]any
}

// Bound is a roster of records that passed every check.
type Bound struct {
	mailboxes []Mailbox
	templates []Template
	kinds     []Kind
}

// Mailboxes lists them, in id order. Templates are not among them.
func (b *Bound) Mailboxes() []Mailbox { return b.mailboxes }

// Templates lists the records that are marked mintFor.
func (b *Bound) Templates() []Template { return b.templates }

// Kinds lists the distinct kinds in use, by name.
func (b *Bound) Kinds() []Kind { return b.kinds }

// Get is the mailbox of that id.
func (b *Bound) Get(id string) (Mailbox, bool) {
	i, found := slices.BinarySearchFunc(b.mailboxes, id, func(m Mailbox, id string) int { return cmp.Compare(m.ID, id) })
	if !found {
		return Mailbox{}, false
	}
	return b.mailboxes[i], true
}

// Bind checks all records in one pass (the seed's mailboxInstances). The error is
// a *BindError that lists every independent problem of every record; then nothing
// is bound.
func Bind(records []Record, o BindOptions) (*Bound, error) {
	kinds := maps.Clone(o.Kinds)
	if kinds == nil {
		kinds = map[string]Kind{}
	}
	if _, own := kinds[BuiltinKind]; !own {
		kinds[BuiltinKind] = NewKind(KindOptions{})
	}
	b := &binder{kinds: kinds, resources: o.Resources}
	if _, old := kinds[preRenameKind]; old {
		b.problems = append(b.problems, Problem{
			Code: CodePreRenameKind, Reason: "a kind can't be called channel: channels were renamed to mailboxes; call it something else",
		})
	}
	sorted := slices.Clone(records)
	slices.SortStableFunc(sorted, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	for i, r := range sorted {
		b.record(r, i > 0 && sorted[i-1].ID == r.ID)
	}
	b.collisions()
	b.rivals()
	if len(b.problems) > 0 {
		return nil, &BindError{Problems: b.problems, Records: len(records)}
	}
	return b.bound(), nil
}

// binder gathers what a roster declares, and its problems.
type binder struct {
	kinds     map[string]Kind
	resources map[string]any
	problems  []Problem
	mailboxes []Mailbox
	templates []Template
	sources   []*Source // of templates
}

func (b *binder) bound() *Bound {
	used := map[string]Kind{}
	for _, m := range b.mailboxes {
		used[m.Kind] = b.kinds[m.Kind]
	}
	if len(b.templates) > 0 {
		used[BuiltinKind] = b.kinds[BuiltinKind]
	}
	all := &Bound{mailboxes: b.mailboxes, templates: b.templates}
	for _, name := range slices.Sorted(maps.Keys(used)) {
		all.kinds = append(all.kinds, used[name])
	}
	return all
}

// add notes a problem of a record.
func (b *binder) add(r Record, key, code, format string, args ...any) {
	p := Problem{MailboxID: r.ID, Key: key, Code: code, Reason: fmt.Sprintf(format, args...)}
	if r.Source != nil {
		p.Path, p.Line = r.Source.Path, r.Source.Line(key)
	}
	b.problems = append(b.problems, p)
}

// record checks one record, every key on its own.
func (b *binder) record(r Record, twice bool) {
	if twice {
		b.add(r, "", CodeDuplicateID, "is declared twice; an id is a session's id, so rename one of the folders")
		return
	}
	b.keys(r)
	m := Mailbox{ID: r.ID, Source: r.Source, Kind: BuiltinKind}
	m.Description = b.text(r, "description", CodeDescription)
	m.Charter = b.charter(r)
	members, membersGood := b.names(r, "members", CodeMembers)
	m.Members = members
	if _, template := r.Declared["mintFor"]; template {
		b.template(r, m, membersGood)
		return
	}
	if membersGood {
		b.members(r, members)
	}
	m.Boards = b.boards(r)
	m.BoardActions = b.boardActions(r)
	m.Kind = b.flow(r)
	m.Fallback = b.routing(r, m, membersGood)
	if k := b.kinds[m.Kind]; k != nil && len(m.Boards) > 0 && !isBuiltin(k) {
		b.add(r, "boards", CodeBoardsOnOwnKind, "kind %q cannot hold a board: leave boards out, or let the mailbox run on the built-in kind", m.Kind)
	}
	b.mailboxes = append(b.mailboxes, m)
}

// text reads a key that holds text when it is there.
func (b *binder) text(r Record, key, code string) string {
	value, there := r.Declared[key]
	if !there {
		return ""
	}
	text, ok := value.(string)
	if !ok {
		b.add(r, key, code, "%s must be text, not %s", key, describe(value))
	}
	return text
}

func (b *binder) charter(r Record) string {
	instructions := b.text(r, "instructions", CodeInstructions)
	if strings.TrimSpace(r.Body) == "" {
		return instructions
	}
	if _, both := r.Declared["instructions"]; both {
		b.add(r, "instructions", CodeTwoCharters, "instructions stands beside a body, and neither comes before the other; keep the body")
	}
	return r.Body
}

// names reads a key that holds a list of names when it is there.
func (b *binder) names(r Record, key, code string) ([]string, bool) {
	value, there := r.Declared[key]
	if !there {
		return nil, true
	}
	list, ok := value.([]any)
	if !ok {
		if plain, isPlain := value.([]string); isPlain {
			return plain, true
		}
		b.add(r, key, code, "%s must be a list of names, not %s", key, describe(value))
		return nil, false
	}
	names := make([]string, 0, len(list))
	for _, one := range list {
		name, ok := one.(string)
		if !ok {
			b.add(r, key, code, "%s must be a list of names; %v is %s", key, one, describe(one))
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

func (b *binder) members(r Record, members []string) {
	seen := map[string]bool{}
	for _, m := range members {
		switch {
		case strings.TrimSpace(m) == "":
			b.add(r, "members", CodeEmptyMember, "members lists an empty name; take it out")
		case seen[m]:
			b.add(r, "members", CodeDuplicateMember, "members lists %q twice; take one out", m)
		}
		seen[m] = true
	}
}

func (b *binder) boards(r Record) []string {
	names, _ := b.names(r, "boards", CodeBoards)
	seen := map[string]bool{}
	for _, name := range names {
		if err := board.CheckName(name); err != nil {
			b.add(r, "boards", CodeBoardName, "%v", err)
		} else if seen[name] {
			b.add(r, "boards", CodeDuplicateBoard, "boards lists %q (%s) twice; take one out", name, board.LedgerID(r.ID, name))
		}
		seen[name] = true
	}
	return slices.Sorted(slices.Values(names))
}

func (b *binder) boardActions(r Record) bool {
	value, there := r.Declared["boardActions"]
	if !there {
		return false
	}
	on, ok := value.(bool)
	if !ok {
		b.add(r, "boardActions", CodeBoardActions, "boardActions is a switch: true or false, not %s", describe(value))
	}
	return on
}

// flow gives the kind that a record runs on; it never falls back.
func (b *binder) flow(r Record) string {
	value, there := r.Declared["flow"]
	if !there {
		return BuiltinKind
	}
	name, ok := value.(string)
	if !ok || strings.TrimSpace(name) == "" {
		b.add(r, "flow", CodeFlow, "flow must name a kind, and %s names none; leave it out for the built-in", describe(value))
		return ""
	}
	kind, known := b.kinds[name]
	if !known {
		b.add(r, "flow", CodeUnknownFlow, "flow names kind %q, which was not passed; these were: %s", name, strings.Join(slices.Sorted(maps.Keys(b.kinds)), ", "))
		return ""
	}
	if kind.Name() != name {
		b.add(r, "flow", CodeKindName, "the kind passed as %q calls itself %q; pass it under its own name", name, kind.Name())
		return ""
	}
	return name
}

// collisions refuses boards whose actions would have the same name.
func (b *binder) collisions() {
	type place struct {
		mailbox Mailbox
		board   string
	}
	bySuffix := map[string][]place{}
	for _, m := range b.mailboxes {
		for _, name := range slices.Compact(slices.Clone(m.Boards)) {
			suffix := board.ActionSuffix(board.LedgerID(m.ID, name))
			bySuffix[suffix] = append(bySuffix[suffix], place{m, name})
		}
	}
	for _, suffix := range slices.Sorted(maps.Keys(bySuffix)) {
		places := bySuffix[suffix]
		opted := slices.IndexFunc(places, func(p place) bool { return p.mailbox.BoardActions })
		if len(places) < 2 || opted < 0 {
			continue
		}
		other := places[0]
		if opted == 0 {
			other = places[1]
		}
		own := places[opted]
		b.add(Record{ID: own.mailbox.ID, Source: own.mailbox.Source}, "boardActions", CodeActionCollision,
			"the actions of board %q of %s and of board %q of %s would both end in %q; rename a mailbox or a board",
			own.board, own.mailbox.ID, other.board, other.mailbox.ID, suffix)
	}
}

// isBuiltin reports whether a kind is the one this package makes.
func isBuiltin(k Kind) bool {
	_, ok := k.(*builtin)
	return ok
}

// describe says what a value is, for a person.
func describe(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case string:
		if strings.TrimSpace(v) == "" {
			return "blank text"
		}
		return fmt.Sprintf("the text %q", v)
	case bool:
		return fmt.Sprintf("%v", v)
	case []any:
		return "a list"
	case map[string]any:
		return "a mapping"
	}
	return fmt.Sprintf("the number %v", value)
}

var _ Kind = session.Kind{}

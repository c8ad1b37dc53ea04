package seat

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postroom/domain/session"
)

// AgentKind is the built-in kind that a worker runs on unless its record names another.
const AgentKind = "agent"

// hearEntry is the internal action that makes a kind hear posts.
const hearEntry = "onMailboxPost"

// The codes of what hiring refuses.
const (
	CodeDuplicateID     = "duplicate-worker"
	CodeFlow            = "invalid-flow"
	CodeUnknownFlow     = "unknown-flow"
	CodeKindName        = "kind-name-mismatch"
	CodePreRenameKind   = "pre-rename-kind"
	CodePreRenameName   = "pre-rename-name"
	CodeRefusedKey      = "refused-key"
	CodeUnknownSetting  = "unknown-setting"
	CodeInvalidSetting  = "invalid-setting"
	CodeTwoInstructions = "body-beside-instructions"
	CodeUnknownTool     = "unknown-tool"
	CodeUnknownDomain   = "unknown-discovery-domain"
	CodeNoDocument      = "document-out-of-reach"
	CodeAmbiguous       = "document-ambiguous"
	CodeNoSkill         = "skill-not-held"
)

// Problem is one thing that hiring refuses.
type Problem struct {
	SeatID string
	Key    string
	Code   string
	Reason string
	Path   string
	Line   int
}

// HireError lists every problem of every record. Nobody was hired.
type HireError struct {
	Problems []Problem
	Records  int
}

// Error says how many of how many were refused, then one line a problem.
func (e *HireError) Error() string {
	refused := map[string]bool{}
	for _, p := range e.Problems {
		refused[p.SeatID] = true
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d workers were refused:", len(refused), e.Records)
	for _, p := range e.Problems {
		fmt.Fprintf(&b, "\n%s: %s: %s", p.SeatID, p.Code, p.Reason)
	}
	return b.String()
}

// HireOptions say what records are hired onto.
type HireOptions struct {
	// Kinds are the kinds of one's own, by name. The built-in agent kind is always there.
	Kinds map[string]session.Kind
	// Tools are the names of the tools that a worker may list.
	Tools []string
	// Organization and Owner pin the seats hired here; empty is shared by all.
	Organization string
	Owner        string
}

// Seat is a hired worker.
type Seat struct {
	ID           string // the name that members: lists
	Kind         string
	Description  string // what a route reads; its own model never sees it
	Instructions string
	TeamText     string
	Model        string
	Tools        []string
	Documents    []Document // those its model may be given
	Skills       Skills     // those it may take up
	Organization string     // pinned to; empty for any
	Owner        string     // pinned to; empty for any
	Path         string     // of its file
	Hears        bool       // its kind hears posts
}

// Address is what the seat is known by among all seats; its conversations carry it.
func (s Seat) Address() string {
	switch {
	case s.Owner != "":
		return s.Organization + ".~" + s.Owner + "." + s.ID
	case s.Organization != "":
		return s.Organization + "." + s.ID
	}
	return s.ID
}

// Hire makes seats of records (the seed's hireWorkforce). The error is a
// *HireError that lists every problem of every record; then nobody is hired.
func Hire(workers []Record, o HireOptions) (*Seats, error) {
	h := &hirer{options: o}
	if _, old := o.Kinds["channel"]; old {
		h.problems = append(h.problems, Problem{Code: CodePreRenameKind, Reason: "a kind can't be called channel: channels were renamed to mailboxes; call it something else"})
	}
	sorted := slices.Clone(workers)
	slices.SortStableFunc(sorted, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	for i, r := range sorted {
		if i > 0 && sorted[i-1].ID == r.ID {
			h.add(r, "", CodeDuplicateID, "is declared twice; rename one of the folders")
			continue
		}
		h.record(r)
	}
	if len(h.problems) > 0 {
		return nil, &HireError{Problems: h.problems, Records: len(workers)}
	}
	return &Seats{all: h.seats}, nil
}

type hirer struct {
	options  HireOptions
	problems []Problem
	seats    []Seat
}

func (h *hirer) add(r Record, key, code, format string, args ...any) {
	p := Problem{SeatID: r.ID, Key: key, Code: code, Reason: fmt.Sprintf(format, args...)}
	if r.Source != nil {
		p.Path, p.Line = r.Source.Path, r.Source.Line(key)
	}
	h.problems = append(h.problems, p)
}

func (h *hirer) record(r Record) {
	s := Seat{ID: r.ID, TeamText: r.TeamText, Organization: h.options.Organization, Owner: h.options.Owner}
	if r.Source != nil {
		s.Path = r.Source.Path
	}
	s.Kind, s.Hears = h.flow(r)
	s.Description, _ = r.Declared["description"].(string)
	h.refused(r)
	if s.Kind == AgentKind {
		h.settings(r)
	}
	s.Instructions = h.instructions(r)
	s.Model = h.text(r, "model")
	s.Tools = h.tools(r)
	h.discover(r)
	s.Documents = h.documents(r)
	if s.Kind == AgentKind {
		s.Skills = h.skills(r)
	}
	h.seats = append(h.seats, s)
}

func (h *hirer) flow(r Record) (kind string, hears bool) {
	value, there := r.Declared["flow"]
	if !there {
		return AgentKind, true
	}
	name, ok := value.(string)
	if !ok || strings.TrimSpace(name) == "" {
		h.add(r, "flow", CodeFlow, "flow must name a kind; leave it out for the built-in agent")
		return "", false
	}
	if name == AgentKind {
		return AgentKind, true
	}
	k, known := h.options.Kinds[name]
	if !known {
		names := append(slices.Sorted(maps.Keys(h.options.Kinds)), AgentKind)
		h.add(r, "flow", CodeUnknownFlow, "flow names kind %q, which was not passed; these are there: %s", name, strings.Join(names, ", "))
		return "", false
	}
	if k.Name() != name {
		h.add(r, "flow", CodeKindName, "the kind passed as %q calls itself %q; pass it under its own name", name, k.Name())
		return "", false
	}
	_, hears = k.Internal(hearEntry)
	return name, hears
}

// refusedKeys can't be declared on any kind.
var refusedKeys = []string{"persona", "seatSkills", "teamInstructions", "id", "system"}

func (h *hirer) refused(r Record) {
	for _, key := range refusedKeys {
		if _, there := r.Declared[key]; there {
			h.add(r, key, CodeRefusedKey, "%s can't be declared by a worker; take it out", key)
		}
	}
}

// settingKeys are those of the built-in kind. The list is closed.
var settingKeys = []string{"description", "flow", "instructions", "model", "tools", "skills", "references", "resources", "discover"}

func (h *hirer) settings(r Record) {
	for _, key := range slices.Sorted(maps.Keys(r.Declared)) {
		if !slices.Contains(settingKeys, key) && !slices.Contains(refusedKeys, key) {
			h.add(r, key, CodeUnknownSetting, "%q is not a setting of the agent kind; these are: %s", key, strings.Join(settingKeys, ", "))
		}
	}
}

func (h *hirer) instructions(r Record) string {
	text := h.text(r, "instructions")
	if strings.TrimSpace(r.Body) == "" {
		return text
	}
	if _, both := r.Declared["instructions"]; both {
		h.add(r, "instructions", CodeTwoInstructions, "instructions stands beside a body, and neither comes before the other; keep the body")
	}
	return r.Body
}

func (h *hirer) text(r Record, key string) string {
	value, there := r.Declared[key]
	if !there {
		return ""
	}
	text, ok := value.(string)
	if !ok || strings.TrimSpace(text) == "" {
		h.add(r, key, CodeInvalidSetting, "%s must be text that is not blank", key)
	}
	return text
}

// names reads a list of names; nil when the key is not there.
func (h *hirer) names(r Record, key string) []string {
	value, there := r.Declared[key]
	if !there {
		return nil
	}
	list, ok := value.([]any)
	names := make([]string, 0, len(list))
	for _, one := range list {
		name, isText := one.(string)
		ok = ok && isText && name != ""
		names = append(names, name)
	}
	if !ok {
		h.add(r, key, CodeInvalidSetting, "%s must be a list of names", key)
		return []string{}
	}
	return names
}

func (h *hirer) tools(r Record) []string {
	names := h.names(r, "tools")
	for _, name := range names {
		switch {
		case name == "post-to-channel":
			h.add(r, "tools", CodePreRenameName, "post-to-channel is called post-to-mailbox since channels were renamed; write the new name")
		case !slices.Contains(h.options.Tools, name) && r.Declared["flow"] == nil:
			h.add(r, "tools", CodeUnknownTool, "no tool is called %q; these are there: %s", name, strings.Join(slices.Sorted(slices.Values(h.options.Tools)), ", "))
		}
	}
	return names
}

// discoveryDomains are what discover: may narrow to.
var discoveryDomains = []string{"seats", "mailboxes", "skills", "resources"}

func (h *hirer) discover(r Record) {
	for _, name := range h.names(r, "discover") {
		switch {
		case name == "channels":
			h.add(r, "discover", CodePreRenameName, "channels are called mailboxes since they were renamed; write the new name")
		case !slices.Contains(discoveryDomains, name):
			h.add(r, "discover", CodeUnknownDomain, "%q is no discovery domain; these are: %s", name, strings.Join(discoveryDomains, ", "))
		}
	}
}

// documents gives those that the seat's model may be given: in its reach, not
// narrowed away, and marked readable.
func (h *hirer) documents(r Record) []Document {
	var all []Document
	for _, folder := range []string{"references", "resources"} {
		var reach []Document
		for _, d := range r.Documents {
			if d.Folder == folder {
				reach = append(reach, d)
			}
		}
		if _, narrowed := r.Declared[folder]; narrowed {
			reach = h.narrow(r, folder, reach)
		}
		for _, d := range reach {
			if d.Readable {
				all = append(all, d)
			}
		}
	}
	return all
}

func (h *hirer) narrow(r Record, folder string, reach []Document) []Document {
	var kept []Document
	for _, name := range h.names(r, folder) {
		var found []Document
		for _, d := range reach {
			if d.Name == name || d.Ref == name {
				found = append(found, d)
			}
		}
		switch len(found) {
		case 0:
			h.add(r, folder, CodeNoDocument, "%s names %q, which this worker can't reach; name one at or above its own folder", folder, name)
		case 1:
			kept = append(kept, found[0])
		default:
			h.add(r, folder, CodeAmbiguous, "%s names %q, and %d documents within reach are called so; write its full ref, such as %s", folder, name, len(found), found[0].Ref)
		}
	}
	return kept
}

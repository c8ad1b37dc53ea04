package mailbox

// Record is one MAILBOX.md: an id from the folders, the frontmatter exactly as
// written, and the charter below it, verbatim.
type Record struct {
	ID       string
	Declared map[string]any
	Body     string
	// Source says where the record stands, for whoever reports problems; nil for a
	// record made in code.
	Source *Source
}

// Source is a file and the lines of its frontmatter's keys.
type Source struct {
	Path  string         // slash-separated, relative to the tree's root
	Lines map[string]int // from 1
}

// Line is the line of a key, or 1.
func (s *Source) Line(key string) int {
	if s == nil {
		return 0
	}
	if line := s.Lines[key]; line > 0 {
		return line
	}
	return 1
}

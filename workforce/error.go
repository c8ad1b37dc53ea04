package workforce

import (
	"fmt"
	"io/fs"
)

// The kinds of load errors.
const (
	MailboxLoadFailed    = "mailbox-load-failed"
	WorkerLoadFailed     = "worker-load-failed"
	TeamLoadFailed       = "team-load-failed"
	DocumentLoadFailed   = "document-load-failed"
	SkillLoadFailed      = "skill-load-failed"
	FolderWhereFile      = "folder-where-file-belongs"
	RefusedDeclaration   = "refused-declaration"
	UnreadableSlot       = "unreadable-slot"
	PreRenameRecord      = "pre-rename-record"
	maxFrontmatterBytes  = 64 << 10
	maxFileBytes         = 1 << 20
	maxFlowDepth         = 32
	maxFrontmatterValues = 10_000
)

// LoadError is one folder that should have produced something and did not. The
// rest of the tree loads anyway.
type LoadError struct {
	Kind string // names the condition
	Path string // slash-separated, relative to the root; not a path to open
	Line int    // in the file, when one line is to blame; else 0
	Err  error
}

// Error is the path, the kind and the reason.
func (e LoadError) Error() string { return fmt.Sprintf("%s: %s: %v", e.Path, e.Kind, e.Err) }

// Unwrap is the reason.
func (e LoadError) Unwrap() error { return e.Err }

// failed makes a load error of a file's trouble, with its line if it has one.
func failed(kind, path string, err error) LoadError {
	e := LoadError{Kind: kind, Path: path, Err: err}
	if at, ok := err.(*lineError); ok { //nolint:errorlint // made by this package, never wrapped.
		e.Line = at.line
	}
	return e
}

// lineError blames a line of a file.
type lineError struct {
	file string
	line int
	text string
}

func (e *lineError) Error() string { return fmt.Sprintf("%s line %d: %s", e.file, e.line, e.text) }

// isLink reports whether an entry is a symbolic link.
func isLink(mode fs.FileMode) bool { return mode&fs.ModeSymlink != 0 }

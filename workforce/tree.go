package workforce

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"

	"postroom/domain/mailbox"
	"postroom/domain/seat"
)

// Tree is all that a declared tree holds, and what could not be read of it.
type Tree struct {
	Mailboxes []mailbox.Record
	Workers   []seat.Record
	Errors    []LoadError
}

// Read reads a whole tree. The error is about the root only; everything else that
// is wrong is in Errors, by path.
func Read(fsys fs.FS) (Tree, error) {
	if err := checkRoot(fsys, "the root"); err != nil {
		return Tree{}, err
	}
	w := &walker{fsys: fsys}
	teams := w.teams()
	t := Tree{Mailboxes: w.mailboxes(teams), Workers: w.workers(teams)}
	if old := "flows/channels"; w.there(old) {
		w.fail(PreRenameRecord, old, errors.New("channels were renamed to mailboxes, and the old kinds folder is not read; rename it to flows/mailboxes"))
	}
	t.Errors = w.errors
	slices.SortStableFunc(t.Errors, func(a, b LoadError) int { return cmp.Compare(a.Path, b.Path) })
	return t, nil
}

// ReadWorkers reads the worker records of a tree, organization seats first.
func ReadWorkers(fsys fs.FS) ([]seat.Record, []LoadError, error) {
	if err := checkRoot(fsys, "the root"); err != nil {
		return nil, nil, err
	}
	w := &walker{fsys: fsys}
	return w.workers(w.teams()), w.errors, nil
}

package workforce

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"postroom/domain/mailbox"
)

// ReadMailboxes reads the mailbox records of a tree (the seed's
// readMailboxesDirectory). A folder that should have produced a mailbox and did
// not is a LoadError, and the rest load anyway. The error is about the root only.
// Reading opens nothing.
func ReadMailboxes(fsys fs.FS) ([]mailbox.Record, []LoadError, error) {
	if err := checkRoot(fsys, "the root"); err != nil {
		return nil, nil, err
	}
	w := &walker{fsys: fsys}
	records := w.mailboxes(w.teams())
	return records, w.errors, nil
}

func (w *walker) mailboxes(teams []string) []mailbox.Record {
	var records []mailbox.Record
	for _, team := range teams {
		w.channels(team)
		slot := path.Join("teams", team, "mailboxes")
		for _, e := range w.slot(slot) {
			at := path.Join(slot, e.Name())
			if !w.folder(MailboxLoadFailed, at) {
				continue
			}
			if r, ok := w.mailbox(team, e.Name(), at); ok {
				records = append(records, r)
			}
		}
	}
	return records
}

func (w *walker) mailbox(team, name, at string) (mailbox.Record, bool) {
	for what, checked := range map[string]string{"team folder": team, "mailbox folder": name} {
		if err := mailbox.CheckName(what, checked); err != nil {
			w.fail(MailboxLoadFailed, at, err)
			return mailbox.Record{}, false
		}
	}
	if old := path.Join(at, "CHANNEL.md"); w.there(old) {
		w.fail(PreRenameRecord, old, fmt.Errorf("channels were renamed to mailboxes, and the old record is not read; move it to %s", path.Join(at, "MAILBOX.md")))
		return mailbox.Record{}, false
	}
	raw, err := w.file(path.Join(at, "MAILBOX.md"))
	if errors.Is(err, errMissing) {
		err = fmt.Errorf("Mailbox folder %q has no MAILBOX.md. A mailbox folder declares one mailbox, and every mailbox is a MAILBOX.md. "+ //nolint:staticcheck // a sentence for people.
			"Different behaviour is a different kind: pass one at boot and name it in flow:", name)
	}
	if err != nil {
		w.fail(MailboxLoadFailed, at, err)
		return mailbox.Record{}, false
	}
	p, err := parse("MAILBOX.md", raw)
	if err == nil {
		err = described("MAILBOX.md", p)
	}
	if err != nil {
		w.fail(MailboxLoadFailed, at, err)
		return mailbox.Record{}, false
	}
	if _, declared := p.declared["system"]; declared {
		w.fail(RefusedDeclaration, at, &lineError{"MAILBOX.md", p.lines["system"],
			fmt.Sprintf("in folder %q declares system:, which can't be declared: where a mailbox stands in the tree decides that; take it out", name)})
		return mailbox.Record{}, false
	}
	return mailbox.Record{
		ID: team + "." + name, Declared: p.declared, Body: p.body,
		Source: &mailbox.Source{Path: path.Join(at, "MAILBOX.md"), Lines: p.lines},
	}, true
}

// described demands the one key that every file needs.
func described(file string, p page) error {
	text, ok := p.declared["description"].(string)
	if ok && strings.TrimSpace(text) != "" {
		return nil
	}
	return &lineError{file, max(1, p.lines["description"]), "description must be text that is not empty; say in one line what this is for"}
}

// channels reports what a team's folder from before the rename holds.
func (w *walker) channels(team string) {
	slot := path.Join("teams", team, "channels")
	info, err := fs.Lstat(w.fsys, slot)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	found := false
	if err == nil && info.IsDir() {
		entries, _ := fs.ReadDir(w.fsys, slot) //nolint:errcheck // one that cannot be listed is reported whole, below.
		for _, e := range entries {
			old := path.Join(slot, e.Name(), "CHANNEL.md")
			if e.IsDir() && w.there(old) {
				found = true
				w.fail(PreRenameRecord, old, fmt.Errorf("channels were renamed to mailboxes, and the old record is not read; move it to %s",
					path.Join("teams", team, "mailboxes", e.Name(), "MAILBOX.md")))
			}
		}
	}
	if !found {
		w.fail(PreRenameRecord, slot, fmt.Errorf("channels were renamed to mailboxes, and this folder is not read; rename it to %s", path.Join("teams", team, "mailboxes")))
	}
}

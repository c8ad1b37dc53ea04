package workforce

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
)

// junk is what systems and editors drop; it is passed over at every level.
func junk(name string) bool { return name == ".DS_Store" || name == "Thumbs.db" }

// walker gathers the load errors of one walk.
type walker struct {
	fsys   fs.FS
	errors []LoadError
}

func (w *walker) fail(kind, at string, err error) {
	w.errors = append(w.errors, failed(kind, at, err))
}

// slot lists a structural folder, sorted bytewise. One that is absent is no error;
// one that is a link, no folder, or cannot be listed is.
func (w *walker) slot(at string) []fs.DirEntry {
	info, err := fs.Lstat(w.fsys, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		w.fail(UnreadableSlot, at, fmt.Errorf("the folder cannot be looked at: %w", reason(err)))
		return nil
	case isLink(info.Mode()):
		w.fail(UnreadableSlot, at, errors.New("the folder is a symbolic link, and links are never followed; put the folder itself here"))
		return nil
	case !info.IsDir():
		w.fail(UnreadableSlot, at, errors.New("a folder belongs here, and this is a file"))
		return nil
	}
	entries, err := fs.ReadDir(w.fsys, at)
	if err != nil {
		w.fail(UnreadableSlot, at, fmt.Errorf("the folder cannot be listed: %w", reason(err)))
		return nil
	}
	kept := entries[:0]
	for _, e := range entries {
		if !junk(e.Name()) {
			kept = append(kept, e)
		}
	}
	return kept
}

// teams lists the team folders. One that is a link or cannot be looked at is reported.
func (w *walker) teams() []string {
	var names []string
	for _, e := range w.slot("teams") {
		at := path.Join("teams", e.Name())
		info, err := fs.Lstat(w.fsys, at)
		switch {
		case err != nil:
			w.fail(UnreadableSlot, at, fmt.Errorf("the team folder cannot be looked at: %w", reason(err)))
		case isLink(info.Mode()):
			w.fail(UnreadableSlot, at, errors.New("the team folder is a symbolic link, and links are never followed; put the folder itself here"))
		case info.IsDir():
			names = append(names, e.Name())
		}
	}
	return names
}

// folder says whether an entry of a slot is a folder to read. Loose files are
// passed over in silence; a link or one that cannot be looked at is an error.
func (w *walker) folder(kind, at string) bool {
	info, err := fs.Lstat(w.fsys, at)
	switch {
	case err != nil:
		w.fail(kind, at, fmt.Errorf("the folder cannot be looked at: %w", reason(err)))
	case isLink(info.Mode()):
		w.fail(kind, at, errors.New("the folder is a symbolic link, and links are never followed; put the folder itself here"))
	default:
		return info.IsDir()
	}
	return false
}

// errMissing is a file that is not there, or a folder in its place.
var errMissing = errors.New("missing")

// file reads a fixed file. It refuses links, and tells missing from unreadable.
func (w *walker) file(at string) ([]byte, error) {
	info, err := fs.Lstat(w.fsys, at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errMissing
	case err != nil:
		return nil, fmt.Errorf("%s is there but cannot be looked at: %w", path.Base(at), reason(err))
	case isLink(info.Mode()):
		return nil, fmt.Errorf("%s is a symbolic link, and links are never followed; put the file itself here", path.Base(at))
	case info.IsDir():
		return nil, errMissing
	}
	f, err := w.fsys.Open(at)
	if err != nil {
		return nil, fmt.Errorf("%s is there but cannot be read: %w", path.Base(at), reason(err))
	}
	raw, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("%s is there but cannot be read: %w", path.Base(at), reason(err))
	}
	return raw, nil
}

// there reports whether anything is at a path.
func (w *walker) there(at string) bool {
	_, err := fs.Lstat(w.fsys, at)
	return err == nil
}

// reason is the system's own words, without a path in them.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

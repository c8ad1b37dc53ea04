package workforce

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"postroom/domain/mailbox"
)

// OpenDir opens a tree's root folder. It refuses a root that is missing, no
// folder, unreadable, or a symbolic link, also when written with a trailing slash.
// Nothing outside the folder can be reached through it. Close it when done.
func OpenDir(dir string) (*os.Root, error) {
	info, err := os.Lstat(strings.TrimRight(dir, "/"))
	if strings.Trim(dir, "/") == "" && dir != "" {
		info, err = os.Lstat(dir)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("the workforce root %s cannot be read: %w", dir, reason(err))
	case isLink(info.Mode()):
		return nil, fmt.Errorf("the workforce root %s is a symbolic link, and links are never followed; name the folder itself", dir)
	case !info.IsDir():
		return nil, fmt.Errorf("the workforce root %s is not a folder", dir)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the workforce root %s cannot be read: %w", dir, reason(err))
	}
	if err := checkRoot(root.FS(), "the workforce root "+dir); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// checkRoot refuses a root that cannot be listed.
func checkRoot(fsys fs.FS, what string) error {
	if _, err := fs.ReadDir(fsys, "."); err != nil {
		return fmt.Errorf("%s cannot be read: %w", what, reason(err))
	}
	return nil
}

// ReadMailboxesDir is ReadMailboxes on a folder; see OpenDir for what it refuses.
func ReadMailboxesDir(dir string) (records []mailbox.Record, errs []LoadError, err error) {
	root, err := OpenDir(dir)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	return ReadMailboxes(root.FS())
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"postroom/domain/fault"
	"postroom/workforce"
)

var errNoName = errors.New("name a path")

var errNotEmpty = fault.Define(fault.Conflict, "folder-not-empty", "There is something in this folder already, and nothing was written; name an empty one, or one that is not there.")

type initialise struct {
	Dir string `arg:"" help:"Folder to write the demo workforce into; made when it is not there."`
}

// Run writes the demo tree out, whole or not at all.
func (c initialise) Run(s *streams) (err error) {
	if c.Dir == "" {
		return s.cannot(errNoName)
	}
	dir := filepath.Clean(c.Dir)
	found, err := os.ReadDir(dir)
	switch {
	case err == nil && len(found) > 0:
		return errNotEmpty.With("folder", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return s.cannot(err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // a tree of text that people edit.
		return s.cannot(err)
	}
	beside := filepath.Dir(dir)
	if dir == "." {
		beside = ".." // the folder itself stays: somebody stands in it
	}
	half, err := os.MkdirTemp(beside, ".postroom-")
	if err != nil {
		return s.cannot(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(half)) }()
	tree := filepath.Join(half, "tree")
	if err := os.CopyFS(tree, workforce.Demo()); err != nil {
		return s.cannot(err)
	}
	if err := moved(tree, dir); err != nil {
		return s.cannot(err)
	}
	_, err = fmt.Fprintf(s.out, "The demo workforce is in %s. Change a file, then:\n\n    postroom check %s\n    postroom serve --workforce %s\n", dir, dir, dir)
	return err
}

// moved gives a tree its place: at once where nothing is, else into the empty folder
// that is there.
func moved(tree, dir string) error {
	if err := os.Rename(tree, dir); err == nil {
		return nil
	}
	entries, err := os.ReadDir(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := os.Rename(filepath.Join(tree, e.Name()), filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

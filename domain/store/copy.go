package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"postroom/domain/fault"
)

// Refusals of copying a database.
var (
	ErrNoDatabase = fault.Define(fault.NotFound, "database-not-found", "There is no database at this path; name the file with --database.")
	ErrFileExists = fault.Define(fault.Conflict, "file-exists", "There is a file at this path already, and nothing was written over it; name another, or say that it may be replaced.")
	ErrDamaged    = fault.Define(fault.Conflict, "database-damaged", "The file does not pass its own check, so nothing was taken from it; use another copy.")
)

// Copied says what a copy holds.
type Copied struct {
	Schema   int
	Sessions int64
	Requests int64
	Items    int64
	Bytes    int64 // of the file
}

// Backup copies a database into a new file, also while a server writes it: the copy
// is the database as it was at one instant, whole and checked. It refuses with
// ErrNoDatabase, ErrForeign, ErrFileExists and ErrFull.
func Backup(ctx context.Context, from, to string) (Copied, error) {
	if err := absent(to); err != nil {
		return Copied{}, err
	}
	if _, err := os.Stat(from); err != nil {
		return Copied{}, ErrNoDatabase.With("path", from).Because(err)
	}
	db, err := existing(ctx, from)
	if err != nil {
		return Copied{}, err
	}
	schema, err := version(ctx, db)
	switch {
	case err != nil:
	case schema == 0:
		err = ErrForeign.With("path", from) // an empty file
	default:
		err = snapshot(ctx, db, to)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return Copied{}, err
	}
	c, err := inspect(ctx, to)
	if err != nil {
		return c, errors.Join(err, os.Remove(to))
	}
	return c, nil
}

// snapshot writes the database into a new file, which is there only once it is
// whole and on the disk.
func snapshot(ctx context.Context, db interface {
	ExecContext(context.Context, string, ...any) (sql.Result, error)
}, to string) (err error) {
	dir, err := os.MkdirTemp(filepath.Dir(to), ".postroom-")
	if err != nil {
		return ErrNoFolder.With("path", to).Because(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	half := filepath.Join(dir, "copy.db")
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", half); err != nil {
		return coded("copy the database", err)
	}
	if err := synced(half); err != nil {
		return err
	}
	return placed(half, to)
}

// placed gives a whole file its name, never over another.
func placed(half, to string) error {
	if err := os.Link(half, to); err != nil {
		if errors.Is(err, os.ErrExist) {
			return ErrFileExists.With("path", to)
		}
		// Not every file system has links; then the look beforehand has to do.
		if err := os.Rename(half, to); err != nil {
			return fmt.Errorf("name the copy: %w", err)
		}
	}
	return synced(filepath.Dir(to))
}

// Restore puts a backup in the place of the database at a path: a new history, so
// that nobody's cursor into the old one is taken for one into this. No server may
// have it open. What was there is kept beside it if replace is set, else it is a
// refusal. It refuses with ErrInUse, ErrFileExists, ErrDamaged, ErrNewer and
// ErrForeign; then all is as it was.
func Restore(ctx context.Context, from, to string, replace bool, newID func(prefix string) string) (had string, c Copied, err error) {
	if _, err := os.Stat(from); err != nil {
		return "", c, ErrNoDatabase.With("path", from).Because(err)
	}
	lock, err := exclusive(to)
	if err != nil {
		return "", c, err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := absent(to); err != nil && !replace {
		return "", c, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(to), ".postroom-")
	if err != nil {
		return "", c, ErrNoFolder.With("path", to).Because(err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	half := filepath.Join(dir, "copy.db")
	if err := copied(from, half); err != nil {
		return "", c, err
	}
	if c, err = inspect(ctx, half); err != nil {
		return "", c, err
	}
	if err := newEpoch(ctx, half, newID("epoch")); err != nil {
		return "", c, err
	}
	if absent(to) != nil {
		had = to + ".before-" + filepath.Base(newID("restore"))
		if err := setAside(to, had); err != nil {
			return "", c, err
		}
	}
	if err := placed(half, to); err != nil {
		return had, c, err
	}
	return had, c, nil
}

// setAside moves a database, with what its log still holds, out of the way.
func setAside(path, to string) error {
	for _, part := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(path+part, to+part); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("set the old database aside: %w", err)
		}
	}
	return nil
}

func copied(from, to string) (err error) {
	in, err := os.Open(from) //nolint:gosec // the person at the terminal names it.
	if err != nil {
		return ErrNoDatabase.With("path", from).Because(err)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // beside the database.
	if err != nil {
		return fmt.Errorf("write the copy: %w", err)
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(fmt.Errorf("write the copy: %w", err), out.Close())
	}
	return errors.Join(out.Sync(), out.Close())
}

// newEpoch names the copy's history anew.
func newEpoch(ctx context.Context, path, epoch string) error {
	db, err := pool(ctx, path, 1, "")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, "UPDATE meta SET value = ? WHERE name = 'epoch'", epoch)
	if err == nil {
		// The log goes into the file, so that it is the whole copy.
		_, err = db.ExecContext(ctx, "PRAGMA journal_mode = DELETE")
	}
	if err = errors.Join(coded("name the history anew", err), db.Close()); err != nil {
		return err
	}
	return synced(path)
}

// inspect checks a database that nobody has open and says what it holds.
func inspect(ctx context.Context, path string) (c Copied, err error) {
	db, err := existing(ctx, path)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if c.Schema, err = version(ctx, db); err != nil {
		return c, err
	}
	newest, err := steps()
	if err != nil {
		return c, err
	}
	if c.Schema > len(newest) {
		return c, ErrNewer.With("file", c.Schema, "this version", len(newest))
	}
	if c.Schema == 0 {
		return c, ErrForeign.With("path", path)
	}
	var verdict string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&verdict); err != nil {
		return c, coded("check the copy", err)
	}
	if verdict != "ok" {
		return c, ErrDamaged.With("path", path, "said", verdict)
	}
	err = db.QueryRowContext(ctx, "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM requests), (SELECT count(*) FROM items)").
		Scan(&c.Sessions, &c.Requests, &c.Items)
	if err != nil {
		return c, coded("read the copy", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return c, fmt.Errorf("read the copy: %w", err)
	}
	c.Bytes = info.Size()
	return c, nil
}

// existing opens a file that is there, to look at it or copy it.
func existing(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=rw&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, coded("open the database", err)
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(coded("open the database", err), db.Close())
	}
	return db, nil
}

// absent refuses a path at which something is.
func absent(path string) error {
	_, err := os.Lstat(path)
	switch {
	case err == nil:
		return ErrFileExists.With("path", path)
	case errors.Is(err, os.ErrNotExist):
		return nil
	}
	return ErrNoFolder.With("path", path).Because(err)
}

// synced has a file, or a folder's entries, on the disk.
func synced(path string) error {
	f, err := os.Open(path) //nolint:gosec // beside the database.
	if err != nil {
		return fmt.Errorf("keep %s: %w", filepath.Base(path), err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("keep %s: %w", filepath.Base(path), err)
	}
	return nil
}

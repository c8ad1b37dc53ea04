package store

import (
	"context"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"postroom/domain/fault"
)

// What can be wrong with the database. Reading may go on where writing cannot.
var (
	ErrInUse    = fault.Define(fault.Conflict, "database-in-use", "Another Postroom serves this database; stop that one, or name another file.")
	ErrNewer    = fault.Define(fault.Conflict, "schema-newer", "The database was written by a newer Postroom; start that version, or name another file.")
	ErrForeign  = fault.Define(fault.Conflict, "database-foreign", "The file is not a Postroom database; nothing in it was changed. Name another file.")
	ErrLocked   = fault.Define(fault.Busy, "database-locked", "Another program holds the database file; nothing was written. Close that program and try again.")
	ErrReadOnly = fault.Define(fault.Busy, "database-read-only", "The database cannot be written; reading works, and nothing that was accepted is lost. Make the file and its folder writable.")
	ErrFull     = fault.Define(fault.Busy, "database-full", "The disk is full, so nothing was written; reading works, and nothing that was accepted is lost. Make room and try again.")
	ErrBroken   = fault.Define(fault.Busy, "database-broken", "The database could not be read or written; the log says why. Nothing that was accepted was reported lost.")
	ErrClosed   = fault.Define(fault.Busy, "shutting-down", "The server is stopping; send the same request again in a moment.")
	ErrNoFolder = fault.Define(fault.NotFound, "database-unreachable", "The database file cannot be opened or made; check that its folder exists and may be written.")
)

// code is the driver's extended result code, or 0.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// unique reports whether err is a broken uniqueness.
func unique(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_CONSTRAINT_UNIQUE || c == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY
}

// coded gives the database's trouble its code; any other error stays as it is.
func coded(doing string, err error) error {
	if err == nil {
		return nil
	}
	var known *fault.Fault
	if errors.As(err, &known) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	err = fmt.Errorf("%s: %w", doing, err)
	switch code(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return ErrLocked.Because(err)
	case sqlite3.SQLITE_READONLY:
		return ErrReadOnly.Because(err)
	case sqlite3.SQLITE_FULL:
		return ErrFull.Because(err)
	case sqlite3.SQLITE_NOTADB:
		return ErrForeign.Because(err)
	case sqlite3.SQLITE_CANTOPEN:
		return ErrNoFolder.Because(err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_PROTOCOL:
		return ErrBroken.Because(err)
	}
	return err
}

// ends reports whether an error leaves nothing of a transaction to go on with:
// SQLite may have rolled all of it back already.
func ends(err error) bool {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_INTERRUPT,
		sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY:
		return true
	}
	return false
}

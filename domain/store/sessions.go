package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"postroom/domain/session"
)

// reader looks things up, in the pool or inside a transaction.
type reader struct {
	db  *gorm.DB
	own *own // the writer's statements; nil in the pool
	// seen, when it is set, is shown each statement; tests look at its plan.
	seen func(text string, args []any)
}

// on is the database for one statement. A caller that leaves never cancels one:
// inside a transaction SQLite would roll the whole group back, and in the pool gorm
// would fail everyone who waits for the same statement to be prepared. Statements
// are short, and their pages bounded.
func (r reader) on(ctx context.Context) *gorm.DB {
	return r.db.WithContext(context.WithoutCancel(ctx))
}

// row runs a statement that answers with one row at most.
func (r reader) row(ctx context.Context, text string, args ...any) *sql.Row {
	if stmt := r.own.find(text); stmt != nil { //nolint:sqlclosecheck // it lives as long as the writer.
		return stmt.QueryRowContext(context.WithoutCancel(ctx), args...)
	}
	if r.own != nil {
		r.own.wrote = r.own.wrote || !strings.HasPrefix(text, "SELECT")
	}
	if r.seen != nil {
		r.seen(text, args)
	}
	return r.on(ctx).Raw(text, args...).Row()
}

// rows runs a statement that answers with many.
func (r reader) rows(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if stmt := r.own.find(text); stmt != nil { //nolint:sqlclosecheck // it lives as long as the writer.
		return stmt.QueryContext(context.WithoutCancel(ctx), args...)
	}
	if r.own != nil {
		if err := r.own.settle(ctx); err != nil {
			return nil, err
		}
	}
	if r.seen != nil {
		r.seen(text, args)
	}
	return r.on(ctx).Raw(text, args...).Rows()
}

// exec runs a statement that changes rows, and says how many.
func (t *transaction) exec(ctx context.Context, text string, args ...any) (int64, error) {
	if stmt := t.own.find(text); stmt != nil { //nolint:sqlclosecheck // it lives as long as the writer.
		res, err := stmt.ExecContext(context.WithoutCancel(ctx), args...)
		if err != nil {
			return 0, err
		}
		return res.RowsAffected()
	}
	if err := t.own.settle(ctx); err != nil {
		return 0, err
	}
	t.own.forget() // it may change what is remembered
	t.own.wrote = true
	res := t.on(ctx).Exec(text, args...)
	return res.RowsAffected, res.Error
}

// place names a session in the writer's memory.
type place struct{ organization, session string }

// keptSession is a session as the group at work has it: read once, its counters
// moved in memory and written before the group's end.
type keptSession struct {
	session.Session
	lastPosition int64
	moved        bool
}

// moves is a session's counters before the write at work moved them.
type moves struct {
	position int64
	moved    bool
}

// kept is the session's row in the group's memory; sql.ErrNoRows if there is none.
func (t *transaction) kept(ctx context.Context, organization, id string) (*keptSession, error) {
	at := place{organization, id}
	if row, known := t.own.kept[at]; known {
		return row, nil
	}
	row := &keptSession{}
	var state []byte
	var created int64
	err := t.row(ctx, sessionKept, organization, id).Scan(&row.Organization, &row.ID, &row.Kind, &row.Owner, &row.Parent, &row.FlowID,
		&state, &row.LastSeq, &created, &row.lastPosition)
	if err != nil {
		return nil, err
	}
	row.State, row.CreatedAt = state, fromMilli(created)
	t.own.kept[at] = row
	return row, nil
}

// Session implements session.Reader inside a transaction.
func (t *transaction) Session(ctx context.Context, organization, id string) (session.Session, bool, error) {
	row, err := t.kept(ctx, organization, id)
	if errors.Is(err, sql.ErrNoRows) {
		return session.Session{}, false, nil
	}
	if err != nil {
		return session.Session{}, false, coded("read session "+id, err)
	}
	return row.Session, true, nil
}

// transaction is one write's view of the database, and its way to change it.
type transaction struct {
	reader
}

var _ session.Tx = (*transaction)(nil)

const (
	sessionColumns = "organization, id, kind, owner, parent, flow_id, state, last_seq, created_at"
	sessionByID    = "SELECT " + sessionColumns + " FROM sessions WHERE organization = ? AND id = ?"
	sessionInsert  = "INSERT INTO sessions (organization, id, kind, owner, parent, flow_id, state, created_at, last_position, last_seq) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0)"
	sessionKept    = "SELECT " + sessionColumns + ", last_position FROM sessions WHERE organization = ? AND id = ?"
	sessionMove    = "UPDATE sessions SET last_position = ?, last_seq = ? WHERE organization = ? AND id = ?"
	sessionState   = "UPDATE sessions SET state = ? WHERE organization = ? AND id = ?"
)

// scanner is what both one row and many can do.
type scanner interface {
	Scan(into ...any) error
}

func scanSession(row scanner) (session.Session, error) {
	var s session.Session
	var state []byte
	var created int64
	err := row.Scan(&s.Organization, &s.ID, &s.Kind, &s.Owner, &s.Parent, &s.FlowID, &state, &s.LastSeq, &created)
	s.State, s.CreatedAt = state, fromMilli(created)
	return s, err
}

// Session implements session.Reader.
func (r reader) Session(ctx context.Context, organization, id string) (session.Session, bool, error) {
	s, err := scanSession(r.row(ctx, sessionByID, organization, id))
	if errors.Is(err, sql.ErrNoRows) {
		return session.Session{}, false, nil
	}
	return s, err == nil, coded("read session "+id, err)
}

// Sessions implements session.Reader.
func (r reader) Sessions(ctx context.Context, q session.SessionQuery) ([]session.Session, error) {
	index, text := "", " WHERE organization = ? AND id > ?"
	args := []any{q.Organization, q.After}
	if q.Kind != "" {
		index, text, args = "sessions_by_kind", text+" AND kind = ?", append(args, q.Kind)
	}
	switch {
	case q.Parent != "":
		index, text, args = "sessions_by_parent", text+" AND parent = ? AND parent <> ''", append(args, q.Parent)
	case !q.Children:
		text += " AND parent = ''"
	}
	if q.FlowID != "" {
		index, text, args = "sessions_by_flow", text+" AND flow_id = ? AND flow_id <> ''", append(args, q.FlowID)
	}
	from := "SELECT " + sessionColumns + " FROM sessions"
	if index != "" {
		from += " INDEXED BY " + index
	}
	text = from + text
	return list(ctx, r, "list sessions", text+" ORDER BY id LIMIT ?", append(args, session.Bound(q.Limit)), scanSession)
}

// CreateSession implements session.KeepsSessions.
func (t *transaction) CreateSession(ctx context.Context, s session.Session) error {
	_, err := t.exec(ctx, sessionInsert, s.Organization, s.ID, s.Kind, s.Owner, s.Parent, s.FlowID,
		[]byte(s.State), milli(s.CreatedAt))
	if unique(err) {
		return session.ErrSessionTaken.With("session", s.ID)
	}
	return coded("create session "+s.ID, err)
}

// SetState implements session.KeepsSessions.
func (t *transaction) SetState(ctx context.Context, organization, id string, state []byte) error {
	if row, known := t.own.kept[place{organization, id}]; known {
		row.State = state
	}
	n, err := t.exec(ctx, sessionState, state, organization, id)
	if err == nil && n == 0 {
		return session.ErrNoSession.With("session", id)
	}
	return coded("set the state of session "+id, err)
}

// ReplaceEmptySession implements session.KeepsSessions.
func (t *transaction) ReplaceEmptySession(ctx context.Context, s session.Session) (bool, error) {
	n, err := t.exec(ctx, `UPDATE sessions SET kind = ?, owner = ?, parent = ?, flow_id = ?, state = ?, created_at = ?
		WHERE organization = ? AND id = ? AND last_seq = 0
		AND (state IS NULL OR state IN (x'', CAST('{}' AS BLOB), CAST('null' AS BLOB)))`,
		s.Kind, s.Owner, s.Parent, s.FlowID, []byte(s.State), milli(s.CreatedAt), s.Organization, s.ID)
	return n == 1, coded("replace session "+s.ID, err)
}

// list reads a page of rows.
func list[T any](ctx context.Context, r reader, doing, text string, args []any, scan func(scanner) (T, error)) (page []T, err error) {
	rows, err := r.rows(ctx, text, args...)
	if err != nil {
		return nil, coded(doing, err)
	}
	defer func() {
		if closing := rows.Close(); err == nil && closing != nil {
			err = fmt.Errorf("%s: %w", doing, closing)
		}
	}()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, coded(doing, err)
		}
		page = append(page, one)
	}
	return page, coded(doing, rows.Err())
}

// milli is a time as it is stored; the zero time is 0.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

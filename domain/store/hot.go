package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// hot are the statements of the path that every post takes, prepared
// at start on the writer's one connection: a statement takes 10 µs through gorm, and
// a fraction of that so.
var hot = []string{
	sessionInsert, sessionKept, sessionMove, sessionState,
	requestByID, requestByKey, requestInsert, requestNextTurn, requestClaim, requestSettle, requestHolds, requestCaused, requestTurns,
	itemInsert, tallyAdd, answerInsert, deliveryOfRun, deliveryInsert, deliverySet, deliveryOfPost,
}

// own are the statements of the writer's connection.
type own struct {
	conn  *sql.Conn
	stmts map[string]statement
	wrote bool // a statement has changed something since the write at work began
	// before is how counters were that the write at work moved, so that one which is
	// refused before it has changed anything else leaves no trace.
	before map[*keptSession]moves
	// kept are the sessions that the group at work has touched.
	kept                                         map[place]*keptSession
	tallies                                      map[tallied]int64 // of the group at work
	begin, commit, rollback, save, release, back *sql.Stmt
}

type statement struct {
	*sql.Stmt
	changes bool
}

// prepare makes the statements, outside any transaction.
func prepare(ctx context.Context, conn *sql.Conn) (*own, error) {
	o := &own{conn: conn, stmts: make(map[string]statement, len(hot)), kept: make(map[place]*keptSession), tallies: make(map[tallied]int64), before: make(map[*keptSession]moves)}
	for _, text := range hot {
		stmt, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return nil, coded("prepare "+text, err)
		}
		o.stmts[text] = statement{Stmt: stmt, changes: !strings.HasPrefix(text, "SELECT")}
	}
	for _, one := range []struct {
		text string
		into **sql.Stmt
	}{
		{"BEGIN IMMEDIATE", &o.begin}, {"COMMIT", &o.commit}, {"ROLLBACK", &o.rollback},
		{"SAVEPOINT w", &o.save}, {"RELEASE w", &o.release}, {"ROLLBACK TO w", &o.back},
	} {
		stmt, err := conn.PrepareContext(ctx, one.text) //nolint:sqlclosecheck // close closes it.
		if err != nil {
			return nil, coded("prepare "+one.text, err)
		}
		*one.into = stmt
	}
	return o, nil
}

// forget empties the memory of a group that is over.
func (o *own) forget() {
	clear(o.kept)
	clear(o.before)
	clear(o.tallies)
}

// start begins a write.
func (o *own) start() {
	o.wrote = false
	clear(o.before)
}

// unmoved puts counters back to where they were when the write began.
func (o *own) unmoved() {
	for row, was := range o.before {
		row.lastPosition, row.moved = was.position, was.moved
	}
}

// settle writes what the group has only in memory: at the group's end, and before a
// statement that may look there by another way.
func (o *own) settle(ctx context.Context) error {
	for at, row := range o.kept {
		if !row.moved {
			continue
		}
		if _, err := o.stmts[sessionMove].ExecContext(context.WithoutCancel(ctx), row.lastPosition, row.LastSeq, at.organization, at.session); err != nil {
			return err
		}
		row.moved, o.wrote = false, true
	}
	for t, n := range o.tallies {
		if _, err := o.stmts[tallyAdd].ExecContext(context.WithoutCancel(ctx), t.organization, t.minute, t.what, n); err != nil {
			return err
		}
	}
	clear(o.tallies)
	return nil
}

// find is the prepared statement of a text, if it is a hot one.
func (o *own) find(text string) *sql.Stmt {
	if o == nil {
		return nil
	}
	s, ok := o.stmts[text]
	if ok && s.changes {
		o.wrote = true
	}
	return s.Stmt
}

// run executes one of the statements that have no arguments.
func (o *own) run(stmt *sql.Stmt) error {
	_, err := stmt.ExecContext(context.Background())
	return err
}

// close gives the statements and the connection back.
func (o *own) close() error {
	if o == nil {
		return nil
	}
	errs := make([]error, 0, len(o.stmts)+1)
	for _, s := range o.stmts {
		errs = append(errs, s.Close())
	}
	for _, s := range []*sql.Stmt{o.begin, o.commit, o.rollback, o.save, o.release, o.back} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	if err := errors.Join(append(errs, o.conn.Close())...); err != nil {
		return fmt.Errorf("close the writer: %w", err)
	}
	return nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"postroom/domain/session"
)

// LimitPages makes the disk as good as full for the write handle; 0 makes room again.
func (s *Store) LimitPages(ctx context.Context, pages int) error {
	if pages == 0 {
		pages = 1 << 30
	} else {
		var now int
		if err := s.own.conn.QueryRowContext(ctx, "PRAGMA page_count").Scan(&now); err != nil {
			return err
		}
		pages += now
	}
	var got int
	return s.own.conn.QueryRowContext(ctx, "PRAGMA max_page_count = "+itoa(pages)).Scan(&got)
}

// Impatient makes the write handle wait less for locks.
func (s *Store) Impatient(ctx context.Context) error {
	var got int
	return s.own.conn.QueryRowContext(ctx, "PRAGMA busy_timeout = 50").Scan(&got)
}

func itoa(n int) string {
	digits := ""
	for ; n > 0; n /= 10 {
		digits = string(rune('0'+n%10)) + digits
	}
	return digits
}

// WriteWhereNothingMay writes on the handle that only reads, as on a file that
// cannot be written.
func (s *Store) WriteWhereNothingMay(ctx context.Context) error {
	_, err := s.read.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES ('x', 'y')")
	return coded("write", err)
}

// Plans are the hot statements with how the database goes about them.
func (s *Store) Plans(ctx context.Context) (string, error) {
	var all strings.Builder
	texts := slices.Clone(hot)
	watched := *s
	watched.seen = func(text string, _ []any) {
		if !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if err := watched.readAll(ctx); err != nil {
		return "", err
	}
	for _, text := range texts {
		rows, err := s.own.conn.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, make([]any, strings.Count(text, "?"))...)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&all, text)
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				return "", errors.Join(err, rows.Close())
			}
			fmt.Fprintln(&all, "    "+detail)
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return "", err
		}
	}
	return all.String(), nil
}

// readAll asks each thing that is read, as screens and the engine ask it.
func (s *Store) readAll(ctx context.Context) error {
	o := "o"
	var errs []error
	keep := func(err error) { errs = append(errs, err) }
	for _, q := range []session.SessionQuery{{Organization: o}, {Organization: o, Kind: "k"}, {Organization: o, Parent: "p"}, {Organization: o, FlowID: "f", Children: true}} {
		_, err := s.Sessions(ctx, q)
		keep(err)
	}
	_, _, err := s.Session(ctx, o, "s")
	keep(err)
	_, _, err = s.Request(ctx, o, "r")
	keep(err)
	open := []session.Status{session.Queued, session.Running}
	for _, q := range []session.RequestQuery{
		{Organization: o}, {Organization: o, Session: "s"}, {Organization: o, Session: "s", After: "r"}, {Organization: o, Session: "s", Statuses: open},
		{Organization: o, Session: "s", Statuses: []session.Status{session.Failed, session.Cancelled}, Action: "a"}, {Organization: o, Parent: "p", Statuses: open},
	} {
		_, err := s.Requests(ctx, q)
		keep(err)
	}
	for _, q := range []session.ItemQuery{
		{Organization: o, Session: "s"}, {Organization: o, Session: "s", Before: 9}, {Organization: o, Session: "s", Type: session.TypeFailure, Newest: true},
		{Organization: o, Session: "s", Components: []string{"c"}, Before: 9}, {Organization: o, Session: "s", Request: "r"},
		{Organization: o, Session: "s", Window: 50, WindowBefore: 9}, {Organization: o, Session: "s", Window: 50, Components: []string{"c"}, Before: 9},
	} {
		_, err := s.Items(ctx, q)
		keep(err)
	}
	_, err = s.Work(ctx, "", 5)
	keep(err)
	_, err = s.Lapsed(ctx, time.Unix(5, 0), "", 5)
	keep(err)
	_, err = s.Lapsed(ctx, time.Unix(5, 0), "w", 5)
	keep(err)
	_, err = s.Reaches(ctx, o, "m", []string{"p", "q"})
	keep(err)
	_, err = s.Busy(ctx, o, "")
	keep(err)
	_, err = s.Busy(ctx, o, "m")
	keep(err)
	_, _, err = s.PostOf(ctx, "r")
	keep(err)
	_, err = s.CausedBy(ctx, o, []string{"a", "b"}, "x", "y")
	keep(err)
	_, err = s.ActiveRuns(ctx, o, 5)
	keep(err)
	_, _, _, err = s.Depths(ctx, o, 5)
	keep(err)
	_, err = s.Tallied(ctx, o, time.Unix(600, 0))
	keep(err)
	_, err = s.Tallied(ctx, o, time.Time{})
	keep(err)
	_, err = s.FailedLately(ctx, o, 5)
	keep(err)
	return errors.Join(errs...)
}

// Newest is the schema's newest version.
func Newest() int {
	names, err := steps()
	if err != nil {
		panic(err)
	}
	return len(names)
}

// MakeAt makes a database of an earlier schema with a row in each table.
func MakeAt(ctx context.Context, path string, version int) (err error) {
	db, err := pool(ctx, path, 1, "&_pragma=journal_mode(WAL)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	names, err := steps()
	if err != nil {
		return err
	}
	o := Options{NewID: func(prefix string) string { return prefix + "_old" }}
	for i := range version {
		if err := step(ctx, db, names[i], i+1, o); err != nil {
			return err
		}
	}
	for _, text := range []string{
		`INSERT INTO sessions (organization, id, kind, owner, parent, flow_id, last_position, last_seq, created_at) VALUES ('o', 's', 'k', 'w', '', '', 1, 1, 5)`,
		`INSERT INTO requests (id, organization, session, kind, action, input, principal, verified, source, cause, depth, position, lane, status, owner, until, attempt, key, queued_at, started_at, finished_at)
			VALUES ('req_1', 'o', 's', 'k', 'a', x'7b7d', 'p', 0, 'client', '', 0, 1, 'turn', 'completed', '', 0, 1, 'key', 5, 5, 5)`,
		`INSERT INTO items (id, organization, session, seq, request, position, type, component, data, created_at)
			VALUES ('item_1', 'o', 's', 1, 'req_1', 1, 'component', 'mailbox-post', CAST('{"body":"x"}' AS BLOB), 5)`,
		`INSERT INTO deliveries (organization, mailbox, post, post_seq, member, ordinal, state, code, reason, request, created_at, updated_at)
			VALUES ('o', 's', 'line_1', 1, 'm', 0, 'told', '', '', '', 5, 5)`,
	} {
		if _, err := db.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

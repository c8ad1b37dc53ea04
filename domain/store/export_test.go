package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
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
	for _, text := range hot {
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

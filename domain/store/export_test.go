package store

import "context"

// LimitPages makes the disk as good as full for the write handle; 0 makes room again.
func (s *Store) LimitPages(ctx context.Context, pages int) error {
	if pages == 0 {
		pages = 1 << 30
	} else {
		var now int
		if err := s.write.QueryRowContext(ctx, "PRAGMA page_count").Scan(&now); err != nil {
			return err
		}
		pages += now
	}
	var got int
	return s.write.QueryRowContext(ctx, "PRAGMA max_page_count = "+itoa(pages)).Scan(&got)
}

// Impatient makes the write handle wait less for locks.
func (s *Store) Impatient(ctx context.Context) error {
	var got int
	return s.write.QueryRowContext(ctx, "PRAGMA busy_timeout = 50").Scan(&got)
}

// Hot are the statements that are prepared at start.
func Hot() []string { return hot }

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

package store

import (
	"context"
	"time"

	"postroom/domain/mailbox"
	"postroom/domain/session"
)

const (
	tallyAdd = "INSERT INTO tallies (organization, minute, what, n) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n"
	// keptTallies is how long minutes are kept; the sum of all time stays.
	keptTallies = 8 * 24 * time.Hour
)

var (
	_ mailbox.Tallies = (*transaction)(nil)
	_ mailbox.Journal = (*Store)(nil)
)

type tallied struct {
	organization string
	minute       int64
	what         string
}

// Tally implements mailbox.Tallies. It is written once a group.
func (t *transaction) Tally(_ context.Context, organization string, at time.Time, what string, n int64) error {
	t.tally(organization, at, what, n)
	return nil
}

func (t *transaction) tally(organization string, at time.Time, what string, n int64) {
	t.own.tallies[tallied{organization, at.Unix() / 60, what}] += n
	t.own.tallies[tallied{organization, 0, what}] += n
	t.own.wrote = true
}

// Tallied implements mailbox.Journal.
func (s *Store) Tallied(ctx context.Context, organization string, from time.Time) (map[time.Time]map[string]int64, error) {
	text, args := "SELECT minute, what, n FROM tallies WHERE organization = ? AND minute = 0", []any{organization}
	if !from.IsZero() {
		text, args = "SELECT minute, what, n FROM tallies WHERE organization = ? AND minute >= ?", append(args, from.Unix()/60)
	}
	type one struct {
		minute int64
		what   string
		n      int64
	}
	all, err := list(ctx, s.reader, "count what happened", text, args, func(row scanner) (o one, err error) {
		return o, row.Scan(&o.minute, &o.what, &o.n)
	})
	if err != nil {
		return nil, err
	}
	by := make(map[time.Time]map[string]int64)
	for _, o := range all {
		at := time.Time{}
		if o.minute > 0 {
			at = time.Unix(o.minute*60, 0).UTC()
		}
		if by[at] == nil {
			by[at] = make(map[string]int64)
		}
		by[at][o.what] = o.n
	}
	return by, nil
}

// ActiveRuns implements mailbox.Journal.
func (s *Store) ActiveRuns(ctx context.Context, organization string, limit int) ([]mailbox.ActiveRun, error) {
	text := "SELECT coalesce(s.parent, ''), r.kind, r.principal, coalesce(d.post, ''), coalesce(d.post_seq, 0), " + runColumns + `,
			coalesce((SELECT sum(coalesce(CAST(i.data AS TEXT) ->> '$.input_tokens', 0) + coalesce(CAST(i.data AS TEXT) ->> '$.output_tokens', 0))
				FROM items i INDEXED BY items_by_position
				WHERE i.organization = r.organization AND i.session = r.session AND i.position = r.position AND i.request = r.id AND i.type = 'usage'), 0)
		FROM requests r
		JOIN sessions s ON s.organization = r.organization AND s.id = r.session
		LEFT JOIN deliveries d ON d.request = r.id AND d.request <> ''
		WHERE r.organization = ? AND r.status IN ('queued', 'running') AND r.lane = 'turn' AND r.kind <> ?
		ORDER BY r.status DESC, r.id LIMIT ?`
	return list(ctx, s.reader, "list runs", text, []any{organization, mailbox.BuiltinKind, session.Bound(limit)}, func(row scanner) (mailbox.ActiveRun, error) {
		var a mailbox.ActiveRun
		var run runRow
		var post string
		var seq int64
		into := append([]any{&a.Mailbox, &a.Kind, &a.By, &post, &seq}, run.into()...)
		if err := row.Scan(append(into, &a.Tokens)...); err != nil {
			return a, err
		}
		var err error
		a.Run, err = run.value()
		a.Session, a.Post, a.PostSeq = a.Conversation, post, seq
		return a, err
	})
}

// Depths implements mailbox.Journal.
func (s *Store) Depths(ctx context.Context, organization string, limit int) (queue []mailbox.Queued, queued, running int, err error) {
	err = s.row(ctx, "SELECT count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'running') "+
		"FROM requests WHERE organization = ? AND status IN ('queued', 'running')", organization).Scan(&queued, &running)
	if err != nil {
		return nil, 0, 0, coded("count what waits", err)
	}
	// The bare columns are those of the row that min found.
	text := `SELECT session, kind, action, count(*), min(id), queued_at FROM requests
		WHERE organization = ? AND status IN ('queued', 'running') AND status = 'queued'
		GROUP BY session ORDER BY count(*) DESC, session LIMIT ?`
	queue, err = list(ctx, s.reader, "list what waits", text, []any{organization, session.Bound(limit)}, func(row scanner) (q mailbox.Queued, err error) {
		var id string
		var at int64
		err = row.Scan(&q.Session, &q.Kind, &q.Next, &q.N, &id, &at)
		q.Oldest = fromMilli(at)
		return q, err
	})
	return queue, queued, running, err
}

// FailedLately implements mailbox.Journal.
func (s *Store) FailedLately(ctx context.Context, organization string, limit int) ([]session.Request, error) {
	return list(ctx, s.reader, "list what failed", "SELECT "+requestColumns+" FROM requests WHERE organization = ? AND status = 'failed' ORDER BY id DESC LIMIT ?",
		[]any{organization, session.Bound(limit)}, scanRequest)
}

// prune drops the minutes that no screen shows any more.
func (s *Store) prune(ctx context.Context, now time.Time) error {
	_, err := s.own.conn.ExecContext(ctx, "DELETE FROM tallies WHERE minute > 0 AND minute < ?", now.Add(-keptTallies).Unix()/60)
	return coded("drop old counts", err)
}

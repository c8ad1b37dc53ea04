package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"postroom/domain/fault"
	"postroom/domain/mailbox"
	"postroom/domain/session"
)

var _ mailbox.Trail = (*Store)(nil)

const (
	runColumns = "coalesce(r.id, ''), coalesce(r.session, ''), coalesce(s.flow_id, ''), coalesce(r.status, ''), r.failure, " +
		"coalesce(r.queued_at, 0), coalesce(r.started_at, 0), coalesce(r.finished_at, 0)"
	reachesOf = "SELECT d.organization, d.mailbox, d.post, d.post_seq, d.member, d.ordinal, d.state, d.code, d.reason, d.request, d.updated_at, " +
		runColumns + `, coalesce((SELECT min(i.seq) FROM requests a JOIN items i ON i.organization = a.organization AND i.session = a.session AND i.position = a.position AND i.request = a.id
			WHERE a.cause = d.request AND a.cause <> '' AND a.session = d.mailbox AND i.component = 'mailbox-post'), 0)
		FROM deliveries d
		LEFT JOIN requests r ON r.id = d.request AND d.request <> ''
		LEFT JOIN sessions s ON s.organization = r.organization AND s.id = r.session
		WHERE d.organization = ? AND d.mailbox = ? AND d.post IN (`
	busyRuns = "SELECT s.parent, coalesce(d.post, ''), coalesce(d.post_seq, 0), " + runColumns + `
		FROM requests r
		JOIN sessions s ON s.organization = r.organization AND s.id = r.session AND s.parent <> ''
		LEFT JOIN deliveries d ON d.request = r.id AND d.request <> ''
		WHERE r.organization = ? AND r.status IN ('queued', 'running')`
)

// runRow gathers the columns of runColumns.
type runRow struct {
	run                       mailbox.Run
	failure                   []byte
	queued, started, finished int64
}

func (r *runRow) into() []any {
	return []any{
		&r.run.Request, &r.run.Conversation, &r.run.Seat, &r.run.Status, &r.failure, &r.queued, &r.started, &r.finished,
	}
}

func (r *runRow) value() (mailbox.Run, error) {
	run := r.run
	run.QueuedAt, run.StartedAt, run.FinishedAt = fromMilli(r.queued), fromMilli(r.started), fromMilli(r.finished)
	if len(r.failure) > 0 {
		run.Failure = new(fault.Failure)
		return run, json.Unmarshal(r.failure, run.Failure)
	}
	return run, nil
}

// Reaches implements mailbox.Trail.
func (s *Store) Reaches(ctx context.Context, organization, mailboxID string, posts []string) (map[string][]mailbox.Reach, error) {
	args := []any{organization, mailboxID}
	for _, post := range posts {
		args = append(args, post)
	}
	text := reachesOf + "?" + strings.Repeat(", ?", len(posts)-1) + ") ORDER BY d.post, d.ordinal"
	all, err := list(ctx, s.reader, "list who was told in "+mailboxID, text, args, func(row scanner) (mailbox.Reach, error) {
		var reach mailbox.Reach
		var run runRow
		var at int64
		d := &reach.Delivered
		into := append([]any{&d.Organization, &d.Mailbox, &d.Post, &d.PostSeq, &d.Member, &d.Ordinal, &d.State, &d.Code, &d.Reason, &d.Request, &at}, run.into()...)
		if err := row.Scan(append(into, &reach.AnswerSeq)...); err != nil {
			return reach, err
		}
		d.At = fromMilli(at)
		if run.run.Request == "" {
			return reach, nil
		}
		value, err := run.value()
		value.Post, value.PostSeq = d.Post, d.PostSeq
		reach.Run = &value
		return reach, err
	})
	if err != nil {
		return nil, err
	}
	byPost := make(map[string][]mailbox.Reach, len(posts))
	for _, reach := range all {
		byPost[reach.Post] = append(byPost[reach.Post], reach)
	}
	return byPost, nil
}

// Busy implements mailbox.Trail.
func (s *Store) Busy(ctx context.Context, organization, mailboxID string) (map[string][]mailbox.Run, error) {
	text, args := busyRuns, []any{organization}
	if mailboxID != "" {
		text, args = text+" AND s.parent = ?", append(args, mailboxID)
	}
	type busy struct {
		mailbox string
		run     mailbox.Run
	}
	all, err := list(ctx, s.reader, "list busy runs", text+" ORDER BY r.id LIMIT 1000", args, func(row scanner) (busy, error) {
		var b busy
		var run runRow
		var post string
		var seq int64
		if err := row.Scan(append([]any{&b.mailbox, &post, &seq}, run.into()...)...); err != nil {
			return b, err
		}
		var err error
		b.run, err = run.value()
		b.run.Post, b.run.PostSeq = post, seq
		return b, err
	})
	if err != nil {
		return nil, err
	}
	byMailbox := make(map[string][]mailbox.Run)
	for _, b := range all {
		byMailbox[b.mailbox] = append(byMailbox[b.mailbox], b.run)
	}
	return byMailbox, nil
}

// LastLines implements mailbox.Trail.
func (s *Store) LastLines(ctx context.Context, organization string, mailboxes []string) (map[string]session.Item, error) {
	last := make(map[string]session.Item, len(mailboxes))
	for _, id := range mailboxes {
		items, err := s.Items(ctx, session.ItemQuery{
			Organization: organization, Session: id, Components: []string{mailbox.ComponentPost}, Newest: true, Limit: 1,
		})
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			last[id] = item
		}
	}
	return last, nil
}

// PostOf implements mailbox.Trail and mailbox.Tallies.
func (r reader) PostOf(ctx context.Context, request string) (mailbox.Delivered, bool, error) {
	d, err := scanDelivered(r.row(ctx, deliveryOfRun, request))
	if errors.Is(err, sql.ErrNoRows) {
		return mailbox.Delivered{}, false, nil
	}
	return d, err == nil, coded("find the post of run "+request, err)
}

// CausedBy implements mailbox.Trail.
func (s *Store) CausedBy(ctx context.Context, organization string, causes []string, actions ...string) (map[string]session.Request, error) {
	if len(causes) == 0 || len(actions) == 0 {
		return nil, nil
	}
	args := []any{organization}
	for _, one := range slices.Concat(actions, causes) {
		args = append(args, one)
	}
	places := func(n int) string { return "?" + strings.Repeat(", ?", n-1) }
	text := "SELECT " + requestColumns + " FROM requests WHERE +organization = ? AND +action IN (" + places(len(actions)) + // + keeps the planner to causes
		") AND cause <> '' AND cause IN (" + places(len(causes)) + ") ORDER BY id"
	all, err := list(ctx, s.reader, "find what requests caused", text, args, scanRequest)
	if err != nil {
		return nil, err
	}
	by := make(map[string]session.Request, len(all))
	for _, r := range all {
		by[r.Cause] = r // the newest is the last
	}
	return by, nil
}

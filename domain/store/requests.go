package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"postroom/domain/fault"
	"postroom/domain/mailbox"
	"postroom/domain/session"
)

const (
	requestColumns = "id, organization, session, kind, action, input, principal, verified, source, cause, depth, position, lane, " +
		"status, failure, output, owner, until, attempt, key, queued_at, started_at, finished_at"
	requestByID     = "SELECT " + requestColumns + " FROM requests WHERE id = ? AND organization = ?"
	requestByKey    = "SELECT " + requestColumns + " FROM requests WHERE organization = ? AND session = ? AND principal = ? AND action = ? AND key = ? AND key <> ''"
	requestInsert   = "INSERT INTO requests (" + requestColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	requestNextTurn = "SELECT " + requestColumns + " FROM requests WHERE organization = ? AND session = ? AND status = 'queued' AND lane = 'turn' " +
		"AND NOT EXISTS (SELECT 1 FROM requests WHERE organization = ? AND session = ? AND status = 'running' AND lane = 'turn') ORDER BY position LIMIT 1"
	requestClaim = "UPDATE requests SET status = 'running', owner = ?, until = ?, attempt = attempt + 1, " +
		"started_at = ? WHERE id = ? AND status = 'queued' RETURNING " + requestColumns
	requestSettle = "UPDATE requests SET status = ?, failure = ?, output = ?, finished_at = ?, until = 0 " +
		"WHERE id = ? AND attempt = ? AND status = 'running' AND until > ?"
	requestHolds  = "SELECT count(*) FROM requests WHERE id = ? AND attempt = ? AND status = 'running' AND until > ?"
	requestCaused = "SELECT count(*) FROM requests WHERE organization = ? AND session = ? AND depth > 0 AND queued_at > ?"
	requestTurns  = "SELECT EXISTS (SELECT 1 FROM requests WHERE organization = ? AND session = ? AND status = 'queued' AND lane = 'turn') " +
		"OR EXISTS (SELECT 1 FROM requests WHERE organization = ? AND session = ? AND status = 'running' AND lane = 'turn')"
)

func scanRequest(row scanner) (session.Request, error) {
	var r session.Request
	var input, failure, output []byte
	var until, queued, started, finished int64
	err := row.Scan(&r.ID, &r.Organization, &r.Session, &r.Kind, &r.Action, &input, &r.Principal.ID, &r.Principal.Verified,
		&r.Source, &r.Cause, &r.Depth, &r.Position, &r.Lane, &r.Status, &failure, &output, &r.Owner, &until, &r.Attempt,
		&r.Key, &queued, &started, &finished)
	if err != nil {
		return r, err
	}
	r.Principal.Organization = r.Organization
	r.Input, r.Output = input, output
	r.Until, r.QueuedAt, r.StartedAt, r.FinishedAt = fromMilli(until), fromMilli(queued), fromMilli(started), fromMilli(finished)
	if len(failure) > 0 {
		r.Failure = new(fault.Failure)
		if err := json.Unmarshal(failure, r.Failure); err != nil {
			return r, fmt.Errorf("failure of request %s: %w", r.ID, err)
		}
	}
	return r, nil
}

// one reads a request that may not be there.
func (r reader) one(ctx context.Context, doing, text string, args ...any) (session.Request, bool, error) {
	found, err := scanRequest(r.row(ctx, text, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return session.Request{}, false, nil
	}
	return found, err == nil, coded(doing, err)
}

// Request implements session.Reader.
func (r reader) Request(ctx context.Context, organization, id string) (session.Request, bool, error) {
	return r.one(ctx, "read request "+id, requestByID, id, organization)
}

// Requests implements session.Reader.
func (r reader) Requests(ctx context.Context, q session.RequestQuery) ([]session.Request, error) {
	text, args := "SELECT "+requestColumns+" FROM requests WHERE organization = ?", []any{q.Organization}
	if q.Session == "" && q.Parent == "" && len(q.Statuses) == 0 {
		text = "SELECT " + requestColumns + " FROM requests WHERE +organization = ?" // along the ids, newest first
	}
	if q.Session != "" {
		text, args = text+" AND session = ?", append(args, q.Session)
	}
	if q.Parent != "" {
		text += " AND session IN (SELECT id FROM sessions WHERE organization = ? AND parent = ? AND parent <> '')"
		args = append(args, q.Organization, q.Parent)
	}
	if len(q.Statuses) > 0 {
		// Written out, so that the partial indexes by status are found.
		quoted := make([]string, len(q.Statuses))
		for i, s := range q.Statuses {
			quoted[i] = "'" + strings.ReplaceAll(string(s), "'", "''") + "'"
		}
		text += " AND status IN (" + strings.Join(quoted, ", ") + ")"
	}
	if q.Action != "" {
		text, args = text+" AND action = ?", append(args, q.Action)
	}
	if q.Lane != "" {
		text, args = text+" AND lane = ?", append(args, string(q.Lane))
	}
	if q.After != "" {
		text, args = text+" AND id < ?", append(args, q.After)
	}
	return list(ctx, r, "list requests", text+" ORDER BY id DESC LIMIT ?", append(args, session.Bound(q.Limit)), scanRequest)
}

// Work implements session.Reader.
func (r reader) Work(ctx context.Context, afterID string, limit int) ([]session.Request, error) {
	return list(ctx, r, "list queued work",
		"SELECT "+requestColumns+" FROM requests WHERE status = 'queued' AND id > ? ORDER BY id LIMIT ?",
		[]any{afterID, session.Bound(limit)}, scanRequest)
}

// Lapsed implements session.Reader.
func (r reader) Lapsed(ctx context.Context, now time.Time, notOwner string, limit int) ([]session.Request, error) {
	text, args := "SELECT "+requestColumns+" FROM requests WHERE status = 'running' AND ", []any{}
	if notOwner != "" {
		text, args = text+"owner <> ?", append(args, notOwner)
	} else {
		text, args = text+"until <= ?", append(args, milli(now))
	}
	return list(ctx, r, "list lapsed work", text+" ORDER BY until LIMIT ?", append(args, session.Bound(limit)), scanRequest)
}

// Place implements session.KeepsRequests. The session's row is the lock that keeps
// positions dense.
func (t *transaction) Place(ctx context.Context, r *session.Request) error {
	row, err := t.kept(ctx, r.Organization, r.Session)
	if err != nil {
		return coded("give request "+r.ID+" its place", err)
	}
	if _, noted := t.own.before[row]; !noted {
		t.own.before[row] = moves{row.lastPosition, row.moved}
	}
	row.lastPosition++
	row.moved, r.Position = true, row.lastPosition
	return nil
}

// Idle implements session.KeepsRequests.
func (t *transaction) Idle(ctx context.Context, organization, id string) (bool, error) {
	var open int
	err := t.row(ctx, requestTurns, organization, id, organization, id).Scan(&open)
	return open == 0, coded("look for turns of "+id, err)
}

// AddRequest implements session.KeepsRequests.
func (t *transaction) AddRequest(ctx context.Context, r *session.Request) error {
	if err := t.Place(ctx, r); err != nil {
		return err
	}
	return t.KeepRequest(ctx, *r)
}

// KeepRequest implements session.KeepsRequests.
func (t *transaction) KeepRequest(ctx context.Context, r session.Request) error {
	failure, err := failureBytes(r.Failure)
	if err != nil {
		return err
	}
	t.tallyFailure(r)
	_, err = t.exec(ctx, requestInsert, r.ID, r.Organization, r.Session, r.Kind, r.Action, []byte(r.Input),
		r.Principal.ID, r.Principal.Verified, string(r.Source), r.Cause, r.Depth, r.Position, string(r.Lane), string(r.Status),
		failure, []byte(r.Output), r.Owner, milli(r.Until), r.Attempt, r.Key, milli(r.QueuedAt), milli(r.StartedAt), milli(r.FinishedAt))
	return coded("keep request "+r.ID, err)
}

// Keyed implements session.KeepsRequests.
func (t *transaction) Keyed(ctx context.Context, r session.Request) (session.Request, bool, error) {
	return t.one(ctx, "look for key", requestByKey, r.Organization, r.Session, r.Principal.ID, r.Action, r.Key)
}

// NextTurn implements session.KeepsRequests.
func (t *transaction) NextTurn(ctx context.Context, organization, id string) (session.Request, bool, error) {
	return t.one(ctx, "look for the next turn", requestNextTurn, organization, id, organization, id)
}

// Claim implements session.KeepsRequests.
func (t *transaction) Claim(ctx context.Context, id, owner string, now, until time.Time) (session.Request, bool, error) {
	return t.one(ctx, "claim request "+id, requestClaim, owner, milli(until), milli(now), id)
}

// Settle implements session.KeepsRequests.
func (t *transaction) Settle(ctx context.Context, r session.Request, now time.Time) (bool, error) {
	failure, err := failureBytes(r.Failure)
	if err != nil {
		return false, err
	}
	n, err := t.exec(ctx, requestSettle, string(r.Status), failure, []byte(r.Output), milli(r.FinishedAt), r.ID, r.Attempt, milli(now))
	if n == 1 {
		t.tallyFailure(r)
	}
	return n == 1, coded("settle request "+r.ID, err)
}

// Holds implements session.KeepsRequests.
func (t *transaction) Holds(ctx context.Context, id string, attempt int, now time.Time) (bool, error) {
	var n int
	err := t.row(ctx, requestHolds, id, attempt, milli(now)).Scan(&n)
	return n == 1, coded("check the lease of request "+id, err)
}

// Renew implements session.ChangesRequests.
func (t *transaction) Renew(ctx context.Context, owner string, ids []string, now, until time.Time) error {
	_, err := t.exec(ctx, "UPDATE requests SET until = ? WHERE owner = ? AND status = 'running' AND until > ? AND id IN ?",
		milli(until), owner, milli(now), ids)
	return coded("renew leases", err)
}

// Requeue implements session.ChangesRequests.
func (t *transaction) Requeue(ctx context.Context, id string, attempt int) (bool, error) {
	n, err := t.exec(ctx, "UPDATE requests SET status = 'queued', owner = '', until = 0 WHERE id = ? AND attempt = ? AND status = 'running'", id, attempt)
	return n == 1, coded("queue request "+id+" again", err)
}

// Cancel implements session.ChangesRequests.
func (t *transaction) Cancel(ctx context.Context, organization, id string, why *fault.Failure, now time.Time) (session.Request, bool, error) {
	failure, err := failureBytes(why)
	if err != nil {
		return session.Request{}, false, err
	}
	status := session.Cancelled
	if why != nil && why.Code != session.ErrCancelled.Code {
		status = session.Failed
	}
	ended, found, err := t.one(ctx, "cancel request "+id, "UPDATE requests SET status = ?, failure = ?, finished_at = ?, until = 0 "+
		"WHERE id = ? AND organization = ? AND status IN ('queued', 'running') RETURNING "+requestColumns,
		string(status), failure, milli(now), id, organization)
	if found {
		t.tallyFailure(ended)
	}
	return ended, found, err
}

// tallyFailure counts a request that failed.
func (t *transaction) tallyFailure(r session.Request) {
	if r.Status == session.Failed {
		t.tally(r.Organization, r.FinishedAt, mailbox.TallyFailures, 1)
	}
}

// AgentCaused implements session.ChangesRequests.
func (t *transaction) AgentCaused(ctx context.Context, organization, id string, since time.Time) (int, error) {
	var n int
	err := t.row(ctx, requestCaused, organization, id, milli(since)).Scan(&n)
	return n, coded("count what agents caused in "+id, err)
}

func failureBytes(f *fault.Failure) ([]byte, error) {
	if f == nil {
		return nil, nil
	}
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("write failure %s: %w", f.Code, err)
	}
	return text, nil
}

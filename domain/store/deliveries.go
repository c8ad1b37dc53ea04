package store

import (
	"context"
	"fmt"

	"postroom/domain/mailbox"
	"postroom/domain/session"
)

const (
	deliveryColumns = "organization, mailbox, post, post_seq, member, ordinal, state, code, reason, request, updated_at"
	deliveryInsert  = "INSERT INTO deliveries (" + deliveryColumns + ", created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
	deliverySet     = "UPDATE deliveries SET state = ?, code = ?, reason = ?, request = ?, updated_at = ? " +
		"WHERE organization = ? AND mailbox = ? AND post = ? AND member = ?"
	deliveryOfPost = "SELECT " + deliveryColumns + " FROM deliveries WHERE organization = ? AND mailbox = ? AND post = ? ORDER BY ordinal"
)

// Deliveries keeps who was told of which post.
type Deliveries struct{}

var _ mailbox.Deliveries = Deliveries{}

func scanDelivered(row scanner) (mailbox.Delivered, error) {
	var d mailbox.Delivered
	var at int64
	err := row.Scan(&d.Organization, &d.Mailbox, &d.Post, &d.PostSeq, &d.Member, &d.Ordinal, &d.State, &d.Code, &d.Reason, &d.Request, &at)
	d.At = fromMilli(at)
	return d, err
}

// inside is this package's own transaction behind a session.Tx.
func inside(tx session.Tx) (*transaction, error) {
	own, ok := tx.(*transaction)
	if !ok {
		return nil, fmt.Errorf("store: a transaction of another store: %T", tx)
	}
	return own, nil
}

// Add implements mailbox.Deliveries.
func (Deliveries) Add(ctx context.Context, tx session.Tx, d mailbox.Delivered) (bool, error) {
	own, err := inside(tx)
	if err != nil {
		return false, err
	}
	res := own.db.WithContext(ctx).Exec(deliveryInsert, d.Organization, d.Mailbox, d.Post, d.PostSeq, d.Member, d.Ordinal,
		string(d.State), d.Code, d.Reason, d.Request, milli(d.At), milli(d.At))
	return res.RowsAffected == 1, coded("keep a delivery of "+d.Post, res.Error)
}

// Set implements mailbox.Deliveries.
func (Deliveries) Set(ctx context.Context, tx session.Tx, d mailbox.Delivered) error {
	own, err := inside(tx)
	if err != nil {
		return err
	}
	return coded("change a delivery of "+d.Post, own.db.WithContext(ctx).Exec(deliverySet,
		string(d.State), d.Code, d.Reason, d.Request, milli(d.At), d.Organization, d.Mailbox, d.Post, d.Member).Error)
}

// OfPost implements mailbox.Deliveries.
func (Deliveries) OfPost(ctx context.Context, tx session.Tx, organization, mailboxID, post string) ([]mailbox.Delivered, error) {
	own, err := inside(tx)
	if err != nil {
		return nil, err
	}
	return list(own.db.WithContext(ctx), "list deliveries of "+post, deliveryOfPost, []any{organization, mailboxID, post}, scanDelivered)
}

package store

import (
	"context"

	"postroom/domain/mailbox"
)

const (
	deliveryColumns = "organization, mailbox, post, post_seq, member, ordinal, state, code, reason, request, updated_at, created_at"
	deliveryInsert  = "INSERT INTO deliveries (" + deliveryColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
	deliverySet     = "UPDATE deliveries SET state = ?, code = ?, reason = ?, request = ?, updated_at = ? " +
		"WHERE organization = ? AND mailbox = ? AND post = ? AND member = ?"
	deliveryOfRun  = "SELECT " + deliveryColumns + " FROM deliveries WHERE request = ? AND request <> ''"
	deliveryOfPost = "SELECT " + deliveryColumns + " FROM deliveries WHERE organization = ? AND mailbox = ? AND post = ? ORDER BY ordinal"
)

var _ mailbox.Deliveries = (*transaction)(nil)

func scanDelivered(row scanner) (mailbox.Delivered, error) {
	var d mailbox.Delivered
	var at, made int64
	err := row.Scan(&d.Organization, &d.Mailbox, &d.Post, &d.PostSeq, &d.Member, &d.Ordinal, &d.State, &d.Code, &d.Reason, &d.Request, &at, &made)
	d.At, d.MadeAt = fromMilli(at), fromMilli(made)
	return d, err
}

// AddDelivery implements mailbox.Deliveries.
func (t *transaction) AddDelivery(ctx context.Context, d mailbox.Delivered) (bool, error) {
	n, err := t.exec(ctx, deliveryInsert, d.Organization, d.Mailbox, d.Post, d.PostSeq, d.Member, d.Ordinal,
		string(d.State), d.Code, d.Reason, d.Request, milli(d.At), milli(d.At))
	return n == 1, coded("keep a delivery of "+d.Post, err)
}

// SetDelivery implements mailbox.Deliveries.
func (t *transaction) SetDelivery(ctx context.Context, d mailbox.Delivered) error {
	_, err := t.exec(ctx, deliverySet, string(d.State), d.Code, d.Reason, d.Request, milli(d.At), d.Organization, d.Mailbox, d.Post, d.Member)
	return coded("change a delivery of "+d.Post, err)
}

// DeliveriesOf implements mailbox.Deliveries.
func (t *transaction) DeliveriesOf(ctx context.Context, organization, mailboxID, post string) ([]mailbox.Delivered, error) {
	return list(ctx, t.reader, "list deliveries of "+post, deliveryOfPost, []any{organization, mailboxID, post}, scanDelivered)
}

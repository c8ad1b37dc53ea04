package mailbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"postroom/domain/fault"
	"postroom/domain/schema"
	"postroom/domain/session"
)

// DeliveryState says how far telling one member got.
type DeliveryState string

// The states of a delivery.
const (
	Pending DeliveryState = "pending" // decided, not yet told
	Woken   DeliveryState = "woken"   // a seat's run was queued for it
	Told    DeliveryState = "told"    // a notifier took it
	Nobody  DeliveryState = "nobody"  // no seat that hears stands behind the member
	Skipped DeliveryState = "skipped" // a seat's line, which wakes nobody
	Failure DeliveryState = "failed"  // telling it failed; Code and Reason say why
)

// Delivered is one delivery as it is kept: one row a post and member.
type Delivered struct {
	Organization string
	Mailbox      string
	Post         string // the line's id
	PostSeq      int64  // the line's seq among the mailbox's items
	Member       string
	Ordinal      int // the member's place in the roster
	State        DeliveryState
	Code         string // of a failure
	Reason       string
	Request      string    // the seat's run that it woke
	At           time.Time // of its last change
	MadeAt       time.Time // when it was decided; the store's to fill in
}

// Deliveries is what a transaction can do beside session.Tx so that a kind with a
// notifier works on it: keep who was told of which post.
type Deliveries interface {
	// AddDelivery keeps a new delivery, unless there is one for that post and
	// member; it reports whether it was new.
	AddDelivery(ctx context.Context, d Delivered) (bool, error)
	SetDelivery(ctx context.Context, d Delivered) error
	// DeliveriesOf lists the deliveries of one post, in roster order.
	DeliveriesOf(ctx context.Context, organization, mailboxID, post string) ([]Delivered, error)
}

// deliveries is the turn's own transaction as one that keeps deliveries.
func deliveries(t *session.Turn) (Deliveries, error) {
	keeper, ok := t.Tx().(Deliveries)
	if !ok {
		return nil, fmt.Errorf("mailbox: the store's transactions (%T) keep no deliveries", t.Tx())
	}
	return keeper, nil
}

// Outcome is what a Waker made of one delivery.
type Outcome struct {
	State   DeliveryState
	Request string // the run queued, for Woken
	Reason  string
	// After, for Pending, is told outside the transaction.
	After Notifier
}

// Waker is a Notifier whose telling is rows in the same database, so that the
// decision who is woken and the queued runs are one transaction.
type Waker interface {
	Notifier
	Wake(t *session.Turn, d Delivery) (Outcome, error)
	// Inside reports that no outcome is ever Pending: then a fan-out is one
	// transaction from claim to completion.
	Inside() bool
}

// toldOutside is what the fan-out has left to do after its decision.
type toldOutside struct {
	delivery Delivery
	row      Delivered
	notifier Notifier
}

// postedAction is the fan-out of one line: it runs beside the turns, so a slow
// notification never delays the next post. The roster is read when it runs.
func (k *builtin) postedAction() session.Action {
	waker, ok := k.options.Notify.(Waker)
	return session.Action{
		Schema: schema.Must(schema.For[postedLine]()), Lane: session.Beside, Repeatable: true, Atomic: ok && waker.Inside(),
		Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var line postedLine
			if err := json.Unmarshal(input, &line); err != nil {
				return nil, fmt.Errorf("read the line: %w", err)
			}
			left, err := k.decide(t, line)
			if err != nil {
				return nil, err
			}
			for _, one := range left {
				if err := k.tell(t, one); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	}
}

// decide keeps one delivery a member and wakes seats, in one transaction. What it
// finds decided already, it leaves so; what is still pending it hands back.
func (k *builtin) decide(t *session.Turn, line postedLine) (left []toldOutside, err error) {
	err = t.Atomically(func(tx *session.Turn) error {
		left = nil
		kept, err := k.kept(tx)
		if err != nil {
			return err
		}
		keeper, err := deliveries(tx)
		if err != nil {
			return err
		}
		known, err := keeper.DeliveriesOf(tx.Context(), tx.Session().Organization, tx.Session().ID, line.ID)
		if err != nil {
			return err
		}
		states := make(map[string]DeliveryState, len(known))
		for _, d := range known {
			states[d.Member] = d.State
		}
		for i, member := range kept.Members {
			if state, decided := states[member]; decided && state != Pending {
				continue
			}
			one, err := k.decideMember(tx, keeper, line, member, i)
			if err != nil {
				return err
			}
			states[member] = one.row.State
			if one.row.State == Pending {
				left = append(left, one)
			}
		}
		return nil
	})
	return left, err
}

// decideMember settles one member's delivery as far as the transaction can.
func (k *builtin) decideMember(t *session.Turn, keeper Deliveries, line postedLine, member string, ordinal int) (toldOutside, error) {
	s := t.Session()
	one := toldOutside{
		delivery: Delivery{
			MailboxID: s.ID, Member: member, PostID: line.ID, Body: line.Body, Principal: line.Principal,
			Author: line.Author, SeatAuthored: line.SeatAuthored,
		},
		row: Delivered{
			Organization: s.Organization, Mailbox: s.ID, Post: line.ID, PostSeq: line.Seq, Member: member, Ordinal: ordinal,
			State: Pending, At: t.Now(),
		},
		notifier: k.options.Notify,
	}
	if waker, ok := k.options.Notify.(Waker); ok {
		out, err := waker.Wake(t, one.delivery)
		switch {
		case refused(err):
			one.row.fail(err)
		case err != nil:
			return one, err
		default:
			one.row.State, one.row.Request, one.row.Reason, one.notifier = out.State, out.Request, out.Reason, out.After
		}
	}
	added, err := keeper.AddDelivery(t.Context(), one.row)
	if err != nil || added {
		return one, err
	}
	return one, keeper.SetDelivery(t.Context(), one.row)
}

// refused reports whether a wake was refused by rule, which fails that delivery
// alone; anything else fails the whole decision.
func refused(err error) bool {
	var f *fault.Fault
	var external *session.RefusedError
	return errors.As(err, &external) || errors.As(err, &f) && f.Class != fault.Busy && f.Class != fault.Internal && !errors.Is(err, session.ErrLeaseLost)
}

// tell hands one delivery to a notifier outside any transaction and keeps how it went.
func (k *builtin) tell(t *session.Turn, one toldOutside) error {
	err := notify(t.Context(), one.notifier, one.delivery)
	if ended := t.Context().Err(); ended != nil {
		return ended
	}
	one.row.State, one.row.At = Told, t.Now()
	if err != nil {
		one.row.fail(err)
	}
	return t.Atomically(func(tx *session.Turn) error {
		keeper, err := deliveries(tx)
		if err != nil {
			return err
		}
		tx.Changed()
		return keeper.SetDelivery(tx.Context(), one.row)
	})
}

// notify calls a notifier; a panic in it is that delivery's failure.
func notify(ctx context.Context, n Notifier, d Delivery) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = ErrDelivery.Because(fmt.Errorf("panic: %v", p))
		}
	}()
	return n.Notify(ctx, d)
}

func (d *Delivered) fail(err error) {
	f := fault.Of(err)
	if f.Code == fault.ErrInternal.Code {
		f = ErrDelivery.Because(err)
	}
	d.State, d.Code, d.Reason = Failure, f.Code, f.Message
}

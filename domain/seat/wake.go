package seat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"

	"postroom/domain/mailbox"
	"postroom/domain/session"
)

// WakeOption changes a wake as it is made.
type WakeOption func(*wake)

// WithFallback tells members whose seat can't hear a post, on every post, and
// never one that the wake would have woken.
func WithFallback(n mailbox.Notifier) WakeOption { return func(w *wake) { w.fallback = n } }

// WakeMembers is the notifier that runs the seats of a mailbox's members (the
// seed's wakeMemberSeats). A member runs when the line is not a seat's and a seat
// that the poster can reach stands behind it and hears. Each woken seat keeps one
// conversation per mailbox.
func WakeMembers(s *Seats, opts ...WakeOption) mailbox.Notifier {
	w := &wake{seats: s}
	for _, o := range opts {
		o(w)
	}
	return w
}

type wake struct {
	seats    *Seats
	fallback mailbox.Notifier
}

var _ mailbox.Waker = (*wake)(nil)

// Notify tells the fallback: a wake itself is rows, see Wake.
func (w *wake) Notify(ctx context.Context, d mailbox.Delivery) error {
	if w.fallback == nil {
		return nil
	}
	return w.fallback.Notify(ctx, d)
}

// Inside reports whether every outcome is settled in the transaction.
func (w *wake) Inside() bool { return w.fallback == nil }

// Hears reports whether a shared seat that hears stands behind a member.
func (w *wake) Hears(member string) bool {
	s, ok := w.seats.Resolve("", "", member)
	return ok && s.Hears
}

// Wake queues the seat's run in the fan-out's own transaction.
func (w *wake) Wake(t *session.Turn, d mailbox.Delivery) (mailbox.Outcome, error) {
	s, found := w.seats.Resolve(t.Session().Organization, d.Principal, d.Member)
	switch {
	case !found || !s.Hears:
		return w.deaf(found), nil
	case d.SeatAuthored:
		return mailbox.Outcome{State: mailbox.Skipped, Reason: "A seat's line wakes nobody."}, nil
	}
	handle, err := session.Dispatch(t, session.Target{
		Kind: s.Kind, Session: ConversationID(d.MailboxID, s.Address()), Action: hearEntry,
		Parent: d.MailboxID, FlowID: s.Address(), Key: d.PostID,
	}, d)
	if err != nil {
		return mailbox.Outcome{}, err
	}
	return mailbox.Outcome{State: mailbox.Woken, Request: handle.Request}, nil
}

func (w *wake) deaf(found bool) mailbox.Outcome {
	if w.fallback != nil {
		return mailbox.Outcome{State: mailbox.Pending, After: w.fallback}
	}
	reason := "Nobody was hired for this member, or not for whoever posted."
	if found {
		reason = "The member's kind can't hear a post."
	}
	return mailbox.Outcome{State: mailbox.Nobody, Reason: reason}
}

// ConversationID is the session in which a seat hears a mailbox.
func ConversationID(mailboxID, address string) string { return bounded(mailboxID + "~" + address) }

// TalkID is the session in which somebody talks to a seat directly.
func TalkID(seatID, principal string) string { return bounded(seatID + ":" + principal) }

// bounded keeps an id within what a session's id may be; of a longer one the
// beginning and a hash of the whole stay.
func bounded(id string) string {
	if len(id) <= session.MaxIDBytes {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	tail := "~" + hex.EncodeToString(sum[:16])
	head := id[:session.MaxIDBytes-len(tail)]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	return head + tail
}

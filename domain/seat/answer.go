package seat

import (
	"encoding/json"
	"strings"

	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/session"
)

// handedNote is what the tool says that it did with a line.
type handedNote struct {
	HandedTo string `json:"handedTo"`
	// Answers is the post that the line was handed over as the answer to.
	Answers string `json:"answers,omitempty"`
	Note    string `json:"note"`
}

const (
	noteHanded  = "Handed over. It lands if you are a member of that mailbox; a refusal is not reported back to you."
	noteAlready = "Nothing was sent: your answer to this post was handed over before, and a post has one answer."
)

// answers reports whether a line into a mailbox would be the answer to the post
// that woke the run.
func (r *running) answers(mailboxID string) bool {
	return r.woken.Routed && r.woken.MailboxID == mailboxID
}

// hand gives the seat's answer to the mailbox's internal entry, once a run: the key
// is the run's own, so that a run taken up again hands over nothing twice. how tells
// the tool's answer from the reply, which lands only if the tool's did not.
func (r *running) hand(t *session.Turn, how, body string) error {
	_, err := session.Dispatch(t, session.Target{
		Kind: mailbox.BuiltinKind, Session: r.woken.MailboxID, Action: mailbox.ActionAnswer, Key: t.Request().ID + ":" + how,
	}, mailbox.SeatAnswer{PostID: r.woken.PostID, Body: body, Author: r.seat.ID, Offline: r.model == model.Offline})
	return err
}

// byTool hands the tool's line over as the answer, unless one was. The mark is set
// once the dispatch was taken: a refused one leaves the next call to be the answer.
func (r *running) byTool(body string) (handedNote, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.handed {
		return handedNote{HandedTo: r.woken.MailboxID, Note: noteAlready}, nil
	}
	if err := r.hand(r.turn, "answer", body); err != nil {
		return handedNote{}, err
	}
	r.handed = true
	return handedNote{HandedTo: r.woken.MailboxID, Answers: r.woken.PostID, Note: noteHanded}, nil
}

// reply hands the run's last words over as the answer, in the transaction that
// completes the run. Saying nothing fails it, unless the tool has answered.
func (r *running) reply(text string) error {
	r.mu.Lock()
	handed := r.handed
	r.mu.Unlock()
	if strings.TrimSpace(text) == "" {
		if handed {
			return nil
		}
		return ErrSilent
	}
	if len(text) > mailbox.MaxBodyBytes {
		return mailbox.ErrBodyTooLarge.With("bytes", len(text), "most", mailbox.MaxBodyBytes)
	}
	r.turn.AtEnd(func(tx *session.Turn) error { return r.hand(tx, "reply", text) })
	return nil
}

// handedBefore reports whether a run that was cut off had handed its answer over.
func handedBefore(woken mailbox.Delivery, known remembered) bool {
	if !woken.Routed {
		return false
	}
	for _, done := range known.resume.Finished {
		var note handedNote
		if json.Unmarshal([]byte(done.Text), &note) == nil && note.Answers == woken.PostID {
			return true
		}
	}
	return false
}

// recentLines is what a routed member's model is shown of the mailbox for this
// answer only; the conversation does not keep it.
func recentLines(d mailbox.Delivery) string {
	if !d.Routed || len(d.Recent) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n\n# The last lines in " + d.MailboxID + "\n\nWhoever wrote them, and whoever they went to; the post you answer comes after them.\n")
	for _, l := range d.Recent {
		b.WriteString("\n" + l.Writer() + ": " + l.Body + "\n")
	}
	return b.String()
}

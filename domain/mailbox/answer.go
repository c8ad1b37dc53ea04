package mailbox

import (
	"context"
	"encoding/json"
	"fmt"

	"postroom/domain/schema"
	"postroom/domain/session"
)

// ActionAnswer is the internal entry by which a routed member answers. No client
// reaches it, so no client can answer for a member.
const ActionAnswer = "answer"

// SeatAnswer is a routed member's answer to one post; the author is its id, set by code.
type SeatAnswer struct {
	PostID  string `json:"postId"`
	Body    string `json:"body"`
	Author  string `json:"author"`
	Offline bool   `json:"offline,omitempty"`
	Token   string `json:"token,omitempty"` // a declared mailbox does not look at it
}

// Answers is what a transaction can do beside session.Tx so that a post has one
// answer at most.
type Answers interface {
	// Answer keeps a line as a post's answer, unless it has one; it reports whether
	// this is it.
	Answer(ctx context.Context, organization, mailboxID, post, line string) (bool, error)
}

// answerAction lands an answer once: another to the same post, even one sent at the
// same instant, writes nothing and is no error. One that is refused uses nothing up.
func (k *builtin) answerAction() session.Action {
	return session.Action{
		Schema: schema.Must(schema.For[SeatAnswer]()), Check: checkBody, Atomic: true, Repeatable: true,
		Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var in SeatAnswer
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, fmt.Errorf("read an answer: %w", err)
			}
			return k.append(t, Line{Body: in.Body, Author: in.Author, SeatAuthored: true, Offline: in.Offline, Answers: in.PostID})
		},
	}
}

// first reports whether a line is the first answer to its post; what answers
// nothing is.
func first(t *session.Turn, line Line) (bool, error) {
	if line.Answers == "" {
		return true, nil
	}
	keeper, ok := t.Tx().(Answers)
	if !ok {
		return false, fmt.Errorf("mailbox: the store's transactions (%T) keep no answers", t.Tx())
	}
	return keeper.Answer(t.Context(), t.Session().Organization, t.Session().ID, line.Answers, line.ID)
}

package mailbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"postroom/domain/schema"
	"postroom/domain/session"
)

// postInput is what a client or another flow posts.
type postInput struct {
	Body   string `json:"body"`
	Author string `json:"author,omitempty"`
}

// SeatPost is what a seat posts through its own door; the author is its id, set by
// code.
type SeatPost struct {
	Body    string `json:"body"`
	Author  string `json:"author"`
	Offline bool   `json:"offline,omitempty"`
}

// postAction is the public post.
func (k *builtin) postAction() session.Action {
	return session.Action{
		Schema: schema.Must(schema.For[postInput]()), Check: checkBody, Atomic: true, Repeatable: true,
		Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var in postInput
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, fmt.Errorf("read post: %w", err)
			}
			return k.append(t, Line{Body: in.Body, Author: in.Author})
		},
	}
}

// seatPostAction is the door for seats. Its lines wake nobody.
func (k *builtin) seatPostAction() session.Action {
	return session.Action{
		Schema: schema.Must(schema.For[SeatPost]()), Check: checkBody, Atomic: true, Repeatable: true,
		Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var in SeatPost
			if err := json.Unmarshal(input, &in); err != nil {
				return nil, fmt.Errorf("read a seat's post: %w", err)
			}
			return k.append(t, Line{Body: in.Body, Author: in.Author, SeatAuthored: true, Offline: in.Offline})
		},
	}
}

// append checks a line and writes it, in one transaction with its fan-out.
func (k *builtin) append(t *session.Turn, line Line) (any, error) {
	kept, err := k.kept(t)
	if err != nil {
		return nil, err
	}
	if line.Author != "" && !slices.Contains(kept.Members, line.Author) {
		return nil, ErrAuthorNotMember.With("author", line.Author, "mailbox", t.Session().ID, "members", kept.Members)
	}
	r := t.Request()
	line.ID = lineID(r.ID)
	line.At = t.Now().UnixMilli()
	line.Principal, line.PrincipalVerified = r.Principal.ID, r.Principal.Verified
	if fresh, err := first(t, line); err != nil || !fresh {
		return nil, err
	}
	holder, recent := "", []int64(nil)
	err = k.remember(t, func(l *Ledger) {
		holder, recent = l.holder(line.Principal), slices.Clone(l.Lines)
		if line.SeatAuthored {
			l.spoken(line.Author, line.Answers)
		} else {
			l.posted(line.Principal, line.ID, k.fallback(t.Session().ID) != "")
		}
		l.line(t.Session().LastSeq + 1) // the item that follows
	})
	if err != nil {
		return nil, err
	}
	item, err := t.Emit(session.Entry{Type: session.TypeComponent, Component: ComponentPost, Data: line})
	if err != nil {
		return nil, err
	}
	if err := tally(t, line); err != nil {
		return nil, err
	}
	posted := postedLine{Line: line, Seq: item.Seq}
	if k.options.Notify != nil {
		action, input := actionPosted, any(posted)
		if fallback := k.fallback(t.Session().ID); fallback != "" && !line.SeatAuthored {
			action, input = actionRouted, routedPost{postedLine: posted, Holder: holder, Fallback: fallback, Recent: recent}
		}
		_, err = session.Dispatch(t, session.Target{Kind: k.Name(), Session: t.Session().ID, Action: action, Key: line.ID}, input)
		var refused *session.RefusedError
		switch {
		case errors.As(err, &refused):
			// The line is the durable record, telling people of it is best effort.
			posted.Untold = refused.Refused
		case err != nil:
			return nil, fmt.Errorf("queue the fan-out: %w", err)
		}
	}
	return posted, nil
}

// postedLine is the output of a post and the input of its fan-out: the line, and
// its seq among the mailbox's items.
type postedLine struct {
	Line
	Seq int64 `json:"seq"`
	// Untold says why the fan-out could not start at all, such as external-dispatcher.
	Untold string `json:"untold,omitempty"`
}

// kept is the mailbox's state, or the refusal of a session that is none.
func (k *builtin) kept(t *session.Turn) (Kept, error) {
	id := t.Session().ID
	state, err := t.State()
	if err != nil {
		return Kept{}, err
	}
	kept, err := parseKept(state)
	if err != nil {
		return Kept{}, ErrNotBound.With("mailbox", id)
	}
	return kept, nil
}

// lineID derives a line's id from its request, so that a post that runs again
// after a crash is the same line.
func lineID(request string) string { return "line" + strings.TrimPrefix(request, "req") }

// checkBody refuses bodies that are blank or too long before a request is accepted.
func checkBody(input json.RawMessage) error {
	var in struct {
		Body string `json:"body"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		return fmt.Errorf("read body: %w", err)
	}
	if strings.TrimSpace(in.Body) == "" {
		return ErrBodyEmpty
	}
	if len(in.Body) > MaxBodyBytes {
		return ErrBodyTooLarge.With("bytes", len(in.Body), "most", MaxBodyBytes)
	}
	return nil
}

package mailbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"postroom/domain/session"
)

// ledgerKey is where a mailbox's state keeps what its route remembers.
const ledgerKey = "mailboxRouteLedger"

const (
	recentLines  = 20  // that a routed member sees
	ledgerPeople = 200 // whose last post is remembered
)

// Ledger is what a route remembers of a mailbox (the seed's mailboxRouteLedger). It
// names lines by seq; they are read when they are needed. A mailbox here is shared
// by many people, so it keeps one last post for each of them: a post is held only by
// whoever still owes the same person an answer.
type Ledger struct {
	Lines     []int64    `json:"lines"`     // the last 20, oldest first
	LastPosts []LastPost `json:"lastPosts"` // one a principal, the newest last; of the others, those that may hold
}

// LastPost is somebody's last post and where it went.
type LastPost struct {
	Principal string   `json:"principal"`
	PostID    string   `json:"postId"`
	By        string   `json:"by,omitempty"`     // its route's source, once recorded
	Member    string   `json:"member,omitempty"` // that it went to
	Spoke     []string `json:"spoke,omitempty"`  // seats that have answered this person since
}

// holder is the member who still owes a principal an answer, or empty.
func (l Ledger) holder(principal string) string {
	i := l.of(principal)
	if i < 0 || !l.LastPosts[i].holds() {
		return ""
	}
	return l.LastPosts[i].Member
}

// holds reports whether whoever took the post still owes its writer an answer.
func (p LastPost) holds() bool {
	return p.Member != "" && (p.By == SourceEvaluator || p.By == SourceFallback) && !slices.Contains(p.Spoke, p.Member)
}

func (l Ledger) of(principal string) int {
	return slices.IndexFunc(l.LastPosts, func(p LastPost) bool { return p.Principal == principal })
}

// byNone is where a post went that no route was asked about.
const byNone = "none"

// posted remembers a line of a person as that person's last post, and forgets those
// of others that hold nothing any more: the newest stays whatever came of it.
func (l *Ledger) posted(principal, postID string, routed bool) {
	l.LastPosts = slices.DeleteFunc(l.LastPosts, func(p LastPost) bool {
		return p.Principal == principal || p.By != "" && !p.holds()
	})
	last := LastPost{Principal: principal, PostID: postID}
	if !routed {
		last.By = byNone
	}
	l.LastPosts = append(l.LastPosts, last)
	if over := len(l.LastPosts) - ledgerPeople; over > 0 {
		l.LastPosts = slices.Delete(l.LastPosts, 0, over)
	}
}

// spoken remembers a seat's line: an answer to that post, or, where it answers none
// in particular, one to everybody. An answer to a post that is nobody's last changes nothing.
func (l *Ledger) spoken(author, postID string) {
	for i, last := range l.LastPosts {
		if (postID == "" || postID == last.PostID) && !slices.Contains(last.Spoke, author) {
			l.LastPosts[i].Spoke = append(last.Spoke, author)
		}
	}
}

// routed notes where a post went, while it still is its writer's last one.
func (l *Ledger) routed(postID, by, member string) {
	for i := range l.LastPosts {
		if l.LastPosts[i].PostID == postID {
			l.LastPosts[i].By, l.LastPosts[i].Member = by, member
		}
	}
}

func (l *Ledger) line(seq int64) {
	l.Lines = append(l.Lines, seq)
	if over := len(l.Lines) - recentLines; over > 0 {
		l.Lines = slices.Delete(l.Lines, 0, over)
	}
}

// LedgerOf reads what a mailbox's route remembers; false where it keeps none.
func LedgerOf(s session.Session) (Ledger, bool) {
	var state struct {
		Ledger *Ledger `json:"mailboxRouteLedger"`
	}
	if json.Unmarshal(s.State, &state) != nil || state.Ledger == nil {
		return Ledger{}, false
	}
	return *state.Ledger, true
}

// remember changes the ledger in the turn's transaction. A mailbox that has none yet
// begins with the lines inside the history window. On a kind without a route what
// was remembered is dropped, since it is no longer kept.
func (k *builtin) remember(t *session.Turn, change func(l *Ledger)) error {
	raw, err := t.State()
	if err != nil {
		return err
	}
	if k.options.Route == nil && !bytes.Contains(raw, []byte(`"`+ledgerKey+`"`)) {
		return nil
	}
	var state map[string]json.RawMessage
	if err := json.Unmarshal(raw, &state); err != nil {
		return fmt.Errorf("read the mailbox's state: %w", err)
	}
	kept, there := state[ledgerKey]
	switch {
	case k.options.Route == nil && !there:
		return nil
	case k.options.Route == nil:
		delete(state, ledgerKey)
	default:
		if state[ledgerKey], err = k.changed(t, kept, change); err != nil {
			return err
		}
	}
	if raw, err = json.Marshal(state); err != nil {
		return fmt.Errorf("write the mailbox's state: %w", err)
	}
	return t.SetState(raw)
}

// changed is a ledger, as it is kept, after a change.
func (k *builtin) changed(t *session.Turn, kept json.RawMessage, change func(l *Ledger)) (json.RawMessage, error) {
	var l Ledger
	var err error
	if len(kept) == 0 {
		l.Lines, err = k.seeded(t)
	} else if err = json.Unmarshal(kept, &l); err != nil {
		err = fmt.Errorf("read the route's ledger: %w", err)
	}
	if err != nil {
		return nil, err
	}
	change(&l)
	raw, err := json.Marshal(l)
	if err != nil {
		return nil, fmt.Errorf("write the route's ledger: %w", err)
	}
	return raw, nil
}

// seeded are the lines inside the history window, for a ledger that begins.
func (k *builtin) seeded(t *session.Turn) ([]int64, error) {
	items, err := t.Items(session.ItemQuery{
		Components: []string{ComponentPost}, Window: historyWindow, WindowBefore: t.Request().Position, Newest: true, Limit: recentLines,
	})
	if err != nil {
		return nil, err
	}
	seqs := make([]int64, len(items))
	for i, item := range items {
		seqs[i] = item.Seq
	}
	return seqs, nil
}

package mailbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"postroom/domain/account"
	"postroom/domain/session"
)

// preRenameKind is what the built-in kind was called before mailboxes were renamed.
const preRenameKind = "channel"

// openRounds is how often the question who holds an id is asked again when
// somebody takes it in between.
const openRounds = 3

// Open makes one session of each bound record, in id order. It is idempotent: an
// open mailbox is left exactly as it is, since members, charter and description
// are kept as opened. An id that a post claimed before it was opened is repaired.
// An id held by anything else is refused by name (ErrIDCollision, ErrPreRename),
// and the first refusal stops the run.
func (b *Bound) Open(ctx context.Context, c *session.Client, p account.Principal) error {
	for _, m := range b.Mailboxes() {
		if err := open(ctx, c, p, m); err != nil {
			return fmt.Errorf("open mailbox %s: %w", m.ID, err)
		}
	}
	return nil
}

func open(ctx context.Context, c *session.Client, p account.Principal, m Mailbox) error {
	made, err := opened(p, m)
	if err != nil {
		return err
	}
	for range openRounds {
		held, found, err := c.Reader().Session(ctx, p.Organization, m.ID)
		if err != nil {
			return err
		}
		if !found {
			err := c.Create(ctx, made)
			if errors.Is(err, session.ErrSessionTaken) {
				continue
			}
			return err
		}
		if done, err := settled(held, made); done || err != nil {
			return err
		}
		if done, err := c.ReplaceEmpty(ctx, made); done || err != nil {
			return err
		}
	}
	return ErrIDCollision.Saying("Something else keeps taking the mailbox's id while it is opened; find out what, or rename the mailbox's folder.").With("mailbox", m.ID)
}

// opened is the session that a record opens as.
func opened(p account.Principal, m Mailbox) (session.Session, error) {
	members := m.Members
	if members == nil {
		members = []string{}
	}
	state, err := json.Marshal(Kept{Description: m.Description, Members: members, Charter: m.Charter})
	return session.Session{Organization: p.Organization, ID: m.ID, Kind: m.Kind, Owner: p.ID, State: state}, err
}

// settled says whether the holder of a mailbox's id is that mailbox. It is false
// without an error for an empty session, which may be replaced.
func settled(held, made session.Session) (bool, error) {
	switch {
	case held.Kind == preRenameKind:
		return false, ErrPreRename.With("mailbox", made.ID, "session", held.ID, "kind", held.Kind)
	case held.Kind != made.Kind:
		return false, ErrIDCollision.With("mailbox", made.ID, "kind", made.Kind, "held by kind", held.Kind)
	case held.LastSeq == 0 && emptyState(held.State):
		return false, nil
	}
	if _, err := parseKept(held.State); err != nil {
		return false, ErrIDCollision.With("mailbox", made.ID, "held by state with keys", stateKeys(held.State))
	}
	if held.Owner != made.Owner {
		return false, ErrIDCollision.With("mailbox", made.ID, "opened for", made.Owner, "held for", held.Owner)
	}
	return true, nil
}

func emptyState(state json.RawMessage) bool {
	return len(state) == 0 || string(state) == "null" || string(state) == "{}"
}

func stateKeys(state json.RawMessage) []string {
	var object map[string]json.RawMessage
	if json.Unmarshal(state, &object) != nil {
		return []string{"(not an object)"}
	}
	return slices.Sorted(maps.Keys(object))
}

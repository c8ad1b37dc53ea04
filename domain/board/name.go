package board

import (
	"fmt"
	"strings"
	"unicode"
)

// inherited are the names that every object of the documents' own language has;
// a board called so could not be looked up there.
var inherited = map[string]bool{
	"__proto__": true, "prototype": true, "constructor": true, "toString": true, "toLocaleString": true, "valueOf": true,
	"hasOwnProperty": true, "isPrototypeOf": true, "propertyIsEnumerable": true, "__defineGetter__": true,
	"__defineSetter__": true, "__lookupGetter__": true, "__lookupSetter__": true,
}

// NameRule is what a board's name must be, in words.
const NameRule = "a board's name is a plain local name: not empty, no blanks, none of . / * [ ], not \"lock\", and not the name of an object's own member such as __proto__, prototype or constructor"

// CheckName holds a board's local name to NameRule.
func CheckName(name string) error {
	bad := name == "" || inherited[name] || strings.EqualFold(name, "lock") ||
		strings.ContainsAny(name, "./*[]") || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	if bad {
		return fmt.Errorf("%q cannot name a board: %s", name, NameRule)
	}
	return nil
}

// Ledger is where a board's rows are kept. Its id is minted from the mailbox that
// holds the board; no file writes it.
type Ledger struct {
	id string
}

// OfMailbox is the ledger that a mailbox's board writes to. Nothing checks the
// names against the tree: a wrong one is a second, empty ledger.
func OfMailbox(mailboxID, name string) (*Ledger, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	return &Ledger{id: LedgerID(mailboxID, name)}, nil
}

// ID is the minted id, such as engineering.incidents.followups.
func (l *Ledger) ID() string { return l.id }

// LedgerID mints the id of a mailbox's board.
func LedgerID(mailboxID, name string) string { return mailboxID + "." + name }

// ActionSuffix is what the board's tools carry in their names: the ledger's id with
// every character that cannot go in a name turned into an underscore.
func ActionSuffix(ledgerID string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, ledgerID)
}

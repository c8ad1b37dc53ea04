package board_test

import (
	"testing"

	"postroom/domain/board"
)

func TestABoardsNameIsAPlainLocalName(t *testing.T) {
	t.Parallel()
	for name, good := range map[string]bool{
		"followups": true, "Follow-Ups": true, "待办": true, "a_b": true,
		"": false, "a b": false, "a.b": false, "a/b": false, "a*": false, "a[": false, "a]": false, "a\tb": false,
		"__proto__": false, "prototype": false, "constructor": false, "toString": false, "lock": false, "LOCK": false,
	} {
		if err := board.CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v, want good %v", name, err, good)
		}
	}
}

func TestALedgersIDIsMintedFromItsMailbox(t *testing.T) {
	t.Parallel()
	l, err := board.OfMailbox("engineering.incidents", "followups")

	if err != nil || l.ID() != "engineering.incidents.followups" || board.ActionSuffix(l.ID()) != "engineering_incidents_followups" {
		t.Errorf("ledger: %+v %v", l, err)
	}
	if _, err := board.OfMailbox("feature", "a.b"); err == nil {
		t.Error("a dotted name addresses a board on another mailbox")
	}
}

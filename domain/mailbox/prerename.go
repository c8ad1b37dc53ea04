package mailbox

import (
	"context"
	"fmt"
	"strings"

	"postroom/domain/session"
)

// MarksQuery says where to look for what was stored before channels were renamed.
type MarksQuery struct {
	MailboxIDs    []string // mailboxes whose newest transcript is looked at
	Organizations []string // whose sessions are looked at
}

// Mark is a session from before the rename.
type Mark struct {
	Organization string
	Session      string
	Reason       string
}

// Marks are what was found; empty for a store written after the rename.
type Marks struct {
	Sessions      []Mark
	Organizations []string // those that hold any
}

// FindPreRenameMarks lists every session on the old kind, and every listed mailbox
// whose newest items are of the old components. It only reads.
func FindPreRenameMarks(ctx context.Context, read session.Reader, q MarksQuery) (Marks, error) {
	var found Marks
	for _, organization := range q.Organizations {
		before := len(found.Sessions)
		for after := ""; ; {
			page, err := read.Sessions(ctx, session.SessionQuery{Organization: organization, Kind: preRenameKind, Children: true, After: after})
			if err != nil {
				return found, fmt.Errorf("look for old sessions: %w", err)
			}
			for _, s := range page {
				found.Sessions = append(found.Sessions, Mark{organization, s.ID, "it runs on the kind channel"})
				after = s.ID
			}
			if len(page) < session.MaxPage {
				break
			}
		}
		for _, id := range q.MailboxIDs {
			items, err := read.Items(ctx, session.ItemQuery{
				Organization: organization, Session: id, Components: []string{"channel-post", "channel-route"}, Window: historyWindow, Limit: 1,
			})
			if err != nil {
				return found, fmt.Errorf("look for old items of %s: %w", id, err)
			}
			for _, item := range items {
				found.Sessions = append(found.Sessions, Mark{organization, id, "its transcript holds " + item.Component + " items"})
			}
		}
		if len(found.Sessions) > before {
			found.Organizations = append(found.Organizations, organization)
		}
	}
	return found, nil
}

// DescribePreRenameMarks is one clause that names each session with its reason.
func DescribePreRenameMarks(m Marks) string {
	if len(m.Sessions) == 0 {
		return "written after channels were renamed to mailboxes"
	}
	parts := make([]string, len(m.Sessions))
	for i, s := range m.Sessions {
		parts[i] = s.Session + " of " + s.Organization + " (" + s.Reason + ")"
	}
	return "written before channels were renamed to mailboxes: " + strings.Join(parts, ", ")
}

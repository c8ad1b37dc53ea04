package mailbox

import (
	"encoding/json"
	"errors"

	"postroom/domain/session"
)

// Kept is what a mailbox's session keeps from its record as it was opened.
// Boards and routing are not in it: they are read from the file at every start.
type Kept struct {
	Description string   `json:"description,omitempty"`
	Members     []string `json:"members"`
	Charter     string   `json:"charter"`
}

// KeptOf reads what a mailbox's session keeps; false for a session that is no mailbox.
func KeptOf(s session.Session) (Kept, bool) {
	kept, err := parseKept(s.State)
	return kept, err == nil
}

// parseKept reads a session's state; only one that has both members and charter
// is a mailbox. Posting and opening ask the same question.
func parseKept(state json.RawMessage) (Kept, error) {
	var probe struct {
		Description string    `json:"description"`
		Members     *[]string `json:"members"`
		Charter     *string   `json:"charter"`
	}
	if err := json.Unmarshal(state, &probe); err != nil {
		return Kept{}, err
	}
	if probe.Members == nil || probe.Charter == nil {
		return Kept{}, errors.New("no members or no charter")
	}
	return Kept{Description: probe.Description, Members: *probe.Members, Charter: *probe.Charter}, nil
}

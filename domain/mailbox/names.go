package mailbox

import (
	"fmt"
	"regexp"
	"strings"
)

// maxNameBytes is the longest a folder's name may be.
const maxNameBytes = 64

var nameShape = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)

// deviceNames cannot be checked out on Windows. com0 and lpt0 can.
var deviceNames = regexp.MustCompile(`^(?:con|prn|aux|nul|com[1-9]|lpt[1-9])$`)

// CheckName holds a folder's name to the tree's rule. what says what it is the
// name of, such as "team folder"; the first break is reported.
func CheckName(what, name string) error {
	rule := ""
	switch {
	case len(name) > maxNameBytes:
		rule = "a name is at most 64 characters"
	case name == "_meta":
		rule = "_meta is reserved"
	case deviceNames.MatchString(name):
		rule = "the name is a device's on Windows, where the tree could not be checked out"
	case !nameShape.MatchString(name):
		rule = "a name is lowercase letters, digits and single hyphens between them"
	default:
		return nil
	}
	return fmt.Errorf("the %s %q breaks the name rule: %s. The name becomes part of a dot-joined identity, so rename the folder", what, name, rule)
}

// IsSeatID reports whether a text can be a seat's id: team.seat, or an
// organization seat's own name; each part obeys the name rule.
func IsSeatID(id string) bool {
	parts := strings.Split(id, ".")
	if len(parts) > 2 {
		return false
	}
	for _, part := range parts {
		if CheckName("seat", part) != nil {
			return false
		}
	}
	return true
}

package mailbox

import (
	"maps"
	"slices"
	"strings"
)

// Keys are the eight keys that a record may declare. The list is closed.
var Keys = []string{"flow", "description", "members", "boards", "instructions", "routing", "boardActions", "mintFor"}

// keys refuses every key outside the eight, two of them in words of their own.
func (b *binder) keys(r Record) {
	for _, key := range slices.Sorted(maps.Keys(r.Declared)) {
		switch {
		case key == "system":
			b.add(r, key, CodeSystem, "system can't be declared: where a mailbox stands in the tree decides that; take it out")
		case key == "id":
			b.add(r, key, CodeID, "id can't be declared: a mailbox's id comes from its folders; take it out")
		case !slices.Contains(Keys, key):
			b.add(r, key, CodeUnknownKey, "%q is not a key of a mailbox; these are: %s", key, strings.Join(Keys, ", "))
		}
	}
}

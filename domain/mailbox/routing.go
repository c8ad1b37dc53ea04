package mailbox

import (
	"maps"
	"slices"
	"strings"
)

// router is what a kind built with a route can tell.
type router interface {
	HasRoute() bool
	// Hears reports whether a member's seat, among those the route got, hears posts.
	Hears(member string) bool
}

// routing checks routing: and gives its fallback.
func (b *binder) routing(r Record, m Mailbox, membersGood bool) string {
	value, there := r.Declared["routing"]
	if !there {
		return ""
	}
	mapping, ok := value.(map[string]any)
	if !ok {
		b.add(r, "routing", CodeRouting, "routing must be a mapping with a fallback, not %s", describe(value))
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(mapping)) {
		if key != "fallback" {
			b.add(r, "routing", CodeRoutingKey, "routing takes fallback and nothing else, and %q is not it; the model is the app's", key)
		}
	}
	fallback, ok := mapping["fallback"].(string)
	if !ok || strings.TrimSpace(fallback) == "" {
		b.add(r, "routing", CodeFallback, "routing.fallback must name a member, and %s names none", describe(mapping["fallback"]))
		return ""
	}
	isMember := slices.Contains(m.Members, fallback)
	if membersGood && !isMember {
		b.add(r, "routing", CodeFallbackNoMember, "routing.fallback names %q, who is not a member; add it to members, or name one of them", fallback)
	}
	kind, known := b.kinds[m.Kind]
	if !known {
		return fallback // the kind's own problem
	}
	route, ok := kind.(router)
	switch {
	case !ok || !route.HasRoute():
		b.add(r, "routing", CodeNoRoute, "kind %q was built without a route, so it can't place a post; build it with one, or take routing out", m.Kind)
	case isMember && !route.Hears(fallback):
		b.add(r, "routing", CodeFallbackDeaf, "routing.fallback names %q, who has no hired seat that hears posts; hire one, or name another member", fallback)
	}
	return fallback
}

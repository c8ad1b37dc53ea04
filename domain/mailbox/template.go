package mailbox

import (
	"slices"
	"strings"
)

// projectsCollection is the one collection that rooms are minted for.
const projectsCollection = "projects"

// template checks a record marked mintFor: it is never opened, its members are
// the seats of every room and its body is their charter.
func (b *binder) template(r Record, m Mailbox, membersGood bool) {
	for _, key := range []string{"flow", "boards", "routing", "boardActions"} {
		if _, there := r.Declared[key]; there {
			b.add(r, key, CodeTemplateKey, "%s can't stand in a template: a room holds no board, routes no post and picks no kind; take it out", key)
		}
	}
	if membersGood {
		b.templateSeats(r, m.Members)
	}
	name, ok := r.Declared["mintFor"].(string)
	if !ok || strings.TrimSpace(name) == "" {
		b.add(r, "mintFor", CodeMintFor, "mintFor must name a collection, and %s names none", describe(r.Declared["mintFor"]))
		return
	}
	_, known := b.resources[name]
	switch {
	case !known:
		b.add(r, "mintFor", CodeCollection, "mintFor names collection %q, which is not among the organization's resources; declare it in org/resources", name)
		return
	case name != projectsCollection:
		b.add(r, "mintFor", CodeCollectionKind, "mintFor names collection %q; rooms are minted for projects only", name)
		return
	}
	if kind, ok := b.kinds[BuiltinKind].(interface{ CanNotify() bool }); len(m.Members) > 0 && (!ok || !kind.CanNotify()) {
		b.add(r, "mintFor", CodeTemplateDeaf, "kind %q can't wake the template's seats; build it with a notifier", BuiltinKind)
	}
	b.templates = append(b.templates, Template{MailboxID: r.ID, Collection: name, Seats: m.Members, Charter: m.Charter})
	b.sources = append(b.sources, r.Source)
}

func (b *binder) templateSeats(r Record, seats []string) {
	for i, seat := range seats {
		switch {
		case !IsSeatID(seat):
			b.add(r, "members", CodeTemplateSeat, "%q is not a seat's id: name it team.seat, or by an organization seat's own name", seat)
		case slices.Index(seats, seat) < i:
			b.add(r, "members", CodeTemplateDuplicate, "members lists seat %q twice; take one out", seat)
		}
	}
}

// rivals refuses two templates for one collection, once a collection.
func (b *binder) rivals() {
	for i, t := range b.templates {
		if first := slices.IndexFunc(b.templates, func(o Template) bool { return o.Collection == t.Collection }); first < i {
			if slices.ContainsFunc(b.templates[first+1:i], func(o Template) bool { return o.Collection == t.Collection }) {
				continue
			}
			var sites []string
			for _, o := range b.templates {
				if o.Collection == t.Collection {
					sites = append(sites, o.MailboxID)
				}
			}
			b.add(Record{ID: t.MailboxID, Source: b.sources[i]}, "mintFor", CodeTemplateTwice,
				"%s all declare the template of %s; keep one", strings.Join(sites, ", "), t.Collection)
		}
	}
}

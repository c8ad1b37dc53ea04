package seat

import (
	"cmp"
	"slices"
)

// Seats are the workers hired, by id; the same id may be hired more than once, for
// several organizations or owners.
type Seats struct {
	all []Seat
}

// Join puts several hirings together. Within a step of Resolve the first listed wins.
func Join(hired ...*Seats) *Seats {
	joined := &Seats{}
	for _, s := range hired {
		joined.all = append(joined.all, s.all...)
	}
	slices.SortStableFunc(joined.all, func(a, b Seat) int { return cmp.Compare(a.ID, b.ID) })
	return joined
}

// All lists them, by id.
func (s *Seats) All() []Seat { return s.all }

// Resolve finds the seat behind a member's name that a caller can reach: the
// caller's own, else the organization's, else a shared one. A seat pinned
// elsewhere does not exist for the caller.
func (s *Seats) Resolve(organization, user, id string) (Seat, bool) {
	best, rank := Seat{}, 0
	for _, one := range s.all {
		if one.ID != id {
			continue
		}
		r := 0
		switch {
		case one.Organization == "" && one.Owner == "":
			r = 1
		case one.Organization == organization && one.Owner == "":
			r = 2
		case one.Organization == organization && one.Owner == user:
			r = 3
		}
		if r > rank {
			best, rank = one, r
		}
	}
	return best, rank > 0
}

// At finds the seat of an address.
func (s *Seats) At(address string) (Seat, bool) {
	for _, one := range s.all {
		if one.Address() == address {
			return one, true
		}
	}
	return Seat{}, false
}

package live

import (
	"context"
	"sync"
)

// state is one topic's parts as they are now, shared by its watchers.
type state struct {
	deps         Deps
	organization string
	topic        Topic
	ring         func()

	mu      sync.Mutex
	parts   []stated // guarded by mu; those of the newest rendering
	json    stated   // guarded by mu
	version int64    // guarded by mu
}

// stated is a part and the version at which it last changed.
type stated struct {
	id      string
	html    string
	version int64
	frame   *frame
}

// since gives the frames of what changed after a version; after 0, all of it.
func (s *state) since(version int64, asJSON bool) ([]*frame, int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if asJSON {
		if s.json.version > version {
			return []*frame{s.json.frame}, s.version
		}
		return nil, s.version
	}
	var frames []*frame
	for _, p := range s.parts {
		if p.version > version {
			frames = append(frames, p.frame)
		}
	}
	return frames, s.version
}

// refresh renders the topic and rings if something is new. Its feed alone calls it.
func (s *state) refresh(ctx context.Context) error {
	parts, err := s.deps.Screens.State(ctx, s.organization, s.topic)
	if err != nil {
		return err
	}
	value, err := s.deps.Screens.StateJSON(ctx, s.organization, s.topic)
	if err != nil {
		return err
	}
	if s.replace(parts, value) {
		s.ring()
	}
	return nil
}

// replace takes a rendering as what is true now. Parts that are equal keep their
// version, and those that are gone are forgotten, so that what is held stays the
// size of what is shown.
func (s *state) replace(parts []Part, value any) (changed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make(map[string]stated, len(s.parts))
	for _, p := range s.parts {
		known[p.id] = p
	}
	s.version++
	next := make([]stated, len(parts))
	for i, p := range parts {
		one, had := known[p.ID]
		if !had || one.html != p.HTML {
			one = stated{p.ID, p.HTML, s.version, stateFrameOf(s.topic.Name, p)}
			changed = true
		}
		next[i] = one
	}
	s.parts = next
	// What programs get has no times that tick, so it is compared by the parts.
	if changed || len(next) != len(known) || s.json.frame == nil {
		changed = true
		f := &frame{}
		f.json.make = func() any { return stateFrame{"state", s.topic.Name, value} }
		s.json = stated{version: s.version, frame: f}
	}
	return changed
}

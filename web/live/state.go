package live

import (
	"context"
	"sync"
)

// state is one topic's parts as they are now, shared by its watchers.
type state struct {
	hub          *Hub
	organization string
	topic        Topic

	mu      sync.Mutex
	parts   []stated // guarded by mu
	index   map[string]int
	json    stated
	version int64
	bells   map[chan struct{}]struct{}
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

// refresh renders the topic and rings everyone if something is new.
func (s *state) refresh(ctx context.Context) error {
	parts, err := s.hub.deps.Screens.State(ctx, s.organization, s.topic)
	if err != nil {
		return err
	}
	value, err := s.hub.deps.Screens.StateJSON(ctx, s.organization, s.topic)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	changed := false
	for _, p := range parts {
		i, known := s.index[p.ID]
		if known && s.parts[i].html == p.HTML {
			continue
		}
		changed = true
		one := stated{p.ID, p.HTML, s.version, s.frameOf(p)}
		if known {
			s.parts[i] = one
			continue
		}
		s.index[p.ID] = len(s.parts)
		s.parts = append(s.parts, one)
	}
	// What programs get has no times that tick, so it is compared by the parts.
	if changed || s.json.frame == nil {
		f := &frame{}
		f.json.make = func() any { return stateFrame{"state", s.topic.Name, value} }
		s.json = stated{version: s.version, frame: f}
	}
	if changed {
		for bell := range s.bells {
			ring(bell)
		}
	}
	return nil
}

func (s *state) frameOf(p Part) *frame {
	kind := "state"
	if p.Add {
		kind = "append"
	}
	f := &frame{}
	f.html.make = func() any { return partFrame{kind, s.topic.Name, p.ID, p.HTML} }
	return f
}

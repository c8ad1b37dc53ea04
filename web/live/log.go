package live

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"postroom/domain/session"
)

const (
	ringFrames = 1024    // newest frames of a log kept in memory, at most
	ringBytes  = 4 << 20 // and what they hold, about
	mostMissed = 1000    // beyond it a page reloads its window
)

// log is one mailbox's frames, shared by its watchers.
type log struct {
	deps         Deps
	organization string
	id           string
	ring         func()
	flight       singleflight.Group

	mu     sync.Mutex
	frames []*frame // guarded by mu; dense by seq, the newest last
	bytes  int      // guarded by mu; what frames hold, about
	last   int64    // guarded by mu; seq up to which frames were made
}

// begin takes the newest seq as the place from which frames are made.
func (l *log) begin(ctx context.Context) error {
	s, _, err := l.deps.Read.Session(ctx, l.organization, l.id)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = s.LastSeq
	return nil
}

// newest is the seq up to which frames were made.
func (l *log) newest() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// unknown reports whether a cursor names a seq that the mailbox never reached. One
// ahead of this log alone is fine: its page read the table before the notice came.
func (l *log) unknown(ctx context.Context, cursor int64) (bool, error) {
	if cursor <= l.newest() {
		return false, nil
	}
	s, _, err := l.deps.Read.Session(ctx, l.organization, l.id)
	return cursor > s.LastSeq, err
}

// after gives the frames that follow a cursor. reset says that there are too many.
func (l *log) after(ctx context.Context, cursor int64) (frames []*frame, reset bool, err error) {
	l.mu.Lock()
	last, held := l.last, l.frames
	l.mu.Unlock()
	switch {
	case cursor >= last:
		return nil, false, nil
	case last-cursor > mostMissed:
		return nil, true, nil
	case len(held) > 0 && held[0].seq <= cursor+1:
		return held[cursor+1-held[0].seq:], false, nil
	}
	// Older than what is held: one read for all who come back at this cursor. It is
	// no single caller's, so none of them ends it for the others by leaving. What is
	// held may move on meanwhile, and then it is looked at again.
	for range 3 {
		_, err, _ = l.flight.Do(fmt.Sprint(cursor), func() (any, error) {
			return nil, l.fetch(context.WithoutCancel(ctx), cursor)
		})
		if err != nil {
			return nil, false, err
		}
		if frames, held := l.held(cursor); held {
			return frames, false, nil
		}
	}
	return nil, true, nil // far more came than is held: the page reloads its window
}

// held gives the frames after a cursor, if they are all there.
func (l *log) held(cursor int64) ([]*frame, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.frames) == 0 || l.frames[0].seq > cursor+1 {
		return nil, false
	}
	return l.frames[cursor+1-l.frames[0].seq:], true
}

// fetch puts the frames between a cursor and what is held before that, so that
// whoever comes back next finds them.
func (l *log) fetch(ctx context.Context, cursor int64) error {
	l.mu.Lock()
	upTo := l.last
	if len(l.frames) > 0 {
		upTo = l.frames[0].seq - 1
	}
	l.mu.Unlock()
	if upTo <= cursor {
		return nil // somebody else was here
	}
	missed, err := l.read(ctx, cursor, upTo)
	if err != nil || len(missed) == 0 {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.frames) > 0 {
		// Somebody who came back at another cursor may have been here meanwhile.
		missing := l.frames[0].seq - 1 - cursor
		if missing <= 0 || missing > int64(len(missed)) {
			return nil
		}
		missed = missed[:missing]
	}
	l.frames = append(missed[:len(missed):len(missed)], l.frames...)
	for _, f := range missed {
		l.bytes += f.size
	}
	return nil
}

// read makes the frames after a cursor, up to a seq.
func (l *log) read(ctx context.Context, cursor, upTo int64) ([]*frame, error) {
	var all []*frame
	for cursor < upTo {
		page, err := l.page(ctx, cursor)
		if err != nil {
			return nil, err
		}
		if len(page) == 0 {
			break
		}
		all = append(all, page...)
		cursor = page[len(page)-1].seq
	}
	if over := cursor - upTo; over > 0 {
		all = all[:int64(len(all))-over]
	}
	return all, nil
}

// page makes the next frames after a cursor, as many as one read gives.
func (l *log) page(ctx context.Context, cursor int64) ([]*frame, error) {
	items, err := l.deps.Read.Items(ctx, session.ItemQuery{Organization: l.organization, Session: l.id, After: cursor})
	if err != nil || len(items) == 0 {
		return nil, err
	}
	parts, err := l.deps.Screens.LogItems(ctx, l.organization, l.id, items)
	if err != nil {
		return nil, err
	}
	frames := make([]*frame, len(items))
	for i, item := range items {
		part, shown := parts[item.Seq]
		frames[i] = logFrame(l.id, item, part, shown)
	}
	return frames, nil
}

// refresh makes frames of what is new and rings. Its feed alone calls it.
func (l *log) refresh(ctx context.Context) error {
	for {
		frames, err := l.page(ctx, l.newest())
		if err != nil || len(frames) == 0 {
			return err
		}
		l.keep(frames)
		l.ring()
	}
}

// keep adds frames and lets go of the oldest, beyond what may be held.
func (l *log) keep(frames []*frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frames = append(l.frames, frames...)
	for _, f := range frames {
		l.bytes += f.size
	}
	over := 0
	for len(l.frames)-over > 1 && (len(l.frames)-over > ringFrames || l.bytes > ringBytes) {
		l.bytes -= l.frames[over].size
		over++
	}
	if over > 0 {
		// A copy, since a part of the old array would keep all of it.
		l.frames = append([]*frame(nil), l.frames[over:]...)
	}
	l.last = frames[len(frames)-1].seq
}

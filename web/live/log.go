package live

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"postroom/domain/session"
)

const (
	ringFrames = 1024 // newest frames of a log kept in memory
	mostMissed = 1000 // beyond it a page reloads its window
)

// log is one mailbox's frames, shared by its watchers.
type log struct {
	hub          *Hub
	organization string
	id           string
	flight       singleflight.Group

	mu     sync.Mutex
	frames []*frame // guarded by mu; dense by seq, the newest last
	last   int64    // guarded by mu; seq up to which frames were made
	bells  map[chan struct{}]struct{}
}

// after gives the frames that follow a cursor. reset says that there are too many.
func (l *log) after(ctx context.Context, cursor int64) (frames []*frame, reset bool, err error) {
	l.mu.Lock()
	last, held := l.last, l.frames
	l.mu.Unlock()
	switch {
	case cursor > last:
		// The page read it before this log did; it will come to the same.
		return nil, false, nil
	case cursor == last:
		return nil, false, nil
	case last-cursor > mostMissed:
		return nil, true, nil
	case len(held) > 0 && held[0].seq <= cursor+1:
		return held[cursor+1-held[0].seq:], false, nil
	}
	// Older than what is held: one read for all who come back at this cursor.
	result, err, _ := l.flight.Do(fmt.Sprintf("%d-%d", cursor, last), func() (any, error) { return l.read(ctx, cursor, last) })
	if err != nil {
		return nil, false, err
	}
	frames, _ = result.([]*frame)
	return frames, false, nil
}

// read makes the frames after a cursor, up to a seq.
func (l *log) read(ctx context.Context, cursor, upTo int64) ([]*frame, error) {
	ctx = context.WithoutCancel(ctx) // others wait for the same read
	var all []*frame
	for cursor < upTo {
		items, err := l.hub.deps.Read.Items(ctx, session.ItemQuery{Organization: l.organization, Session: l.id, After: cursor})
		if err != nil {
			return nil, err
		}
		if len(items) == 0 {
			break
		}
		parts, err := l.hub.deps.Screens.LogItems(ctx, l.organization, l.id, items)
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if item.Seq > upTo {
				break
			}
			part, shown := parts[item.Seq]
			all = append(all, logFrame(l.id, item, part, shown))
		}
		cursor = items[len(items)-1].Seq
	}
	return all, nil
}

// refresh reads what is new and rings everyone.
func (l *log) refresh(ctx context.Context) error {
	l.mu.Lock()
	cursor := l.last
	l.mu.Unlock()
	for {
		items, err := l.hub.deps.Read.Items(ctx, session.ItemQuery{Organization: l.organization, Session: l.id, After: cursor})
		if err != nil || len(items) == 0 {
			return err
		}
		parts, err := l.hub.deps.Screens.LogItems(ctx, l.organization, l.id, items)
		if err != nil {
			return err
		}
		l.mu.Lock()
		for _, item := range items {
			part, shown := parts[item.Seq]
			l.frames = append(l.frames, logFrame(l.id, item, part, shown))
		}
		if over := len(l.frames) - ringFrames; over > 0 {
			l.frames = append([]*frame(nil), l.frames[over:]...)
		}
		cursor = items[len(items)-1].Seq
		l.last = cursor
		for bell := range l.bells {
			ring(bell)
		}
		l.mu.Unlock()
	}
}

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

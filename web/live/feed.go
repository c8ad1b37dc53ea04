package live

import (
	"context"
	"sync"
	"time"

	"postroom/domain/live"
)

// feed is a log or a state while somebody watches it.
type feed struct {
	key          string
	organization string
	topic        Topic
	log          *log   // of a mailbox
	state        *state // of anything else
	watchers     int    // guarded by the hub's mu
	cancel       context.CancelFunc
	ready        chan struct{} // closed once it was read for the first time
	err          error         // of that

	mu    sync.Mutex
	bells map[chan struct{}]struct{} // guarded by mu; one a socket
}

// begin reads a feed for the first time.
func (f *feed) begin(ctx context.Context) error {
	if f.log != nil {
		return f.log.begin(ctx)
	}
	return f.state.refresh(ctx)
}

// refresh reads what is new, and rings.
func (f *feed) refresh(ctx context.Context) error {
	if f.log != nil {
		return f.log.refresh(ctx)
	}
	return f.state.refresh(ctx)
}

// concerns reports whether changes can show here.
func (f *feed) concerns(changes []live.Change) bool {
	for _, c := range changes {
		if c.Organization == f.organization {
			return true
		}
	}
	return false
}

// next waits for changes; for a feed that moves with time it returns none after a
// while.
func (f *feed) next(ctx context.Context, sub *live.Subscription) ([]live.Change, error) {
	if f.topic.Name != "activity" {
		return sub.Next(ctx)
	}
	waiting, cancel := context.WithTimeout(ctx, activityTicks)
	defer cancel()
	changes, err := sub.Next(waiting)
	if err != nil && ctx.Err() == nil {
		return nil, nil
	}
	return changes, err
}

// settles is how long changes gather before the feed is rendered anew.
func (f *feed) settles() time.Duration {
	if f.topic.Name == "activity" {
		return activitySettles
	}
	return settleTime
}

func (f *feed) add(bell chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bells[bell] = struct{}{}
}

func (f *feed) remove(bell chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.bells, bell)
}

// ring tells every watcher that there is something new. It never blocks: a bell
// that has not been heard yet stays rung.
func (f *feed) ring() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for bell := range f.bells {
		select {
		case bell <- struct{}{}:
		default:
		}
	}
}

package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postroom/domain/live"
)

const (
	settleTime = 120 * time.Millisecond // how long changes of a state gather before it is rendered anew
	// What all of an organization shows changes with everything, and with time alone.
	activitySettles = 500 * time.Millisecond
	activityTicks   = 15 * time.Second
	retryTime       = time.Second // between readings when the store fails
)

// Hub holds what is watched, and the sockets that watch.
type Hub struct {
	deps Deps

	mu      sync.Mutex
	running context.Context //nolint:containedctx // Run's, for the feeds it owns.
	feeds   map[string]*feed
	sockets map[*socket]struct{}
	stopped bool
	work    sync.WaitGroup // feeds
	serving sync.WaitGroup // sockets
}

// New makes a hub; it starts nothing.
func New(d Deps) *Hub {
	return &Hub{deps: d, feeds: make(map[string]*feed), sockets: make(map[*socket]struct{})}
}

// Run lets sockets watch until ctx ends. Then what changed last is shown, and they
// are closed, so that their pages come back later, and waited for.
func (h *Hub) Run(ctx context.Context) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	h.mu.Lock()
	h.running = running
	h.mu.Unlock()
	h.pings(ctx)
	if h.watched() {
		_ = pause(running, 2*settleTime) // it does not end before
	}
	h.stop()
	cancel()
	h.serving.Wait()
	h.work.Wait()
	return nil
}

// pings has each socket send one now and then, until ctx ends.
func (h *Hub) pings(ctx context.Context) {
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		h.mu.Lock()
		for s := range h.sockets {
			s.ping.Store(true)
			s.ring()
		}
		h.mu.Unlock()
	}
}

// Sockets is how many are open.
func (h *Hub) Sockets() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.sockets)
}

func (h *Hub) watched() bool {
	return h.Sockets() > 0
}

// stop closes every socket.
func (h *Hub) stop() {
	h.mu.Lock()
	h.stopped = true
	all := make([]*socket, 0, len(h.sockets))
	for s := range h.sockets {
		all = append(all, s)
	}
	h.mu.Unlock()
	for _, s := range all {
		s.end(closeRestart, "the server restarts")
	}
}

// errNotRunning is a hub that was stopped, or not started yet.
var errNotRunning = errors.New("the hub does not run")

// watch joins a feed, starting it for its first watcher. The bell rings when there
// is something new.
func (h *Hub) watch(ctx context.Context, organization string, w want, bell chan struct{}) (*feed, error) {
	key := fmt.Sprintf("%s\x00%s\x00%s", organization, w.topic.Name, w.topic.ID)
	h.mu.Lock()
	if h.running == nil || h.stopped {
		h.mu.Unlock()
		return nil, errNotRunning
	}
	f, known := h.feeds[key]
	if !known {
		f = h.newFeed(key, organization, w.topic)
		h.feeds[key] = f
	}
	f.watchers++
	f.add(bell)
	h.mu.Unlock()
	select {
	case <-f.ready:
	case <-ctx.Done():
		h.leave(f, bell)
		return nil, ctx.Err()
	}
	if f.err != nil {
		h.leave(f, bell)
		return nil, f.err
	}
	return f, nil
}

// newFeed starts a feed. The caller holds mu.
func (h *Hub) newFeed(key, organization string, topic Topic) *feed {
	ctx, cancel := context.WithCancel(h.running)
	f := &feed{key: key, organization: organization, topic: topic, cancel: cancel, ready: make(chan struct{}), bells: make(map[chan struct{}]struct{})}
	if topic.Name == "mailbox" {
		f.log = &log{deps: h.deps, organization: organization, id: topic.ID, ring: f.ring}
	} else {
		f.state = &state{deps: h.deps, organization: organization, topic: topic, ring: f.ring}
	}
	h.work.Go(func() { h.supply(ctx, f) })
	return f
}

// supply reads a feed for the first time, then whenever something changed.
func (h *Hub) supply(ctx context.Context, f *feed) {
	topic, err := h.listensTo(ctx, f)
	if err != nil {
		f.err = err
		close(f.ready)
		return
	}
	// Listening begins before the first read, so nothing falls between.
	sub := h.deps.Broker.Subscribe(topic)
	defer sub.Close()
	f.err = f.begin(ctx)
	close(f.ready)
	if f.err == nil {
		h.follow(ctx, f, sub)
	}
}

// listensTo is what a feed's content comes from.
func (h *Hub) listensTo(ctx context.Context, f *feed) (live.Topic, error) {
	switch f.topic.Name {
	case "home", "activity":
		return live.All, nil
	case "run":
		r, _, err := h.deps.Read.Request(ctx, f.organization, f.topic.ID)
		return live.OfSession(f.organization, r.Session), err
	}
	return live.OfSession(f.organization, f.topic.ID), nil
}

// follow reads what is new whenever something changed. Where that fails it is
// tried again, since the next change may be long in coming.
func (h *Hub) follow(ctx context.Context, f *feed, sub *live.Subscription) {
	for {
		changes, err := f.next(ctx, sub)
		if err != nil {
			return
		}
		if changes != nil && !f.concerns(changes) {
			continue
		}
		if f.state != nil && pause(ctx, f.settles()) != nil {
			return
		}
		told := false
		for err := f.refresh(ctx); err != nil; err = f.refresh(ctx) {
			if ctx.Err() != nil {
				return
			}
			if !told {
				told = true
				h.deps.Log.ErrorContext(ctx, "a live topic could not be read; it is tried again", "topic", f.topic.Name, "id", f.topic.ID, "error", err)
			}
			if pause(ctx, retryTime) != nil {
				return
			}
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// leave ends one watch; a feed without watchers ends too.
func (h *Hub) leave(f *feed, bell chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.remove(bell)
	f.watchers--
	if f.watchers == 0 {
		f.cancel()
		if h.feeds[f.key] == f {
			delete(h.feeds, f.key)
		}
	}
}

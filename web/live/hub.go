package live

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"postroom/domain/live"
)

// settleTime is how long changes of a state gather before it is rendered anew.
const settleTime = 120 * time.Millisecond

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

// feed is a log or a state while somebody watches it.
type feed struct {
	key      string
	log      *log
	state    *state
	watchers int
	cancel   context.CancelFunc
	ready    chan struct{} // closed once it was read for the first time
	err      error         // of that
}

// New makes a hub; it starts nothing.
func New(d Deps) *Hub {
	return &Hub{deps: d, feeds: make(map[string]*feed), sockets: make(map[*socket]struct{})}
}

// Run lets sockets watch until ctx ends; then they are closed and waited for.
func (h *Hub) Run(ctx context.Context) error {
	h.mu.Lock()
	h.running = ctx
	h.mu.Unlock()
	<-ctx.Done()
	h.Stop()
	h.serving.Wait()
	h.work.Wait()
	return nil
}

// Stop closes every socket so that its page comes back later.
func (h *Hub) Stop() {
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

// watch joins a feed, starting it for its first watcher, and gives the bell that
// rings when there is something new.
func (h *Hub) watch(ctx context.Context, organization string, w want) (*feed, chan struct{}, error) {
	key := fmt.Sprintf("%s\x00%s\x00%s", organization, w.topic.Name, w.topic.ID)
	bell := make(chan struct{}, 1)
	h.mu.Lock()
	if h.running == nil || h.stopped {
		h.mu.Unlock()
		return nil, nil, errNotRunning
	}
	f, known := h.feeds[key]
	if !known {
		f = h.newFeed(key, organization, w)
		h.feeds[key] = f
	}
	f.watchers++
	if f.log != nil {
		f.log.mu.Lock()
		f.log.bells[bell] = struct{}{}
		f.log.mu.Unlock()
	} else {
		f.state.mu.Lock()
		f.state.bells[bell] = struct{}{}
		f.state.mu.Unlock()
	}
	h.mu.Unlock()
	select {
	case <-f.ready:
	case <-ctx.Done():
		h.leave(f, bell)
		return nil, nil, ctx.Err()
	}
	if f.err != nil {
		h.leave(f, bell)
		return nil, nil, f.err
	}
	return f, bell, nil
}

// newFeed starts a feed. The caller holds mu.
func (h *Hub) newFeed(key, organization string, w want) *feed {
	ctx, cancel := context.WithCancel(h.running)
	f := &feed{key: key, cancel: cancel, ready: make(chan struct{})}
	topic := live.All
	switch {
	case w.topic.Name == "mailbox":
		f.log = &log{hub: h, organization: organization, id: w.topic.ID, bells: make(map[chan struct{}]struct{})}
		topic = live.OfSession(organization, w.topic.ID)
	case w.topic.Name == "runs" || w.topic.Name == "talk":
		topic = live.OfSession(organization, w.topic.ID)
		fallthrough
	default:
		f.state = &state{hub: h, organization: organization, topic: w.topic, index: make(map[string]int), bells: make(map[chan struct{}]struct{})}
	}
	// Listening begins before the first read, so nothing falls between.
	sub := h.deps.Broker.Subscribe(topic)
	h.work.Go(func() {
		defer sub.Close()
		f.err = h.begin(ctx, f)
		close(f.ready)
		if f.err == nil {
			h.follow(ctx, f, sub)
		}
	})
	return f
}

// begin reads a feed for the first time.
func (h *Hub) begin(ctx context.Context, f *feed) error {
	if f.state != nil {
		return f.state.refresh(ctx)
	}
	s, _, err := h.deps.Read.Session(ctx, f.log.organization, f.log.id)
	if err != nil {
		return err
	}
	f.log.mu.Lock()
	f.log.last = s.LastSeq
	f.log.mu.Unlock()
	return nil
}

// follow reads what is new whenever something changed.
func (h *Hub) follow(ctx context.Context, f *feed, sub *live.Subscription) {
	for {
		changes, err := sub.Next(ctx)
		if err != nil {
			return
		}
		if f.log != nil {
			err = f.log.refresh(ctx)
		} else if f.state.concerns(changes) {
			if err = pause(ctx, settleTime); err != nil {
				return
			}
			err = f.state.refresh(ctx)
		}
		if err != nil && ctx.Err() == nil {
			h.deps.Log.ErrorContext(ctx, "a live topic could not be read; it is tried again with the next change", "topic", f.key, "error", err)
		}
	}
}

// concerns reports whether changes can show in a topic that listens to everything.
func (s *state) concerns(changes []live.Change) bool {
	for _, c := range changes {
		if c.Organization == s.organization {
			return true
		}
	}
	return false
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
	if f.log != nil {
		f.log.mu.Lock()
		delete(f.log.bells, bell)
		f.log.mu.Unlock()
	} else {
		f.state.mu.Lock()
		delete(f.state.bells, bell)
		f.state.mu.Unlock()
	}
	f.watchers--
	if f.watchers == 0 {
		f.cancel()
		if h.feeds[f.key] == f {
			delete(h.feeds, f.key)
		}
	}
}

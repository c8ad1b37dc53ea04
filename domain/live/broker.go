package live

import (
	"context"
	"sync"
)

// Change says that something about a session is new in the store. Whoever hears
// it reads the store; the change carries no content.
type Change struct {
	Organization string
	Session      string
	Parent       string // of the session, when it is a conversation
	Request      string // the request whose status changed, or empty
	Seq          int64  // the session's newest item; 0: no item was added
}

// Topic is what a subscription listens to.
type Topic string

// All hears every change.
const All Topic = "*"

// OfSession hears the changes of one session and of its children.
func OfSession(organization, id string) Topic {
	return Topic("session\x00" + organization + "\x00" + id)
}

// OfRequest hears the changes of one request.
func OfRequest(id string) Topic { return Topic("request\x00" + id) }

// Broker hands changes to subscriptions. The zero value is not useful; see NewBroker.
type Broker struct {
	mu   sync.RWMutex
	subs map[Topic]map[*Subscription]struct{} // guarded by mu
}

// NewBroker makes an empty broker.
func NewBroker() *Broker {
	return &Broker{subs: make(map[Topic]map[*Subscription]struct{})}
}

// Publish tells every subscription to one of the change's topics. It never blocks.
func (b *Broker) Publish(c Change) {
	topics := []Topic{All, OfSession(c.Organization, c.Session)}
	if c.Parent != "" {
		topics = append(topics, OfSession(c.Organization, c.Parent))
	}
	if c.Request != "" {
		topics = append(topics, OfRequest(c.Request))
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, topic := range topics {
		for sub := range b.subs[topic] {
			sub.add(c)
		}
	}
}

// Subscribe starts to listen. Close the subscription when done.
func (b *Broker) Subscribe(topics ...Topic) *Subscription {
	sub := &Subscription{broker: b, topics: topics, pending: make(map[Change]int64), wake: make(chan struct{}, 1)}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, topic := range topics {
		if b.subs[topic] == nil {
			b.subs[topic] = make(map[*Subscription]struct{})
		}
		b.subs[topic][sub] = struct{}{}
	}
	return sub
}

// Subscription gathers changes until they are taken. What it holds is bounded by
// the number of distinct sessions and requests that changed, since a newer change
// of the same thing replaces the older.
type Subscription struct {
	broker *Broker
	topics []Topic
	wake   chan struct{}

	mu      sync.Mutex
	order   []Change         // guarded by mu; Seq is zero, the key of pending
	pending map[Change]int64 // guarded by mu; the newest Seq of each
}

func (s *Subscription) add(c Change) {
	key := c
	key.Seq = 0
	s.mu.Lock()
	seq, known := s.pending[key]
	if !known {
		s.order = append(s.order, key)
	}
	s.pending[key] = max(seq, c.Seq)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Next waits for changes and takes all there are, in order of their first notice.
// It returns the context's error when that ends first.
func (s *Subscription) Next(ctx context.Context) ([]Change, error) {
	for {
		if taken := s.take(); len(taken) > 0 {
			return taken, nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.wake:
		}
	}
}

func (s *Subscription) take() []Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.order
	for i := range taken {
		key := taken[i]
		taken[i].Seq = s.pending[key]
	}
	s.order = nil
	clear(s.pending)
	return taken
}

// Close stops listening. It is safe to call twice.
func (s *Subscription) Close() {
	s.broker.mu.Lock()
	defer s.broker.mu.Unlock()
	for _, topic := range s.topics {
		delete(s.broker.subs[topic], s)
		if len(s.broker.subs[topic]) == 0 {
			delete(s.broker.subs, topic)
		}
	}
}

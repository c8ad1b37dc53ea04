package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"postroom/domain/account"
	domainlive "postroom/domain/live"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
	"postroom/web/live"
)

// table is a mailbox's log in memory that counts how it is read.
type table struct {
	session.Reader // nothing else of it is asked
	mu             sync.Mutex
	items          []session.Item // guarded by mu
	reads          map[int64]int  // guarded by mu; by cursor
}

func (t *table) Session(context.Context, string, string) (session.Session, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return session.Session{Organization: "o", ID: "a.box", LastSeq: int64(len(t.items))}, true, nil
}

func (t *table) Items(_ context.Context, q session.ItemQuery) ([]session.Item, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads[q.After]++
	return append([]session.Item(nil), t.items[q.After:min(len(t.items), int(q.After)+session.MaxPage)]...), nil
}

func (t *table) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range n {
		seq := int64(len(t.items) + 1)
		t.items = append(t.items, session.Item{ID: fmt.Sprint("item_", seq), Seq: seq, Type: session.TypeComponent, Data: []byte(`{}`)})
	}
}

// shown renders a line as its seq and counts how often.
type shown struct{ rendered atomic.Int64 }

func (s *shown) LogItems(_ context.Context, _, _ string, items []session.Item) (map[int64]live.Part, error) {
	parts := make(map[int64]live.Part, len(items))
	for _, i := range items {
		s.rendered.Add(1)
		parts[i.Seq] = live.Part{ID: fmt.Sprint("line-", i.Seq), HTML: strings.Repeat("x", 400)}
	}
	return parts, nil
}

func (*shown) State(context.Context, string, live.Topic) ([]live.Part, error) { return nil, nil }
func (*shown) StateJSON(context.Context, string, live.Topic) (any, error)     { return nil, nil }
func who(echo.Context) (account.Principal, error) {
	return account.Principal{Organization: "o", ID: "u"}, nil
}
func published(b *domainlive.Broker, seq int64) {
	b.Publish(domainlive.Change{Organization: "o", Session: "a.box", Seq: seq})
}
func cursorOf(i int, most int64) int64 { return most - int64(i%40)*2 }
func wsURL(s *httptest.Server, after int64) string {
	return fmt.Sprintf("ws%s/live?mailbox=a.box&after=%d", strings.TrimPrefix(s.URL, "http"), after)
}
func quietHub(read session.Reader, screens live.Screens, b *domainlive.Broker) *live.Hub {
	return live.New(live.Deps{Read: read, Broker: b, Screens: screens, Epoch: "e", Clock: time.Now, Log: sessiontest.Discard(), Who: who})
}

// A network that drops drops everybody at once, and everybody comes back within a
// second, all behind. Nobody misses a line or gets one twice, and the table is read
// once for each place that they come back at, not once for each of them.
func TestAllPagesComeBackAtOnceAndTheTableIsReadOncePerPlace(t *testing.T) { //nolint:paralleltest // it counts goroutines' sockets by the hundred.
	const pages, missed = 600, 50
	broker := domainlive.NewBroker()
	tab, screens := &table{reads: map[int64]int{}}, &shown{}
	tab.add(100)
	hub := quietHub(tab, screens, broker)
	ctx, cancel := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- hub.Run(ctx) }()
	e := echo.New()
	e.GET("/live", hub.Serve)
	server := httptest.NewServer(e)
	open := func(after int64) *websocket.Conn {
		for {
			conn, res, err := websocket.DefaultDialer.Dial(wsURL(server, after), nil)
			if err == nil {
				_ = res.Body.Close() // of an upgrade there is none
				return conn
			}
			<-time.After(5 * time.Millisecond)
		}
	}
	conns := make([]*websocket.Conn, pages)
	var group sync.WaitGroup
	for i := range pages {
		group.Go(func() { conns[i] = open(100) })
	}
	group.Wait()

	for _, c := range conns {
		_ = c.NetConn().Close() // as a network drops it: without a word
	}
	for deadline := time.Now().Add(20 * time.Second); hub.Sockets() > 0; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the dropped sockets are still held")
		}
	}
	tab.add(missed)
	tab.mu.Lock()
	clear(tab.reads)
	tab.mu.Unlock()
	screens.rendered.Store(0)
	began := time.Now()
	for i := range pages {
		group.Go(func() {
			after := cursorOf(i, 100)
			conn := open(after)
			defer conn.Close() //nolint:errcheck // the test ends.
			next := after + 1
			for next <= 100+missed+1 {
				_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second)) // fails with the read
				_, raw, err := conn.ReadMessage()
				if err != nil {
					t.Errorf("page %d at line %d: %v", i, next, err)
					return
				}
				var f struct {
					Type string
					Seq  int64
				}
				if err := json.Unmarshal(raw, &f); err != nil || f.Type == "reset" {
					t.Errorf("page %d: %s %v", i, raw, err)
					return
				}
				if f.Type != "line" {
					continue
				}
				if f.Seq != next {
					t.Errorf("page %d: line %d came where %d was due", i, f.Seq, next)
					return
				}
				if next++; next == 100+missed+1 && i == 0 {
					tab.add(1) // and it goes on from there
					published(broker, 100+missed+1)
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d pages were up to date after %v", pages, time.Since(began))

	tab.mu.Lock()
	for cursor, n := range tab.reads {
		if cursor <= 100 && n > 1 {
			t.Errorf("the table was read %d times from %d", n, cursor)
		}
	}
	tab.mu.Unlock()
	cancel()
	if err := <-ran; err != nil {
		t.Error(err)
	}
	server.Close()
}

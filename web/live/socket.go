package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	"github.com/labstack/echo/v4"

	"postroom/domain/account"
)

// The close codes. After the first three a page comes back, after the others not.
const (
	closeSlow    = 4001
	closeRestart = 4002
	closeBehind  = 4003
	closeBad     = 4400
)

const (
	writeWait  = 10 * time.Second // for any write, pings and closes too
	pingEvery  = 25 * time.Second
	pongWait   = 60 * time.Second
	maxMessage = 512 // sockets say nothing but pongs
)

// upgrader takes websockets from this host's own pages, and from programs, which
// send no Origin. Buffers are small and pooled.
var upgrader = websocket.Upgrader{
	ReadBufferSize: 512, WriteBufferSize: 4096, WriteBufferPool: &sync.Pool{}, EnableCompression: true,
	CheckOrigin: func(r *http.Request) bool {
		origin := r.Header.Get("Origin")
		if origin == "" {
			return true
		}
		u, err := url.Parse(origin)
		return err == nil && u.Host == r.Host
	},
}

// socket is one page's websocket.
type socket struct {
	hub    *Hub
	conn   *websocket.Conn
	wants  []want
	asJSON bool
	who    account.Principal
	epoch  string // that the page knows, or empty

	// bell rings when there is anything to do: it is the one thing that an idle
	// socket waits for, since to wait for several at once is what costs most when
	// two thousand are woken by one line.
	bell  chan struct{}
	ping  atomic.Bool // a ping is due
	over  atomic.Bool // it ends; code and reason say how
	until time.Time   // the write deadline that is set; talk's own

	once   sync.Once
	code   int
	reason string
}

// Serve answers GET /live.
func (h *Hub) Serve(c echo.Context) error {
	who, err := h.deps.Who(c)
	if err != nil {
		return err
	}
	wants, asJSON, bad := parse(c.QueryParams())
	conn, err := upgrader.Upgrade(c.Response(), c.Request(), nil)
	if err != nil {
		return nil //nolint:nilerr // the upgrader has answered.
	}
	s := &socket{hub: h, conn: conn, wants: wants, asJSON: asJSON, who: who, epoch: c.QueryParam("epoch"), bell: make(chan struct{}, 1)}
	if bad != "" {
		s.close(closeBad, bad)
		return nil
	}
	h.mu.Lock()
	if h.running == nil || h.stopped {
		h.mu.Unlock()
		s.close(closeRestart, "the server restarts")
		return nil
	}
	ctx := h.running
	h.sockets[s] = struct{}{}
	h.serving.Add(2)
	h.mu.Unlock()
	// The handler returns, so that what the request held is free; two goroutines stay.
	go s.listen()
	go s.talk(ctx)
	return nil
}

// end makes the socket close with a code, once.
func (s *socket) end(code int, reason string) {
	s.once.Do(func() {
		s.code, s.reason = code, reason
		s.over.Store(true)
		s.ring()
	})
}

// ring wakes the socket; a bell that has not been heard yet stays rung.
func (s *socket) ring() {
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

func (s *socket) close(code int, reason string) {
	deadline := time.Now().Add(writeWait)
	_ = s.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), deadline) // it may be gone
	_ = s.conn.Close()
}

// listen reads pongs, and notices when the page leaves.
func (s *socket) listen() {
	defer s.hub.serving.Done()
	s.conn.SetReadLimit(maxMessage)
	_ = s.conn.SetReadDeadline(time.Now().Add(pongWait)) // fails with the read
	s.conn.SetPongHandler(func(string) error { return s.conn.SetReadDeadline(time.Now().Add(pongWait)) })
	for {
		if _, _, err := s.conn.ReadMessage(); err != nil {
			s.end(websocket.CloseNormalClosure, "")
			return
		}
	}
}

// talk writes what is new until the socket ends.
func (s *socket) talk(ctx context.Context) {
	defer s.hub.serving.Done()
	watching, err := s.join(ctx, s.bell)
	if err == nil {
		err = s.hello(ctx, watching)
	}
	if err == nil {
		s.pump(ctx, watching)
	} else {
		s.end(closeBehind, "try again")
	}
	for _, w := range watching {
		s.hub.leave(w.feed, s.bell)
	}
	s.hub.mu.Lock()
	delete(s.hub.sockets, s)
	s.hub.mu.Unlock()
	s.close(s.code, s.reason)
}

// watched is a feed with this socket's own place in it.
type watched struct {
	feed    *feed
	cursor  int64 // in a log
	version int64 // of a state
}

// join watches all that the page asked for, with one bell for all.
func (s *socket) join(ctx context.Context, bell chan struct{}) ([]*watched, error) {
	var all []*watched
	for _, w := range s.wants {
		f, err := s.hub.watch(ctx, s.who.Organization, w, bell)
		if err != nil {
			return all, err
		}
		one := &watched{feed: f, cursor: w.after}
		if f.log != nil && w.after < 0 {
			one.cursor = f.log.newest() // no cursor: only what comes from now on
		}
		all = append(all, one)
	}
	return all, nil
}

// hello tells the epoch. A page of another epoch, or with a cursor that was never
// reached, is told to load its window anew; what follows is sent from here on.
func (s *socket) hello(ctx context.Context, watching []*watched) error {
	own := s.hub.deps.Epoch
	foreign := s.epoch != "" && s.epoch != own
	for _, w := range watching {
		if w.feed.log == nil || foreign {
			continue
		}
		var err error
		if foreign, err = w.feed.log.unknown(ctx, w.cursor); err != nil {
			return err
		}
	}
	if !foreign {
		return s.write(helloFrame{"hello", own})
	}
	for _, w := range watching {
		if w.feed.log != nil {
			w.cursor = w.feed.log.newest()
		}
	}
	return s.write(helloFrame{"reset", own})
}

func (s *socket) write(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := s.due(); err != nil {
		return err
	}
	return s.conn.WriteMessage(websocket.TextMessage, raw)
}

// errBehind is a page that could not be brought up to date.
var errBehind = errors.New("what was missed could not be read")

// pump sends everything after the socket's own place, then waits for the bell.
func (s *socket) pump(ctx context.Context, watching []*watched) {
	for {
		for _, w := range watching {
			switch err := s.send(ctx, w); {
			case errors.Is(err, errBehind):
				s.hub.deps.Log.ErrorContext(ctx, "a page is sent away to come back", "topic", w.feed.topic.Name, "id", w.feed.topic.ID, "error", err)
				s.end(closeBehind, "try again")
				return
			case err != nil:
				s.end(closeSlow, "too slow")
				return
			}
		}
		<-s.bell
		if s.over.Load() {
			return
		}
		if s.ping.CompareAndSwap(true, false) {
			if err := s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWait)); err != nil {
				s.end(closeSlow, "too slow")
				return
			}
		}
	}
}

// due sets the deadline of a write: never under half of what a write may take, and
// set anew only when it would be.
func (s *socket) due() error {
	now := time.Now()
	if s.until.Sub(now) > writeWait/2 {
		return nil
	}
	s.until = now.Add(writeWait)
	return s.conn.SetWriteDeadline(s.until)
}

// send writes what follows the socket's place in one feed. Nothing is queued for a
// socket: a slow one comes back for more at its own pace.
func (s *socket) send(ctx context.Context, w *watched) error {
	if w.feed.state != nil {
		frames, version := w.feed.state.since(w.version, s.asJSON)
		w.version = version
		return s.frames(frames)
	}
	frames, reset, err := w.feed.log.after(ctx, w.cursor)
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errBehind, err)
	case reset:
		w.cursor = w.feed.log.newest()
		return s.write(helloFrame{"reset", s.hub.deps.Epoch})
	case len(frames) > 0:
		w.cursor = frames[len(frames)-1].seq
	}
	return s.frames(frames)
}

func (s *socket) frames(all []*frame) error {
	for _, f := range all {
		kind := &f.html
		if s.asJSON {
			kind = &f.json
		}
		message, err := kind.prepared()
		if err != nil {
			return err
		}
		if message == nil {
			continue // nothing in this form
		}
		if err := s.due(); err != nil {
			return err
		}
		if err := s.conn.WritePreparedMessage(message); err != nil {
			return err
		}
	}
	return nil
}

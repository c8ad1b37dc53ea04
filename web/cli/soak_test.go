package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// soakFor is how long TestSoak goes on: POSTROOM_SOAK, as in 10m, else a little.
func soakFor(t *testing.T) time.Duration {
	t.Helper()
	text := os.Getenv("POSTROOM_SOAK")
	if text == "" {
		return 12 * time.Second
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// soak is people, programs and a killer around one server that keeps its address.
type soak struct {
	t    *testing.T
	addr string
	http http.Client

	between time.Duration // one person's posts

	mu       sync.Mutex
	accepted map[string]bool // guarded by mu; bodies
	retries  atomic.Int64
	reads    atomic.Int64
	seen     atomic.Int64
	memory   []float64 // resident MB, a reading every few seconds; the sampler's own
}

// TestSoak mixes posts, reads, sockets, kills and restarts. A client that sends the
// same again under its key sees no error but that the server is away for a moment;
// at the end nothing is lost, doubled or stuck, and memory has not grown.
func TestSoak(t *testing.T) {
	t.Parallel()
	lasts := soakFor(t)
	database := filepath.Join(t.TempDir(), "postroom.db")
	s := &soak{t: t, addr: freePort(t), accepted: map[string]bool{}, between: time.Second, http: http.Client{Timeout: 20 * time.Second}}
	flags := append(unrouted(t), "--addr", s.addr, "--run-timeout", "30s")
	p := launch(t, database, nil, flags...)
	ctx, cancel := context.WithTimeout(t.Context(), lasts)
	defer cancel()
	watching, unwatch := context.WithCancel(t.Context())
	defer unwatch()
	var watchers, working sync.WaitGroup
	for i := range 4 {
		watchers.Go(func() { s.follow(watching, i) })
	}
	for i := range 6 {
		working.Go(func() { s.post(ctx, i) })
	}
	for range 2 {
		working.Go(func() { s.read(ctx) })
	}
	lives := 1
	for every := max(2*time.Second, lasts/40); ; lives++ {
		rest(ctx, every/2+rand.N(every))
		if ctx.Err() != nil {
			break
		}
		s.sample(p)
		if lives%3 == 0 {
			p.kill()
		} else {
			p.stop(t)
		}
		p = launch(t, database, nil, flags...)
	}
	working.Wait()

	lines := settled(t, p)
	posts, answers := map[string]int{}, map[string]int{}
	for _, l := range lines {
		if l.SeatAuthored {
			answers[l.Author]++
		} else {
			posts[l.Body]++
		}
	}
	for body := range s.accepted {
		if posts[body] != 1 {
			t.Errorf("%q stands %d times", body, posts[body])
		}
	}
	for body, n := range posts {
		if n != 1 {
			t.Errorf("%q stands %d times", body, n)
		}
	}
	for _, seat := range []string{"support.devices", "support.accounts"} {
		gaveUp := 0
		for _, f := range failures(t, p, "support.help~"+seat) {
			if f.Failure.Code != "interrupted" {
				t.Errorf("%s: a run failed with %s", seat, f.Failure.Code)
			}
			gaveUp++
		}
		if answers[seat] > len(posts) || answers[seat]+gaveUp < len(posts) {
			t.Errorf("%s answered %d times to %d posts and gave up %d", seat, answers[seat], len(posts), gaveUp)
		}
	}
	for deadline := time.Now().Add(30 * time.Second); s.seen.Load() < 4*int64(len(lines)) && time.Now().Before(deadline); {
		rest(t.Context(), 50*time.Millisecond)
	}
	if got := s.seen.Load(); got != 4*int64(len(lines)) {
		t.Errorf("4 followers saw %d lines of %d", got, len(lines))
	}
	unwatch()
	watchers.Wait()
	p.stop(t)
	if n := len(s.memory); n >= 6 {
		early, late := s.memory[n/3], s.memory[n-1]
		if late > 1.6*early+30 {
			t.Errorf("memory grew from %.0f to %.0f MB: %v", early, late, s.memory)
		}
	}
	t.Logf("%v, %d lives: %d posts, %d accepted, %d answers, %d sent again, %d reads, %d lines pushed, resident MB %.0f",
		lasts, lives, len(posts), len(s.accepted), len(lines)-len(posts), s.retries.Load(), s.reads.Load(), s.seen.Load(), s.memory)
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return addr
}

// post sends lines, each until it is accepted. Anything but an answer that says
// "later", or no answer, is an error.
func (s *soak) post(ctx context.Context, who int) {
	for n := 0; ctx.Err() == nil; n++ {
		body := fmt.Sprintf("the printer is jammed %d-%d", who, n)
		for !s.sent(body) {
			s.retries.Add(1)
			rest(context.Background(), 20*time.Millisecond)
		}
		s.mu.Lock()
		s.accepted[body] = true
		s.mu.Unlock()
		rest(ctx, s.between/2+rand.N(s.between)) // more slowly than the seats answer
	}
}

func (s *soak) sent(body string) bool {
	raw, err := json.Marshal(map[string]any{"userId": "soak", "input": map[string]string{"body": body}})
	if err != nil {
		s.t.Error(err)
		return true
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+s.addr+"/api/flows/mailbox/support.help/actions/post", bytes.NewReader(raw)) //nolint:noctx // the client's timeout ends it.
	if err != nil {
		s.t.Error(err)
		return true
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", body)
	res, err := s.http.Do(req)
	if err != nil {
		return false // it is away
	}
	defer res.Body.Close() //nolint:errcheck // nothing of it is used.
	_, _ = io.Copy(io.Discard, res.Body)
	switch res.StatusCode {
	case http.StatusAccepted:
		return true
	case http.StatusServiceUnavailable:
		return false
	}
	s.t.Errorf("a post was answered %d", res.StatusCode)
	return true
}

func (s *soak) read(ctx context.Context) {
	for ctx.Err() == nil {
		for _, path := range []string{"/", "/mailboxes/support.help", "/activity", "/api/sessions/support.help/items?limit=50", "/metrics"} {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+path, nil)
			if err != nil {
				s.t.Error(err)
				return
			}
			req.Header.Set("Cookie", "postroom-name=soak")
			res, err := s.http.Do(req)
			if err != nil {
				continue
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			if res.StatusCode != http.StatusOK && res.StatusCode != http.StatusServiceUnavailable {
				s.t.Errorf("%s was answered %d", path, res.StatusCode)
			}
			s.reads.Add(1)
		}
		rest(ctx, 200*time.Millisecond)
	}
}

// follow reads a mailbox's log over websockets that break, from where it was: each
// item once, in order.
func (s *soak) follow(ctx context.Context, who int) {
	cursor := int64(0)
	for ctx.Err() == nil {
		conn, res, err := websocket.DefaultDialer.DialContext(ctx, fmt.Sprintf("ws://%s/live?format=json&mailbox=support.help&after=%d", s.addr, cursor), nil)
		if err != nil {
			rest(ctx, 50*time.Millisecond)
			continue
		}
		_ = res.Body.Close() // of an upgrade there is none
		closed := context.AfterFunc(ctx, func() { _ = conn.Close() })
		for {
			var f struct {
				Type string
				Item struct {
					Seq       int64
					Component string
				}
			}
			if err := conn.ReadJSON(&f); err != nil {
				break
			}
			switch {
			case f.Type == "reset":
				s.t.Errorf("follower %d was reset at %d", who, cursor)
			case f.Type == "item" && f.Item.Seq != cursor+1:
				s.t.Errorf("follower %d: item %d came where %d was due", who, f.Item.Seq, cursor+1)
				cursor = f.Item.Seq
			case f.Type == "item":
				cursor = f.Item.Seq
				if f.Item.Component == "mailbox-post" {
					s.seen.Add(1)
				}
			}
		}
		closed()
		_ = conn.Close()
	}
}

// sample notes what the server holds.
func (s *soak) sample(p *process) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		return // another system
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			if kb, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil {
				s.memory = append(s.memory, kb/1024)
			}
		}
	}
}

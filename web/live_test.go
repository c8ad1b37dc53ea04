package web_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"postroom/domain/model/offline"
	"postroom/web"
	"postroom/web/webtest"
)

// live is a page's websocket as a test holds it.
type live struct {
	t    testing.TB
	conn *websocket.Conn
}

type liveFrame struct {
	Type  string
	Epoch string
	Topic string
	Seq   int64
	ID    string
	HTML  string
	Item  struct {
		Seq       int64
		Component string
		Data      webtest.Line
	}
	SessionID string
	State     json.RawMessage
}

func watch(t testing.TB, s *webtest.Server, query string) *live {
	t.Helper()
	conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/live?"+query, nil)
	if err != nil {
		t.Fatalf("watch %s: %v", query, err)
	}
	_ = res.Body.Close() // of an upgrade there is none
	t.Cleanup(func() { _ = conn.Close() })
	return &live{t, conn}
}

func (l *live) next() (liveFrame, error) {
	var f liveFrame
	if err := l.conn.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		return f, err
	}
	err := l.conn.ReadJSON(&f)
	return f, err
}

// lines reads until so many lines have come, and gives their seqs.
func (l *live) lines(n int) []int64 {
	l.t.Helper()
	var seqs []int64
	for len(seqs) < n {
		f, err := l.next()
		if err != nil {
			l.t.Fatalf("after %d of %d lines: %v", len(seqs), n, err)
		}
		if f.Type == "line" {
			seqs = append(seqs, f.Seq)
		}
	}
	return seqs
}

// Field report: after a reconnect a colleague's reply was missed, since recovery
// asked for a window of time.
func TestAReconnectBringsExactlyWhatWasMissedInOrder(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	s.Post("a.box", "u", "seen")
	first := watch(t, s, "mailbox=a.box&after=0")
	if f, err := first.next(); err != nil || f.Type != "hello" || f.Epoch == "" {
		t.Fatalf("hello: %+v %v", f, err)
	}
	cursor := first.lines(1)[0]
	_ = first.conn.Close()
	for i := range 3 {
		s.Post("a.box", "u", fmt.Sprintf("missed %d", i))
	}

	again := watch(t, s, fmt.Sprintf("mailbox=a.box&after=%d", cursor))
	got := again.lines(3)
	s.Post("a.box", "u", "live")
	next := again.lines(1)

	if got[0] != cursor+1 || got[2] != cursor+3 || next[0] != cursor+4 {
		t.Errorf("after %d came %v, then %v", cursor, got, next)
	}
}

func TestSomeoneUpToDateIsSentNothingTwice(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	for i := range 5 {
		s.Post("a.box", "u", fmt.Sprint(i))
	}
	w := watch(t, s, "mailbox=a.box&after=5")

	s.Post("a.box", "u", "new")

	if got := w.lines(1); got[0] != 6 {
		t.Errorf("came: %v", got)
	}
}

func TestAfterAThousandMissedOrInAnotherEpochThePageReloads(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	var posting sync.WaitGroup
	for range 32 {
		posting.Go(func() {
			for range 33 {
				if _, err := s.Do("POST", "/api/flows/mailbox/a.box/actions/post?wait=20s", []byte(`{"input":{"body":"x"}}`), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	posting.Wait()
	expect := func(query string, want ...string) {
		t.Helper()
		w := watch(t, s, query)
		for _, kind := range want {
			if f, err := w.next(); err != nil || f.Type != kind {
				t.Errorf("%s: %+v %v, want %s", query, f, err, kind)
			}
		}
	}

	expect("mailbox=a.box&after=10", "hello", "reset")
	expect("mailbox=a.box&after=1000", "hello", "line")
	expect("mailbox=a.box&after=1056&epoch=another", "reset")
}

func TestEveryoneSeesTheSameOrderWithoutGapsHoweverOftenTheyReconnect(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	const posts, posters = 256, 64
	var working sync.WaitGroup
	for p := range posters {
		working.Go(func() {
			for i := range posts / posters {
				if _, err := s.Do("POST", "/api/flows/mailbox/a.box/actions/post", fmt.Appendf(nil, `{"input":{"body":"%d-%d"}}`, p, i), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 12 {
		working.Go(func() {
			cursor := int64(0)
			for cursor < posts {
				w := watch(t, s, fmt.Sprintf("mailbox=a.box&after=%d", cursor))
				for range rand.IntN(40) + 1 {
					f, err := w.next()
					if err != nil {
						t.Errorf("at %d: %v", cursor, err)
						return
					}
					if f.Type != "line" {
						continue
					}
					if f.Seq != cursor+1 {
						t.Errorf("after %d came %d", cursor, f.Seq)
						return
					}
					if cursor = f.Seq; cursor == posts {
						break
					}
				}
				_ = w.conn.Close()
			}
		})
	}
	working.Wait()
}

func TestProgramsGetItemsAndStateAsJSON(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	s := webtest.Start(t, everybody, func(o *web.Options) { o.Model = gated{offline.New(offline.Options{}), gate} })
	w := watch(t, s, "format=json&mailbox=support.help&after=0&runs=support.help")
	s.Post("support.help", "tamsin", "my printer is offline")
	until := func(what string, holds func(f liveFrame) bool) {
		t.Helper()
		for {
			f, err := w.next()
			if err != nil {
				t.Fatalf("before %s: %v", what, err)
			}
			if holds(f) {
				return
			}
		}
	}

	until("a seat is at work", func(f liveFrame) bool {
		return f.Type == "state" && f.Topic == "runs" && strings.Contains(string(f.State), `"seat":"support.devices"`)
	})
	close(gate)
	until("it has answered", func(f liveFrame) bool {
		return f.Type == "item" && f.SessionID == "support.help" && f.Item.Component == "mailbox-post" && f.Item.Data.SeatAuthored
	})
}

// A cursor that the mailbox never reached would be a silent hole: nothing up to it
// would ever come.
func TestACursorThatWasNeverReachedMakesThePageReload(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	s.Post("a.box", "u", "first")
	ahead := watch(t, s, "mailbox=a.box&after=900")
	elsewhere := watch(t, s, "mailbox=a.box&after=0&epoch=another")
	for _, w := range []*live{ahead, elsewhere} {
		if f, err := w.next(); err != nil || f.Type != "reset" || f.Epoch == "" {
			t.Errorf("the first frame: %+v %v", f, err)
		}
	}

	s.Post("a.box", "u", "second")

	for _, w := range []*live{ahead, elsewhere} {
		if got := w.lines(1); got[0] != 2 {
			t.Errorf("after the reset came %v, want what was posted since", got)
		}
	}
}

func TestAWrongAddressAndAForeignPageAreTurnedAway(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	for _, query := range []string{"", "mailbox=a.box&after=x", "format=xml&home=1", "mailbox=" + strings.Repeat("x", 201), strings.Repeat("runs=a&", 9)} {
		w := watch(t, s, query)
		_, err := w.next()
		if !websocket.IsCloseError(err, 4400) {
			t.Errorf("%q: %v, want close 4400", query, err)
		}
	}
	_, res, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/live?home=1", http.Header{"Origin": {"https://example.com"}})
	if err == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a foreign origin: %v %v", res, err)
	}
	if res != nil {
		_ = res.Body.Close()
	}
}

func TestStoppingTellsPagesToComeBack(t *testing.T) {
	t.Parallel()
	s := webtest.Start(t, quiet)
	w := watch(t, s, "home=1")
	if _, err := w.next(); err != nil {
		t.Fatal(err)
	}

	s.Stop()

	for {
		if _, err := w.next(); err != nil {
			if !websocket.IsCloseError(err, 4002) {
				t.Errorf("closed with %v, want 4002", err)
			}
			return
		}
	}
}

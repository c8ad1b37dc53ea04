package live_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gorilla/websocket"
	"go.uber.org/goleak"

	"postroom/domain/session/sessiontest"
	"postroom/web"
	"postroom/web/webtest"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(crowd); spec != "" {
		os.Exit(beCrowd(spec))
	}
	goleak.VerifyTestMain(m, sessiontest.Leaks()...)
}

// narrow dials a socket whose system buffer is small, so that not reading is felt.
func narrow(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if tcp, ok := conn.(*net.TCPConn); ok {
		err = tcp.SetReadBuffer(4 << 10)
	}
	return conn, err
}

func dial(t *testing.T, s *webtest.Server, d *websocket.Dialer) *websocket.Conn {
	t.Helper()
	conn, res, err := d.DialContext(t.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/live?mailbox=a.box&after=0", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close() // of an upgrade there is none
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// Field report: a writer without a deadline was wedged by a client that stopped
// reading, its pings and its close with it. It counts goroutines, so nothing runs
// beside it.
func TestAClientThatNeverReadsSlowsNobodyAndIsLetGo(t *testing.T) { //nolint:paralleltest // see above.
	s := webtest.Start(t, func(o *web.Options) {
		o.Workforce = fstest.MapFS{"teams/a/mailboxes/box/MAILBOX.md": &fstest.MapFile{Data: []byte("---\ndescription: A quiet box.\n---\n")}}
	})
	s.Post("a.box", "u", "the first line")
	before := goroutines()
	for calm := 0; calm < 10; calm++ {
		<-time.After(20 * time.Millisecond)
		if n := goroutines(); n != before {
			before, calm = n, 0
		}
	}
	dial(t, s, &websocket.Dialer{NetDialContext: narrow}) // nobody reads it
	reading := dial(t, s, websocket.DefaultDialer)
	raw, err := json.Marshal(map[string]any{"input": map[string]string{"body": strings.Repeat("x", 60<<10)}})
	if err != nil {
		t.Fatal(err)
	}

	// Far more than the system's buffers hold, one line after the other: while the
	// stuck socket's write waits, the others' must not. Its deadline is 10 s.
	for i := range int64(120) {
		if i > 0 {
			if a, err := s.Do(http.MethodPost, "/api/flows/mailbox/a.box/actions/post", raw, nil); err != nil || a.Status != http.StatusAccepted {
				t.Fatalf("post %d: %d %v", i, a.Status, err)
			}
		}
		if err := next(reading, i+1, 8*time.Second); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
	}

	_ = reading.Close()
	s.Eventually("the stuck socket's goroutines are gone", func() bool { return goroutines() <= before })
}

// next reads until a line, which must have this seq.
func next(conn *websocket.Conn, seq int64, within time.Duration) error {
	if err := conn.SetReadDeadline(time.Now().Add(within)); err != nil {
		return err
	}
	for {
		var f struct {
			Type string
			Seq  int64
		}
		if err := conn.ReadJSON(&f); err != nil {
			return err
		}
		if f.Type == "line" {
			if f.Seq != seq {
				return fmt.Errorf("came %d", f.Seq)
			}
			return nil
		}
	}
}

// goroutines counts them, without those of connections that wait for a call.
func goroutines() int {
	if transport, ok := http.DefaultTransport.(*http.Transport); ok {
		transport.CloseIdleConnections()
	}
	return runtime.NumGoroutine()
}

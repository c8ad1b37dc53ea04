package live_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gorilla/websocket"

	"postroom/web"
	"postroom/web/webtest"
)

// crowd asks a child process to be so many pages: they read, and say what came when,
// without their memory and buffers standing beside the server's.
const crowd = "POSTROOM_BENCH_CROWD"

type crowdOf struct {
	URL   string
	Pages int
	Lines int
}

// beCrowd is the child process.
func beCrowd(spec string) int {
	var c crowdOf
	if err := json.Unmarshal([]byte(spec), &c); err != nil {
		fmt.Println("bad", err)
		return 1
	}
	raiseFiles()
	dialer := websocket.Dialer{EnableCompression: true, ReadBufferSize: 512, WriteBufferSize: 512}
	var mu sync.Mutex
	var took []time.Duration
	var failed atomic.Int64
	var opened, read sync.WaitGroup
	gate := make(chan struct{}, 64)
	for range c.Pages {
		opened.Add(1)
		read.Go(func() {
			gate <- struct{}{}
			conn, res, err := dialer.Dial(c.URL, nil)
			<-gate
			if err != nil {
				failed.Add(1)
				opened.Done()
				return
			}
			_ = res.Body.Close() // of an upgrade there is none
			opened.Done()
			own := make([]time.Duration, 0, c.Lines)
			for len(own) < c.Lines {
				_, raw, err := conn.ReadMessage()
				if err != nil {
					failed.Add(1)
					return
				}
				if _, rest, ok := bytes.Cut(raw, []byte("sent=")); ok {
					digits, _, _ := bytes.Cut(rest, []byte("."))
					at, err := strconv.ParseInt(string(digits), 10, 64)
					if err != nil {
						failed.Add(1)
						return
					}
					own = append(own, time.Duration(time.Now().UnixNano()-at))
				}
			}
			mu.Lock()
			took = append(took, own...)
			mu.Unlock()
			for err := error(nil); c.Lines == 0 && err == nil; {
				_, _, err = conn.ReadMessage() // until the server ends it
			}
		})
	}
	opened.Wait()
	fmt.Println("ready", failed.Load())
	read.Wait()
	if len(took) > 0 {
		slices.Sort(took)
		fmt.Println("done", failed.Load(), took[len(took)/2].Nanoseconds(), took[len(took)*99/100].Nanoseconds())
	} else {
		fmt.Println("done", failed.Load(), 0, 0)
	}
	return 0
}

// gather starts a crowd and waits until all its pages are open; after gives what
// the crowd saw, once it has seen all.
func gather(b *testing.B, c crowdOf) (after func() (half, most time.Duration), stop func()) {
	b.Helper()
	spec, err := json.Marshal(c)
	if err != nil {
		b.Fatal(err)
	}
	child := exec.CommandContext(b.Context(), os.Args[0])
	expired := time.AfterFunc(2*time.Minute, func() { _ = child.Process.Kill() }) // what it waits for will not come
	b.Cleanup(func() { expired.Stop() })
	child.Env = append(os.Environ(), crowd+"="+string(spec))
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	said := func(word string) []int64 {
		for lines.Scan() {
			fields := strings.Fields(lines.Text())
			if len(fields) == 0 || fields[0] != word {
				continue
			}
			numbers := make([]int64, len(fields)-1)
			for i, f := range fields[1:] {
				numbers[i], _ = strconv.ParseInt(f, 10, 64)
			}
			if numbers[0] != 0 {
				b.Fatalf("%d pages of the crowd failed", numbers[0])
			}
			return numbers
		}
		b.Fatal("the crowd ended")
		return nil
	}
	said("ready")
	return func() (half, most time.Duration) {
		n := said("done")
		return time.Duration(n[1]), time.Duration(n[2])
	}, func() { _ = child.Process.Kill(); _ = child.Wait() }
}

func raiseFiles() {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		limit.Cur = limit.Max
		_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
	}
}

const benchPages = 2000

// BenchmarkFanOut sends lines to 2,000 pages that watch one mailbox, beside a bare
// loop that writes the same bytes, prepared and compressed, to as many sockets.
// Pages are another process on the same processors.
func BenchmarkFanOut(b *testing.B) {
	raiseFiles()
	var bare float64
	b.Run("bare", func(b *testing.B) { bare = bareFanOut(b) })
	b.Run("postroom", func(b *testing.B) {
		if rate := ownFanOut(b); bare > 0 {
			b.ReportMetric(100*rate/bare, "%bare")
		}
	})
}

// said is a line's text: with when it was sent, and about as long as people write.
func said() string {
	return fmt.Sprintf("sent=%d. The receipt printer says that it is out of paper, and it is not; I have opened and closed the lid twice.", time.Now().UnixNano())
}

func reportFanOut(b *testing.B, elapsed, half, most time.Duration) float64 {
	b.Helper()
	rate := float64(b.N*benchPages) / elapsed.Seconds()
	b.ReportMetric(rate, "deliveries/s")
	b.ReportMetric(float64(half.Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(most.Microseconds())/1000, "p99-ms")
	return rate
}

func quietBox(o *web.Options) {
	o.Workforce = fstest.MapFS{"teams/a/mailboxes/box/MAILBOX.md": &fstest.MapFile{Data: []byte("---\ndescription: A quiet box.\n---\n")}}
}

func ownFanOut(b *testing.B) float64 {
	b.Helper()
	s := webtest.Start(b, quietBox)
	after, stop := gather(b, crowdOf{URL: "ws" + strings.TrimPrefix(s.URL, "http") + "/live?mailbox=a.box&after=0", Pages: benchPages, Lines: b.N})
	defer stop()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var posting sync.WaitGroup
	for range 8 { // one alone would wait for its answer behind all the sockets' work
		posting.Go(func() {
			for left.Add(-1) >= 0 {
				raw, err := json.Marshal(map[string]any{"input": map[string]string{"body": said()}})
				if err != nil {
					b.Error(err)
					return
				}
				if a, err := s.Do(http.MethodPost, "/api/flows/mailbox/a.box/actions/post", raw, nil); err != nil || a.Status != http.StatusAccepted {
					b.Errorf("post: %d %v", a.Status, err)
					return
				}
			}
		})
	}
	posting.Wait()
	half, most := after()
	b.StopTimer()
	return reportFanOut(b, b.Elapsed(), half, most)
}

func bareFanOut(b *testing.B) float64 {
	b.Helper()
	upgrader := websocket.Upgrader{ReadBufferSize: 512, WriteBufferSize: 4096, WriteBufferPool: &sync.Pool{}, EnableCompression: true}
	var mu sync.Mutex
	var conns []*websocket.Conn
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		mu.Lock()
		conns = append(conns, conn)
		mu.Unlock()
	}))
	defer server.Close()
	after, stop := gather(b, crowdOf{URL: "ws" + strings.TrimPrefix(server.URL, "http"), Pages: benchPages, Lines: b.N})
	defer stop()
	all := func() []*websocket.Conn {
		mu.Lock()
		defer mu.Unlock()
		return conns
	}
	for len(all()) < benchPages { // a page may know of its socket before the handler does
		<-time.After(time.Millisecond)
	}
	b.ResetTimer()
	for n := range b.N {
		frame, err := json.Marshal(map[string]any{"type": "line", "topic": "mailbox=a.box", "seq": n, "id": fmt.Sprint("line-", n), "html": shownAs(n, said())})
		if err != nil {
			b.Fatal(err)
		}
		message, err := websocket.NewPreparedMessage(websocket.TextMessage, frame)
		if err != nil {
			b.Fatal(err)
		}
		for _, conn := range all() {
			if err := errors.Join(conn.SetWriteDeadline(time.Now().Add(10*time.Second)), conn.WritePreparedMessage(message)); err != nil {
				b.Fatal(err)
			}
		}
	}
	half, most := after()
	b.StopTimer()
	for _, conn := range all() {
		_ = conn.Close()
	}
	return reportFanOut(b, b.Elapsed(), half, most)
}

// shownAs is about the HTML of a line.
func shownAs(n int, text string) string {
	return fmt.Sprintf(`<li class="line" id="line-%d" data-seq="%d" data-at="2026-12-01T09:38:00.000Z"><span class="mark" data-hue="" aria-hidden="true">U</span><div class="line-head"><b>u</b>  <span class="from" title="Nobody signed in for this line: the name is what the writer gave">not verified</span> <a class="when" href="#line-%d"><time class="clock" datetime="2026-12-01T09:38:00.000Z" data-show="clock">09:38</time></a></div><div class="md"><p>%s</p></div><div class="post-status" id="status-%d"></div></li>`, n, n, n, text, n)
}

// BenchmarkIdleSocket is what 2,000 pages that watch one mailbox hold in the
// server while nothing happens, beside as many of a bare server: live heap and
// stacks after a collection, by page.
func BenchmarkIdleSocket(b *testing.B) {
	raiseFiles()
	if b.N > 1 {
		b.Skip("one reading is enough: use -benchtime 1x")
	}
	b.Run("bare", func(b *testing.B) {
		upgrader := websocket.Upgrader{ReadBufferSize: 512, WriteBufferSize: 4096, WriteBufferPool: &sync.Pool{}, EnableCompression: true}
		var conns sync.Map
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			conn, err := upgrader.Upgrade(w, r, nil)
			if err != nil {
				return
			}
			conns.Store(conn, true)
			go func() { _, _, _ = conn.ReadMessage() }() // as anyone must, to see it leave
		}))
		defer server.Close()
		weigh(b, crowdOf{URL: "ws" + strings.TrimPrefix(server.URL, "http"), Pages: benchPages})
	})
	b.Run("postroom", func(b *testing.B) {
		s := webtest.Start(b, quietBox)
		weigh(b, crowdOf{URL: "ws" + strings.TrimPrefix(s.URL, "http") + "/live?mailbox=a.box&after=0", Pages: benchPages})
	})
}

func weigh(b *testing.B, c crowdOf) {
	b.Helper()
	few := c
	few.Pages = 20
	_, stop := gather(b, few) // what is made once is made now
	stop()
	<-time.After(500 * time.Millisecond)
	before := held()
	_, stop = gather(b, c)
	<-time.After(500 * time.Millisecond) // until what opening took is let go
	b.ReportMetric(float64(held()-before)/float64(c.Pages), "B/socket")
	stop()
}

func held() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse) //nolint:gosec // far below the bound.
}

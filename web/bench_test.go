package web_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/gorilla/websocket"

	"postroom/domain/account"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
	"postroom/domain/store"
	"postroom/views"
	"postroom/web"
	"postroom/web/webtest"
)

// BenchmarkPost posts from 64 clients at once, until all that came of the posts has
// settled, and then commits the very same rows raw through the same driver in
// groups of the same size: %raw is the share of that rate. One socket a mailbox
// watches: p50 and p99 are from a request to the frame that carries its line.
func BenchmarkPost(b *testing.B) {
	for _, boxes := range []int{1, 100} {
		b.Run(fmt.Sprintf("mailboxes=%d", boxes), func(b *testing.B) { benchPost(b, boxes) })
	}
}

const benchClients = 64

func benchPost(b *testing.B, boxes int) {
	b.Helper()
	tree := fstest.MapFS{}
	ids := make([]string, boxes)
	for i := range boxes {
		ids[i] = fmt.Sprintf("a.box%d", i)
		tree[fmt.Sprintf("teams/a/mailboxes/box%d/MAILBOX.md", i)] = &fstest.MapFile{Data: []byte("---\ndescription: A quiet box.\n---\n")}
	}
	path := b.TempDir() + "/postroom.db"
	s := webtest.Start(b, func(o *web.Options) { o.Workforce, o.Config.Database = tree, path })
	seen := watchAll(b, s, ids)
	var next atomic.Int64
	took := make([]time.Duration, b.N)
	sent := make([]time.Time, b.N)
	var group sync.WaitGroup
	b.ResetTimer()
	for range benchClients {
		group.Go(func() {
			c := dialHTTP(b, s.URL)
			defer c.close()
			for {
				n := int(next.Add(1)) - 1
				if n >= b.N {
					return
				}
				sent[n] = time.Now()
				if err := c.post("/api/flows/mailbox/"+ids[n%boxes]+"/actions/post", fmt.Appendf(nil, `{"userId":"u%d","input":{"body":"How long does a refund take? #%d"}}`, n%benchClients, n)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	for range b.N {
		one := <-seen
		took[one.n] = one.at.Sub(sent[one.n])
	}
	s.Eventually("everything has settled", func() bool { return settled(b, s) })
	elapsed := b.Elapsed()
	b.StopTimer()
	stats := s.Server.StoreStats()
	s.Stop()
	slices.Sort(took)
	rate := float64(b.N) / elapsed.Seconds()
	perGroup := max(1, int(math.Round(float64(stats.Writes)/float64(stats.Groups))))
	b.ReportMetric(rate, "posts/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(perGroup), "writes/group")
	b.ReportMetric(100*rate/rawPosts(b, path, perGroup), "%raw")
}

type frameSeen struct {
	n  int
	at time.Time
}

// watchAll has one socket a mailbox read its lines.
func watchAll(b *testing.B, s *webtest.Server, ids []string) <-chan frameSeen {
	b.Helper()
	seen := make(chan frameSeen, b.N+1)
	for _, id := range ids {
		conn, res, err := websocket.DefaultDialer.DialContext(b.Context(), "ws"+strings.TrimPrefix(s.URL, "http")+"/live?format=json&mailbox="+id+"&after=0", nil)
		if err != nil {
			b.Fatal(err)
		}
		_ = res.Body.Close() // of an upgrade there is none
		b.Cleanup(func() { _ = conn.Close() })
		go func() {
			for {
				_, raw, err := conn.ReadMessage()
				if err != nil {
					return
				}
				at := time.Now()
				_, rest, ok := bytes.Cut(raw, []byte("refund take? #"))
				if !ok {
					continue
				}
				digits, _, _ := bytes.Cut(rest, []byte(`"`))
				n, err := strconv.Atoi(string(digits))
				if err != nil {
					b.Errorf("a frame says %q", digits)
					return
				}
				seen <- frameSeen{n, at}
			}
		}()
	}
	return seen
}

// settled reports whether nothing is queued or running any more.
func settled(b *testing.B, s *webtest.Server) bool {
	b.Helper()
	return s.Server.Idle(b.Context())
}

// rawPosts commits the rows that the posts left behind once more, raw, so many
// posts a transaction, and gives the posts a second.
func rawPosts(b *testing.B, path string, perGroup int) float64 {
	b.Helper()
	fresh := b.TempDir() + "/raw.db"
	s, err := store.Open(b.Context(), store.Options{Path: fresh, Clock: time.Now, NewID: session.ULIDs(time.Now, nil), Log: sessiontest.Discard()})
	if err != nil {
		b.Fatal(err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	from, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close() //nolint:errcheck // a benchmark's.
	to, err := sql.Open("sqlite", "file:"+fresh+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	defer to.Close() //nolint:errcheck // a benchmark's.
	to.SetMaxOpenConns(1)
	sessions, _ := rowsOf(b, from, "sessions", "id")
	copyRows(b, to, "sessions", sessions)
	requests, columns := rowsOf(b, from, "requests", "id")
	items, itemColumns := rowsOf(b, from, "items", "id")
	insertRequest, err1 := to.Prepare("INSERT INTO requests VALUES (" + strings.Repeat("?, ", columns-1) + "?)")
	insertItem, err2 := to.Prepare("INSERT INTO items VALUES (" + strings.Repeat("?, ", itemColumns-1) + "?)")
	if err := errors.Join(err1, err2); err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	perPost := (len(requests) + len(items) - 1) / len(items)
	for n := 0; n < len(items); n += perGroup {
		tx, err := to.Begin()
		if err != nil {
			b.Fatal(err)
		}
		for _, row := range items[n:min(n+perGroup, len(items))] {
			if _, err := tx.Stmt(insertItem).Exec(row...); err != nil {
				b.Fatal(err)
			}
		}
		for _, row := range requests[min(n*perPost, len(requests)):min((n+perGroup)*perPost, len(requests))] {
			if _, err := tx.Stmt(insertRequest).Exec(row...); err != nil {
				b.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(len(items)) / time.Since(began).Seconds()
}

func rowsOf(b *testing.B, db *sql.DB, table, order string) (all [][]any, columns int) {
	b.Helper()
	rows, err := db.Query("SELECT * FROM " + table + " ORDER BY " + order)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // a benchmark's.
	names, err := rows.Columns()
	if err != nil {
		b.Fatal(err)
	}
	for rows.Next() {
		row := make([]any, len(names))
		into := make([]any, len(names))
		for i := range row {
			into[i] = &row[i]
		}
		if err := rows.Scan(into...); err != nil {
			b.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return all, len(names)
}

func copyRows(b *testing.B, to *sql.DB, table string, all [][]any) {
	b.Helper()
	for _, row := range all {
		if _, err := to.Exec("INSERT INTO "+table+" VALUES ("+strings.Repeat("?, ", len(row)-1)+"?)", row...); err != nil {
			b.Fatal(err)
		}
	}
}

// leanHTTP is a client that costs little beside the server it loads: one
// connection, and no more of the answer looked at than its status and length.
type leanHTTP struct {
	conn net.Conn
	in   *bufio.Reader
	host string
}

func dialHTTP(b *testing.B, url string) *leanHTTP {
	b.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		b.Error(err)
		return nil
	}
	return &leanHTTP{conn: conn, in: bufio.NewReader(conn), host: host}
}

func (c *leanHTTP) close() { _ = c.conn.Close() }

func (c *leanHTTP) post(path string, body []byte) error {
	if _, err := fmt.Fprintf(c.conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, c.host, len(body), body); err != nil {
		return err
	}
	length, status := 0, ""
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		text := strings.TrimSpace(string(line))
		if status == "" {
			status = text
		}
		if rest, ok := strings.CutPrefix(text, "Content-Length: "); ok {
			if length, err = strconv.Atoi(rest); err != nil {
				return err
			}
		}
		if text == "" {
			break
		}
	}
	if _, err := c.in.Discard(length); err != nil {
		return err
	}
	if !strings.Contains(status, "202") {
		return fmt.Errorf("answered %s", status)
	}
	return nil
}

// BenchmarkMailboxPage opens a mailbox with a short and with a long history; the
// second should cost what the first does: %short is its share of that, in percent.
func BenchmarkMailboxPage(b *testing.B) {
	var short float64
	for _, lines := range []int{100, 100_000} {
		b.Run(fmt.Sprintf("history=%d", lines), func(b *testing.B) {
			took := openMailbox(b, lines, "/mailboxes/a.box")
			if lines == 100 {
				short = took
			} else if short > 0 {
				b.ReportMetric(100*took/short, "%short")
			}
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "MB-heap")
		})
	}
}

// openMailbox gets a page of a mailbox with so many lines; it gives the ns a page.
func openMailbox(b *testing.B, lines int, address string) float64 {
	b.Helper()
	path := b.TempDir() + "/postroom.db"
	fill(b, path, lines)
	s := webtest.Start(b, quiet, func(o *web.Options) { o.Config.Database = path })
	page := map[string]string{"Accept": "text/html", "Cookie": "postroom-name=x", "Accept-Encoding": "identity"}
	b.ResetTimer()
	for b.Loop() {
		if a, err := s.Do(http.MethodGet, address, nil, page); err != nil || a.Status != http.StatusOK {
			b.Fatalf("page: %d %v", a.Status, err)
		}
	}
	return float64(b.Elapsed().Nanoseconds()) / float64(b.N)
}

// BenchmarkPageOf200 gets a page of 200 lines over HTTP, beside the bare component
// of the same lines.
func BenchmarkPageOf200(b *testing.B) {
	var bare float64
	b.Run("bare", func(b *testing.B) {
		lines := make([]views.Line, 200)
		for i := range lines {
			lines[i] = views.Line{Seq: int64(i + 1), Writer: "u", At: time.Now(), Body: fmt.Sprintf("line %d", i)}
		}
		for b.Loop() {
			for i := range lines {
				if err := views.LineItem(lines[i]).Render(b.Context(), io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		}
		bare = float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	})
	b.Run("postroom", func(b *testing.B) {
		took := openMailbox(b, 400, "/mailboxes/a.box?limit=200")
		if bare > 0 {
			b.ReportMetric(100*took/bare, "%bare")
		}
	})
}

// BenchmarkStart starts the server on 200 mailboxes until it answers: on an empty
// database and on the one that is there then.
func BenchmarkStart(b *testing.B) {
	tree := fstest.MapFS{}
	for i := range 200 {
		tree[fmt.Sprintf("teams/a/mailboxes/box%d/MAILBOX.md", i)] = &fstest.MapFile{Data: []byte("---\ndescription: A quiet box.\n---\nBe brief.\n")}
	}
	own := func(path string) webtest.Option {
		return func(o *web.Options) { o.Workforce, o.Config.Database = tree, path }
	}
	b.Run("first", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			webtest.Start(b, own(fmt.Sprintf("%s/%d.db", b.TempDir(), i))).Stop()
		}
	})
	b.Run("again", func(b *testing.B) {
		path := b.TempDir() + "/again.db"
		webtest.Start(b, own(path)).Stop()
		b.ResetTimer()
		for b.Loop() {
			webtest.Start(b, own(path)).Stop()
		}
	})
}

// fill writes so many lines into an opened mailbox.
func fill(b *testing.B, path string, lines int) {
	b.Helper()
	s, err := store.Open(b.Context(), store.Options{Path: path, Clock: time.Now, NewID: session.ULIDs(time.Now, nil), Log: sessiontest.Discard()})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	newID := session.ULIDs(time.Now, nil)
	org := account.DefaultOrganization
	err = s.Write(ctx, func(tx session.Tx) error {
		return tx.CreateSession(ctx, session.Session{
			Organization: org, ID: "a.box", Kind: "mailbox", Owner: account.System, State: []byte(`{"description":"A quiet box.","members":[],"charter":""}`), CreatedAt: time.Now(),
		})
	})
	for n := 0; n < lines && err == nil; n += 1000 {
		err = s.Write(ctx, func(tx session.Tx) error {
			for i := range min(1000, lines-n) {
				r := session.Request{
					ID: newID("req"), Organization: org, Session: "a.box", Kind: "mailbox", Action: "post", Input: []byte(`{}`),
					Lane: session.TurnLane, Status: session.Completed, QueuedAt: time.Now(),
				}
				if err := tx.AddRequest(ctx, &r); err != nil {
					return err
				}
				data := fmt.Appendf(nil, `{"id":"line_%d","at":%d,"principal":"u","principalVerified":false,"authorVerified":false,"body":"line %d"}`, n+i, time.Now().UnixMilli(), n+i)
				item := session.Item{ID: newID("item"), Organization: org, Session: "a.box", Request: r.ID, Type: session.TypeComponent, Component: "mailbox-post", Data: data, CreatedAt: time.Now()}
				if err := tx.AppendItem(ctx, &item); err != nil {
					return err
				}
			}
			return nil
		})
	}
	cancel()
	if err != nil || <-done != nil || s.Close() != nil {
		b.Fatalf("fill: %v", err)
	}
}

package web_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"postroom/domain/account"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
	"postroom/domain/store"
	"postroom/web"
	"postroom/web/webtest"
)

// BenchmarkPost posts from 64 clients at once into one mailbox, until each post is durable.
func BenchmarkPost(b *testing.B) {
	s := webtest.Start(b, quiet)
	body := []byte(`{"input":{"body":"How long does a refund take?"}}`)
	b.SetParallelism(32)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if a, err := s.Do(http.MethodPost, "/api/flows/mailbox/a.box/actions/post", body, nil); err != nil || a.Status != http.StatusAccepted {
				b.Errorf("post: %d %v", a.Status, err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "posts/s")
}

// BenchmarkMailboxPage opens a mailbox with a short and with a long history; the
// second should cost what the first does.
func BenchmarkMailboxPage(b *testing.B) {
	for _, lines := range []int{100, 100_000} {
		b.Run(fmt.Sprint(lines), func(b *testing.B) {
			path := b.TempDir() + "/postroom.db"
			fill(b, path, lines)
			s := webtest.Start(b, quiet, func(o *web.Options) { o.Config.Database = path })
			page := map[string]string{"Accept": "text/html", "Cookie": "postroom-name=x"}
			b.ResetTimer()
			for b.Loop() {
				if a, err := s.Do(http.MethodGet, "/mailboxes/a.box", nil, page); err != nil || a.Status != http.StatusOK {
					b.Fatalf("page: %d %v", a.Status, err)
				}
			}
		})
	}
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

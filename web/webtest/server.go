// Package webtest is the whole server on a temporary database, and a browser, for
// tests.
package webtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"postroom/web"
	"postroom/web/config"
)

// Server is a running server.
type Server struct {
	URL    string
	Server *web.Server
	t      testing.TB
	stop   func()
}

// Option changes the server before it starts.
type Option func(*web.Options)

// Start runs a server on a free port. It is stopped with the test.
func Start(t testing.TB, opts ...Option) *Server {
	t.Helper()
	o := web.Options{Config: config.Config{
		Addr: "127.0.0.1:0", Database: filepath.Join(t.TempDir(), "postroom.db"), ModelConcurrency: 8,
		RunTimeout: time.Minute, Grace: 5 * time.Second,
	}}
	for _, opt := range opts {
		opt(&o)
	}
	ready := make(chan net.Addr, 1)
	o.Listening = func(addr net.Addr) { ready <- addr }
	server, err := web.New(o)
	if err != nil {
		t.Fatalf("make the server: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	s := &Server{t: t, Server: server}
	stopped := false
	s.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the server ended: %v", err)
		}
	}
	t.Cleanup(s.stop)
	select {
	case addr := <-ready:
		s.URL = "http://" + addr.String()
	case err := <-ended:
		t.Fatalf("the server ended before it was ready: %v", err)
	}
	return s
}

// Stop stops the server in good order.
func (s *Server) Stop() { s.stop() }

// Request is a request as the API answers it.
type Request struct {
	ID        string          `json:"id"`
	SessionID string          `json:"sessionId"`
	Status    string          `json:"status"`
	Failure   *Failure        `json:"failure"`
	Output    json.RawMessage `json:"output"`
}

// Failure is an error as the API answers it.
type Failure struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`
}

// Answer is what a call came back with.
type Answer struct {
	Status  int         `json:"-"`
	Request Request     `json:"request"`
	Error   *Failure    `json:"error"`
	Raw     []byte      `json:"-"`
	Header  http.Header `json:"-"`
}

// Do makes a call.
func (s *Server) Do(method, path string, body []byte, header map[string]string) (Answer, error) {
	req, err := http.NewRequestWithContext(context.Background(), method, s.URL+path, bytes.NewReader(body))
	if err != nil {
		return Answer{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		req.Header.Set(name, value)
		if name == "Host" {
			req.Host = value
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return Answer{}, err
	}
	raw, err := io.ReadAll(res.Body)
	a := Answer{Status: res.StatusCode, Raw: raw, Header: res.Header}
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return a, err
	}
	if res.Header.Get("Content-Type") == "application/json" && len(raw) > 0 {
		err = json.Unmarshal(raw, &a)
	}
	return a, err
}

// Post posts into a mailbox as somebody and waits for the post's turn.
func (s *Server) Post(mailbox, who, body string) Answer {
	s.t.Helper()
	raw, err := json.Marshal(map[string]any{"userId": who, "input": map[string]string{"body": body}})
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := s.Do(http.MethodPost, "/api/flows/mailbox/"+mailbox+"/actions/post?wait=10s", raw, nil)
	if err != nil || a.Status != http.StatusOK || a.Request.Status != "completed" {
		s.t.Fatalf("post: %v %+v", err, a)
	}
	return a
}

// Line is a line of a transcript.
type Line struct {
	ID           string `json:"id"`
	Principal    string `json:"principal"`
	Author       string `json:"author"`
	SeatAuthored bool   `json:"seatAuthored"`
	Body         string `json:"body"`
}

// Lines reads a mailbox's transcript, its window of the newest requests.
func (s *Server) Lines(mailbox string) []Line {
	s.t.Helper()
	a, err := s.Do(http.MethodPost, "/api/flows/mailbox/"+mailbox+"/actions/read", []byte(`{"input":{}}`), nil)
	var out struct {
		Transcript []Line `json:"transcript"`
	}
	if err == nil {
		err = json.Unmarshal(a.Request.Output, &out)
	}
	if err != nil {
		s.t.Fatalf("read: %v %s", err, a.Raw)
	}
	return out.Transcript
}

// Eventually asks again until something holds, for a while.
func (s *Server) Eventually(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for time.Now().Before(deadline) {
		if holds() {
			return
		}
		<-tick.C
	}
	s.t.Fatal(fmt.Sprint("it never came to this: ", what))
}

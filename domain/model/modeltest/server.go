package modeltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"postroom/domain/model"
)

// Server speaks the wire formats of the Messages API (/v1/messages) and of the chat
// completions API (/v1/chat/completions) on loopback, streaming, and says what its
// script says.
type Server struct {
	URL string // without a path

	answer func(call int, r Received) Reply
	http   *httptest.Server
	gone   chan struct{} // closed by Close: whoever hangs lets go

	mu       sync.Mutex
	received []Received // guarded by mu
}

// Received is a request as it came over the wire.
type Received struct {
	model.Request             // what it says, in the model's own terms
	Path          string      // which of the two formats
	Header        http.Header // as sent
	Body          []byte      // as sent
}

// Reply is what the server does with one request. The zero fault answers whole.
type Reply struct {
	model.Response
	Status int           // an HTTP error with this status, when it is not 0
	Retry  time.Duration // asked for with Status
	Fault  Fault
	Delay  time.Duration // before anything is answered
}

// Fault is a way in which an answer goes wrong on its way.
type Fault string

// The faults.
const (
	Whole       Fault = ""
	Hang        Fault = "hang"          // nothing comes, not even a status
	HangInside  Fault = "hang-inside"   // the response begins and then nothing comes
	Reset       Fault = "reset"         // the connection is reset before a status
	ResetInside Fault = "reset-inside"  // and in the middle of the response
	Garbage     Fault = "garbage"       // a 200 whose body is no event stream
	CutInWord   Fault = "cut-in-word"   // the stream ends in the middle of a text
	CutInTool   Fault = "cut-in-tool"   // the stream ends in the middle of a call's input
	NoClosing   Fault = "no-closing"    // all is there but the closing event
	ErrorEvent  Fault = "error-event"   // an overloaded error in the middle of the stream
	ErrorFirst  Fault = "error-first"   // an overloaded error as the stream's first event
	IndexGap    Fault = "index-gap"     // a block's index leaps
	NoReason    Fault = "no-reason"     // the stream closes without a reason for stopping
	MadeOfTwo   Fault = "made-of-two"   // a second response begins inside the first
	HugeRetry   Fault = "huge-retry"    // with Status: asks to come back in an hour
	BrokenInput Fault = "broken-input"  // a call's input is no JSON, in a stream that is whole
	StringInput Fault = "string-input"  // a call's input is JSON but no object
	Redirect    Fault = "redirect-away" // sends the caller, and its key, elsewhere
)

// NewServer starts a server; Close ends it. The script may be asked from several
// goroutines at once; call counts from 0.
func NewServer(answer func(call int, r Received) Reply) *Server {
	s := &Server{answer: answer, gone: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, &messagesWire{}) })
	mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, &chatWire{}) })
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close ends the server and every connection.
func (s *Server) Close() {
	close(s.gone)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Received are the requests so far.
func (s *Server) Received() []Received {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Received(nil), s.received...)
}

// wire is one of the two formats.
type wire interface {
	decode(body []byte) (model.Request, error)
	events(r model.Response, f Fault) []string // of the stream, as sent
	failure(status int) any
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request, format wire) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 32<<20))
	if err != nil {
		return
	}
	request, err := format.decode(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	got := Received{Request: request, Path: r.URL.Path, Header: r.Header.Clone(), Body: body}
	s.mu.Lock()
	call := len(s.received)
	s.received = append(s.received, got)
	s.mu.Unlock()
	reply := s.answer(call, got)
	if !s.wait(r.Context(), reply.Delay) {
		return
	}
	switch {
	case reply.Fault == Hang:
		s.wait(r.Context(), time.Hour)
	case reply.Fault == Reset:
		reset(w)
	case reply.Fault == Redirect:
		http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
	case reply.Status != 0:
		refuse(w, reply, format)
	case reply.Fault == Garbage:
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><body>A proxy's page, not a model.</body></html>\n\n")
	default:
		s.stream(w, r, format.events(reply.Response, reply.Fault), reply.Fault)
	}
}

func refuse(w http.ResponseWriter, reply Reply, format wire) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_wire")
	w.Header().Set("X-Request-Id", "req_wire")
	if reply.Retry > 0 {
		w.Header().Set("Retry-After-Ms", fmt.Sprint(reply.Retry.Milliseconds()))
	}
	if reply.Fault == HugeRetry {
		w.Header().Set("Retry-After", "3600")
	}
	w.WriteHeader(reply.Status)
	_ = json.NewEncoder(w).Encode(format.failure(reply.Status))
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, events []string, f Fault) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for i, event := range events {
		if _, err := io.WriteString(w, event); err != nil {
			return
		}
		_ = flush.Flush()
		if i+1 < (len(events)+1)/2 {
			continue
		}
		switch f {
		case HangInside:
			s.wait(r.Context(), time.Hour)
			return
		case ResetInside:
			reset(w)
			return
		}
	}
}

// wait waits, and reports whether the caller is still there.
func (s *Server) wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.gone:
	}
	return false
}

// reset ends a connection with a TCP reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// halves cuts text in two, so that it comes in pieces.
func halves(s string) []string {
	runes := []rune(s)
	if len(runes) < 2 {
		return []string{s}
	}
	return []string{string(runes[:len(runes)/2]), string(runes[len(runes)/2:])}
}

func sse(event string, data any) string {
	raw, err := json.Marshal(data)
	if err != nil {
		panic("modeltest: " + err.Error())
	}
	if event == "" {
		return "data: " + string(raw) + "\n\n"
	}
	return "event: " + event + "\ndata: " + string(raw) + "\n\n"
}

// input is a call's input as the wire carries it, spoilt where the fault wants it.
func input(b model.Block, f Fault) string {
	switch f {
	case BrokenInput:
		return `{"half": "a str`
	case StringInput:
		return `"not an object"`
	}
	if len(b.Input) == 0 {
		return "{}"
	}
	return string(b.Input)
}

// cut shortens a stream that ends too early.
func cut(events []string, f Fault, marker string) []string {
	switch f {
	case CutInWord, CutInTool:
		for i := len(events) - 1; i >= 0; i-- {
			if strings.Contains(events[i], marker) {
				whole := events[i]
				return append(events[:i:i], whole[:len(whole)-3]) // the event itself stays open
			}
		}
	case NoClosing:
		return events[:len(events)-1]
	}
	return events
}

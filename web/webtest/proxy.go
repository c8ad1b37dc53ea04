package webtest

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
)

// Proxy stands between a browser and a server, and can be cut.
type Proxy struct {
	URL string

	target   string
	listener net.Listener
	work     sync.WaitGroup

	mu    sync.Mutex
	cut   bool                  // guarded by mu
	conns map[net.Conn]struct{} // guarded by mu
}

// Through starts a proxy to a server. It is stopped with the test.
func Through(t testing.TB, s *Server) *Proxy {
	t.Helper()
	var lc net.ListenConfig
	listener, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{URL: "http://" + listener.Addr().String(), target: strings.TrimPrefix(s.URL, "http://"), listener: listener, conns: make(map[net.Conn]struct{})}
	p.work.Go(p.accept)
	t.Cleanup(func() {
		p.Cut()
		_ = listener.Close()
		p.work.Wait()
	})
	return p
}

// Cut ends every connection and refuses new ones.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	for c := range p.conns {
		_ = c.Close()
	}
}

// Mend lets connections through again.
func (p *Proxy) Mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = false
}

func (p *Proxy) accept() {
	for {
		from, err := p.listener.Accept()
		if err != nil {
			return
		}
		to, err := new(net.Dialer).DialContext(context.Background(), "tcp", p.target)
		if err != nil || !p.keep(from, to) {
			_ = from.Close()
			if to != nil {
				_ = to.Close()
			}
			continue
		}
		for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
			p.work.Go(func() {
				_, _ = io.Copy(pair[0], pair[1]) // ends with either side
				_ = pair[0].Close()
				_ = pair[1].Close()
			})
		}
	}
}

func (p *Proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return false
	}
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return true
}

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// MaxResponseBytes bounds one response, so that a provider gone mad cannot fill the
// memory.
const MaxResponseBytes = 64 << 20

// The errors of a connection that is given up.
var (
	ErrIdle     = errors.New("nothing came from the provider for too long")
	ErrTooLarge = errors.New("the provider's response is larger than any real one")
)

// NewClient makes an HTTP client that ends a response on which nothing comes for
// idle, from the moment it is asked. It sets no limit on how long a response may
// take in all: that is the caller's context's.
func NewClient(idle time.Duration) *http.Client {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		base = &http.Transport{}
	}
	base = base.Clone()
	base.MaxIdleConnsPerHost = 32
	return &http.Client{Transport: &watched{base: base, idle: idle}, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // a redirect would carry the key elsewhere
	}}
}

type watched struct {
	base http.RoundTripper
	idle time.Duration
}

// RoundTrip is http.RoundTripper's.
func (w *watched) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(w.idle, func() { cancel(ErrIdle) })
	response, err := w.base.RoundTrip(r.WithContext(ctx))
	if err != nil {
		timer.Stop()
		if cause := context.Cause(ctx); errors.Is(cause, ErrIdle) {
			err = cause
		}
		cancel(nil)
		return nil, err
	}
	response.Body = &body{ReadCloser: response.Body, ctx: ctx, cancel: cancel, timer: timer, idle: w.idle, left: MaxResponseBytes}
	return response, nil
}

type body struct {
	io.ReadCloser
	ctx    context.Context //nolint:containedctx // the response's own, ended with it.
	cancel context.CancelCauseFunc
	timer  *time.Timer
	idle   time.Duration
	left   int64
	once   sync.Once
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, ErrTooLarge
	}
	if err != nil {
		if cause := context.Cause(b.ctx); errors.Is(cause, ErrIdle) {
			err = cause
		}
		return n, err
	}
	b.timer.Reset(b.idle)
	return n, nil
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.once.Do(func() {
		b.timer.Stop()
		b.cancel(nil)
	})
	return err
}

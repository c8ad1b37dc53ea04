package web_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing/fstest"

	"postroom/web"
	"postroom/web/webtest"
)

// everybody serves the demo with a help that is not routed: a post wakes both of
// its members.
func everybody(o *web.Options) { o.Workforce = webtest.UnroutedDemo() }

// quiet serves one mailbox without members, so that nothing happens by itself.
func quiet(o *web.Options) {
	o.Workforce = fstest.MapFS{"teams/a/mailboxes/box/MAILBOX.md": &fstest.MapFile{Data: []byte("---\ndescription: A quiet box.\n---\n")}}
}

// lockedWriter is a log that is read while it is written.
type lockedWriter struct {
	mu sync.Mutex
	to *strings.Builder // guarded by mu
}

func (w *lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func (w *lockedWriter) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.String()
}

func (w *lockedWriter) logger() *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

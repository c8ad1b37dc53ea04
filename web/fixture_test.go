package web_test

import (
	"io/fs"
	"log/slog"
	"strings"
	"sync"
	"testing/fstest"

	"postroom/web"
	"postroom/workforce"
)

// everybody serves the demo with a help that is not routed: a post wakes both of
// its members.
func everybody(o *web.Options) {
	o.Workforce = everybodyTree()
}

var everybodyTree = sync.OnceValue(func() fstest.MapFS {
	tree := fstest.MapFS{}
	err := fs.WalkDir(workforce.Demo(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		raw, err := fs.ReadFile(workforce.Demo(), path)
		tree[path] = &fstest.MapFile{Data: raw}
		return err
	})
	if err != nil {
		panic(err) // the demo is a part of the program
	}
	tree["teams/support/mailboxes/help/MAILBOX.md"] = &fstest.MapFile{Data: []byte(
		"---\ndescription: Ask the support team anything.\nmembers: [support.devices, support.accounts]\nboards: [escalations]\n---\n\nAnswer what the person asked.\n")}
	return tree
})

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

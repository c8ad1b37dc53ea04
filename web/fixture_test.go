package web_test

import (
	"testing/fstest"

	"postroom/web"
)

// quiet serves one mailbox without members, so that nothing happens by itself.
func quiet(o *web.Options) {
	o.Workforce = fstest.MapFS{"teams/a/mailboxes/box/MAILBOX.md": &fstest.MapFile{Data: []byte("---\ndescription: A quiet box.\n---\n")}}
}

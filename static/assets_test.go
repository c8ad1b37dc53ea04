package static_test

import (
	"strings"
	"testing"

	"postroom/static"
)

func TestFilesAreServedUnderAVersionOfTheirBytes(t *testing.T) {
	t.Parallel()
	a, err := static.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]string{"screens.css": "text/css", "js/app.js": "text/javascript", "icon.svg": "image/svg+xml"} {
		parts := strings.SplitN(strings.TrimPrefix(a.URL(name), "/static/"), "/", 2)
		content, contentType, immutable, found := a.Open(parts[0], parts[1])
		if !found || !immutable || len(content) == 0 || !strings.HasPrefix(contentType, kind) {
			t.Errorf("%s: found %v, immutable %v, %s", name, found, immutable, contentType)
		}
	}
	if _, _, immutable, found := a.Open("another", "js/app.js"); !found || immutable {
		t.Errorf("another version: found %v, immutable %v", found, immutable)
	}
	for _, name := range []string{"", "../go.mod", "assets.go", "js/none.js", "test/days.test.mjs"} {
		if _, _, _, found := a.Open("x", name); found {
			t.Errorf("%q is served", name)
		}
	}
}

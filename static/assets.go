package static

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
)

//go:embed screens.css icon.svg js/*.js
var files embed.FS

// types are the content types by extension.
var types = map[string]string{
	".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// Assets are the files, by name, such as "screens.css" and "js/app.js".
type Assets struct {
	version string
	content map[string][]byte
}

// New reads the embedded files and makes their version.
func New() (*Assets, error) {
	a := &Assets{content: make(map[string][]byte)}
	sum := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		a.content[name] = raw
		_, err = fmt.Fprintf(sum, "%s\x00%d\x00%s", name, len(raw), raw)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the static files: %w", err)
	}
	a.version = hex.EncodeToString(sum.Sum(nil)[:8])
	return a, nil
}

// URL is the address of a file; its bytes never change under it.
func (a *Assets) URL(name string) string { return "/static/" + a.version + "/" + name }

// Open gives a file and its content type. immutable is false for an address of
// another version, whose answer must not be cached.
func (a *Assets) Open(version, name string) (content []byte, contentType string, immutable, found bool) {
	content, found = a.content[name]
	return content, types[path.Ext(name)], version == a.version, found
}

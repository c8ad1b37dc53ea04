package workforce

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"postroom/domain/mailbox"
	"postroom/domain/seat"
)

// refusedDocumentKeys can't stand in any document, and refusedReferenceKeys in
// none of references/.
var (
	refusedDocumentKeys  = []string{"scope", "ref", "stateSchema", "default", "content", "contentFile", "contentTemplate", "contentTemplateRef"}
	refusedReferenceKeys = []string{"writable", "llmWritable", "render", "flowIsolation"}
)

// documents reads the two folders of documents at a place. They share one
// namespace: the same name in both is refused.
func (w *walker) documents(at place) []seat.Document {
	var all []seat.Document
	names := map[string]bool{}
	for _, folder := range []string{"references", "resources"} {
		slot := path.Join(at.dir, folder)
		for _, e := range w.slot(slot) {
			file := path.Join(slot, e.Name())
			name, isMarkdown := strings.CutSuffix(e.Name(), ".md")
			if !isMarkdown && !e.IsDir() {
				continue
			}
			d, ok := w.document(file, name, folder)
			if !ok {
				continue
			}
			if names[d.Name] {
				w.fail(DocumentLoadFailed, file, fmt.Errorf("references and resources both hold %q at this place, and they share one namespace; rename one", d.Name))
				continue
			}
			names[d.Name] = true
			d.Ref = at.ref + d.Name
			all = append(all, d)
		}
	}
	return all
}

func (w *walker) document(file, name, folder string) (seat.Document, bool) {
	info, err := fs.Lstat(w.fsys, file)
	if err == nil && info.IsDir() {
		w.fail(FolderWhereFile, file, fmt.Errorf("a document is a file %s.md, and this is a folder; move its text into one file", name))
		return seat.Document{}, false
	}
	if err := mailbox.CheckName("document", name); err != nil {
		w.fail(DocumentLoadFailed, file, err)
		return seat.Document{}, false
	}
	raw, err := w.file(file)
	var p page
	if err == nil {
		p, err = parse(path.Base(file), raw)
	}
	if err == nil {
		err = described(path.Base(file), p)
	}
	if err != nil {
		w.fail(DocumentLoadFailed, file, err)
		return seat.Document{}, false
	}
	if err := refusedKey(path.Base(file), folder, p); err != nil {
		w.fail(RefusedDeclaration, file, err)
		return seat.Document{}, false
	}
	readable, isBool := p.declared["llmReadable"].(bool)
	if _, there := p.declared["llmReadable"]; there && !isBool {
		w.fail(DocumentLoadFailed, file, &lineError{path.Base(file), p.lines["llmReadable"], "llmReadable is a switch: true or false"})
		return seat.Document{}, false
	}
	return seat.Document{Name: name, Folder: folder, Text: p.body, Readable: readable, Path: file}, true
}

func refusedKey(file, folder string, p page) error {
	refused := refusedDocumentKeys
	if folder == "references" {
		refused = append(append([]string{}, refused...), refusedReferenceKeys...)
	}
	for _, key := range refused {
		if _, declared := p.declared[key]; declared {
			return &lineError{file, p.lines[key], key + ": can't be declared by a document in " + folder + "; take it out"}
		}
	}
	if p.declared["prefetchMode"] == "lazy" {
		return &lineError{file, p.lines["prefetchMode"], "prefetchMode: lazy is not read; take it out"}
	}
	if strings.TrimSpace(p.body) == "" {
		return errors.New(file + " has no text below its frontmatter")
	}
	return nil
}

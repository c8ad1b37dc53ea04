package workforce_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"postroom/workforce"
)

const good = "---\ndescription: For tests.\n---\n\nThe charter.\n"

// tree is a file system of these files.
func tree(files map[string]string) fstest.MapFS {
	m := fstest.MapFS{}
	for name, text := range files {
		m[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return m
}

// kinds are the load errors as "path kind", in order.
func kinds(errs []workforce.LoadError) []string {
	var all []string
	for _, e := range errs {
		all = append(all, e.Path+" "+e.Kind)
	}
	return all
}

func TestAMailboxIsReadFromItsFolders(t *testing.T) {
	t.Parallel()
	records, errs, err := workforce.ReadMailboxes(tree(map[string]string{
		"teams/engineering/mailboxes/standup/MAILBOX.md": "---\ndescription: Daily status.\nmembers: [engineering.lead, engineering.analyst]\nmember: kept\n---\n\nPost what you finished.\n",
		"teams/marketing/mailboxes/standup/MAILBOX.md":   good,
		"teams/marketing/mailboxes/README.md":            "loose",
		"teams/marketing/mailboxes/.DS_Store":            "junk",
		"teams/marketing/workers/x/anything.md":          "not looked at",
		"teams/empty/readme.md":                          "no mailboxes folder",
		"teams/loose.md":                                 "a file among the teams",
		"org/mailboxes/x/MAILBOX.md":                     good,
	}))

	if err != nil || len(errs) != 0 || len(records) != 2 {
		t.Fatalf("read: %v %v %v", records, errs, err)
	}
	r := records[0]
	if r.ID != "engineering.standup" || r.Body != "Post what you finished.\n" || records[1].ID != "marketing.standup" {
		t.Errorf("records: %+v", records)
	}
	want := map[string]any{"description": "Daily status.", "members": []any{"engineering.lead", "engineering.analyst"}, "member": "kept"}
	if diff := cmp.Diff(want, r.Declared); diff != "" {
		t.Errorf("declared: %s", diff)
	}
	if r.Source.Path != "teams/engineering/mailboxes/standup/MAILBOX.md" || r.Source.Line("members") != 3 {
		t.Errorf("source: %+v", r.Source)
	}
}

func TestAWrongFolderIsReportedAndHidesNoGoodOne(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		files map[string]string
		want  string // "path kind"
		says  string
	}{
		"no MAILBOX.md":         {map[string]string{"teams/e/mailboxes/lounge/notes.md": "x"}, "teams/e/mailboxes/lounge mailbox-load-failed", `Mailbox folder "lounge" has no MAILBOX.md`},
		"a folder in its place": {map[string]string{"teams/e/mailboxes/lounge/MAILBOX.md/x": "x"}, "teams/e/mailboxes/lounge mailbox-load-failed", "has no MAILBOX.md"},
		"no frontmatter":        {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "just text\n"}, "teams/e/mailboxes/b mailbox-load-failed", "no frontmatter"},
		"no closing fence":      {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "---\ndescription: x\n"}, "teams/e/mailboxes/b mailbox-load-failed", "no frontmatter"},
		"empty frontmatter":     {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "---\n\n---\nx"}, "teams/e/mailboxes/b mailbox-load-failed", "no frontmatter"},
		"no description":        {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "---\nmembers: []\n---\n"}, "teams/e/mailboxes/b mailbox-load-failed", "description"},
		"a blank description":   {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "---\ndescription: '  '\n---\n"}, "teams/e/mailboxes/b mailbox-load-failed", "description"},
		"a number for one":      {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "---\ndescription: 7\n---\n"}, "teams/e/mailboxes/b mailbox-load-failed", "description"},
		"system":                {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "---\ndescription: x\nsystem: false\n---\n"}, "teams/e/mailboxes/b refused-declaration", "system:"},
		"system without one":    {map[string]string{"teams/e/mailboxes/b/MAILBOX.md": "---\nsystem: true\n---\n"}, "teams/e/mailboxes/b mailbox-load-failed", "description"},
		"a name with a blank":   {map[string]string{"teams/e/mailboxes/Stand Up/MAILBOX.md": good}, "teams/e/mailboxes/Stand Up mailbox-load-failed", "lowercase letters, digits"},
		"a name with a dot":     {map[string]string{"teams/e/mailboxes/stand.up/MAILBOX.md": good}, "teams/e/mailboxes/stand.up mailbox-load-failed", "lowercase letters, digits"},
		"a badly named team":    {map[string]string{"teams/E/mailboxes/b/MAILBOX.md": good}, "teams/E/mailboxes/b mailbox-load-failed", "team folder"},
		"a device's name":       {map[string]string{"teams/e/mailboxes/con/MAILBOX.md": good}, "teams/e/mailboxes/con mailbox-load-failed", "Windows"},
		"a reserved name":       {map[string]string{"teams/e/mailboxes/_meta/MAILBOX.md": good}, "teams/e/mailboxes/_meta mailbox-load-failed", "reserved"},
		"a long name":           {map[string]string{"teams/e/mailboxes/" + strings.Repeat("a", 65) + "/MAILBOX.md": good}, "teams/e/mailboxes/" + strings.Repeat("a", 65) + " mailbox-load-failed", "64"},
		"mailboxes is a file":   {map[string]string{"teams/e/mailboxes": "x"}, "teams/e/mailboxes unreadable-slot", "file"},
		"an old record":         {map[string]string{"teams/e/mailboxes/b/CHANNEL.md": good, "teams/e/mailboxes/b/MAILBOX.md": good}, "teams/e/mailboxes/b/CHANNEL.md pre-rename-record", "teams/e/mailboxes/b/MAILBOX.md"},
		"an old folder's file":  {map[string]string{"teams/e/channels/b/CHANNEL.md": good}, "teams/e/channels/b/CHANNEL.md pre-rename-record", "teams/e/mailboxes/b/MAILBOX.md"},
		"an old folder":         {map[string]string{"teams/e/channels/notes.txt": "x"}, "teams/e/channels pre-rename-record", "teams/e/mailboxes"},
		"an old file":           {map[string]string{"teams/e/channels": "x"}, "teams/e/channels pre-rename-record", "teams/e/mailboxes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.files["teams/a/mailboxes/fine/MAILBOX.md"] = good

			records, errs, err := workforce.ReadMailboxes(tree(row.files))

			if err != nil || len(records) != 1 || records[0].ID != "a.fine" {
				t.Errorf("records: %+v %v", records, err)
			}
			if diff := cmp.Diff([]string{row.want}, kinds(errs)); diff != "" {
				t.Fatalf("errors: %s", diff)
			}
			if !strings.Contains(errs[0].Err.Error(), row.says) {
				t.Errorf("says %q, want %q", errs[0].Err, row.says)
			}
		})
	}
}

func TestFrontmatterOfEveryShapeHasADefinedOutcome(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat("[", 40) + strings.Repeat("]", 40)
	for name, row := range map[string]struct {
		file string
		body string
		key  string // one declared key …
		want any    // … and its value
		says string // or the error
		line int
	}{
		"a byte-order mark":      {file: "\xef\xbb\xbf" + good, body: "The charter.\n", key: "description", want: "For tests."},
		"CRLF":                   {file: strings.ReplaceAll(good, "\n", "\r\n"), body: "The charter.\n", key: "description", want: "For tests."},
		"fences with blanks":     {file: "---  \ndescription: x\n--- \nB", body: "B", key: "description", want: "x"},
		"--- inside the body":    {file: "---\ndescription: x\n---\na\n---\nb\n", body: "a\n---\nb\n", key: "description", want: "x"},
		"no body":                {file: "---\ndescription: x\n---", body: "", key: "description", want: "x"},
		"a folded text":          {file: "---\ndescription: >-\n  a\n  b\n---\n", key: "description", want: "a b"},
		"no and on as words":     {file: "---\ndescription: x\nmembers: [no, on, yes, off]\n---\n", key: "members", want: []any{"no", "on", "yes", "off"}},
		"a comment after a list": {file: "---\ndescription: x\nmembers: [a.b] # who\n---\n", key: "members", want: []any{"a.b"}},
		"an unindented list":     {file: "---\ndescription: x\nmembers:\n- a.b\n---\n", key: "members", want: []any{"a.b"}},
		"an inline mapping":      {file: "---\ndescription: x\nrouting: { fallback: a.b }\n---\n", key: "routing", want: map[string]any{"fallback": "a.b"}},
		"null":                   {file: "---\ndescription: x\nmembers: ~\n---\n", key: "members", want: nil},
		"a whole number":         {file: "---\ndescription: x\nn: 12\n---\n", key: "n", want: int64(12)},
		"a tab for indentation":  {file: "---\ndescription: x\nrouting:\n\tfallback: a\n---\n", says: "YAML", line: 4},
		"a duplicate key":        {file: "---\ndescription: x\nmembers: []\nmembers: []\n---\n", says: "already defined", line: 4},
		"a number as a key":      {file: "---\ndescription: x\n1: y\n---\n", says: "not text", line: 3},
		"a list at the top":      {file: "---\n- a\n- b\n---\n", says: "mapping"},
		"an alias":               {file: "---\ndescription: &d x\nmembers: [*d]\n---\n", says: "anchors", line: 2},
		"a merge":                {file: "---\ndescription: x\na: &a {b: c}\nc:\n  <<: *a\n---\n", says: "anchors"},
		"a tag":                  {file: "---\ndescription: !!str x\n---\n", says: "tags", line: 2},
		"deep nesting":           {file: "---\ndescription: x\nmembers: " + deep + "\n---\n", says: "nested", line: 3},
		"deep lists":             {file: "---\ndescription: x\nmembers:\n  " + strings.Repeat("- ", 40) + "x\n---\n", says: "nested"},
		"broken brackets":        {file: "---\ndescription: [x\n---\n", says: "YAML"},
		"invalid UTF-8":          {file: "---\ndescription: x\n---\na\nb\xff\n", says: "UTF-8", line: 5},
		"very long frontmatter":  {file: "---\ndescription: " + strings.Repeat("x", 70<<10) + "\n---\n", says: "64 KiB"},
		"a very long file":       {file: good + strings.Repeat("x", 1<<20), says: "1 MiB"},
		"text before the fence":  {file: "\n" + good, says: "no frontmatter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			records, errs, err := workforce.ReadMailboxes(tree(map[string]string{"teams/a/mailboxes/b/MAILBOX.md": row.file}))

			if err != nil {
				t.Fatal(err)
			}
			if row.says != "" {
				if len(errs) != 1 || errs[0].Kind != workforce.MailboxLoadFailed || !strings.Contains(errs[0].Err.Error(), row.says) ||
					row.line > 0 && errs[0].Line != row.line {
					t.Errorf("errors: %+v, want one that says %q in line %d", errs, row.says, row.line)
				}
				return
			}
			if len(errs) != 0 || len(records) != 1 {
				t.Fatalf("read: %+v %+v", records, errs)
			}
			if diff := cmp.Diff(row.want, records[0].Declared[row.key]); diff != "" {
				t.Errorf("%s: %s", row.key, diff)
			}
			if row.body != "" && records[0].Body != row.body {
				t.Errorf("body: %q, want %q", records[0].Body, row.body)
			}
		})
	}
}

func TestLinksAreNeverFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "real/mailboxes/box/MAILBOX.md"), good)
	write(t, filepath.Join(dir, "root/teams/fine/mailboxes/box/MAILBOX.md"), good)
	write(t, filepath.Join(dir, "root/teams/a/mailboxes/b/other.md"), "x")
	for at, to := range map[string]string{
		"root/teams/linked":                   "real",
		"root/teams/slot/mailboxes":           "real/mailboxes",
		"root/teams/a/mailboxes/c":            "real/mailboxes/box",
		"root/teams/a/mailboxes/b/MAILBOX.md": "real/mailboxes/box/MAILBOX.md",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, at)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, at)); err != nil {
			t.Fatal(err)
		}
	}

	records, errs, err := workforce.ReadMailboxesDir(filepath.Join(dir, "root"))

	if err != nil || len(records) != 1 || records[0].ID != "fine.box" {
		t.Errorf("records: %+v %v", records, err)
	}
	want := []string{
		"teams/linked unreadable-slot", "teams/a/mailboxes/b mailbox-load-failed", "teams/a/mailboxes/c mailbox-load-failed", "teams/slot/mailboxes unreadable-slot",
	}
	if diff := cmp.Diff(want, kinds(errs)); diff != "" {
		t.Errorf("errors: %s", diff)
	}
	for _, e := range errs {
		if !strings.Contains(e.Err.Error(), "symbolic link") {
			t.Errorf("%s says %q", e.Path, e.Err)
		}
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheRootIsAnErrorWhenItIsWrongAndNoneWhenItIsEmpty(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "file"), "x")
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"missing", "file", "link", "link/"} {
		root := dir + "/" + name
		if _, _, err := workforce.ReadMailboxesDir(root); err == nil || !strings.Contains(err.Error(), root) {
			t.Errorf("%s: %v, want an error that names it", name, err)
		}
	}
	if records, errs, err := workforce.ReadMailboxesDir(t.TempDir()); err != nil || len(records)+len(errs) != 0 {
		t.Errorf("empty root: %v %v %v", records, errs, err)
	}
}

// denied is a file system in which some paths cannot be opened or looked at.
type denied struct {
	fstest.MapFS
	paths map[string]bool
}

func (d denied) Open(name string) (fs.File, error) {
	if d.paths[name] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.MapFS.Open(name)
}

func (d denied) ReadDir(name string) ([]fs.DirEntry, error) {
	if d.paths[name] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return d.MapFS.ReadDir(name)
}

func TestWhatCannotBeReadIsNotTakenForMissing(t *testing.T) {
	t.Parallel()
	files := tree(map[string]string{
		"teams/a/mailboxes/b/MAILBOX.md": good, "teams/c/mailboxes/d/MAILBOX.md": good, "teams/e/mailboxes/f/MAILBOX.md": good,
	})
	fsys := denied{files, map[string]bool{"teams/a/mailboxes/b/MAILBOX.md": true, "teams/c/mailboxes": true}}

	records, errs, err := workforce.ReadMailboxes(fsys)

	if err != nil || len(records) != 1 {
		t.Errorf("records: %+v %v", records, err)
	}
	if diff := cmp.Diff([]string{"teams/a/mailboxes/b mailbox-load-failed", "teams/c/mailboxes unreadable-slot"}, kinds(errs)); diff != "" {
		t.Fatalf("errors: %s", diff)
	}
	for _, e := range errs {
		if !errors.Is(e, fs.ErrPermission) || strings.Contains(e.Err.Error(), "has no MAILBOX.md") {
			t.Errorf("%s: %v", e.Path, e.Err)
		}
	}
	if _, _, err := workforce.ReadMailboxes(denied{files, map[string]bool{".": true}}); err == nil {
		t.Error("a root that cannot be read is no error")
	}
}

func FuzzFrontmatter(f *testing.F) {
	for _, text := range []string{good, "---\ndescription: [a, {b: c}]\n---\n", "---\nx: &a b\ny: *a\n---\n", "---\na:\n  - - - b\n---\n", "---\n? x\n: y\n---\n", "---\n\"a\": 'b'\n--- \n---\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		records, errs, err := workforce.ReadMailboxes(tree(map[string]string{"teams/a/mailboxes/b/MAILBOX.md": text}))
		if err != nil || len(records)+len(errs) != 1 {
			t.Fatalf("%d records and %d errors, %v", len(records), len(errs), err)
		}
		if len(records) == 0 {
			return
		}
		again, _, err := workforce.ReadMailboxes(tree(map[string]string{"teams/a/mailboxes/b/MAILBOX.md": text}))
		if err != nil || !cmp.Equal(records, again) {
			t.Errorf("read twice: %s %v", cmp.Diff(records, again), err)
		}
	})
}

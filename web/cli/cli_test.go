package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postroom/web/cli"
)

func run(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code = cli.Main(t.Context(), args, strings.NewReader(""), &stdout, &stderr)
	return code, stdout.String(), stderr.String()
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

func TestCheckPrintsFindingsAsAPersonReadsThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/teams/a/mailboxes/box/MAILBOX.md", "---\ndescription: x\nmember: [a.b]\n---\n")
	write(t, dir+"/teams/a/mailboxes/fine/MAILBOX.md", "---\ndescription: x\nmembers: [a.gone]\n---\n")

	code, out, _ := run(t, "check", dir)

	want := "teams/a/mailboxes/box/MAILBOX.md:3: unknown-key: a.box: \"member\" is not a key of a mailbox; these are: flow, description, members, boards, instructions, routing, boardActions, mintFor\n" +
		"1 mailbox, 1 error, 0 warnings\n"
	if code != 1 || out != want {
		t.Errorf("exit %d: %s", code, cmp.Diff(want, out))
	}
}

func TestCheckPrintsJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/teams/a/mailboxes/lounge/notes.md", "x")
	write(t, dir+"/teams/a/mailboxes/fine/MAILBOX.md", "---\ndescription: x\nmembers: [a.gone]\n---\n")

	code, out, _ := run(t, "check", dir, "--json")

	var report struct {
		Mailboxes []string
		Errors    []struct{ Code, Kind, Path, Message string }
		Warnings  []struct {
			Code, Path string
			Line       int
		}
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 1 {
		t.Fatalf("exit %d: %v %s", code, err, out)
	}
	if len(report.Mailboxes) != 1 || report.Mailboxes[0] != "a.fine" || len(report.Errors) != 1 || report.Errors[0].Code != "mailbox-load-failed" ||
		report.Errors[0].Kind != "mailbox-load-failed" || report.Errors[0].Path != "teams/a/mailboxes/lounge" ||
		len(report.Warnings) != 1 || report.Warnings[0].Line != 3 {
		t.Errorf("report: %+v", report)
	}
}

func TestCheckOfTheDemoAndOfNothing(t *testing.T) {
	t.Parallel()
	if code, out, _ := run(t, "check"); code != 0 || !strings.Contains(out, "4 mailboxes, 0 errors") {
		t.Errorf("demo: exit %d %s", code, out)
	}
	if code, out, _ := run(t, "check", t.TempDir()); code != 0 || !strings.Contains(out, "0 mailboxes, 0 errors") {
		t.Errorf("an empty folder: exit %d %s", code, out)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if code, _, errs := run(t, "check", missing); code != 2 || !strings.Contains(errs, missing) {
		t.Errorf("a missing folder: exit %d %s", code, errs)
	}
}

func TestServeRefusesWhatItCannotServe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/bad/teams/a/mailboxes/box/MAILBOX.md", "---\ndescription: x\nflow: nope\n---\n")
	write(t, dir+"/text.db", "this is no database, and it is long enough to be read as one by mistake")
	db := "--database=" + filepath.Join(dir, "fine.db")
	for name, row := range map[string]struct {
		args []string
		code int
		says string
	}{
		"PostgreSQL":         {[]string{"serve", "--database=postgres://u:hunter2@db/x"}, 1, "database-unsupported"},
		"a public address":   {[]string{"serve", db, "--addr=0.0.0.0:0"}, 1, "address-not-loopback"},
		"no address":         {[]string{"serve", db, "--addr=nonsense"}, 1, "invalid-address"},
		"no concurrency":     {[]string{"serve", db, "--model-concurrency=0"}, 1, "invalid-limit"},
		"a tree with errors": {[]string{"serve", db, "--workforce=" + dir + "/bad"}, 1, "unknown-flow"},
		"a missing tree":     {[]string{"serve", db, "--workforce=" + dir + "/none"}, 1, "cannot be read"},
		"a missing folder":   {[]string{"serve", "--database=" + dir + "/none/x.db"}, 1, "database-unreachable"},
		"a foreign file":     {[]string{"serve", "--database=" + dir + "/text.db"}, 1, "database-foreign"},
		"an unknown flag":    {[]string{"serve", "--nope"}, 2, "unknown flag"},
		"an unknown command": {[]string{"dance"}, 2, ""},
	} {
		code, _, errs := run(t, row.args...)
		if code != row.code || !strings.Contains(errs, row.says) || strings.Contains(errs, "hunter2") {
			t.Errorf("%s: exit %d %s, want %d and %s", name, code, errs, row.code, row.says)
		}
	}
	if raw, err := os.ReadFile(dir + "/text.db"); err != nil || !strings.HasPrefix(string(raw), "this is no database") {
		t.Errorf("the foreign file was changed: %q %v", raw, err)
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"serve", "--help"}, {"check", "--help"}} {
		if code, out, _ := run(t, args...); code != 0 || !strings.Contains(out, "Usage: postroom") {
			t.Errorf("%v: exit %d %s", args, code, out)
		}
	}
	if code, out, _ := run(t, "version"); code != 0 || !strings.HasPrefix(out, "postroom ") {
		t.Errorf("version: exit %d %s", code, out)
	}
}

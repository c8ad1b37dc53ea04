package cli_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postroom/workforce"
)

func TestInitWritesTheDemoWhichThenIsServed(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new", "tree")

	code, out, errs := run(t, "init", dir)

	if code != 0 || !strings.Contains(out, "serve --workforce "+dir) {
		t.Fatalf("exit %d: %s %s", code, out, errs)
	}
	want, got := list(t, workforce.Demo()), list(t, os.DirFS(dir))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if code, out, errs := run(t, "check", dir); code != 0 {
		t.Errorf("check: exit %d %s %s", code, out, errs)
	}
	p := launch(t, t.TempDir()+"/p.db", nil, "--workforce", dir)
	p.stop(t)
	if code, _, errs := run(t, "init", dir); code != 1 || !strings.Contains(errs, "folder-not-empty") {
		t.Errorf("into a folder with something in it: exit %d %s", code, errs)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(dir), ".postroom-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// An empty folder that is there stays the same folder: somebody may stand in it.
func TestInitFillsAnEmptyFolderThatIsThere(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if code, _, errs := run(t, "init", "."); code != 0 {
		t.Fatalf("exit %d %s", code, errs)
	}
	if diff := cmp.Diff(list(t, workforce.Demo()), list(t, os.DirFS("."))); diff != "" {
		t.Error(diff)
	}
	for _, wrong := range [][]string{{"init", ""}, {"backup", ""}} {
		if code, _, errs := run(t, wrong...); code != 2 || !strings.Contains(errs, "name a path") {
			t.Errorf("%v: exit %d %s", wrong, code, errs)
		}
	}
}

func list(t *testing.T, tree fs.FS) []string {
	t.Helper()
	var all []string
	err := fs.WalkDir(tree, ".", func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A backup of a server that people use is restored into an empty folder and served
// there, with all that was accepted before it was taken.
func TestABackupUnderLoadIsRestoredIntoAnEmptyFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	database := filepath.Join(dir, "postroom.db")
	p := launch(t, database, nil)
	if _, err := p.call("/api/flows/mailbox/support.help/actions/post", `{"input":{"body":"before the backup"}}`, "k0"); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var posting sync.WaitGroup
	for w := range 4 {
		posting.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				if _, err := p.call("/api/flows/mailbox/support.help/actions/post", fmt.Sprintf(`{"input":{"body":"load %d-%d"}}`, w, n), fmt.Sprintf("k-%d-%d", w, n)); err != nil {
					t.Errorf("post under a backup: %v", err)
					return
				}
			}
		})
	}
	copyAt := filepath.Join(dir, "backup.db")
	code, out, errs := run(t, "backup", copyAt, "--database", database)
	close(done)
	posting.Wait()
	if code != 0 || !strings.Contains(out, "whole") {
		t.Fatalf("backup: exit %d %s %s", code, out, errs)
	}
	if code, _, errs := run(t, "restore", copyAt, "--replace", "--database", database); code != 1 || !strings.Contains(errs, "database-in-use") {
		t.Errorf("restore under the server: exit %d %s", code, errs)
	}
	p.stop(t)

	empty := filepath.Join(t.TempDir(), "restored.db")
	if code, out, errs := run(t, "restore", copyAt, "--database", empty); code != 0 || !strings.Contains(out, "whole") {
		t.Fatalf("restore: exit %d %s %s", code, out, errs)
	}
	restored := launch(t, empty, nil)
	out2, err := restored.call("/api/flows/mailbox/support.help/actions/read", `{"input":{}}`, "r")
	if err != nil || !strings.Contains(fmt.Sprint(out2), "load ") && !strings.Contains(fmt.Sprint(out2), "before the backup") {
		t.Errorf("read: %v %v", out2, err)
	}
	restored.stop(t)
	if _, err := os.Stat(copyAt); errors.Is(err, fs.ErrNotExist) {
		t.Error("the backup itself is gone")
	}
}

package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// desk is a small routed desk.
func desk(t *testing.T) string {
	t.Helper()
	return tree(t, map[string]string{
		"teams/desk/mailboxes/front/MAILBOX.md": "---\ndescription: The desk.\nmembers: [desk.bikes, desk.ovens, desk.rest]\nrouting:\n  fallback: desk.rest\n---\nBe kind.\n",
		"teams/desk/mailboxes/open/MAILBOX.md":  "---\ndescription: Not routed.\nmembers: [desk.bikes]\n---\nBe kind.\n",
		"teams/desk/workers/bikes/WORKER.md":    "---\ndescription: Bicycles, their tyres, chains and brakes.\n---\nYou mend bicycles.\n",
		"teams/desk/workers/ovens/WORKER.md":    "---\ndescription: Ovens, baking, bread and cakes.\n---\nYou bake.\n",
		"teams/desk/workers/rest/WORKER.md":     "---\ndescription: Whatever else comes in.\n---\nYou take the rest.\n",
	})
}

func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRouteShowsWhereLabelledPostsWouldGo(t *testing.T) {
	t.Parallel()
	dir := desk(t)
	posts := filepath.Join(tree(t, map[string]string{"posts.csv": "\ufefftext,member\nthe chain of my bicycle came off,desk.bikes\nwhich flour for bread,desk.bikes\nthe canary sings,\n"}), "posts.csv")
	code, out, errs := run(t, "route", "--mailbox", "desk.front", "--workforce", dir, "--json", posts)
	if code != 0 {
		t.Fatalf("%d %s", code, errs)
	}
	var got struct {
		Posts []struct {
			Text, Expected, Member, Source string
			Score                          *float64
		}
		Accuracy  struct{ Fitting, Refused, All float64 }
		Confusion map[string]map[string]int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Posts) != 3 || got.Posts[0].Member != "desk.bikes" || got.Posts[0].Source != "evaluator" || got.Posts[0].Score == nil ||
		got.Posts[1].Member != "desk.ovens" || got.Posts[2].Member != "desk.rest" || got.Posts[2].Source != "fallback" {
		t.Errorf("%+v", got.Posts)
	}
	if got.Accuracy.Fitting != 0.5 || got.Accuracy.Refused != 1 || got.Confusion["desk.bikes"]["desk.ovens"] != 1 || got.Confusion[""][""] != 1 {
		t.Errorf("%+v %+v", got.Accuracy, got.Confusion)
	}
	if code, out, _ = run(t, "route", "--mailbox", "desk.front", "--workforce", dir, posts); code != 0 || !strings.Contains(out, "expected desk.bikes") {
		t.Errorf("%d %s", code, out)
	}
}

func TestRouteLearnsInMemoryFromALabelledFile(t *testing.T) {
	t.Parallel()
	train := "text,member\n" + strings.Repeat("the squeaky thing in my hall,desk.bikes\nsourdough will not rise,desk.ovens\nmy saddle is loose,desk.bikes\nthe crumb is too wet,desk.ovens\n", 10)
	dir := tree(t, map[string]string{"train.csv": train, "posts.csv": "text\nsaddle is loose in my hall\n"})
	code, out, errs := run(t, "route", "--mailbox", "desk.front", "--workforce", desk(t), "--train", filepath.Join(dir, "train.csv"), "--json", filepath.Join(dir, "posts.csv"))
	if code != 0 || !strings.Contains(out, `"member": "desk.bikes"`) || !strings.Contains(out, `"source": "evaluator"`) {
		t.Errorf("%d %s %s", code, out, errs)
	}
}

func TestRouteRefusesWhatItCannotTry(t *testing.T) {
	t.Parallel()
	dir := desk(t)
	files := tree(t, map[string]string{"good.csv": "text\nhello\n", "bad.csv": "words\nhello\n", "broken.csv": "text\n\"a\nb\n", "comma.csv": "text,member\na, b, desk.bikes\n"})
	code, out, _ := run(t, "route", "--mailbox", "desk.front", "--workforce", dir, "--json", filepath.Join(files, "good.csv"))
	if code != 0 || !strings.Contains(out, `"accuracy": null`) {
		t.Errorf("posts without labels: %d %s", code, out)
	}
	code, _, errs := run(t, "route", "--mailbox", "desk.front", "--workforce", dir, "--train", filepath.Join(files, "good.csv"), filepath.Join(files, "good.csv"))
	if code != 2 || !strings.Contains(errs, "no column member") {
		t.Errorf("nothing to learn from: %d %s", code, errs)
	}
	for name, row := range map[string]struct {
		mailbox, posts, says string
		code                 int
	}{
		"not routed":   {"desk.open", "good.csv", "mailbox-not-routed", 1},
		"not there":    {"desk.gone", "good.csv", "mailbox-not-routed", 1},
		"no column":    {"desk.front", "bad.csv", "invalid-posts", 2},
		"a comma":      {"desk.front", "comma.csv", "line 2", 2},
		"broken":       {"desk.front", "broken.csv", "invalid-posts", 2},
		"no such file": {"desk.front", "gone.csv", "gone.csv", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, errs := run(t, "route", "--mailbox", row.mailbox, "--workforce", dir, filepath.Join(files, row.posts))
			if code != row.code || !strings.Contains(errs, row.says) {
				t.Errorf("%d %s", code, errs)
			}
		})
	}
}

// What a file says never commands the terminal that shows it.
func TestRouteShowsNothingThatATerminalObeys(t *testing.T) {
	t.Parallel()
	file := filepath.Join(tree(t, map[string]string{"posts.csv": "\ufeff\"text\",\"member\"\n\x1b[2Jhi\u009b\u202e,desk.bikes\nhello,\x1b]0;evil\a\nbye,\xff\n"}), "posts.csv")
	code, out, errs := run(t, "route", "--mailbox", "desk.front", "--workforce", desk(t), file)
	if code != 0 || strings.ContainsAny(out+errs, "\x1b\a\u009b\u202e\t") || !utf8.ValidString(out+errs) {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

package web_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A program outside the tree, a module of its own, builds on the public packages
// alone and is used over HTTP.
func TestAProgramOutsideTheTreeMountsTheServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "shop")
	// Its module file is a copy, brought up to date with what the tree needs by now.
	module := filepath.Join(dir, "go.mod")
	for _, name := range []string{"go.mod", "go.sum"} {
		raw, err := os.ReadFile(filepath.Join("testdata", "outside", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-modfile="+module, "-o", program, ".")
	build.Dir = filepath.Join("testdata", "outside")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	shop := exec.CommandContext(t.Context(), program, filepath.Join(dir, "shop.db"))
	shop.Stderr = os.Stderr
	said, err := shop.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shop.Start(); err != nil {
		t.Fatal(err)
	}
	url, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	url = strings.TrimSpace(url)
	get := func(path string) (int, string) {
		t.Helper()
		res, err := http.Get(url + path) //nolint:noctx,gosec // the test's own server.
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(raw)
	}
	call := func(path, input string) string {
		t.Helper()
		res, err := http.Post(url+"/api/flows/"+path+"?wait=10s", "application/json", strings.NewReader(`{"input":`+input+`}`)) //nolint:noctx,gosec // the test's own server.
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close() //nolint:errcheck // decoded below.
		var out struct {
			Request struct {
				Status string
				Output json.RawMessage
			}
		}
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil || out.Request.Status != "completed" {
			t.Fatalf("%s: %d %+v %v", path, res.StatusCode, out, err)
		}
		return string(out.Request.Output)
	}
	eventually := func(what string, holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("it never came to this: %s", what)
			}
		}
	}
	eventually("it is ready", func() bool { code, _ := get("/readyz"); return code == http.StatusOK })

	call("diary/shop.notes/actions/post", `{"body":"dear diary","mood":"calm"}`)
	if lines := call("diary/shop.notes/actions/read", `{}`); !strings.Contains(lines, `"mood":"calm"`) {
		t.Errorf("the diary: %s", lines)
	}
	call("intake/slip-1/actions/submit", `{"Body":"two loaves","To":"shop.counter"}`)
	eventually("the clerk filed it", func() bool {
		return strings.Contains(call("mailbox/shop.counter/actions/read", `{}`), "filed: two loaves")
	})
	eventually("the owner was paged once", func() bool { _, n := get("/paged"); return n == "1" })
	if out := call("agent/shop.ringer/actions/run", `{"text":"ring"}`); !strings.Contains(out, "the bell said ding") {
		t.Errorf("the ringer: %s", out)
	}
	if code, page := get("/api/inventory/seats"); code != http.StatusOK || !strings.Contains(page, "shop.clerk") {
		t.Errorf("the inventory: %d %s", code, page)
	}

	if err := shop.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := shop.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

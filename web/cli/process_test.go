package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"postroom/web/webtest"
)

// built is the program as `make build` makes it, once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "postroom-test")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "postroom")
	build := exec.Command("go", "build", "-o", path, "postroom") //nolint:noctx // the test's deadline ends it.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return dir, fmt.Errorf("build: %w %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(path)) // it is in the system's temporary folder anyway
	}
	os.Exit(code)
}

func binary(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	url    string
	mu     sync.Mutex
	logged strings.Builder // guarded by mu
	drawn  chan struct{}   // closed when its log has ended
}

var address = regexp.MustCompile(`url=(http://\S+)`)

// launch starts the program on a database, with no keys in its environment but
// those given.
func launch(t *testing.T, database string, env []string, args ...string) *process {
	t.Helper()
	p := &process{drawn: make(chan struct{})}
	p.cmd = exec.Command(binary(t), append([]string{"serve", "--addr=127.0.0.1:0", "--database=" + database, "--offline-delay=20ms"}, args...)...) //nolint:noctx // it is killed by hand.
	for _, one := range os.Environ() {
		if !strings.HasPrefix(one, "ANTHROPIC_") && !strings.HasPrefix(one, "OPENAI_") && !strings.HasPrefix(one, "POSTROOM_") {
			p.cmd.Env = append(p.cmd.Env, one)
		}
	}
	p.cmd.Env = append(p.cmd.Env, env...)
	logged, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	listening := make(chan string, 1)
	go func() {
		defer close(p.drawn)
		lines := bufio.NewScanner(logged)
		for lines.Scan() {
			p.mu.Lock()
			if p.logged.Len() < 1<<20 {
				p.logged.WriteString(lines.Text() + "\n")
			}
			p.mu.Unlock()
			if found := address.FindStringSubmatch(lines.Text()); found != nil {
				listening <- found[1]
			}
		}
	}()
	select {
	case p.url = <-listening:
	case <-p.drawn:
		t.Fatalf("the server ended without an address: %s", p.log())
	}
	return p
}

// unrouted writes the demo with a help that is not routed, and gives the flags that
// serve it.
func unrouted(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tree")
	if err := os.CopyFS(dir, webtest.UnroutedDemo()); err != nil {
		t.Fatal(err)
	}
	return []string{"--workforce", dir}
}

// log is what the server has logged so far.
func (p *process) log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.logged.String()
}

// stop asks the server to end, and waits until it has.
func (p *process) stop(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	<-p.drawn
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("it ended with %v: %s", err, p.log())
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have been killed already
	_ = p.cmd.Wait()
}

func (p *process) call(path, body, key string) (map[string]any, error) {
	req, err := http.NewRequest(http.MethodPost, p.url+path, bytes.NewReader([]byte(body))) //nolint:noctx // the process's death ends it.
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", key)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // read whole below.
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil || res.StatusCode >= 400 {
		return nil, fmt.Errorf("%d %s", res.StatusCode, raw)
	}
	return out, nil
}

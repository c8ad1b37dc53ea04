package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
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
	cmd *exec.Cmd
	url string
}

var address = regexp.MustCompile(`url=(http://\S+)`)

func start(t *testing.T, path, database string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(path, "serve", "--addr=127.0.0.1:0", "--database="+database, "--offline-delay=20ms")} //nolint:noctx // it is killed by hand.
	logged, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	lines := bufio.NewScanner(logged)
	for lines.Scan() {
		if found := address.FindStringSubmatch(lines.Text()); found != nil {
			p.url = found[1]
			go func() { _, _ = io.Copy(io.Discard, logged) }() // so that it never waits for its log
			return p
		}
	}
	t.Fatal("the server ended without an address")
	return nil
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

// TestKilledAtAnyMomentNothingAcceptedIsLostOrAnsweredTwice kills the real program
// at random moments while people post, and looks at what stands afterwards.
func TestKilledAtAnyMomentNothingAcceptedIsLostOrAnsweredTwice(t *testing.T) {
	t.Parallel()
	path, database := binary(t), filepath.Join(t.TempDir(), "postroom.db")
	var mu sync.Mutex
	accepted := map[string]bool{}
	count := 0
	for life := range 6 {
		p := start(t, path, database)
		var posting sync.WaitGroup
		for w := range 4 {
			posting.Go(func() {
				for {
					mu.Lock()
					count++
					body := fmt.Sprintf("printer %d-%d-%d", life, w, count)
					mu.Unlock()
					if _, err := p.call("/api/flows/mailbox/support.help/actions/post", fmt.Sprintf(`{"userId":"u","input":{"body":%q}}`, body), body); err != nil {
						return // it was killed; whether this one was accepted nobody was told
					}
					mu.Lock()
					accepted[body] = true
					mu.Unlock()
					if len(body) > 0 && rand.IntN(3) == 0 {
						time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond) //nolint:forbidigo // people pause between posts.
					}
				}
			})
		}
		for some := false; !some; { // however slow the machine is, each life has something to lose
			time.Sleep(time.Duration(60+rand.IntN(240)) * time.Millisecond) //nolint:forbidigo // the moment is what is tested.
			mu.Lock()
			some = len(accepted) >= 5*(life+1)
			mu.Unlock()
		}
		p.kill()
		posting.Wait()
	}

	p := start(t, path, database)
	lines := settled(t, p)

	if len(accepted) < 20 {
		t.Fatalf("only %d posts were accepted", len(accepted))
	}
	posts, answers := map[string]int{}, map[string]int{}
	for _, l := range lines {
		if l.SeatAuthored {
			answers[l.Author]++
		} else {
			posts[l.Body]++
		}
	}
	for body := range accepted {
		if posts[body] != 1 {
			t.Errorf("%q stands %d times", body, posts[body])
		}
	}
	for body, n := range posts {
		if n != 1 {
			t.Errorf("%q stands %d times", body, n)
		}
	}
	for _, seat := range []string{"support.devices", "support.accounts"} {
		// A run that was killed three times is given up, and says so where its post stands.
		givenUp := 0
		for _, f := range failures(t, p, "support.help~"+seat) {
			if f.Failure.Code != "interrupted" || f.Attempt < 3 {
				t.Errorf("%s: a run failed with %s at attempt %d", seat, f.Failure.Code, f.Attempt)
			}
			givenUp++
		}
		// One that had posted before it was given up counts twice.
		if answers[seat] > len(posts) || answers[seat]+givenUp < len(posts) {
			t.Errorf("%s answered %d times to %d posts and gave up %d", seat, answers[seat], len(posts), givenUp)
		}
	}
	t.Logf("%d posts over 6 lives, %d of them accepted", len(posts), len(accepted))
}

type line struct {
	Author       string
	SeatAuthored bool
	Body         string
}

// failedRun is a request that failed.
type failedRun struct {
	Attempt int
	Failure struct{ Code string }
}

// failures are the failed requests of a session, 200 at most.
func failures(t *testing.T, p *process, id string) []failedRun {
	t.Helper()
	var page struct{ Items []failedRun }
	p.get(t, "/api/sessions/"+id+"/requests?limit=200&status=failed", &page)
	return page.Items
}

func (p *process) get(t *testing.T, path string, into any) {
	t.Helper()
	res, err := http.Get(p.url + path) //nolint:noctx,gosec // the test's own server.
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() //nolint:errcheck // decoded below.
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}

// settled waits until nothing is queued or running, and reads the whole transcript.
func settled(t *testing.T, p *process) []line {
	t.Helper()
	// A fan-out makes runs, and a run makes a line in the mailbox: so the mailbox is
	// asked again last, since its own queue may have filled meanwhile.
	sessions := []string{"support.help", "support.help~support.devices", "support.help~support.accounts", "support.help"}
	deadline := time.Now().Add(2 * time.Minute)
	for open := 1; open > 0; {
		if time.Now().After(deadline) {
			t.Fatal("the queue never emptied")
		}
		open = 0
		for _, id := range sessions {
			for _, status := range []string{"queued", "running"} {
				var page struct{ Items []any }
				p.get(t, "/api/sessions/"+id+"/requests?limit=1&status="+status, &page)
				open += len(page.Items)
			}
		}
	}
	var all []line
	for after := int64(0); ; {
		var page struct {
			Items []struct {
				Seq  int64
				Data line
			}
			Next *int64
		}
		p.get(t, fmt.Sprintf("/api/sessions/support.help/items?component=mailbox-post&after=%d", after), &page)
		for _, item := range page.Items {
			all = append(all, item.Data)
		}
		if page.Next == nil {
			return all
		}
		after = *page.Next
	}
}

func TestASecondServerOnTheSameFileIsRefused(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "postroom.db")
	start(t, binary(t), database)

	code, _, errs := run(t, "serve", "--addr=127.0.0.1:0", "--database="+database)

	if code != 1 || !strings.Contains(errs, "database-in-use") {
		t.Errorf("exit %d %s", code, errs)
	}
}

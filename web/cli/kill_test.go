package cli_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKilledAtAnyMomentNothingAcceptedIsLostOrAnsweredTwice kills the real program
// at random moments while people post, and looks at what stands afterwards.
func TestKilledAtAnyMomentNothingAcceptedIsLostOrAnsweredTwice(t *testing.T) {
	t.Parallel()
	database, tree := filepath.Join(t.TempDir(), "postroom.db"), unrouted(t)
	var mu sync.Mutex
	accepted := map[string]bool{}
	count := 0
	for life := range 6 {
		p := launch(t, database, nil, tree...)
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

	p := launch(t, database, nil, tree...)
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
	deadline := time.Now().Add(5 * time.Minute)
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
	launch(t, database, nil)

	code, _, errs := run(t, "serve", "--addr=127.0.0.1:0", "--database="+database)

	if code != 1 || !strings.Contains(errs, "database-in-use") {
		t.Errorf("exit %d %s", code, errs)
	}
}

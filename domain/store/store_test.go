package store_test

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/google/go-cmp/cmp"

	"postroom/domain/account"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
	"postroom/domain/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m, sessiontest.Leaks()...) }

const org = account.DefaultOrganization

func options(path string) store.Options {
	clock := sessiontest.NewClock()
	return store.Options{Path: path, Clock: clock.Now, NewID: session.ULIDs(clock.Now, nil), Log: sessiontest.Discard()}
}

// open opens a store whose writer runs until the test ends, or stop is called.
func open(t *testing.T, path string) (s *store.Store, stop func()) {
	t.Helper()
	s, err := store.Open(t.Context(), options(path))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	var once sync.Once
	stop = func() {
		once.Do(func() {
			cancel()
			if err := errors.Join(<-done, s.Close()); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
	t.Cleanup(stop)
	return s, stop
}

func database(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "postroom.db")
}

// box makes a session to write to.
func box(t *testing.T, s *store.Store, id string) {
	t.Helper()
	err := s.Write(t.Context(), func(tx session.Tx) error {
		return tx.CreateSession(t.Context(), session.Session{Organization: org, ID: id, Kind: "k", Owner: "o", CreatedAt: time.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func request(id string) *session.Request {
	return &session.Request{
		ID: id, Organization: org, Session: "s", Kind: "k", Action: "a", Input: []byte(`{}`), Principal: account.Principal{Organization: org, ID: "u"},
		Source: session.FromClient, Lane: session.TurnLane, Status: session.Queued, QueuedAt: time.Now(),
	}
}

func add(s *store.Store, r *session.Request, after ...func(tx session.Tx) error) error {
	return s.Write(context.Background(), func(tx session.Tx) error {
		if err := tx.AddRequest(context.Background(), r); err != nil {
			return err
		}
		for _, fn := range after {
			if err := fn(tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func TestOneServerAtATimeHasAFile(t *testing.T) {
	t.Parallel()
	path := database(t)
	_, stop := open(t, path)

	_, err := store.Open(t.Context(), options(path))

	if !errors.Is(err, store.ErrInUse) {
		t.Errorf("second: %v", err)
	}
	stop()
	open(t, path)
}

func TestAFileKeepsItsEpochAndItsRows(t *testing.T) {
	t.Parallel()
	path := database(t)
	s, stop := open(t, path)
	box(t, s, "s")
	epoch := s.Epoch()
	stop()

	again, _ := open(t, path)

	if _, found, err := again.Session(t.Context(), org, "s"); err != nil || !found || again.Epoch() != epoch || epoch == "" {
		t.Errorf("found %v, epoch %q then %q, %v", found, epoch, again.Epoch(), err)
	}
	other, _ := open(t, database(t))
	if other.Epoch() == epoch {
		t.Error("another file has the same epoch")
	}
}

func TestFilesThatAreNotOursAreRefusedAndLeftAsTheyAre(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	exec := func(path string, statements ...string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range statements {
			if _, err := db.ExecContext(t.Context(), text); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	exec(dir+"/foreign.db", "CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (1)")
	if err := os.WriteFile(dir+"/text.db", []byte(strings.Repeat("this is no database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, stop := open(t, dir+"/newer.db")
	stop()
	exec(dir+"/newer.db", "PRAGMA user_version = 999")
	for name, want := range map[string]error{"foreign.db": store.ErrForeign, "text.db": store.ErrForeign, "newer.db": store.ErrNewer, "none/x.db": store.ErrNoFolder} {
		before, _ := os.ReadFile(filepath.Join(dir, name)) // one is not there

		_, err := store.Open(t.Context(), options(filepath.Join(dir, name)))

		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, name)); len(before) != len(after) && name != "newer.db" {
			t.Errorf("%s was changed: %d bytes, then %d", name, len(before), len(after))
		}
	}
}

func TestAFullDiskFailsEveryWaiterWritesNothingAndHeals(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))
	box(t, s, "s")
	if err := s.LimitPages(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	var full, landed int
	var mu sync.Mutex
	var writing sync.WaitGroup
	for i := range 32 {
		writing.Go(func() {
			r := request(fmt.Sprintf("req_%02d", i))
			r.Input = []byte(`{"text":"` + strings.Repeat("x", 8<<10) + `"}`)
			err := add(s, r)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				landed++
			case errors.Is(err, store.ErrFull):
				full++
			default:
				t.Errorf("write: %v", err)
			}
		})
	}
	writing.Wait()
	large := request("req_large")
	large.Input = []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)

	if err := add(s, large); !errors.Is(err, store.ErrFull) || full == 0 || s.CannotWrite() == nil {
		t.Errorf("%d of 32 found the disk full, then %v, trouble: %v", full, err, s.CannotWrite())
	}
	kept, err := s.Requests(t.Context(), session.RequestQuery{Organization: org})
	if err != nil || len(kept) != landed {
		t.Errorf("%d rows for %d that landed, %v", len(kept), landed, err)
	}
	if err := s.LimitPages(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	if err := add(s, request("req_after")); err != nil || s.CannotWrite() != nil {
		t.Errorf("with room again: %v, trouble: %v", err, s.CannotWrite())
	}
}

func TestALockedFileIsAClearErrorAndHeals(t *testing.T) {
	t.Parallel()
	path := database(t)
	s, _ := open(t, path)
	box(t, s, "s")
	if err := s.Impatient(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	other.SetMaxOpenConns(1)
	if _, err := other.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}

	locked := add(s, request("req_1"))

	if !errors.Is(locked, store.ErrLocked) {
		t.Errorf("write: %v", locked)
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(other.Close(), add(s, request("req_1"))); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAFailingWriteFailsAlone(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))
	box(t, s, "s")
	own := errors.New("my own")
	var writing sync.WaitGroup
	for i := range 64 {
		writing.Go(func() {
			r := request(fmt.Sprintf("req_%02d", i))
			var err error
			switch i % 4 {
			case 0:
				if err = add(s, r, func(session.Tx) error { return own }); !errors.Is(err, own) {
					t.Errorf("its error: %v", err)
				}
			case 1:
				if err = add(s, r, func(session.Tx) error { panic("oh") }); err == nil || !strings.Contains(err.Error(), "oh") {
					t.Errorf("its panic: %v", err)
				}
			case 2:
				box := session.Session{Organization: org, ID: "s", Kind: "k"}
				if err = add(s, r, func(tx session.Tx) error { return tx.CreateSession(context.Background(), box) }); !errors.Is(err, session.ErrSessionTaken) {
					t.Errorf("a taken id: %v", err)
				}
			default:
				if err = add(s, r); err != nil {
					t.Errorf("a good write: %v", err)
				}
			}
		})
	}
	writing.Wait()

	kept, err := s.Requests(t.Context(), session.RequestQuery{Organization: org})
	if err != nil || len(kept) != 16 {
		t.Errorf("%d rows, %v", len(kept), err)
	}
	positions := map[int64]bool{}
	for _, r := range kept {
		positions[r.Position] = true
	}
	for i := range int64(16) {
		if !positions[i+1] {
			t.Errorf("position %d is missing: the failed ones left gaps", i+1)
		}
	}
}

func TestACallerThatLeavesStopsWaitingOnly(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))
	box(t, s, "s")
	ctx, cancel := context.WithCancel(t.Context())
	inside, goOn := make(chan struct{}), make(chan struct{})
	left := make(chan error, 1)
	go func() {
		left <- s.Write(ctx, func(tx session.Tx) error {
			close(inside)
			<-goOn
			return tx.AddRequest(context.WithoutCancel(ctx), request("req_left"))
		})
	}()
	<-inside

	cancel()

	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller: %v", err)
	}
	close(goOn)
	if err := add(s, request("req_next")); err != nil {
		t.Errorf("the next write: %v", err)
	}
	if _, found, err := s.Request(t.Context(), org, "req_left"); err != nil || !found {
		t.Errorf("the write itself: found %v, %v", found, err)
	}
}

// A cancelled context inside a group would make SQLite roll the whole group back.
func TestACallersCancelledContextReachesNoStatementOfItsGroup(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))
	box(t, s, "s")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var writing sync.WaitGroup
	for i := range 32 {
		writing.Go(func() {
			ctx := context.Background()
			if i%2 == 0 {
				ctx = gone
			}
			err := s.Write(context.Background(), func(tx session.Tx) error {
				if err := tx.AddRequest(ctx, request(fmt.Sprintf("req_%02d", i))); err != nil {
					return err
				}
				_, _, err := tx.Session(ctx, org, "s")
				return err
			})
			if err != nil {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	writing.Wait()

	if kept, err := s.Requests(t.Context(), session.RequestQuery{Organization: org}); err != nil || len(kept) != 32 {
		t.Errorf("%d rows, %v", len(kept), err)
	}
}

func TestAReaderThatLeavesFailsNobodyElse(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))
	box(t, s, "s")
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var reading sync.WaitGroup
	for i := range 64 {
		reading.Go(func() {
			ctx := context.Background()
			if i%2 == 0 {
				ctx = gone
			}
			// Each number of components is a statement of its own, prepared by whoever comes first.
			_, err := s.Items(ctx, session.ItemQuery{Organization: org, Session: "s", Type: fmt.Sprint("t", i/8), Components: make([]string, i/8+1)})
			if err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	reading.Wait()
}

func TestAFileThatCannotBeWrittenIsAClearErrorAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))

	if err := s.WriteWhereNothingMay(t.Context()); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if _, err := s.Sessions(t.Context(), session.SessionQuery{Organization: org}); err != nil {
		t.Errorf("read: %v", err)
	}
}

func TestAStoppedStoreSaysSo(t *testing.T) {
	t.Parallel()
	s, stop := open(t, database(t))
	stop()

	if err := add(s, request("req_1")); !errors.Is(err, store.ErrClosed) {
		t.Errorf("write: %v", err)
	}
}

func TestOfAllWhoRaceForARequestOneClaimsIt(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))
	box(t, s, "s")
	if err := add(s, request("req_1")); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	won := 0
	var racing sync.WaitGroup
	for i := range 64 {
		racing.Go(func() {
			err := s.Write(context.Background(), func(tx session.Tx) error {
				_, ok, err := tx.Claim(context.Background(), "req_1", fmt.Sprint(i), time.Now(), time.Now().Add(time.Minute))
				if ok {
					mu.Lock()
					won++
					mu.Unlock()
				}
				return err
			})
			if err != nil {
				t.Errorf("claim: %v", err)
			}
		})
	}
	racing.Wait()

	if won != 1 {
		t.Errorf("%d claimed it", won)
	}
}

func TestASessionHasOneRunningTurnWhateverTheCode(t *testing.T) {
	t.Parallel()
	s, _ := open(t, database(t))
	box(t, s, "s")
	for _, id := range []string{"req_1", "req_2"} {
		if err := add(s, request(id)); err != nil {
			t.Fatal(err)
		}
	}
	claim := func(id string) error {
		return s.Write(t.Context(), func(tx session.Tx) error {
			_, _, err := tx.Claim(t.Context(), id, "w", time.Now(), time.Now().Add(time.Minute))
			return err
		})
	}

	first, second := claim("req_1"), claim("req_2")

	if first != nil || second == nil {
		t.Errorf("first: %v, second: %v", first, second)
	}
}

var update = flag.Bool("update", false, "write the golden files anew")

// A statement that reads along a session's whole history is right, and slower with
// each post: only its plan shows it.
func TestHotStatementsGoAboutTheirWorkAsTheyDid(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), options(filepath.Join(t.TempDir(), "postroom.db")))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Plans(t.Context())
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "plans.txt")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

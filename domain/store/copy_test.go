package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"postroom/domain/session"
	"postroom/domain/store"
)

func TestABackupTakenWhilePeopleWriteIsWholeAndAsAtOneInstant(t *testing.T) {
	t.Parallel()
	path := database(t)
	s, stop := open(t, path)
	box(t, s, "s")
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	var mu sync.Mutex
	n := 0
	for range 8 {
		writing.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				n++
				r := request(fmt.Sprintf("req_%06d", n))
				mu.Unlock()
				err := add(s, r, func(tx session.Tx) error {
					return tx.AppendItem(context.Background(), &session.Item{ID: "item" + r.ID, Organization: org, Session: "s", Request: r.ID, Type: "message", Data: []byte(`{}`)})
				})
				if err != nil {
					t.Errorf("write: %v", err)
				}
			}
		})
	}
	dir := t.TempDir()
	var copies []string
	for i := range 5 {
		to := filepath.Join(dir, fmt.Sprintf("copy%d.db", i))
		c, err := store.Backup(t.Context(), path, to)
		if err != nil || c.Items != c.Requests || c.Sessions != 1 {
			t.Errorf("backup %d: %+v %v", i, c, err)
		}
		copies = append(copies, to)
	}
	cancel()
	writing.Wait()
	epoch := s.Epoch()
	stop()

	fresh := filepath.Join(t.TempDir(), "restored.db")
	_, c, err := store.Restore(t.Context(), copies[4], fresh, false, func(p string) string { return p + "_new" })
	if err != nil {
		t.Fatal(err)
	}
	restored, stop := open(t, fresh)
	kept, err := restored.Requests(t.Context(), session.RequestQuery{Organization: org, Limit: 200})
	if err != nil || len(kept) == 0 || int64(len(kept)) != min(c.Requests, 200) || restored.Epoch() == epoch || restored.Epoch() != "epoch_new" {
		t.Errorf("restored: %d of %d, epoch %s, %v", len(kept), c.Requests, restored.Epoch(), err)
	}
	if err := add(restored, request("req_after")); err != nil {
		t.Errorf("writing goes on: %v", err)
	}
	stop()
	if left, err := filepath.Glob(filepath.Join(dir, ".postroom-*")); err != nil || len(left) > 0 {
		t.Errorf("half a copy was left: %v %v", left, err)
	}
}

func TestCopyingRefusesByCodeAndLeavesAllAsItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "live.db")
	s, stop := open(t, path)
	box(t, s, "s")
	copyAt := filepath.Join(dir, "copy.db")
	if _, err := store.Backup(t.Context(), path, copyAt); err != nil {
		t.Fatal(err)
	}
	damaged := filepath.Join(dir, "damaged.db")
	raw, err := os.ReadFile(copyAt)
	if err != nil {
		t.Fatal(err)
	}
	for i := 5000; i < 12000 && i < len(raw); i++ {
		raw[i] = 0xff
	}
	text := filepath.Join(dir, "text.db")
	empty := filepath.Join(dir, "empty.db")
	if err := errors.Join(os.WriteFile(empty, nil, 0o600), os.WriteFile(damaged, raw, 0o600), os.WriteFile(text, []byte(strings.Repeat("not a database ", 500)), 0o600)); err != nil {
		t.Fatal(err)
	}
	newer := filepath.Join(dir, "newer.db")
	if _, err := store.Backup(t.Context(), path, newer); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", newer)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("PRAGMA user_version = 999"); errors.Join(err, db.Close()) != nil {
		t.Fatal(err)
	}
	ids := func(p string) string { return p + "_1" }
	restore := func(from, to string, replace bool) error {
		_, _, err := store.Restore(t.Context(), from, to, replace, ids)
		return err
	}
	backup := func(from, to string) error { _, err := store.Backup(t.Context(), from, to); return err }
	other := filepath.Join(dir, "other.db")
	for name, row := range map[string]struct{ got, want error }{
		"a backup over a file":           {backup(path, copyAt), store.ErrFileExists},
		"a backup of nothing":            {backup(filepath.Join(dir, "none.db"), other), store.ErrNoDatabase},
		"a backup of text":               {backup(text, other), store.ErrForeign},
		"a backup of an empty file":      {backup(empty, other), store.ErrForeign},
		"a restore of an empty file":     {restore(empty, other, false), store.ErrForeign},
		"a backup into no folder":        {backup(path, filepath.Join(dir, "none", "x.db")), store.ErrNoFolder},
		"a restore of nothing":           {restore(filepath.Join(dir, "none.db"), other, false), store.ErrNoDatabase},
		"a restore of text":              {restore(text, other, false), store.ErrForeign},
		"a restore of a damaged copy":    {restore(damaged, other, false), store.ErrDamaged},
		"a restore of a newer copy":      {restore(newer, other, false), store.ErrNewer},
		"a restore under a live server":  {restore(copyAt, path, true), store.ErrInUse},
		"a restore over a database":      {restore(copyAt, newer, false), store.ErrFileExists},
		"a restore of a damaged one, ok": {restore(damaged, newer, true), store.ErrDamaged},
	} {
		damaged := errors.Is(row.want, store.ErrDamaged) && errors.Is(row.got, store.ErrBroken) // as the driver may put it
		if !errors.Is(row.got, row.want) && !damaged {
			t.Errorf("%s: %v, want %v", name, row.got, row.want)
		}
	}
	if _, err := os.Stat(other); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
	if err := add(s, request("req_1")); err != nil {
		t.Errorf("the live one goes on: %v", err)
	}
	stop()
}

func TestARestoreOverADatabaseKeepsThatBesideIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, copyAt := filepath.Join(dir, "live.db"), filepath.Join(dir, "copy.db")
	s, stop := open(t, path)
	box(t, s, "s")
	if _, err := store.Backup(t.Context(), path, copyAt); err != nil {
		t.Fatal(err)
	}
	if err := add(s, request("req_later")); err != nil {
		t.Fatal(err)
	}
	stop()

	had, _, err := store.Restore(t.Context(), copyAt, path, true, func(p string) string { return p + "_1" })
	if err != nil || had == "" {
		t.Fatalf("restore: %q %v", had, err)
	}
	for at, want := range map[string]int{path: 0, had: 1} {
		s, stop := open(t, at)
		kept, err := s.Requests(t.Context(), session.RequestQuery{Organization: org})
		if err != nil || len(kept) != want {
			t.Errorf("%s: %d rows, want %d, %v", at, len(kept), want, err)
		}
		stop()
	}
}

// Each earlier schema, with rows in it, is brought up to date with nothing lost,
// and how it was before is kept.
func TestEachEarlierSchemaIsBroughtUpToDateAndKept(t *testing.T) {
	t.Parallel()
	newest := store.Newest()
	for from := 1; from < newest; from++ {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			t.Parallel()
			path := database(t)
			if err := store.MakeAt(t.Context(), path, from); err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			o := options(path)
			o.Log = slog.New(slog.NewTextHandler(&said, nil))
			s, err := store.Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			items, err := s.Items(t.Context(), session.ItemQuery{Organization: "o", Session: "s"})
			requests, err2 := s.Requests(t.Context(), session.RequestQuery{Organization: "o", Session: "s"})
			if err := errors.Join(err, err2, s.Close()); err != nil || len(items) != 1 || len(requests) != 1 || string(items[0].Data) != `{"body":"x"}` {
				t.Errorf("%+v %+v %v", items, requests, err)
			}
			kept, err := filepath.Glob(fmt.Sprintf("%s.schema-%d-*", path, from))
			if err != nil || len(kept) != 1 || !strings.Contains(said.String(), kept[0]) {
				t.Fatalf("snapshots %v, log %s", kept, said.String())
			}
			db, err := sql.Open("sqlite", kept[0])
			if err != nil {
				t.Fatal(err)
			}
			var version, n int
			err = errors.Join(db.QueryRow("PRAGMA user_version").Scan(&version), db.QueryRow("SELECT count(*) FROM items").Scan(&n), db.Close())
			if err != nil || version != from || n != 1 {
				t.Errorf("the snapshot: schema %d, %d items, %v", version, n, err)
			}
		})
	}
}

package seat_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/mailbox/mailboxtest"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

func hire(t *testing.T, organization, owner string, ids ...string) *seat.Seats {
	t.Helper()
	var records []seat.Record
	for _, id := range ids {
		records = append(records, seat.Record{ID: id, Declared: map[string]any{"description": organization + "/" + owner}})
	}
	s, err := seat.Hire(records, seat.HireOptions{Organization: organization, Owner: owner})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOfSeatsWithOneIdTheOneTheCallerReachesFirstIsTaken(t *testing.T) {
	t.Parallel()
	all := seat.Join(hire(t, "", "", "a.w", "a.shared"), hire(t, "acme", "", "a.w"), hire(t, "acme", "mara", "a.w"), hire(t, "other", "", "a.other"), hire(t, "acme", "odo", "a.odos"))
	for name, row := range map[string]struct{ organization, user, id, want string }{
		"their own":              {"acme", "mara", "a.w", "acme.~mara.a.w"},
		"the organization's":     {"acme", "tamsin", "a.w", "acme.a.w"},
		"a shared one":           {"elsewhere", "mara", "a.w", "a.w"},
		"only a shared one":      {"acme", "mara", "a.shared", "a.shared"},
		"pinned elsewhere":       {"acme", "mara", "a.other", ""},
		"somebody else's":        {"acme", "mara", "a.odos", ""},
		"nobody by that name":    {"acme", "mara", "a.none", ""},
		"an id's beginning only": {"acme", "mara", "a.shar", ""},
	} {
		got, found := all.Resolve(row.organization, row.user, row.id)
		if found != (row.want != "") || found && got.Address() != row.want {
			t.Errorf("%s: %q %v, want %q", name, got.Address(), found, row.want)
		}
	}
}

// heard gathers whom a fallback was told of.
type heard struct {
	mu  sync.Mutex
	all []string
}

func (h *heard) Notify(_ context.Context, d mailbox.Delivery) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, d.Member+": "+d.Body)
	return nil
}

func TestTheFallbackIsForMembersWhoseSeatCannotHear(t *testing.T) {
	t.Parallel()
	deaf, err := session.NewKind(session.KindOptions{Name: "deaf"})
	if err != nil {
		t.Fatal(err)
	}
	fallback := &heard{}
	d := mailboxtest.Open(t, mailboxtest.Setup{
		Mailboxes: []mailbox.Record{mailboxtest.Box("support.help", "support.devices", "support.deaf", "support.nobody")},
		Workers:   []seat.Record{mailboxtest.Worker("support.devices"), {ID: "support.deaf", Declared: map[string]any{"description": "x", "flow": "deaf"}}},
		Model:     replies(), Fallback: fallback, Kinds: []session.Kind{deaf},
	})

	d.Post("support.help", "tamsin", "hello", "")
	d.Settle()

	// A seat's line wakes nobody, but the deaf are told of it too.
	want := []string{"support.deaf: hello", "support.nobody: hello", "support.deaf: re: hello", "support.nobody: re: hello"}
	if !slices.Equal(fallback.all, want) {
		t.Errorf("told: %q", fallback.all)
	}
	lines := d.Lines("support.help")
	reaches, err := d.Directory.Reaches(t.Context(), account.DefaultOrganization, "support.help", []string{lines[0].ID, lines[1].ID})
	if err != nil {
		t.Fatal(err)
	}
	states := func(post string) string {
		var all []string
		for _, r := range reaches[post] {
			all = append(all, string(r.State))
		}
		return strings.Join(all, ",")
	}
	if states(lines[0].ID) != "woken,told,told" || states(lines[1].ID) != "skipped,told,told" {
		t.Errorf("deliveries: %s and %s", states(lines[0].ID), states(lines[1].ID))
	}
}

func TestBehindAnExternalDispatcherAPostIsWrittenAndNobodyIsWoken(t *testing.T) {
	t.Parallel()
	script := replies()
	d := desk(t, script, sessiontest.WithDispatcher(sessiontest.External{InProcess: session.NewInProcess(2)}))

	r := d.Post("support.help", "tamsin", "hello", "")
	d.Settle()

	if r.Status != session.Completed || !strings.Contains(string(r.Output), `"untold":"external-dispatcher"`) {
		t.Errorf("post: %+v %s", r, r.Output)
	}
	if len(d.Lines("support.help")) != 1 || len(script.Requests()) != 0 {
		t.Error("somebody was woken")
	}
}

func TestACancelledRunPostsNothingAndTheTalkGoesOn(t *testing.T) {
	t.Parallel()
	d := desk(t, replies())
	d.Post("support.help", "tamsin", "first", "")
	d.Settle()
	reaches, err := d.Directory.Reaches(t.Context(), account.DefaultOrganization, "support.help", []string{d.Lines("support.help")[0].ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reaches {
		if _, err := d.Client().Cancel(t.Context(), mailboxtest.Principal("mara"), r[0].Request); err == nil || !strings.Contains(err.Error(), "already-ended") {
			t.Errorf("cancel of an ended run: %v", err)
		}
	}
}

func TestIdsOfConversationsStayWithinWhatASessionMayBeCalled(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("長", 60)
	for _, id := range []string{seat.TalkID(strings.Repeat("a", 64)+"."+strings.Repeat("b", 64), long), seat.ConversationID(strings.Repeat("a", 129), strings.Repeat("b", 129))} {
		if err := session.CheckID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	if seat.TalkID("a.b", long) == seat.TalkID("a.b", long+"x") || seat.ConversationID("a.b", "c.d") != "a.b~c.d" {
		t.Error("two talks share an id, or a short id was changed")
	}
}

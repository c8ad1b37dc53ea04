package mailbox_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postroom/domain/mailbox"
	"postroom/domain/session"
)

func record(id string, declared map[string]any) mailbox.Record {
	return mailbox.Record{ID: id, Declared: declared}
}

// routed is a built-in kind with a route that only devices' seat hears.
type routed struct{ mailbox.Kind }

func (routed) HasRoute() bool           { return true }
func (routed) Hears(member string) bool { return member == "a.devices" }
func (routed) CanNotify() bool          { return true }

func ownKind(t *testing.T, name string) session.Kind {
	t.Helper()
	k, err := session.NewKind(session.KindOptions{Name: name, Public: map[string]session.Action{
		"post": {Run: func(*session.Turn, json.RawMessage) (any, error) { return nil, nil }},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func codes(err error) []string {
	var bind *mailbox.BindError
	if !errors.As(err, &bind) {
		return nil
	}
	var all []string
	for _, p := range bind.Problems {
		all = append(all, p.MailboxID+" "+p.Key+" "+p.Code)
	}
	slices.Sort(all)
	return all
}

func TestWhatARecordMayNotSayIsRefusedByName(t *testing.T) {
	t.Parallel()
	own := map[string]mailbox.Kind{"own": ownKind(t, "own"), "alias": ownKind(t, "other"), mailbox.BuiltinKind: routed{mailbox.NewKind(mailbox.KindOptions{})}}
	members := []any{"a.devices", "a.deaf"}
	for name, row := range map[string]struct {
		declared map[string]any
		body     string
		want     []string
		says     string
	}{
		"nothing wrong":            {declared: map[string]any{"members": members, "boards": []any{"b"}, "boardActions": true, "description": "x"}, body: "charter"},
		"instructions alone":       {declared: map[string]any{"instructions": "x"}, body: " \n"},
		"empty boards":             {declared: map[string]any{"boards": []any{}, "boardActions": true}},
		"own kind":                 {declared: map[string]any{"flow": "own"}},
		"routed":                   {declared: map[string]any{"members": members, "routing": map[string]any{"fallback": "a.devices"}}},
		"every offending key":      {declared: map[string]any{"member": 1, "Flow": 2}, want: []string{"box Flow unknown-key", "box member unknown-key"}, says: "flow, description, members, boards, instructions, routing, boardActions, mintFor"},
		"system":                   {declared: map[string]any{"system": false}, want: []string{"box system system-declared"}},
		"id":                       {declared: map[string]any{"id": "x"}, want: []string{"box id id-declared"}},
		"body beside instructions": {declared: map[string]any{"instructions": ""}, body: "x", want: []string{"box instructions body-beside-instructions"}},
		"members as text":          {declared: map[string]any{"members": "a.devices"}, want: []string{"box members invalid-members"}},
		"members as null":          {declared: map[string]any{"members": nil}, want: []string{"box members invalid-members"}},
		"a number for a member":    {declared: map[string]any{"members": []any{"a.b", int64(3)}}, want: []string{"box members invalid-members"}},
		"an empty member":          {declared: map[string]any{"members": []any{" "}}, want: []string{"box members empty-member"}},
		"a member twice":           {declared: map[string]any{"members": []any{"a.b", "a.b"}}, want: []string{"box members duplicate-member"}},
		"description as a list":    {declared: map[string]any{"description": []any{}}, want: []string{"box description invalid-description"}},
		"instructions as a switch": {declared: map[string]any{"instructions": true}, want: []string{"box instructions invalid-instructions"}},
		"boards as text":           {declared: map[string]any{"boards": "b"}, want: []string{"box boards invalid-boards"}},
		"a dotted board":           {declared: map[string]any{"boards": []any{"feature.triage"}}, want: []string{"box boards invalid-board-name"}},
		"a board twice":            {declared: map[string]any{"boards": []any{"b", "b"}}, want: []string{"box boards duplicate-board"}, says: "box.b"},
		"boardActions as text":     {declared: map[string]any{"boardActions": "on"}, want: []string{"box boardActions invalid-board-actions"}},
		"a blank flow":             {declared: map[string]any{"flow": " "}, want: []string{"box flow invalid-flow"}},
		"a null flow":              {declared: map[string]any{"flow": nil}, want: []string{"box flow invalid-flow"}},
		"an unknown flow":          {declared: map[string]any{"flow": "nope"}, want: []string{"box flow unknown-flow"}, says: "alias, mailbox, own"},
		"a padded flow":            {declared: map[string]any{"flow": " own"}, want: []string{"box flow unknown-flow"}},
		"a kind of another name":   {declared: map[string]any{"flow": "alias"}, want: []string{"box flow kind-name-mismatch"}, says: "other"},
		"boards on one's own kind": {declared: map[string]any{"flow": "own", "boards": []any{"b"}}, want: []string{"box boards boards-on-own-kind"}},
		"routing as text":          {declared: map[string]any{"routing": "a.devices"}, want: []string{"box routing invalid-routing"}},
		"routing as a list":        {declared: map[string]any{"routing": []any{}}, want: []string{"box routing invalid-routing"}},
		"another routing key":      {declared: map[string]any{"members": members, "routing": map[string]any{"fallback": "a.devices", "model": "x"}}, want: []string{"box routing unknown-routing-key"}, says: "the model is the app's"},
		"no fallback":              {declared: map[string]any{"routing": map[string]any{}}, want: []string{"box routing invalid-fallback"}},
		"a stranger as fallback":   {declared: map[string]any{"members": members, "routing": map[string]any{"fallback": "a.nobody"}}, want: []string{"box routing fallback-not-a-member"}, says: "a.nobody"},
		"a deaf fallback":          {declared: map[string]any{"members": members, "routing": map[string]any{"fallback": "a.deaf"}}, want: []string{"box routing fallback-cannot-hear"}, says: "a.deaf"},
		"routing without a route":  {declared: map[string]any{"flow": "own", "members": members, "routing": map[string]any{"fallback": "a.devices"}}, want: []string{"box routing kind-without-route"}},
		"many at once": {
			declared: map[string]any{"members": "x", "boards": int64(1), "flow": "nope", "routing": "y", "colour": "red"},
			want:     []string{"box boards invalid-boards", "box colour unknown-key", "box flow unknown-flow", "box members invalid-members", "box routing invalid-routing"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kinds := maps.Clone(own)
			if row.declared["routing"] == nil {
				delete(kinds, mailbox.BuiltinKind) // the real one, which holds boards
			}
			bound, err := mailbox.Bind([]mailbox.Record{{ID: "box", Declared: row.declared, Body: row.body}}, mailbox.BindOptions{Kinds: kinds})

			if diff := cmp.Diff(row.want, codes(err)); diff != "" {
				t.Errorf("problems: %s", diff)
			}
			if (err == nil) != (bound != nil) {
				t.Errorf("bound: %v %v", bound, err)
			}
			if err != nil && !strings.Contains(err.Error(), row.says) {
				t.Errorf("says %q, want %q", err, row.says)
			}
		})
	}
}

func TestTemplatesAreHeldToTheirOwnRules(t *testing.T) {
	t.Parallel()
	kinds := map[string]mailbox.Kind{mailbox.BuiltinKind: routed{mailbox.NewKind(mailbox.KindOptions{})}}
	resources := map[string]any{"projects": true, "shops": true}
	for name, row := range map[string]struct {
		declared map[string]any
		want     []string
	}{
		"nothing wrong":      {map[string]any{"mintFor": "projects", "members": []any{"a.lead", "chief"}}, nil},
		"blank":              {map[string]any{"mintFor": ""}, []string{"box mintFor invalid-mint-for"}},
		"beside other keys":  {map[string]any{"mintFor": "projects", "flow": "mailbox", "boards": []any{}, "routing": nil, "boardActions": false}, []string{"box boardActions template-key", "box boards template-key", "box flow template-key", "box routing template-key"}},
		"no seat's id":       {map[string]any{"mintFor": "projects", "members": []any{"A.b", "a.b.c"}}, []string{"box members invalid-template-seat", "box members invalid-template-seat"}},
		"a seat twice":       {map[string]any{"mintFor": "projects", "members": []any{"a.b", "a.b"}}, []string{"box members duplicate-template-seat"}},
		"unknown collection": {map[string]any{"mintFor": "nope"}, []string{"box mintFor unknown-collection"}},
		"another collection": {map[string]any{"mintFor": "shops"}, []string{"box mintFor unsupported-collection"}},
	} {
		bound, err := mailbox.Bind([]mailbox.Record{record("box", row.declared)}, mailbox.BindOptions{Kinds: kinds, Resources: resources})

		if diff := cmp.Diff(row.want, codes(err)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if err == nil && (len(bound.Mailboxes()) != 0 || len(bound.Templates()) != 1) {
			t.Errorf("%s: %+v", name, bound)
		}
	}
	_, err := mailbox.Bind([]mailbox.Record{record("a", map[string]any{"mintFor": "projects"}), record("b", map[string]any{"mintFor": "projects"})},
		mailbox.BindOptions{Kinds: kinds, Resources: resources})
	if diff := cmp.Diff([]string{"b mintFor duplicate-template"}, codes(err)); diff != "" {
		t.Errorf("rivals: %s", diff)
	}
	_, err = mailbox.Bind([]mailbox.Record{record("a", map[string]any{"mintFor": "projects", "members": []any{"a.b"}})}, mailbox.BindOptions{Resources: resources})
	if diff := cmp.Diff([]string{"a mintFor template-cannot-wake"}, codes(err)); diff != "" {
		t.Errorf("a kind that wakes nobody: %s", diff)
	}
}

func TestBoardActionsWhoseNamesCollideAreRefused(t *testing.T) {
	t.Parallel()
	records := func(first, second bool) []mailbox.Record {
		return []mailbox.Record{
			record("eng.feature", map[string]any{"boards": []any{"work"}, "boardActions": first}),
			record("eng_feature", map[string]any{"boards": []any{"work"}, "boardActions": second}),
		}
	}
	for _, opted := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		_, err := mailbox.Bind(records(opted[0], opted[1]), mailbox.BindOptions{})
		if got := codes(err); len(got) != 1 || !strings.HasSuffix(got[0], "boardActions board-action-collision") ||
			!strings.Contains(err.Error(), "eng.feature") || !strings.Contains(err.Error(), "eng_feature_work") {
			t.Errorf("%v: %v", opted, err)
		}
	}
	if _, err := mailbox.Bind(records(false, false), mailbox.BindOptions{}); err != nil {
		t.Errorf("nobody opted in: %v", err)
	}
}

func TestARosterIsRefusedWholeAndListsAllItsRecords(t *testing.T) {
	t.Parallel()
	_, err := mailbox.Bind([]mailbox.Record{
		record("b", map[string]any{"x": 1}), record("a", map[string]any{"flow": "nope"}), record("c", nil), record("c", nil),
	}, mailbox.BindOptions{Kinds: map[string]mailbox.Kind{"channel": ownKind(t, "channel")}})

	if diff := cmp.Diff([]string{"  pre-rename-kind", "a flow unknown-flow", "b x unknown-key", "c  duplicate-mailbox"}, codes(err)); diff != "" {
		t.Errorf("problems: %s", diff)
	}
}

func TestBindingGivesOneInstanceAKindInUse(t *testing.T) {
	t.Parallel()
	bound, err := mailbox.Bind([]mailbox.Record{record("b", nil), record("a", map[string]any{"flow": "own"}), record("c", nil)},
		mailbox.BindOptions{Kinds: map[string]mailbox.Kind{"own": ownKind(t, "own"), "unused": ownKind(t, "unused")}})
	if err != nil {
		t.Fatal(err)
	}

	var names, ids []string
	for _, k := range bound.Kinds() {
		names = append(names, k.Name())
	}
	for _, m := range bound.Mailboxes() {
		ids = append(ids, m.ID)
	}

	if cmp.Diff([]string{"mailbox", "own"}, names) != "" || cmp.Diff([]string{"a", "b", "c"}, ids) != "" {
		t.Errorf("kinds %v, mailboxes %v", names, ids)
	}
	if empty, err := mailbox.Bind(nil, mailbox.BindOptions{}); err != nil || len(empty.Kinds()) != 0 {
		t.Errorf("an empty roster: %+v %v", empty, err)
	}
}

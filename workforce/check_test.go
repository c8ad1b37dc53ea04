package workforce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postroom/domain/mailbox"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
	"postroom/workforce"
)

// served are what the server brings by itself.
func served(hired *seat.Seats) map[string]mailbox.Kind {
	return map[string]mailbox.Kind{mailbox.BuiltinKind: mailbox.NewKind(mailbox.KindOptions{
		Notify: seat.WakeMembers(&seat.Seats{}), Route: seat.RouteByPurpose(hired, offline.NewEvaluator()),
	})}
}

// check checks a tree against what the server brings.
func check(t *testing.T, files map[string]string) workforce.Checked {
	t.Helper()
	c, err := workforce.Check(tree(files), workforce.CheckOptions{
		MailboxKinds: served, Tools: []string{seat.PostToMailboxTool, seat.ReadDocumentTool},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// found are findings as "path:line code".
func found(findings []workforce.Finding) []string {
	all := []string{}
	for _, f := range findings {
		all = append(all, fmt.Sprintf("%s:%d %s", f.Path, f.Line, f.Code))
	}
	return all
}

func TestTheDemoHasNoErrors(t *testing.T) {
	t.Parallel()
	c, err := workforce.Check(workforce.Demo(), workforce.CheckOptions{
		MailboxKinds: served, Tools: []string{seat.PostToMailboxTool, seat.ReadDocumentTool},
	})

	if err != nil || len(c.Report.Errors) != 0 || len(c.Report.Mailboxes) != 4 || c.Bound == nil || len(c.Seats.All()) != 7 {
		t.Errorf("report: %+v %v", c.Report, err)
	}
	for _, w := range c.Report.Warnings {
		if w.Code != workforce.WarnUnattended {
			t.Errorf("warning: %+v", w)
		}
	}
}

func TestEveryProblemOfEveryFileIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	c := check(t, map[string]string{
		"teams/a/mailboxes/one/MAILBOX.md":  "---\ndescription: x\nmember: [a.b]\nboards: [a.b, ok, ok]\nflow: nope\nid: x\n---\n",
		"teams/a/mailboxes/two/MAILBOX.md":  "---\ndescription: x\ninstructions: y\nmembers: who\nboardActions: yes please\nrouting: a.b\n---\nbody\n",
		"teams/a/mailboxes/fine/MAILBOX.md": good,
		"teams/a/mailboxes/bad/none.md":     "x",
		"teams/a/workers/w/WORKER.md":       "---\ndescription: x\ntools: [post-to-channel, hammer]\npersona: y\ncolour: red\nflow: agent\n---\n",
		"teams/a/workers/v/WORKER.md":       "---\ndescription: x\ntools: [hammer]\ndiscover: [channels, moons]\nreferences: [nowhere]\n---\n",
	})

	want := []string{
		"teams/a/mailboxes/bad:0 mailbox-load-failed",
		"teams/a/mailboxes/one/MAILBOX.md:3 unknown-key",
		"teams/a/mailboxes/one/MAILBOX.md:4 invalid-board-name",
		"teams/a/mailboxes/one/MAILBOX.md:4 duplicate-board",
		"teams/a/mailboxes/one/MAILBOX.md:5 unknown-flow",
		"teams/a/mailboxes/one/MAILBOX.md:6 id-declared",
		"teams/a/mailboxes/two/MAILBOX.md:3 body-beside-instructions",
		"teams/a/mailboxes/two/MAILBOX.md:4 invalid-members",
		"teams/a/mailboxes/two/MAILBOX.md:5 invalid-board-actions",
		"teams/a/mailboxes/two/MAILBOX.md:6 invalid-routing",
		"teams/a/workers/v/WORKER.md:3 unknown-tool",
		"teams/a/workers/v/WORKER.md:4 pre-rename-name",
		"teams/a/workers/v/WORKER.md:4 unknown-discovery-domain",
		"teams/a/workers/v/WORKER.md:5 document-out-of-reach",
		"teams/a/workers/w/WORKER.md:3 pre-rename-name",
		"teams/a/workers/w/WORKER.md:4 refused-key",
		"teams/a/workers/w/WORKER.md:5 unknown-setting",
	}
	got := found(c.Report.Errors)
	for _, w := range want {
		if !strings.Contains(strings.Join(got, "\n")+"\n", w+"\n") {
			t.Errorf("missing: %s\nfound:\n%s", w, strings.Join(got, "\n"))
		}
	}
	if diff := cmp.Diff([]string{"a.fine"}, c.Report.Mailboxes); diff != "" {
		t.Errorf("mailboxes: %s", diff)
	}
}

func TestWhatIsLegalButDeadIsAWarning(t *testing.T) {
	t.Parallel()
	c := check(t, map[string]string{
		"teams/a/mailboxes/box/MAILBOX.md":       "---\ndescription: x\nmembers: [a.w, a.gone]\nboards: [todo]\n---\n",
		"teams/a/workers/w/WORKER.md":            "---\ndescription: x\ntools: [read-document]\n---\n",
		"teams/a/workers/w/references/read.md":   "---\ndescription: x\nllmReadable: true\n---\ntext\n",
		"teams/a/workers/w/references/unread.md": "---\ndescription: x\n---\ntext\n",
	})

	want := []string{
		"teams/a/mailboxes/box/MAILBOX.md:3 member-without-worker",
		"teams/a/mailboxes/box/MAILBOX.md:4 board-unattended",
		"teams/a/workers/w/references/unread.md:0 document-nobody-reads",
	}
	if diff := cmp.Diff(want, found(c.Report.Warnings)); diff != "" || len(c.Report.Errors) != 0 {
		t.Errorf("warnings: %s errors: %+v", diff, c.Report.Errors)
	}
}

func TestWorkersTeamsAndDocumentsAreReadWhereTheyStand(t *testing.T) {
	t.Parallel()
	readable := "---\ndescription: x\nllmReadable: true\n---\ntext\n"
	c := check(t, map[string]string{
		"org/workers/chief/WORKER.md":        good,
		"org/references/rules.md":            readable,
		"teams/a/TEAM.md":                    "---\ndescription: x\n---\n\nTo all of team a.\n",
		"teams/a/references/shared.md":       readable,
		"teams/a/workers/w/WORKER.md":        good,
		"teams/a/workers/w/resources/own.md": readable,
		"teams/b/workers/w/WORKER.md":        good,
		"teams/b/workers/narrow/WORKER.md":   "---\ndescription: x\nreferences: []\n---\n",
		"teams/b/workers/README.md":          "loose",
	})

	if len(c.Report.Errors) != 0 {
		t.Fatalf("errors: %+v", c.Report.Errors)
	}
	got := map[string]string{}
	for _, s := range c.Seats.All() {
		var refs []string
		for _, d := range s.Documents {
			refs = append(refs, d.Ref)
		}
		got[s.ID] = strings.TrimSpace(s.TeamText) + "|" + strings.Join(refs, ",")
	}
	want := map[string]string{
		"chief": "|rules", "a.w": "To all of team a.|teams/a/shared,rules,teams/a/workers/w/own", "b.w": "|rules", "b.narrow": "|",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("seats: %s", diff)
	}
}

func TestBrokenWorkersTeamsAndDocumentsAreReportedApart(t *testing.T) {
	t.Parallel()
	c := check(t, map[string]string{
		"teams/a/TEAM.md":                         "---\ndescription: x\nflow: y\n---\n",
		"teams/b/TEAM.md":                         "no frontmatter",
		"teams/a/workers/none/x.md":               "x",
		"teams/a/workers/own/WORKER.md":           "---\ndescription: x\nid: y\n---\n",
		"teams/a/workers/w/WORKER.md":             good,
		"teams/a/workers/w/references/f/x.md":     "a folder",
		"teams/a/workers/w/references/Bad.md":     good,
		"teams/a/workers/w/references/scope.md":   "---\ndescription: x\nscope: y\n---\ntext\n",
		"teams/a/workers/w/references/written.md": "---\ndescription: x\nwritable: false\n---\ntext\n",
		"teams/a/workers/w/references/twice.md":   good,
		"teams/a/workers/w/resources/twice.md":    good,
		"teams/a/workers/w/resources/notes.txt":   "passed over",
		"flows/channels/x.go":                     "old",
		"teams/a/skills/none/x.md":                "x",
		"teams/a/skills/other/SKILL.md":           "---\nname: else\ndescription: x\n---\ntext\n",
		"teams/a/workers/w/skills/blank/SKILL.md": "---\ndescription: x\n---\n",
	})

	want := []string{
		"flows/channels:0 pre-rename-record",
		"teams/a/TEAM.md:3 refused-declaration",
		"teams/a/skills/none:0 skill-load-failed",
		"teams/a/skills/other:2 skill-load-failed",
		"teams/a/workers/none:0 worker-load-failed",
		"teams/a/workers/own:3 refused-declaration",
		"teams/a/workers/w/references/Bad.md:0 document-load-failed",
		"teams/a/workers/w/references/f:0 folder-where-file-belongs",
		"teams/a/workers/w/references/scope.md:3 refused-declaration",
		"teams/a/workers/w/references/written.md:3 refused-declaration",
		"teams/a/workers/w/resources/twice.md:0 document-load-failed",
		"teams/a/workers/w/skills/blank:0 skill-load-failed",
		"teams/b/TEAM.md:0 team-load-failed",
	}
	if diff := cmp.Diff(want, found(c.Report.Errors)); diff != "" {
		t.Errorf("errors: %s", diff)
	}
	if _, hired := c.Seats.Resolve("", "", "a.w"); !hired {
		t.Error("the good worker was not hired")
	}
}

func TestASkillNearerToTheWorkerStandsInForOneFurtherUp(t *testing.T) {
	t.Parallel()
	skill := func(d string) string { return "---\ndescription: " + d + "\n---\ntext\n" }
	c := check(t, map[string]string{
		"org/workers/chief/WORKER.md":             good,
		"org/skills/plain/SKILL.md":               skill("org"),
		"org/skills/brief/SKILL.md":               skill("org"),
		"teams/a/skills/plain/SKILL.md":           skill("team"),
		"teams/a/workers/w/WORKER.md":             "---\ndescription: x\nskills:\n  active: [plain]\n  activateTool: false\n---\n",
		"teams/a/workers/w/skills/own/SKILL.md":   skill("own"),
		"teams/a/workers/v/WORKER.md":             good,
		"teams/a/workers/v/skills/brief/SKILL.md": skill("v"),
	})
	if len(c.Report.Errors) != 0 {
		t.Fatalf("errors: %+v", c.Report.Errors)
	}
	got := map[string]string{}
	for _, s := range c.Seats.All() {
		for _, one := range s.Skills.Held {
			got[s.ID] += one.Name + "=" + one.Description + " "
		}
		got[s.ID] += strings.Join(s.Skills.Active, ",")
	}
	want := map[string]string{"chief": "brief=org plain=org ", "a.w": "own=own plain=team brief=org plain", "a.v": "brief=v plain=team "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

package workforce

import (
	"errors"
	"fmt"
	"path"

	"postroom/domain/mailbox"
	"postroom/domain/seat"
)

// place is one level of the tree that workers and documents stand at.
type place struct {
	dir string // such as teams/support/workers/devices
	ref string // prefix of full refs: empty for org
}

func (w *walker) workers(teams []string) []seat.Record {
	org := place{dir: "org"}
	shared := reach{documents: w.documents(org), skills: w.skills(org)}
	records := w.workersAt(org, "", "", shared)
	for _, team := range teams {
		at := place{dir: path.Join("teams", team), ref: path.Join("teams", team) + "/"}
		text := w.team(team)
		within := reach{
			documents: append(append([]seat.Document{}, w.documents(at)...), shared.documents...),
			skills:    nearest(w.skills(at), shared.skills),
		}
		records = append(records, w.workersAt(at, team, text, within)...)
	}
	return records
}

// reach is what the workers at a place reach beside their own folder's.
type reach struct {
	documents []seat.Document
	skills    []seat.Skill
}

func (w *walker) workersAt(at place, team, text string, shared reach) []seat.Record {
	var records []seat.Record
	slot := path.Join(at.dir, "workers")
	for _, e := range w.slot(slot) {
		dir := path.Join(slot, e.Name())
		if !w.folder(WorkerLoadFailed, dir) {
			continue
		}
		own := place{dir: dir, ref: at.ref + path.Join("workers", e.Name()) + "/"}
		documents, skills := append(w.documents(own), shared.documents...), nearest(w.skills(own), shared.skills)
		r, ok := w.worker(team, e.Name(), dir)
		if !ok {
			continue
		}
		r.TeamText, r.Documents, r.Skills = text, documents, skills
		records = append(records, r)
	}
	return records
}

func (w *walker) worker(team, name, dir string) (seat.Record, bool) {
	id := name
	err := mailbox.CheckName("worker folder", name)
	if team != "" {
		id = team + "." + name
		if err == nil {
			err = mailbox.CheckName("team folder", team)
		}
	}
	if err != nil {
		w.fail(WorkerLoadFailed, dir, err)
		return seat.Record{}, false
	}
	raw, err := w.file(path.Join(dir, "WORKER.md"))
	if errors.Is(err, errMissing) {
		err = fmt.Errorf("Worker folder %q has no WORKER.md. A worker folder declares one worker, and every worker is a WORKER.md", name) //nolint:staticcheck // a sentence for people.
	}
	var p page
	if err == nil {
		p, err = parse("WORKER.md", raw)
	}
	if err == nil {
		err = described("WORKER.md", p)
	}
	if err != nil {
		w.fail(WorkerLoadFailed, dir, err)
		return seat.Record{}, false
	}
	for _, key := range []string{"id", "system"} {
		if _, declared := p.declared[key]; declared {
			w.fail(RefusedDeclaration, dir, &lineError{"WORKER.md", p.lines[key], key + ": can't be declared: the folders decide that; take it out"})
			return seat.Record{}, false
		}
	}
	return seat.Record{
		ID: id, Declared: p.declared, Body: p.body, Source: &mailbox.Source{Path: path.Join(dir, "WORKER.md"), Lines: p.lines},
	}, true
}

// team reads a team's optional TEAM.md: what its workers are told before their own
// text. A broken one is reported apart, and the workers load without it.
func (w *walker) team(team string) string {
	at := path.Join("teams", team, "TEAM.md")
	raw, err := w.file(at)
	if errors.Is(err, errMissing) {
		return ""
	}
	var p page
	if err == nil {
		p, err = parse("TEAM.md", raw)
	}
	if err == nil {
		err = described("TEAM.md", p)
	}
	if err != nil {
		w.fail(TeamLoadFailed, at, err)
		return ""
	}
	for _, key := range []string{"id", "flow", "instructions", "teamInstructions", "system"} {
		if _, declared := p.declared[key]; declared {
			w.fail(RefusedDeclaration, at, &lineError{"TEAM.md", p.lines[key], key + ": can't be declared by a team; its text goes in the body"})
			return ""
		}
	}
	return p.body
}

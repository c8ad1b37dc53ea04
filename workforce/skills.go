package workforce

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"postroom/domain/mailbox"
	"postroom/domain/seat"
)

// skills reads the skills at a place: folders skills/<name> with a SKILL.md.
func (w *walker) skills(at place) []seat.Skill {
	var all []seat.Skill
	slot := path.Join(at.dir, "skills")
	for _, e := range w.slot(slot) {
		dir := path.Join(slot, e.Name())
		if !w.folder(SkillLoadFailed, dir) {
			continue
		}
		s, err := w.skill(e.Name(), dir)
		if err != nil {
			w.fail(SkillLoadFailed, dir, err)
			continue
		}
		all = append(all, s)
	}
	return all
}

func (w *walker) skill(name, dir string) (seat.Skill, error) {
	if err := mailbox.CheckName("skill folder", name); err != nil {
		return seat.Skill{}, err
	}
	at := path.Join(dir, "SKILL.md")
	raw, err := w.file(at)
	if errors.Is(err, errMissing) {
		err = fmt.Errorf("the skill folder %q has no SKILL.md; every skill is a SKILL.md", name)
	}
	var p page
	if err == nil {
		p, err = parse("SKILL.md", raw)
	}
	if err == nil {
		err = described("SKILL.md", p)
	}
	if err != nil {
		return seat.Skill{}, err
	}
	if own, there := p.declared["name"]; there && own != name {
		return seat.Skill{}, &lineError{"SKILL.md", p.lines["name"], fmt.Sprintf("name says %v, and the folder is called %s; call both the same, or take name out", own, name)}
	}
	if strings.TrimSpace(p.body) == "" {
		return seat.Skill{}, errors.New("SKILL.md has no text below its frontmatter")
	}
	description, _ := p.declared["description"].(string)
	return seat.Skill{Name: name, Description: strings.TrimSpace(description), Text: p.body, Path: at}, nil
}

// nearest gives the skills in reach, where one nearer to the worker stands in for
// one of the same name further up.
func nearest(places ...[]seat.Skill) []seat.Skill {
	var all []seat.Skill
	seen := map[string]bool{}
	for _, skills := range places {
		for _, s := range skills {
			if !seen[s.Name] {
				seen[s.Name] = true
				all = append(all, s)
			}
		}
	}
	return all
}

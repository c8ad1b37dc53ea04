package seat

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"postroom/domain/agent"
	"postroom/domain/model"
)

// LoadSkillTool is the tool with which a model takes up a skill. A seat that holds
// skills is offered it without naming it, unless its file says activateTool: false.
const LoadSkillTool = "load-skill"

// Skills are what a seat may take up: the skills in its reach, those that are always
// taken up, and how the others are.
type Skills struct {
	Held     []Skill
	Active   []string // always taken up
	Loads    bool     // the model may take up others by the tool
	Classify bool     // before each run the model is asked which fit what was said
}

// skills reads the setting skills: {active, activateTool, enableLlmClassifier}.
func (h *hirer) skills(r Record) Skills {
	s := Skills{Held: r.Skills, Loads: true}
	value, there := r.Declared["skills"]
	if !there {
		return s
	}
	set, ok := value.(map[string]any)
	if !ok {
		h.add(r, "skills", CodeInvalidSetting, "skills must be a block of active, activateTool and enableLlmClassifier")
		return s
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		switch key {
		case "active":
			s.Active = h.activeSkills(r, set[key])
		case "activateTool", "enableLlmClassifier":
			on, isSwitch := set[key].(bool)
			if !isSwitch {
				h.add(r, "skills", CodeInvalidSetting, "skills: %s is a switch: true or false", key)
			}
			if key == "activateTool" {
				s.Loads = on
			} else {
				s.Classify = on
			}
		default:
			h.add(r, "skills", CodeUnknownSetting, "skills: %q is not one of its settings; these are: active, activateTool, enableLlmClassifier", key)
		}
	}
	return s
}

func (h *hirer) activeSkills(r Record, value any) []string {
	list, ok := value.([]any)
	names := make([]string, 0, len(list))
	for _, one := range list {
		name, isText := one.(string)
		ok = ok && isText
		names = append(names, name)
	}
	if !ok {
		h.add(r, "skills", CodeInvalidSetting, "skills: active must be a list of names")
		return nil
	}
	held := make([]string, len(r.Skills))
	for i, s := range r.Skills {
		held[i] = s.Name
	}
	for _, name := range names {
		if !slices.Contains(held, name) {
			h.add(r, "skills", CodeNoSkill, "skills: active names %q, which this worker doesn't hold; it holds: %s", name, strings.Join(held, ", "))
		}
	}
	return names
}

func (s Skills) named(name string) (Skill, bool) {
	i := slices.IndexFunc(s.Held, func(one Skill) bool { return one.Name == name })
	if i < 0 {
		return Skill{}, false
	}
	return s.Held[i], true
}

// slash is a skill that a person asks for: /name at the beginning of what was said,
// after "<writer> in <mailbox>: " where a post woke the seat.
var slash = regexp.MustCompile(`^(?:[^\n]{1,200}? in [a-z0-9.-]+: )?/([a-z0-9]+(?:-[a-z0-9]+)*)(?:\s|$)`)

// takeUp says which skills hold for a run: the active ones, the one a person asked
// for by name and, if the file wants it, those that the model says fit.
func (k *kind) takeUp(ctx context.Context, r *running, said string, resumed bool) ([]string, error) {
	s := r.seat.Skills
	taken := slices.Clone(s.Active)
	if m := slash.FindStringSubmatch(said); m != nil {
		if _, held := s.named(m[1]); held {
			taken = append(taken, m[1])
		}
	}
	if s.Classify && !resumed && len(s.Held) > 0 {
		fit, err := k.classify(ctx, r, said)
		if err != nil {
			return nil, err
		}
		taken = append(taken, fit...)
	}
	slices.Sort(taken)
	return slices.Compact(taken), nil
}

// classify asks the model for the names of the skills that fit what was said.
func (k *kind) classify(ctx context.Context, r *running, said string) ([]string, error) {
	var list strings.Builder
	for _, one := range r.seat.Skills.Held {
		fmt.Fprintf(&list, "- %s: %s\n", one.Name, one.Description)
	}
	response, err := k.options.Client.Respond(ctx, model.Request{
		Model:     k.model(r.seat),
		System:    "Name the skills that help with what somebody says, one a line, by their names alone. Name none that does not clearly help; if none does, write: none.\n\n" + list.String(),
		Messages:  []model.Message{{Role: model.User, Content: []model.Block{model.Text(said)}}},
		MaxTokens: 200,
	}, nil)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, coded(&agent.APIError{Cause: err})
	}
	if err := r.Usage(ctx, k.model(r.seat), response.Usage); err != nil {
		return nil, err
	}
	var fit []string
	for _, line := range strings.Split(model.Message{Content: response.Content}.Words(), "\n") {
		name := strings.Trim(strings.TrimSpace(line), "-*`/ .")
		if _, held := r.seat.Skills.named(name); held {
			fit = append(fit, name)
		}
	}
	return fit, nil
}

// prompt is what the model is told of skills: the text of those taken up, and the
// names of those it may load.
func (s Skills) prompt(taken []string) string {
	var b strings.Builder
	for _, name := range taken {
		if one, held := s.named(name); held {
			fmt.Fprintf(&b, "\n\n# Skill %s\n\n%s", one.Name, strings.TrimSpace(one.Text))
		}
	}
	if !s.Loads {
		return b.String()
	}
	first := true
	for _, one := range s.Held {
		if slices.Contains(taken, one.Name) {
			continue
		}
		if first {
			b.WriteString("\n\nSkills that you can take up with " + LoadSkillTool + " when they fit:")
			first = false
		}
		fmt.Fprintf(&b, "\n- %s: %s", one.Name, one.Description)
	}
	return b.String()
}

type skillInput struct {
	Name string `json:"name" jsonschema:"the skill's name"`
}

// loadSkill is the tool with which a model takes up a skill.
func loadSkill() agent.Tool {
	t, err := agent.NewTool(LoadSkillTool, "Take up one of your skills: gives its text, to be followed from here on.",
		func(ctx context.Context, in skillInput) (agent.ToolResult, error) {
			r, ok := agent.ContextOf(ctx).(*running)
			if !ok {
				return agent.ToolResult{}, errNoRun
			}
			if one, held := r.seat.Skills.named(in.Name); held {
				return agent.ToolResult{Text: one.Text}, nil
			}
			names := make([]string, len(r.seat.Skills.Held))
			for i, one := range r.seat.Skills.Held {
				names[i] = one.Name
			}
			return agent.ToolResult{}, ErrNoSkill.Saying("No skill is called " + in.Name + "; these are held: " + strings.Join(names, ", ") + ".")
		}, agent.Repeatable(), agent.ConcurrencySafe(func(skillInput) bool { return true }))
	if err != nil {
		panic("seat: " + err.Error())
	}
	return t
}

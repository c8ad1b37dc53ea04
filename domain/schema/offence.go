package schema

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Offence is what a value breaks: the path into the value, and the rule.
type Offence struct {
	Path string // such as "tags.n"; empty for the value itself
	Rule string
}

// Error is the path and the rule.
func (o Offence) Error() string {
	if o.Path == "" {
		return o.Rule
	}
	return fmt.Sprintf("at %q: %s", o.Path, o.Rule)
}

// step is one level of the validator's own message.
var step = regexp.MustCompile(`^validating (\S+): `)

// describe turns the validator's path through the schema into a path through the value.
func describe(err error) Offence {
	text, path := err.Error(), ""
	for {
		m := step.FindStringSubmatch(text)
		if m == nil {
			break
		}
		text = text[len(m[0]):]
		if m[1] != "root" {
			path = m[1]
		}
	}
	var names []string
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i := 0; i < len(parts); i++ {
		if parts[i] == "properties" && i+1 < len(parts) {
			i++
			names = append(names, parts[i])
		}
	}
	// The validator has no word for null itself.
	text = strings.ReplaceAll(text, "<invalid reflect.Value>", "null")
	return Offence{Path: strings.Join(names, "."), Rule: text}
}

// ordered is a JSON value in which the order of keys, and inside required and
// enum, no longer shows.
func ordered(raw json.RawMessage) any {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return nil
	}
	return sorted(value)
}

func sorted(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = sorted(inner)
			list, ok := v[key].([]any)
			if ok && (key == "required" || key == "enum") {
				slices.SortFunc(list, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
			}
		}
	case []any:
		for i := range v {
			v[i] = sorted(v[i])
		}
	}
	return value
}

package mailbox

import (
	"encoding/json"
	"fmt"

	"postroom/domain/schema"
	"postroom/domain/session"
)

// historyWindow is how many requests of a mailbox back its read reaches.
const historyWindow = 50

// readInput takes an after cursor, which means nothing on a mailbox: it is only
// read on a project's talk session.
type readInput struct {
	After *int64 `json:"after,omitempty"`
}

// readOutput is what read gives back, as the seed spells it.
type readOutput struct {
	ID          string   `json:"id"`
	Description string   `json:"description,omitempty"`
	Members     []string `json:"members"`
	Boards      []string `json:"boards,omitempty"`
	Transcript  []Line   `json:"transcript"`
}

func (k *builtin) readAction() session.Action {
	return session.Action{
		Schema: schema.Must(schema.For[readInput]()), Lane: session.ReadLane,
		Run: func(t *session.Turn, _ json.RawMessage) (any, error) {
			kept, err := k.kept(t)
			if err != nil {
				return nil, err
			}
			lines, err := ReadPostLines[Line](t)
			if err != nil {
				return nil, err
			}
			return readOutput{
				ID: t.Session().ID, Description: kept.Description, Members: kept.Members,
				Boards: k.boards(t.Session().ID), Transcript: lines,
			}, nil
		},
	}
}

// EmitPostLine keeps a line of a kind of one's own as a mailbox-post item. It
// returns once the item is stored, so a post never hands back a line that nothing
// kept.
func EmitPostLine[T any](t *session.Turn, line T) error {
	_, err := t.Emit(session.Entry{Type: session.TypeComponent, Component: ComponentPost, Data: line})
	return err
}

// ReadPostLines gives the posted lines inside the session's history window, oldest
// first. Items that do not parse as a line are skipped.
func ReadPostLines[T any](t *session.Turn) ([]T, error) {
	lines := []T{}
	after := int64(0)
	for {
		page, err := t.Items(session.ItemQuery{
			Components: []string{ComponentPost}, Window: historyWindow, WindowBefore: t.Request().Position, After: after,
		})
		if err != nil {
			return nil, fmt.Errorf("read the transcript: %w", err)
		}
		for _, item := range page {
			var line T
			if json.Unmarshal(item.Data, &line) == nil {
				lines = append(lines, line)
			}
			after = item.Seq
		}
		if len(page) < session.MaxPage {
			return lines, nil
		}
	}
}

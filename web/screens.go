package web

import (
	"context"

	"postroom/domain/session"
	"postroom/handlers"
	"postroom/web/live"
)

// screens lets the hub render with the handlers' presenter.
type screens struct {
	presenter *handlers.Presenter
}

var _ live.Screens = screens{}

// LogItems implements live.Screens.
func (s screens) LogItems(ctx context.Context, organization, id string, items []session.Item) (map[int64]live.Part, error) {
	rendered, err := s.presenter.LogItems(ctx, organization, id, items)
	if err != nil {
		return nil, err
	}
	parts := make(map[int64]live.Part, len(rendered))
	for seq, p := range rendered {
		parts[seq] = live.Part{ID: p.ID, HTML: p.HTML}
	}
	return parts, nil
}

// State implements live.Screens.
func (s screens) State(ctx context.Context, organization string, topic live.Topic) ([]live.Part, error) {
	var rendered []handlers.StatePart
	var err error
	switch topic.Name {
	case "runs":
		rendered, err = s.presenter.MailboxState(ctx, organization, topic.ID)
	case "home":
		rendered, err = s.presenter.HomeState(ctx, organization)
	case "activity":
		rendered, err = s.presenter.ActivityState(ctx, organization)
	case "run":
		rendered, err = s.presenter.RunPageState(ctx, organization, topic.ID)
	case "talk":
		rendered, err = s.presenter.TalkState(ctx, organization, topic.ID)
	}
	parts := make([]live.Part, len(rendered))
	for i, p := range rendered {
		parts[i] = live.Part(p)
	}
	return parts, err
}

// StateJSON implements live.Screens.
func (s screens) StateJSON(ctx context.Context, organization string, topic live.Topic) (any, error) {
	switch topic.Name {
	case "activity":
		return s.presenter.ActivityJSON(ctx, organization)
	case "runs":
	default:
		return map[string]string{"topic": topic.Name, "id": topic.ID}, nil
	}
	return s.presenter.RunsState(ctx, organization, topic.ID)
}

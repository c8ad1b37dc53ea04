package live

import (
	"context"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	"postroom/domain/account"
	"postroom/domain/live"
	"postroom/domain/session"
)

// Screens renders what is pushed; pages use the same.
type Screens interface {
	// LogItem renders items of a mailbox's log as HTML, by seq. Items without an
	// entry only move the cursor.
	LogItems(ctx context.Context, organization, id string, items []session.Item) (map[int64]Part, error)
	// State renders the parts of a state topic.
	State(ctx context.Context, organization string, topic Topic) ([]Part, error)
	// StateJSON is a state topic for programs.
	StateJSON(ctx context.Context, organization string, topic Topic) (any, error)
}

// Part is an element of a page: its id and its HTML.
type Part struct {
	ID   string
	HTML string
	Add  bool // append it to the transcript if it is not there
}

// Topic is a state that a page watches.
type Topic struct {
	Name string // "runs", "home", "activity", "run" or "talk"
	ID   string
}

// Deps are what the hub needs. All are required.
type Deps struct {
	Read    session.Reader
	Broker  *live.Broker
	Screens Screens
	Epoch   string
	Clock   func() time.Time
	Log     *slog.Logger
	Who     func(c echo.Context) (account.Principal, error)
}

package handlers

import (
	"context"
	"time"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/static"
)

// Deps are what the handlers need. All are required.
type Deps struct {
	Client     *session.Client
	Directory  *mailbox.Directory
	Seats      *seat.Seats
	Resolver   account.Resolver
	Assets     *static.Assets
	Clock      func() time.Time
	NewID      func(prefix string) string
	Epoch      string
	ModelCalls int // at once, at most
	// Ready reports what keeps the server from serving.
	Ready func(ctx context.Context) error
	// CannotWrite is the trouble that the database has with writing, or nil.
	CannotWrite func() error
}

// MadeRequest is where a call leaves the id of the request that it made, for the log.
const MadeRequest = "postroom-request"

// Handlers are the answers of one server.
type Handlers struct {
	Deps
	Presenter *Presenter
}

// New makes the handlers.
func New(d Deps) *Handlers {
	return &Handlers{Deps: d, Presenter: NewPresenter(d)}
}

package web

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/sync/errgroup"

	"postroom/domain/account"
	"postroom/domain/agent"
	domainlive "postroom/domain/live"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/domain/store"
	"postroom/handlers"
	"postroom/static"
	"postroom/web/config"
	"postroom/web/live"
	"postroom/workforce"
)

// Options say what a server is made of. Zero values are what main uses.
type Options struct {
	Config    config.Config
	Workforce fs.FS                   // [the demo]
	Kinds     map[string]session.Kind // of one's own, by name
	Notify    mailbox.Notifier        // [wake the members' seats]
	Route     mailbox.Router          // places posts in routed mailboxes [by purpose]
	Fallback  mailbox.Notifier        // tells members behind whom no seat hears; not beside Notify [nobody]
	Tools     []agent.Tool            // beside those of the built-in kind
	Resolver  account.Resolver        // [believe the claim, unverified]
	Model     model.Client            // asked for the model Config.Model [the offline model]
	Clock     func() time.Time        // [time.Now]
	Log       *slog.Logger            // [discard]
	// Listening is told the address once requests are answered there.
	Listening func(addr net.Addr)
}

// Server is the product, ready to run.
type Server struct {
	options  Options
	store    *store.Store
	engine   *session.Engine
	bound    *mailbox.Bound
	hub      *live.Hub
	handlers *handlers.Handlers
	echo     *echo.Echo
	metrics  *metrics
	client   model.Client // with the bound on calls
	report   workforce.Report
	opened   chan struct{} // closed once the mailboxes are open
}

// TreeError refuses to serve a tree with errors.
type TreeError struct{ Report workforce.Report }

// Error lists them.
func (e *TreeError) Error() string {
	text := fmt.Sprintf("the workforce has %d errors, so nothing is served:", len(e.Report.Errors))
	for _, f := range e.Report.Errors {
		text += fmt.Sprintf("\n%s:%d: %s: %s", f.Path, f.Line, f.Code, f.Message)
	}
	return text
}

// New checks everything, opens the database and starts nothing. Close or Run ends
// what it opened.
func New(o Options) (*Server, error) {
	o = o.withDefaults()
	if err := o.Config.Check(); err != nil {
		return nil, err
	}
	s := &Server{options: o, opened: make(chan struct{}), client: model.Limited(o.Model, o.Config.ModelConcurrency)}
	tools := append(seat.Tools(), o.Tools...)
	checked, err := workforce.Check(o.Workforce, workforce.CheckOptions{
		MailboxKinds: s.mailboxKinds, SeatKinds: o.Kinds, Tools: toolNames(tools),
	})
	if err != nil {
		return nil, err
	}
	if len(checked.Report.Errors) > 0 {
		return nil, &TreeError{Report: checked.Report}
	}
	s.report = checked.Report
	newID := session.ULIDs(o.Clock, nil)
	if s.store, err = store.Open(context.Background(), store.Options{Path: o.Config.Database, Clock: o.Clock, NewID: newID, Log: o.Log}); err != nil {
		return nil, err
	}
	if err := s.assemble(checked, tools, newID); err != nil {
		return nil, errors.Join(err, s.store.Close())
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	o.Config = o.Config.WithDefaults()
	if o.Listening == nil {
		o.Listening = func(net.Addr) {}
	}
	if o.Workforce == nil {
		o.Workforce = workforce.Demo()
	}
	if o.Resolver == nil {
		o.Resolver = account.Unverified{}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Model == nil {
		o.Model, o.Config.Model = offline.New(offline.Options{Delay: o.Config.OfflineDelay}), model.Offline
	}
	if o.Config.Model == "" {
		o.Config.Model = "default" // the host's client knows what it is
	}
	return o
}

func toolNames(tools []agent.Tool) []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name()
	}
	return names
}

// mailboxKinds are the kinds that records may name: the built-in, telling members
// through the seats or as the host wants it, and the host's own.
func (s *Server) mailboxKinds(seats *seat.Seats) map[string]mailbox.Kind {
	notify := s.options.Notify
	if notify == nil {
		hired := seats
		if hired == nil {
			hired = &seat.Seats{} // hiring was refused, and that is said already
		}
		var wake []seat.WakeOption
		if s.options.Fallback != nil {
			wake = append(wake, seat.WithFallback(s.options.Fallback))
		}
		notify = seat.WakeMembers(hired, wake...)
	}
	route := s.options.Route
	if _, wakes := notify.(mailbox.Waker); route == nil && wakes {
		route = seat.RouteByPurpose(seats, s.evaluator())
	}
	kinds := map[string]mailbox.Kind{mailbox.BuiltinKind: mailbox.NewKind(mailbox.KindOptions{
		Notify: notify, Route: route,
		Fallback: func(id string) string {
			m, _ := s.bound.Get(id)
			return m.Fallback
		},
		Boards: func(id string) []string {
			m, _ := s.bound.Get(id)
			return m.Boards
		},
	})}
	for name, k := range s.options.Kinds {
		kinds[name] = k
	}
	return kinds
}

// evaluator answers the route's question: by comparing words where there is no
// model, else by asking the model, within the same bound as the seats.
func (s *Server) evaluator() model.Evaluator {
	if s.options.Config.Model == model.Offline {
		return offline.NewEvaluator()
	}
	return model.NewEvaluator(s.client, s.options.Config.Model)
}

// assemble makes the rooms, from the store up.
func (s *Server) assemble(checked workforce.Checked, tools []agent.Tool, newID func(string) string) error {
	o := s.options
	s.bound = checked.Bound
	agents, err := seat.NewKind(seat.KindOptions{
		Seats: checked.Seats, Client: s.client, Model: o.Config.Model, Tools: tools,
	})
	if err != nil {
		return err
	}
	kinds := []session.Kind{agents, s.mailboxKinds(checked.Seats)[mailbox.BuiltinKind].Definition()}
	for _, name := range slices.Sorted(maps.Keys(o.Kinds)) {
		kinds = append(kinds, o.Kinds[name])
	}
	broker := domainlive.NewBroker()
	s.engine, err = session.New(session.Deps{
		Store: s.store, Kinds: kinds, Dispatcher: session.NewInProcess(8), Live: broker,
		Clock: o.Clock, NewID: newID, Owner: newID("worker"), Log: o.Log,
	}, session.Limits{RunTimeout: o.Config.RunTimeout, Grace: o.Config.Grace})
	if err != nil {
		return err
	}
	assets, err := static.New()
	if err != nil {
		return err
	}
	directory := mailbox.NewDirectory(s.bound, s.store, s.store)
	s.handlers = handlers.New(handlers.Deps{
		Client: s.engine.Client(), Directory: directory, Seats: checked.Seats,
		Resolver: o.Resolver, Assets: assets, Clock: o.Clock, NewID: newID, Epoch: s.store.Epoch(), ModelCalls: o.Config.ModelConcurrency,
		Ready: s.ready, CannotWrite: s.store.CannotWrite,
	})
	s.hub = live.New(live.Deps{
		Read: s.store, Broker: broker, Screens: screens{s.handlers.Presenter}, Epoch: s.store.Epoch(), Clock: o.Clock, Log: o.Log, Who: s.handlers.Who,
	})
	s.metrics = newMetrics(directory, s.store, s.hub, o.Clock, o.Log)
	s.echo = s.routes()
	return nil
}

// ready reports whether requests can be served: the mailboxes are open and the
// database answers.
func (s *Server) ready(ctx context.Context) error {
	select {
	case <-s.opened:
	default:
		return session.ErrStopping.Saying("The mailboxes are being opened; ask again in a moment.")
	}
	return s.store.Ping(ctx)
}

// Report is what was found when the tree was read; its warnings are worth showing.
func (s *Server) Report() workforce.Report { return s.report }

// Handler answers HTTP, for mounting elsewhere; Run must go on meanwhile.
func (s *Server) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			// What a GET would answer; net/http leaves the body out.
			get := *r
			get.Method = http.MethodGet
			r = &get
		}
		s.echo.ServeHTTP(w, r)
	})
}

// Close gives up what New opened, for a server that is never run.
func (s *Server) Close() error { return s.store.Close() }

// work runs what stands behind the handler until ctx ends: the writer, the turns
// and the live hub. It stops them in order and closes the database.
func (s *Server) work(ctx context.Context) error {
	background := context.WithoutCancel(ctx)
	writing, stopWriting := context.WithCancel(background)
	written := make(chan error, 1)
	go func() { written <- s.store.Run(writing) }()

	open := s.bound.Open(ctx, s.engine.Client(), account.SystemPrincipal(account.DefaultOrganization))
	var err error
	if open == nil {
		// Sockets outlast the turns, so that their last lines are seen.
		watching, stopWatching := context.WithCancel(background)
		defer stopWatching()
		var watched errgroup.Group
		watched.Go(func() error { return s.hub.Run(watching) })
		close(s.opened)
		err = s.engine.Run(ctx)
		stopWatching()
		err = errors.Join(err, watched.Wait())
	}
	stopWriting()
	return errors.Join(open, err, <-written, s.store.Close())
}

// measuring serves the metrics on an address of their own, if there is one.
func (s *Server) measuring(ctx context.Context) (*http.Server, error) {
	server := &http.Server{
		Handler: s.metrics.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	if s.options.Config.MetricsAddr == "" {
		return server, nil
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", s.options.Config.MetricsAddr)
	if err != nil {
		return nil, fmt.Errorf("listen for the metrics: %w", err)
	}
	s.options.Log.Info("metrics", "url", "http://"+listener.Addr().String()+"/metrics")
	go func() { _ = server.Serve(listener) }() // until it is closed
	return server, nil
}

// Run listens and serves until ctx ends. Without an address it does not listen,
// and only does the work behind Handler.
func (s *Server) Run(ctx context.Context) error {
	if s.options.Config.Addr == "" {
		return s.work(ctx)
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", s.options.Config.Addr)
	if err != nil {
		return errors.Join(fmt.Errorf("listen: %w", err), s.Close())
	}
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: slog.NewLogLogger(s.options.Log.Handler(), slog.LevelDebug),
	}
	measured, err := s.measuring(ctx)
	if err != nil {
		return errors.Join(err, listener.Close(), s.Close())
	}
	defer func() { _ = measured.Close() }()
	working, stopWork := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	var group errgroup.Group
	group.Go(func() error {
		err := s.work(working)
		if err != nil {
			_ = server.Close() // nothing can be answered any more
		}
		return err
	})
	group.Go(func() error {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			stopWork()
			return fmt.Errorf("serve: %w", err)
		}
		return nil
	})
	select {
	case <-s.opened:
		s.options.Listening(listener.Addr())
	case <-working.Done():
	case <-ctx.Done():
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		// Accept no more and let calls end; then turns, sockets and the database.
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := server.Shutdown(closing); err != nil {
			_ = server.Close()
		}
		stopWork()
	}()
	err = group.Wait()
	if ctx.Err() != nil {
		<-stopped
	}
	return err
}

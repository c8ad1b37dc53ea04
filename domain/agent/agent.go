package agent

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"postroom/domain/model"
)

// AgentLike is whatever can be prompted: an agent, or something that acts as one.
//
// Query is lazy and single-use: nothing runs until it is ranged over, and the
// guard against a second query is taken there. Breaking out of the range cancels,
// waits, and yields nothing more. A failed run yields a ResultEvent with IsError
// and Err and then stops; a non-nil error is a host's mistake or an abort and comes
// last, after the result. Prompt returns the last result; its error is Result.Err
// on failure, nil when interrupted.
//
//nolint:revive // the name is the field's own.
type AgentLike interface {
	Query(ctx context.Context, p Prompt, opts ...QueryOption) iter.Seq2[Event, error]
	Prompt(ctx context.Context, p Prompt, opts ...QueryOption) (Result, error)
	// Interrupt ends the running model request, or takes effect after the running
	// batch of tools; it reports whether something was interrupted.
	Interrupt() bool
}

// ToolAcceptor is an AgentLike that takes tools for a query.
type ToolAcceptor interface {
	AgentLike
	AcceptsTools() bool
}

// Options say what an agent is. Zero values are the documented defaults.
type Options struct {
	Name            string
	Model           string // required; any name is accepted
	SystemPrompt    string
	Client          model.Client // required
	Tools           []Tool
	MaxTurns        int // model requests in one query [50]
	MaxTokens       int // of one response [16384]
	ToolConcurrency ToolConcurrency
	Permission      PermissionFunc
	History         HistoryStore  // [in memory]
	RequestTimeout  time.Duration // of one model request [none]
	// ToolGrace is how long a tool may go on once its run is over; then the run ends
	// without it [2 s].
	ToolGrace       time.Duration
	Thinking        model.Thinking
	ReasoningEffort string // "low", "high" or "max" [not sent]
	Documents       []model.Document
}

// ToolConcurrency says which calls of one batch run beside each other.
type ToolConcurrency struct {
	Mode string // "safe", "all" or "sequential" [safe]
	Max  int    // calls at once [10]
}

// PermissionFunc is asked before a call's input is parsed. What it denies, the
// model is told in its words.
type PermissionFunc func(ctx context.Context, c Call) (Decision, error)

// Decision allows a call unless it denies it.
type Decision struct {
	Deny    bool
	Message string
}

// Journal is told of each step before anything follows from it, so that a run can
// be taken up again after a crash. An error of it ends the run at once.
type Journal interface {
	// Message keeps the prompt and each response, before any of its tools runs.
	Message(ctx context.Context, m model.Message) error
	ToolStarted(ctx context.Context, c Call) error
	ToolFinished(ctx context.Context, c Call, r ToolResult) error
	Usage(ctx context.Context, modelName string, u model.Usage) error
}

// Resume is what is known of the last response's calls when a run is taken up
// again. Its query has no prompt: the history ends where the run was cut off.
type Resume struct {
	Started  map[string]bool
	Finished map[string]ToolResult
}

// QueryOption changes one query.
type QueryOption func(*QueryOptions)

// QueryOptions are exported so that a foreign AgentLike can read them with Apply.
type QueryOptions struct {
	Tools    []Tool
	MaxTurns int
	Context  any
	Journal  Journal
	Resume   *Resume
}

// Apply gathers options.
func Apply(opts ...QueryOption) QueryOptions {
	var q QueryOptions
	for _, o := range opts {
		o(&q)
	}
	return q
}

// WithTools adds tools for one query.
func WithTools(tools ...Tool) QueryOption {
	return func(q *QueryOptions) { q.Tools = append(q.Tools, tools...) }
}

// WithMaxTurns bounds the model requests of one query.
func WithMaxTurns(n int) QueryOption { return func(q *QueryOptions) { q.MaxTurns = n } }

// WithContext gives tools a value that the model never sees; see ContextOf.
func WithContext(value any) QueryOption { return func(q *QueryOptions) { q.Context = value } }

// WithJournal has each step kept.
func WithJournal(j Journal) QueryOption { return func(q *QueryOptions) { q.Journal = j } }

// WithResume takes up a run that was cut off.
func WithResume(r Resume) QueryOption { return func(q *QueryOptions) { q.Resume = &r } }

type contextKey struct{}

// ContextOf is the value that WithContext gave.
func ContextOf(ctx context.Context) any { return ctx.Value(contextKey{}) }

// Agent is one live conversation.
type Agent struct {
	options Options
	id      string

	mu        sync.Mutex
	running   bool                    // guarded by mu
	interrupt context.CancelCauseFunc // guarded by mu; of the running query
	loaded    bool
	messages  []model.Message // owned by the running query
}

var _ ToolAcceptor = (*Agent)(nil)

// New makes an agent; it starts nothing.
func New(o Options) (*Agent, error) {
	if o.Model == "" {
		return nil, errors.New("agent: AgentOptions.model is required")
	}
	if o.Client == nil {
		return nil, errors.New("agent: a model client is required")
	}
	if o.MaxTurns < 0 || o.MaxTokens < 0 || o.ToolConcurrency.Max < 0 || o.RequestTimeout < 0 || o.ToolGrace < 0 {
		return nil, errors.New("agent: a limit is negative")
	}
	if o.MaxTurns == 0 {
		o.MaxTurns = 50
	}
	if o.MaxTokens == 0 {
		o.MaxTokens = 16384
	}
	if o.ToolGrace == 0 {
		o.ToolGrace = 2 * time.Second
	}
	if o.ToolConcurrency.Max == 0 {
		o.ToolConcurrency.Max = 10
	}
	switch o.ToolConcurrency.Mode {
	case "":
		o.ToolConcurrency.Mode = "safe"
	case "safe", "all", "sequential":
	default:
		return nil, fmt.Errorf("agent: tool concurrency is safe, all or sequential, not %q", o.ToolConcurrency.Mode)
	}
	if o.History == nil {
		o.History = MemoryHistory()
	}
	if _, err := toolset(o.Tools); err != nil {
		return nil, err
	}
	return &Agent{options: o, id: o.Name}, nil
}

// NewBare makes an agent without workspace and built-in tools.
func NewBare(o Options) (*Agent, error) { return New(o) }

// AcceptsTools is true.
func (a *Agent) AcceptsTools() bool { return true }

// Interrupt implements AgentLike.
func (a *Agent) Interrupt() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.running || a.interrupt == nil {
		return false
	}
	a.interrupt(errInterrupted)
	return true
}

var errInterrupted = errors.New("interrupted")

// Prompt implements AgentLike.
func (a *Agent) Prompt(ctx context.Context, p Prompt, opts ...QueryOption) (Result, error) {
	return Drain(a.Query(ctx, p, opts...))
}

// Drain ranges over a query and returns its last result.
func Drain(events iter.Seq2[Event, error]) (Result, error) {
	var last *Result
	for event, err := range events {
		if err != nil {
			if last != nil {
				return *last, err
			}
			return Result{}, err
		}
		if r, ok := event.(ResultEvent); ok {
			last = &r.Result
		}
	}
	if last == nil {
		return Result{}, errors.New("agent: the query ended without a result")
	}
	return *last, last.Err
}

// Query implements AgentLike.
func (a *Agent) Query(ctx context.Context, p Prompt, opts ...QueryOption) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		interruptible, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		a.mu.Lock()
		if a.running {
			a.mu.Unlock()
			yield(nil, &ConcurrentQueryError{})
			return
		}
		a.running, a.interrupt = true, cancel
		a.mu.Unlock()
		defer func() {
			a.mu.Lock()
			a.running, a.interrupt = false, nil
			a.mu.Unlock()
		}()
		q := &query{agent: a, options: Apply(opts...), ctx: ctx, interruptible: interruptible, emit: yield}
		q.run(p)
	}
}

func toolset(tools []Tool) (map[string]Tool, error) {
	set := make(map[string]Tool, len(tools))
	for _, t := range tools {
		if _, twice := set[t.name]; twice {
			return nil, fmt.Errorf("agent: two tools are called %q", t.name)
		}
		set[t.name] = t
	}
	return set, nil
}

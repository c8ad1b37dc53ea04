package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"postroom/domain/schema"
)

// Action is one thing a session of a kind can be asked to do.
type Action struct {
	// Schema is the form of the input. Nil takes any JSON.
	Schema *schema.Schema
	// Check refuses what the schema cannot say but the input alone shows. It runs
	// before a request is accepted. Nil refuses nothing.
	Check func(input json.RawMessage) error
	// Lane is TurnLane when empty.
	Lane Lane
	// Repeatable says that a run cut off by a crash may be run again: it derives
	// its ids from its request, and does not do again what it finds done. One that
	// is not fails "interrupted".
	Repeatable bool
	// Atomic makes claim, Run and completion one transaction. Such a Run is short,
	// waits for nothing, has no effect but through the Turn, and may run again.
	Atomic bool
	// Agent marks a run of an agent: what it causes stands one deeper in the chain
	// that the loop guard bounds, and its end is kept as a failure item when it
	// did not complete.
	Agent bool
	// Run does it. What it returns, marshalled, is the request's output.
	Run func(t *Turn, input json.RawMessage) (any, error)
}

// KindOptions say what a kind is made of.
type KindOptions struct {
	Name     string
	Public   map[string]Action // reachable by clients and by dispatch
	Internal map[string]Action // reachable by dispatch only
}

// Kind is what sessions of one sort can do. Make it with NewKind.
type Kind struct {
	name     string
	public   map[string]Action
	internal map[string]Action
}

// NewKind checks the options and makes the kind. An action may not be both public
// and internal, and a read may not be atomic's opposite: it always runs at once.
func NewKind(o KindOptions) (Kind, error) {
	if o.Name == "" {
		return Kind{}, errors.New("session: a kind needs a name")
	}
	k := Kind{name: o.Name, public: maps.Clone(o.Public), internal: maps.Clone(o.Internal)}
	for name := range k.public {
		if _, both := k.internal[name]; both {
			return Kind{}, fmt.Errorf("session: kind %q declares %q both public and internal", o.Name, name)
		}
	}
	for _, actions := range []map[string]Action{k.public, k.internal} {
		for name, a := range actions {
			if name == "" || a.Run == nil {
				return Kind{}, fmt.Errorf("session: kind %q: action %q needs a name and a Run", o.Name, name)
			}
			switch a.Lane {
			case "":
				a.Lane = TurnLane
			case TurnLane, Beside, ReadLane:
			default:
				return Kind{}, fmt.Errorf("session: kind %q: action %q names no lane: %q", o.Name, name, a.Lane)
			}
			actions[name] = a
		}
	}
	return k, nil
}

// Name is the kind's name, as in /api/flows/{kind}.
func (k Kind) Name() string { return k.name }

// Definition is the kind itself, so that a plain kind serves wherever an
// interface asks for one that can tell its definition.
func (k Kind) Definition() Kind { return k }

// Public is the action a client may call by that name.
func (k Kind) Public(name string) (Action, bool) {
	a, ok := k.public[name]
	return a, ok
}

// Internal is the action that only a dispatch may call by that name.
func (k Kind) Internal(name string) (Action, bool) {
	a, ok := k.internal[name]
	return a, ok
}

// Any is the action of that name, public or internal.
func (k Kind) Any(name string) (Action, bool) {
	if a, ok := k.public[name]; ok {
		return a, true
	}
	return k.Internal(name)
}

package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"postroom/domain/model"
	"postroom/domain/schema"
)

// Schema is the JSON Schema of inputs and outputs.
type Schema = schema.Schema

// SchemaOf derives a schema from a Go type.
func SchemaOf[T any]() (*Schema, error) { return schema.For[T]() }

// MustSchemaOf is SchemaOf for types fixed in the code.
func MustSchemaOf[T any]() *Schema { return schema.Must(schema.For[T]()) }

// ParseSchema reads a schema from JSON.
func ParseSchema(raw []byte) (*Schema, error) { return schema.Parse(raw) }

// ToolResult is what a tool answers.
type ToolResult struct {
	Text       string
	EndTurn    bool            // end the query with this text once the batch has ended
	Structured json.RawMessage // with EndTurn: the query's structured result
	IsError    bool
}

// Tool is something the model may call. Make it with NewTool.
type Tool struct {
	name        string
	description string
	schema      *Schema
	repeatable  bool
	safe        func(input json.RawMessage) bool
	run         func(ctx context.Context, input json.RawMessage) (ToolResult, error)
}

// Name is what the model calls it by.
func (t Tool) Name() string { return t.name }

// Description is what the model is told of it.
func (t Tool) Description() string { return t.description }

// InputSchema is the form of its input.
func (t Tool) InputSchema() *Schema { return t.schema }

// Repeatable reports whether a call that was cut off may be made again.
func (t Tool) Repeatable() bool { return t.repeatable }

func (t Tool) definition() model.Tool {
	return model.Tool{Name: t.name, Description: t.description, InputSchema: t.schema.JSON()}
}

// ToolOption changes a tool as it is made.
type ToolOption func(*Tool)

// ConcurrencySafe says which calls may run beside others.
func ConcurrencySafe[In any](safe func(In) bool) ToolOption {
	return func(t *Tool) {
		t.safe = func(raw json.RawMessage) bool {
			var in In
			return json.Unmarshal(raw, &in) == nil && safe(in)
		}
	}
}

// Repeatable says that making a call again, under the same call id, has no effect
// beyond the first: a call cut off by a crash is then made again instead of being
// answered "outcome unknown".
func Repeatable() ToolOption { return func(t *Tool) { t.repeatable = true } }

// NewTool makes a tool whose input schema comes from In: closed objects, fields
// without omitempty required. A call whose input does not fit never reaches run.
func NewTool[In any](name, description string, run func(ctx context.Context, in In) (ToolResult, error), opts ...ToolOption) (Tool, error) {
	if name == "" || run == nil {
		return Tool{}, fmt.Errorf("tool %q: a name and a function are needed", name)
	}
	s, err := schema.For[In]()
	if err != nil {
		return Tool{}, fmt.Errorf("tool %s: %w", name, err)
	}
	t := Tool{name: name, description: description, schema: s}
	t.run = func(ctx context.Context, raw json.RawMessage) (ToolResult, error) {
		var in In
		if err := json.Unmarshal(raw, &in); err != nil {
			return ToolResult{}, err
		}
		return run(ctx, in)
	}
	for _, o := range opts {
		o(&t)
	}
	return t, nil
}

// Call is one call of a tool by the model.
type Call struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type callKey struct{}

// CallOf is the call that a tool's context belongs to. Its id is the same when the
// call is made again after a crash, so keys can be derived from it.
func CallOf(ctx context.Context) (Call, bool) {
	c, ok := ctx.Value(callKey{}).(Call)
	return c, ok
}

// check says what the tool's schema has against an input; nothing stands for an
// empty object.
func (t Tool) check(input json.RawMessage) error {
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	return t.schema.Validate(input)
}

// perform runs the tool on an input that was checked; a panic is a failure like any
// other.
func (t Tool) perform(ctx context.Context, c Call) (res ToolResult, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			res = failure(&ToolExecutionError{Tool: t.name, Cause: fmt.Errorf("panic: %v", p)})
		}
	}()
	input := c.Input
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	res, err = t.run(context.WithValue(ctx, callKey{}, c), input)
	if err != nil {
		return failure(&ToolExecutionError{Tool: t.name, Cause: err}), nil
	}
	return res, nil
}

func failure(err error) ToolResult { return ToolResult{Text: err.Error(), IsError: true} }

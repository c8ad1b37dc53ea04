package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// Schema is a JSON Schema ready to check values. Make it with For or Parse.
type Schema struct {
	raw      json.RawMessage
	resolved *jsonschema.Resolved
}

// For derives the schema of a Go type from its json and jsonschema tags. Objects
// are closed: an unknown key is refused. A field without omitempty is required.
func For[T any]() (*Schema, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("schema of %T: %w", *new(T), err)
	}
	return made(s)
}

// Parse reads a schema from JSON.
func Parse(raw []byte) (*Schema, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return made(&s)
}

// Must is for schemas fixed in the code; it panics on an error, a programmer's
// mistake at start.
func Must(s *Schema, err error) *Schema {
	if err != nil {
		panic("schema: " + err.Error())
	}
	return s
}

func made(s *jsonschema.Schema) (*Schema, error) {
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("resolve schema: %w", err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("write schema: %w", err)
	}
	return &Schema{raw: raw, resolved: resolved}, nil
}

// JSON is the schema as JSON.
func (s *Schema) JSON() json.RawMessage { return bytes.Clone(s.raw) }

// Equal reports whether both say the same, as JSON values: the order of keys, and
// inside required and enum, does not matter.
func (s *Schema) Equal(other *Schema) bool {
	if s == nil || other == nil {
		return s == other
	}
	return reflect.DeepEqual(ordered(s.raw), ordered(other.raw))
}

// Validate refuses a value that the schema does not allow; the error names the
// path of the first offence.
func (s *Schema) Validate(value json.RawMessage) error {
	var instance any
	if err := json.Unmarshal(value, &instance); err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	if err := s.resolved.Validate(instance); err != nil {
		return Offence(describe(err))
	}
	return nil
}

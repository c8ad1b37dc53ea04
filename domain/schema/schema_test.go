package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"postroom/domain/schema"
)

type tag struct {
	N int `json:"n"`
}

type input struct {
	Body string `json:"body"`
	Tags []tag  `json:"tags,omitempty"`
}

func TestAValueThatBreaksTheSchemaIsRefusedByPath(t *testing.T) {
	t.Parallel()
	s := schema.Must(schema.For[input]())
	for name, row := range map[string]struct{ value, want string }{
		"missing":       {`{}`, `"body"`},
		"wrong type":    {`{"body":1}`, `at "body"`},
		"unknown key":   {`{"body":"x","principal":"y"}`, `"principal"`},
		"inside a list": {`{"body":"x","tags":[{"n":"a"}]}`, `at "tags.n"`},
		"not an object": {`[]`, `want "object"`},
		"null":          {`null`, `null has type`},
		"not JSON":      {`{`, `not JSON`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := s.Validate(json.RawMessage(row.value))

			if err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("validate %s: %v, want it to name %s", row.value, err, row.want)
			}
		})
	}
	if err := s.Validate(json.RawMessage(`{"body":"x","tags":[{"n":1}]}`)); err != nil {
		t.Errorf("a good value: %v", err)
	}
}

func TestSchemasAreEqualWhateverTheOrder(t *testing.T) {
	t.Parallel()
	a := schema.Must(schema.Parse([]byte(`{"type":"object","required":["a","b"],"properties":{"a":{"enum":["x","y"]},"b":{}}}`)))
	b := schema.Must(schema.Parse([]byte(`{"properties":{"b":{},"a":{"enum":["y","x"]}},"required":["b","a"],"type":"object"}`)))
	c := schema.Must(schema.Parse([]byte(`{"type":"object","required":["a"]}`)))

	if !a.Equal(b) {
		t.Error("the same schema in another order is not equal")
	}
	if a.Equal(c) || a.Equal(nil) {
		t.Error("another schema is equal")
	}
}

// Package schema is the JSON Schema of inputs and outputs: made from a Go type or
// read from JSON, and checked against values. It is a leaf, so that sessions and
// agents share it without knowing each other.
package schema

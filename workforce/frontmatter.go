package workforce

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// page is a Markdown file parted into its frontmatter and what stands below.
type page struct {
	declared map[string]any
	lines    map[string]int // of the keys, in the file
	body     string
}

// errNoFrontmatter is a file without a mapping between two fences at its start.
var errNoFrontmatter = errors.New("carries no frontmatter: it must begin with a line ---, then at least a description, then a line ---")

// parse reads a file. A byte-order mark and CRLF line ends are taken off; one empty
// line after the frontmatter is dropped; the rest of the body stays as it is.
func parse(file string, raw []byte) (page, error) {
	if len(raw) > maxFileBytes {
		return page{}, fmt.Errorf("%s is over 1 MiB; shorten it", file)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xef\xbb\xbf"))
	if line := invalidLine(raw); line > 0 {
		return page{}, &lineError{file, line, "is not valid UTF-8; save the file as UTF-8"}
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\r", "\n")
	front, body, ok := part(text)
	if !ok {
		return page{}, fmt.Errorf("%s %w", file, errNoFrontmatter)
	}
	declared, lines, err := frontmatter(file, front)
	if err != nil {
		return page{}, err
	}
	return page{declared: declared, lines: lines, body: strings.TrimPrefix(body, "\n")}, nil
}

func invalidLine(raw []byte) int {
	if utf8.Valid(raw) {
		return 0
	}
	line := 1
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		if r == utf8.RuneError && size == 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		raw = raw[size:]
	}
	return line
}

// part finds the fences: a first line and a later one that hold --- and nothing
// else but blanks.
func part(text string) (front, body string, ok bool) {
	first, rest, more := strings.Cut(text, "\n")
	if !more || strings.TrimRight(first, " \t") != "---" {
		return "", "", false
	}
	at := 0
	for line := range strings.Lines(rest) {
		if strings.TrimRight(line, " \t\n") == "---" {
			return rest[:at], rest[at+len(line):], strings.TrimSpace(rest[:at]) != ""
		}
		at += len(line)
	}
	return "", "", false
}

// frontmatter reads the YAML between the fences: one mapping with keys of text.
// Anchors, aliases and tags are refused, so that what stands there is what is read.
func frontmatter(file, text string) (declared map[string]any, lines map[string]int, err error) {
	defer func() {
		if p := recover(); p != nil { // the parser's own mistakes are the file's load error
			err = &lineError{file, 2, "cannot be read as YAML"}
		}
	}()
	if len(text) > maxFrontmatterBytes {
		return nil, nil, &lineError{file, 2, "the frontmatter is over 64 KiB; move text into the body"}
	}
	if line := tooDeep(text); line > 0 {
		return nil, nil, &lineError{file, line + 1, "is nested deeper than 32 levels"}
	}
	tree, err := parser.ParseBytes([]byte(text), 0)
	if err != nil {
		return nil, nil, yamlError(file, err)
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, nil, fmt.Errorf("%s %w", file, errNoFrontmatter)
	}
	check := &inspector{file: file, lines: map[string]int{}}
	switch tree.Docs[0].Body.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
	default:
		return nil, nil, &lineError{file, 2, "the frontmatter is no mapping of keys to values"}
	}
	ast.Walk(check, tree.Docs[0].Body)
	if check.err != nil {
		return nil, nil, check.err
	}
	declared = map[string]any{}
	if err := yaml.NodeToValue(tree.Docs[0].Body, &declared); err != nil {
		return nil, nil, yamlError(file, err)
	}
	for key, value := range declared {
		declared[key] = plain(value)
	}
	check.top(tree.Docs[0].Body)
	return declared, check.lines, check.err
}

// tooDeep gives the line at which brackets or dashes nest too deep, before the
// parser follows them down; 0 when none does.
func tooDeep(text string) int {
	depth, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		for _, c := range line {
			switch c {
			case '[', '{':
				depth++
			case ']', '}':
				depth = max(0, depth-1)
			}
			if depth > maxFlowDepth {
				return number
			}
		}
		trimmed := strings.TrimLeft(line, " ")
		dashes := 0
		for strings.HasPrefix(trimmed, "- ") || strings.HasPrefix(trimmed, "? ") {
			dashes++
			trimmed = strings.TrimLeft(trimmed[2:], " ")
		}
		if dashes > maxFlowDepth || (len(line)-len(strings.TrimLeft(line, " ")))/2 > 4*maxFlowDepth {
			return number
		}
	}
	return 0
}

// inspector refuses what YAML allows and a record does not.
type inspector struct {
	file   string
	values int
	lines  map[string]int
	err    error
}

// Visit implements ast.Visitor.
func (c *inspector) Visit(n ast.Node) ast.Visitor {
	if c.err != nil {
		return nil
	}
	c.values++
	line := n.GetToken().Position.Line + 1 // the fence is line 1
	switch node := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		c.err = &lineError{c.file, line, "anchors and aliases are not read; write the value out"}
	case *ast.TagNode:
		c.err = &lineError{c.file, line, "tags are not read; write the value plainly"}
	case *ast.MappingValueNode:
		if key, ok := node.Key.(*ast.StringNode); !ok || key.Value == "" {
			c.err = &lineError{c.file, line, fmt.Sprintf("the key %s is not text; put it in quotes", node.Key.String())}
		}
	}
	if c.values > maxFrontmatterValues {
		c.err = &lineError{c.file, line, "the frontmatter holds too many values"}
	}
	return c
}

// top notes the lines of the outermost keys.
func (c *inspector) top(n ast.Node) {
	var values []*ast.MappingValueNode
	switch node := n.(type) {
	case *ast.MappingNode:
		values = node.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{node}
	}
	for _, v := range values {
		if key, ok := v.Key.(*ast.StringNode); ok {
			c.lines[key.Value] = key.GetToken().Position.Line + 1
		}
	}
}

// yamlError is the parser's complaint, with its line in the file.
func yamlError(file string, err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		return &lineError{file, at.GetToken().Position.Line + 1, "cannot be read as YAML: " + at.GetMessage()}
	}
	return &lineError{file, 2, "cannot be read as YAML"}
}

// plain turns the parser's numbers and maps into the few types that records hold.
func plain(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v)
		}
		return float64(v)
	case int:
		return int64(v)
	}
	return value
}

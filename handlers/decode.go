package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"postroom/domain/session"
)

const (
	maxBody  = 1 << 20 // largest HTTP body, bytes
	maxDrain = 8 << 20 // how much of a larger one is read so that its sender gets the answer
	maxDepth = 64      // deepest nesting of a JSON body
)

// decode reads the call's one JSON object into a value, strictly: only these keys,
// spelled so. (The standard library would take USERID for userId.)
func decode(c echo.Context, into any, keys ...string) error {
	kind, _, err := mime.ParseMediaType(c.Request().Header.Get(echo.HeaderContentType))
	if err != nil || kind != echo.MIMEApplicationJSON {
		return ErrMediaType.With("content type", c.Request().Header.Get(echo.HeaderContentType))
	}
	raw, err := body(c)
	if err != nil {
		return err
	}
	if err := wellFormed(raw); err != nil {
		return err
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return invalid("", "is no object")
	}
	for name := range object {
		if !slices.Contains(keys, name) {
			return invalid(name, "is not a key of this call")
		}
	}
	var mismatch *json.UnmarshalTypeError
	switch err := json.Unmarshal(raw, into); {
	case errors.As(err, &mismatch):
		return invalid(mismatch.Field, "is "+mismatch.Value+", which does not belong there")
	case err != nil:
		return ErrJSON.Because(err)
	}
	return nil
}

func invalid(path, why string) error {
	what := "it"
	if path != "" {
		what = fmt.Sprintf("%q", path)
	}
	return session.ErrInvalidInput.Saying("The input does not have the form that the call takes: "+what+" "+why+".").With("path", path)
}

// body reads a body of at most maxBody. A longer one is read on for a while and
// dropped, so that the answer reaches its sender.
func body(c echo.Context) ([]byte, error) {
	r := c.Request().Body
	raw, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err != nil {
		return nil, ErrJSON.Because(err)
	}
	if len(raw) > maxBody {
		_, _ = io.CopyN(io.Discard, r, maxDrain) // whatever it is, it is dropped
		return nil, ErrBodyTooBig.With("most", maxBody)
	}
	return raw, nil
}

// wellFormed demands one JSON value in UTF-8 without duplicate keys, not nested too
// deep.
func wellFormed(raw []byte) error {
	if !utf8.Valid(raw) {
		return ErrJSON.Because(errors.New("the body is not UTF-8"))
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := value(d, 0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return ErrJSON.Because(errors.New("more follows the value"))
	}
	return nil
}

func value(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return invalid("", fmt.Sprintf("is nested deeper than %d levels", maxDepth))
	}
	token, err := d.Token()
	if err != nil {
		return ErrJSON.Because(err)
	}
	delim, isDelim := token.(json.Delim)
	if !isDelim {
		return nil
	}
	keys := map[string]bool{}
	for d.More() {
		if delim == '{' {
			key, err := d.Token()
			if err != nil {
				return ErrJSON.Because(err)
			}
			name, _ := key.(string)
			if keys[name] {
				return invalid(name, "comes twice")
			}
			keys[name] = true
		}
		if err := value(d, depth+1); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return ErrJSON.Because(err)
	}
	return nil
}

// param is a path parameter as it was meant, with its escapes undone.
func param(c echo.Context, name string) string {
	raw := c.Param(name)
	if c.Request().URL.RawPath == "" {
		return raw
	}
	if plain, err := url.PathUnescape(raw); err == nil {
		return plain
	}
	return raw
}

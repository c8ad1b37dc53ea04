package handlers

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

// Forms reads a form whole before its handler asks for a field. Asking gives no
// error, so one that is too large or broken would look empty.
func Forms(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		kind, _, err := mime.ParseMediaType(r.Header.Get(echo.HeaderContentType))
		if r.Method != http.MethodPost || err != nil || kind != echo.MIMEApplicationForm && kind != echo.MIMEMultipartForm {
			return next(c)
		}
		raw, err := body(c)
		if err != nil {
			return err
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		if kind == echo.MIMEMultipartForm {
			err = r.ParseMultipartForm(maxBody)
		} else {
			err = r.ParseForm()
		}
		if err != nil {
			return ErrForm.Because(err)
		}
		return next(c)
	}
}

// formText is a form's text with the line ends that people mean.
func formText(c echo.Context, name string) string {
	return strings.ReplaceAll(c.FormValue(name), "\r\n", "\n")
}

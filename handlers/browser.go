package handlers

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"postroom/domain/fault"
	"postroom/views"
)

// The cookies of a browser. None is a secret: without sign-in a name is a claim.
const (
	nameCookie    = "postroom-name"
	themeCookie   = "postroom-theme"
	detailsCookie = "postroom-details"
)

// maxName is the longest name, in characters.
const maxName = 60

// wantsPage reports whether a browser asks for a page rather than a program for JSON.
func wantsPage(c echo.Context) bool {
	return strings.Contains(c.Request().Header.Get(echo.HeaderAccept), echo.MIMETextHTML)
}

// nameOf is the name that the browser chose, or empty.
func nameOf(c echo.Context) string {
	cookie, err := c.Cookie(nameCookie)
	if err != nil {
		return ""
	}
	name, err := url.QueryUnescape(cookie.Value)
	if err != nil || !goodName(name) {
		return ""
	}
	return name
}

func goodName(name string) bool {
	if n := utf8.RuneCountInString(name); n == 0 || n > maxName || strings.TrimSpace(name) != name || !utf8.ValidString(name) {
		return false
	}
	return !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// local keeps a way back to paths of this server.
func local(to string) string {
	u, err := url.Parse(to)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") || strings.ContainsAny(to, "\\\r\n") {
		return "/"
	}
	return to
}

// backTo is where a form came from, on this server.
func backTo(c echo.Context, otherwise string) string {
	u, err := url.Parse(c.Request().Referer())
	if err != nil || u.Host != c.Request().Host || u.Path == "" {
		return otherwise
	}
	return local(u.Path)
}

// shell gathers what stands around a page.
func (h *Handlers) shell(c echo.Context, title, current, box string) (views.Shell, views.HomeRows, error) {
	who, err := h.here(c)
	if err != nil {
		return views.Shell{}, views.HomeRows{}, err
	}
	rows, rail, err := h.Presenter.Home(c.Request().Context(), who.Organization)
	if err != nil {
		return views.Shell{}, views.HomeRows{}, err
	}
	rail.Current = box
	s := h.bareShell(c, title)
	s.Current, s.Rail = current, rail
	if f := fault.Of(h.CannotWrite()); f != nil {
		s.Banner = &views.Banner{Class: "bad", Text: "Postroom can’t write: " + f.Message, Alert: true}
	}
	return s, rows, nil
}

// bareShell is a shell that asks the database nothing, for when that is in trouble.
func (h *Handlers) bareShell(c echo.Context, title string) views.Shell {
	s := views.Shell{Title: title, Who: nameOf(c), Path: c.Request().URL.Path, Assets: h.Assets.URL, Epoch: h.Epoch}
	if cookie, err := c.Cookie(themeCookie); err == nil && (cookie.Value == "light" || cookie.Value == "dark") {
		s.Theme = cookie.Value
	}
	if cookie, err := c.Cookie(detailsCookie); err == nil {
		s.Details = cookie.Value == "1"
	}
	return s
}

// render writes a page once it is whole.
func render(c echo.Context, status int, page templ.Component) error {
	var out bytes.Buffer
	if err := page.Render(c.Request().Context(), &out); err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "no-store")
	return c.HTMLBlob(status, out.Bytes())
}

// named sends a browser without a name to choose one, and back.
func (h *Handlers) named(c echo.Context) (sent bool, err error) {
	return h.namedFor(c, local(c.Request().URL.RequestURI()))
}

// namedFor is named for a form, whose own address is no page to come back to. A
// program that sends the form without a name is nobody in particular, as everywhere.
func (h *Handlers) namedFor(c echo.Context, to string) (sent bool, err error) {
	if nameOf(c) != "" || c.Request().Method == http.MethodPost && !wantsPage(c) {
		return false, nil
	}
	return true, c.Redirect(http.StatusSeeOther, "/name?to="+url.QueryEscape(to))
}

// GetName answers GET /name.
func (h *Handlers) GetName(c echo.Context) error {
	return h.namePage(c, http.StatusOK, local(c.QueryParam("to")), nameOf(c), "")
}

func (h *Handlers) namePage(c echo.Context, status int, to, name, why string) error {
	shell, _, err := h.shell(c, "Who are you?", "", "")
	if err != nil {
		return err
	}
	return render(c, status, views.NamePage(views.Name{Shell: shell, To: to, Name: name, Error: why}))
}

// PostName answers POST /name.
func (h *Handlers) PostName(c echo.Context) error {
	name := strings.TrimSpace(c.FormValue("name"))
	if !goodName(name) {
		return h.namePage(c, Status(ErrName), local(c.FormValue("to")), name, ErrName.Message)
	}
	c.SetCookie(&http.Cookie{
		Name: nameCookie, Value: url.QueryEscape(name), Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
	return c.Redirect(http.StatusSeeOther, local(c.FormValue("to")))
}

// PostTheme answers POST /theme, for browsers without script.
func (h *Handlers) PostTheme(c echo.Context) error {
	theme := c.FormValue("theme")
	if theme != "light" && theme != "dark" {
		return invalid("theme", "must be light or dark")
	}
	c.SetCookie(&http.Cookie{Name: themeCookie, Value: theme, Path: "/", MaxAge: int((365 * 24 * time.Hour).Seconds()), SameSite: http.SameSiteLaxMode}) //nolint:gosec // the page's script sets it too.
	return c.Redirect(http.StatusSeeOther, local(c.FormValue("to")))
}

// WriteProblemPage answers a browser with a page that says what happened.
func (h *Handlers) WriteProblemPage(c echo.Context, f *fault.Fault, request string) error {
	p := views.Problem{Icon: "warn", Title: "That didn’t work", Text: f.Message, Code: f.Code, Request: request, Link: "/", Label: "All mailboxes"}
	switch f.Class {
	case fault.NotFound:
		p.Title, p.Icon = "There’s nothing here", "info"
	case fault.Internal:
		p.Title = "Something broke on our side"
	case fault.Busy:
		p.Title = "Postroom can’t do that now"
	}
	if near, ok := f.Details["did you mean"].(string); ok {
		p.Link, p.Label = "/mailboxes/"+near, "Did you mean "+near+"?"
	}
	p.Shell = h.bareShell(c, p.Title)
	if shell, _, err := h.shell(c, p.Title, "", ""); err == nil {
		p.Shell = shell
	}
	return render(c, Status(f), views.ProblemPage(p))
}

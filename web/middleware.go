package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	"postroom/domain/fault"
	"postroom/handlers"
	"postroom/web/config"
)

// requestID is the header that names one HTTP request, in answers and in the log.
const requestID = "X-Request-Id"

// identify gives each HTTP request a name.
func (s *Server) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		c.Response().Header().Set(requestID, s.handlers.NewID("http"))
		return next(c)
	}
}

// log writes one line a request, without anything that people wrote.
func (s *Server) log(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		began := s.options.Clock()
		err := next(c)
		if err != nil {
			c.Error(err)
		}
		took := s.options.Clock().Sub(began)
		s.metrics.counted(c, took)
		level := slog.LevelInfo
		if strings.HasPrefix(c.Path(), "/static/") || c.Path() == "/healthz" || c.Path() == "/readyz" || c.Path() == "/metrics" {
			level = slog.LevelDebug
		}
		about := []any{
			"method", method(c.Request().Method), "route", c.Path(), "status", c.Response().Status, "ms", took.Milliseconds(),
			"http", c.Response().Header().Get(requestID),
		}
		if made, ok := c.Get(handlers.MadeRequest).(string); ok && made != "" {
			about = append(about, "request", made)
		}
		s.options.Log.Log(c.Request().Context(), level, "http", about...)
		return nil
	}
}

// recovered turns a panic into an error like any other.
func (s *Server) recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		return next(c)
	}
}

// guard refuses what no handler should see: a host name that is not this
// machine's, which would let a foreign page reach a server without sign-in, and
// writes that another site's page sends. Forms need no token beside: browsers say
// where a write comes from, and the cookies are SameSite.
func (s *Server) guard(next echo.HandlerFunc) echo.HandlerFunc {
	crossOrigin := http.NewCrossOriginProtection()
	return func(c echo.Context) error {
		header := c.Response().Header()
		header.Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "same-origin")
		host := c.Request().Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if !config.Loopback(host) {
			return handlers.ErrHost.With("host", host)
		}
		if err := crossOrigin.Check(c.Request()); err != nil {
			return handlers.ErrCrossOrigin
		}
		return next(c)
	}
}

// compressed shrinks what is worth it. Nothing secret stands beside what people
// write, so its length gives nothing away; websockets compress by themselves.
func compressed() echo.MiddlewareFunc {
	return middleware.GzipWithConfig(middleware.GzipConfig{
		MinLength: 1400, // about one packet
		// A compressor is cleared for each request it might be wanted for, which costs
		// more than a write's short answer does.
		Skipper: func(c echo.Context) bool {
			return c.Path() == "/live" || c.Request().Method != http.MethodGet && strings.HasPrefix(c.Path(), "/api/")
		},
	})
}

// problem is where every error ends: logged once with its request, and shown with
// its code.
func (s *Server) problem(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	f := handlers.FaultOf(err)
	id := c.Response().Header().Get(requestID)
	switch {
	case errors.Is(err, context.Canceled):
		s.options.Log.DebugContext(c.Request().Context(), "the caller left", "http", id)
	case f.Class == fault.Internal || f.Class == fault.Busy:
		s.options.Log.ErrorContext(c.Request().Context(), "a request failed", "http", id, "code", f.Code, "error", err)
	}
	var answering error
	if strings.HasPrefix(c.Request().URL.Path, "/api/") || !strings.Contains(c.Request().Header.Get(echo.HeaderAccept), echo.MIMETextHTML) {
		answering = handlers.WriteProblem(c, f)
	} else {
		answering = s.handlers.WriteProblemPage(c, f, id)
	}
	if answering != nil {
		s.options.Log.ErrorContext(c.Request().Context(), "could not answer", "http", id, "error", answering)
	}
}

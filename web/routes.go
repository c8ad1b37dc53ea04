package web

import (
	"github.com/labstack/echo/v4"

	"postroom/handlers"
)

// routes is the one table of all that the server answers.
func (s *Server) routes() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.HTTPErrorHandler = s.problem
	e.Use(s.identify, s.log, s.recovered, compressed(), s.guard, handlers.Forms)
	h := s.handlers

	// Pages
	e.GET("/", h.GetHome)
	e.GET("/mailboxes/:id", h.GetMailbox)
	e.POST("/mailboxes/:id/lines", h.PostLine)
	e.GET("/seats", h.GetSeats)
	e.GET("/seats/:id", h.GetSeat)
	e.POST("/seats/:id/lines", h.PostToSeat)
	e.GET("/runs/:id", h.GetRun)
	e.GET("/activity", h.GetActivity)
	e.POST("/requests/:id/cancel", h.CancelRequest)
	e.GET("/name", h.GetName)
	e.POST("/name", h.PostName)
	e.POST("/theme", h.PostTheme)
	e.GET("/live", s.hub.Serve)
	e.GET("/static/:version/*", h.GetStatic)

	// API
	e.POST("/api/flows/:kind/:session/actions/:action", h.PostAction)
	e.GET("/api/requests/:id", h.GetRequest)
	e.POST("/api/requests/:id/cancel", h.CancelRequest)
	e.GET("/api/sessions", h.ListSessions)
	e.GET("/api/sessions/:id", h.GetSession)
	e.GET("/api/sessions/:id/items", h.ListItems)
	e.GET("/api/sessions/:id/requests", h.ListRequests)
	e.GET("/api/inventory/:what", h.GetInventory)
	e.GET("/api/openapi.json", h.GetOpenAPI)

	// Operations
	e.GET("/healthz", h.Live)
	e.GET("/readyz", h.ReadyToServe)
	if s.options.Config.MetricsAddr == "" {
		e.GET("/metrics", echo.WrapHandler(s.metrics.handler()))
	}
	return e
}

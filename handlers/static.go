package handlers

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// GetStatic answers GET /static/{version}/*.
func (h *Handlers) GetStatic(c echo.Context) error {
	content, kind, immutable, found := h.Assets.Open(c.Param("version"), c.Param("*"))
	if !found {
		return ErrNoPage
	}
	cache := "no-cache"
	if immutable {
		cache = "public, max-age=31536000, immutable"
	}
	c.Response().Header().Set("Cache-Control", cache)
	return c.Blob(http.StatusOK, kind, content)
}

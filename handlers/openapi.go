package handlers

import (
	_ "embed"
	"net/http"

	"github.com/labstack/echo/v4"
)

//go:embed openapi.json
var openAPI []byte

// GetOpenAPI answers GET /api/openapi.json.
func (h *Handlers) GetOpenAPI(c echo.Context) error {
	return c.JSONBlob(http.StatusOK, openAPI)
}

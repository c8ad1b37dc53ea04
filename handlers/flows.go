package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"postroom/domain/account"
	"postroom/domain/session"
)

// maxWait is the longest that a call may be held.
const maxWait = 30 * time.Second

// actionBody is what an action is called with.
type actionBody struct {
	UserID string          `json:"userId"`
	Input  json.RawMessage `json:"input"`
}

type requestBody struct {
	Request requestShape `json:"request"`
}

// PostAction answers POST /api/flows/{kind}/{session}/actions/{action}.
func (h *Handlers) PostAction(c echo.Context) error {
	wait, err := waitOf(c)
	if err != nil {
		return err
	}
	var in actionBody
	if err := decode(c, &in, "userId", "input"); err != nil {
		return err
	}
	ctx := c.Request().Context()
	who, err := h.Resolver.Resolve(ctx, account.Claim{UserID: in.UserID})
	if err != nil {
		return err
	}
	r, err := h.Client.Submit(ctx, session.Submission{
		Kind: param(c, "kind"), Session: param(c, "session"), Action: param(c, "action"), Input: in.Input,
		Principal: who, Key: c.Request().Header.Get("Idempotency-Key"),
	})
	if err != nil {
		return err
	}
	c.Set(MadeRequest, r.ID)
	return h.answer(c, r, wait)
}

// answer is 202 for an accepted request, 200 once it has ended within the wait.
func (h *Handlers) answer(c echo.Context, r session.Request, wait time.Duration) error {
	if wait > 0 && !r.Status.Ended() {
		ctx, cancel := context.WithTimeout(c.Request().Context(), wait)
		defer cancel()
		var err error
		if r, err = h.Client.Wait(ctx, r.Organization, r.ID); err != nil {
			return err
		}
	}
	status := http.StatusAccepted
	if r.Status.Ended() && (wait > 0 || r.Lane == session.ReadLane) {
		status = http.StatusOK
	}
	return c.JSON(status, requestBody{shapeOf(r)})
}

func waitOf(c echo.Context) (time.Duration, error) {
	text := c.QueryParam("wait")
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(strings.TrimSpace(text))
	if err != nil || d < 0 || d > maxWait {
		return 0, invalid("wait", "must be a duration such as 5s, 30s at most")
	}
	return d, nil
}

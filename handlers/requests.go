package handlers

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"postroom/domain/account"
	"postroom/domain/session"
)

// here is who asks without naming itself in a body: the browser's name, or nobody.
func (h *Handlers) here(c echo.Context) (account.Principal, error) {
	return h.Resolver.Resolve(c.Request().Context(), account.Claim{UserID: nameOf(c)})
}

// GetRequest answers GET /api/requests/{id}.
func (h *Handlers) GetRequest(c echo.Context) error {
	who, err := h.here(c)
	if err != nil {
		return err
	}
	r, found, err := h.Client.Reader().Request(c.Request().Context(), who.Organization, param(c, "id"))
	if err != nil {
		return err
	}
	if !found {
		return session.ErrNoRequest.With("request", param(c, "id"))
	}
	return c.JSON(http.StatusOK, requestBody{shapeOf(r)})
}

// CancelRequest answers POST /api/requests/{id}/cancel, and the page's form.
func (h *Handlers) CancelRequest(c echo.Context) error {
	who, err := h.here(c)
	if err != nil {
		return err
	}
	r, err := h.Client.Cancel(c.Request().Context(), who, param(c, "id"))
	if err != nil {
		return err
	}
	if wantsPage(c) {
		return c.Redirect(http.StatusSeeOther, backTo(c, "/"))
	}
	return c.JSON(http.StatusOK, requestBody{shapeOf(r)})
}

// ListSessions answers GET /api/sessions.
func (h *Handlers) ListSessions(c echo.Context) error {
	who, err := h.here(c)
	if err != nil {
		return err
	}
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	include := c.QueryParam("include")
	if include != "" && include != "dispatch-runs" {
		return invalid("include", "can only be dispatch-runs")
	}
	q := session.SessionQuery{
		Organization: who.Organization, Kind: c.QueryParam("kind"), Children: include != "", After: c.QueryParam("after"), Limit: limit,
	}
	if include != "" {
		q.Parent = c.QueryParam("parent")
	}
	found, err := h.Client.Reader().Sessions(c.Request().Context(), q)
	if err != nil {
		return err
	}
	p := page[sessionShape]{Items: make([]sessionShape, len(found))}
	for i, s := range found {
		if p.Items[i], err = h.sessionShape(c, s, false); err != nil {
			return err
		}
	}
	if len(found) == session.Bound(limit) {
		p.Next = found[len(found)-1].ID
	}
	return c.JSON(http.StatusOK, p)
}

func (h *Handlers) sessionShape(c echo.Context, s session.Session, state bool) (sessionShape, error) {
	shape := sessionShape{
		ID: s.ID, Kind: s.Kind, Owner: s.Owner, Parent: s.Parent, FlowID: s.FlowID, LastSeq: s.LastSeq, CreatedAt: s.CreatedAt.UTC(),
	}
	if state && len(s.State) > 0 {
		shape.State = s.State
	}
	if s.Parent == "" {
		return shape, nil
	}
	var err error
	shape.Status, err = h.Presenter.conversationStatus(c.Request().Context(), s)
	return shape, err
}

// GetSession answers GET /api/sessions/{id}.
func (h *Handlers) GetSession(c echo.Context) error {
	s, err := h.session(c)
	if err != nil {
		return err
	}
	shape, err := h.sessionShape(c, s, true)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]sessionShape{"session": shape})
}

func (h *Handlers) session(c echo.Context) (session.Session, error) {
	who, err := h.here(c)
	if err != nil {
		return session.Session{}, err
	}
	s, found, err := h.Client.Reader().Session(c.Request().Context(), who.Organization, param(c, "id"))
	if err == nil && !found {
		err = session.ErrNoSession.Saying("No session has this id; check it.").With("session", param(c, "id"))
	}
	return s, err
}

// ListItems answers GET /api/sessions/{id}/items.
func (h *Handlers) ListItems(c echo.Context) error {
	s, err := h.session(c)
	if err != nil {
		return err
	}
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	q := session.ItemQuery{Organization: s.Organization, Session: s.ID, Type: c.QueryParam("type"), Limit: limit}
	if component := c.QueryParam("component"); component != "" {
		q.Components = []string{component}
	}
	if q.After, err = seqOf(c, "after"); err != nil {
		return err
	}
	if q.Before, err = seqOf(c, "before"); err != nil {
		return err
	}
	items, err := h.Client.Reader().Items(c.Request().Context(), q)
	if err != nil {
		return err
	}
	p := page[session.Item]{Items: items}
	if items == nil {
		p.Items = []session.Item{}
	}
	if len(items) == session.Bound(limit) {
		p.Next = items[len(items)-1].Seq
		if q.Before > 0 && q.After == 0 {
			p.Next = items[0].Seq
		}
	}
	return c.JSON(http.StatusOK, p)
}

// ListRequests answers GET /api/sessions/{id}/requests.
func (h *Handlers) ListRequests(c echo.Context) error {
	s, err := h.session(c)
	if err != nil {
		return err
	}
	limit, err := limitOf(c)
	if err != nil {
		return err
	}
	q := session.RequestQuery{Organization: s.Organization, Session: s.ID, After: c.QueryParam("after"), Limit: limit}
	if status := session.Status(c.QueryParam("status")); status != "" {
		if status != session.Queued && status != session.Running && !status.Ended() {
			return invalid("status", "must be queued, running, completed, failed or cancelled")
		}
		q.Statuses = []session.Status{status}
	}
	found, err := h.Client.Reader().Requests(c.Request().Context(), q)
	if err != nil {
		return err
	}
	p := page[requestShape]{Items: make([]requestShape, len(found))}
	for i, r := range found {
		p.Items[i] = shapeOf(r)
	}
	if len(found) == session.Bound(limit) {
		p.Next = found[len(found)-1].ID
	}
	return c.JSON(http.StatusOK, p)
}

func limitOf(c echo.Context) (int, error) {
	text := c.QueryParam("limit")
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > session.MaxPage {
		return 0, invalid("limit", "must be a whole number from 1 to "+strconv.Itoa(session.MaxPage))
	}
	return n, nil
}

func seqOf(c echo.Context, name string) (int64, error) {
	text := c.QueryParam(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, invalid(name, "must be a whole number, 0 or more")
	}
	return n, nil
}

// Who resolves who is behind a request without a body, such as a websocket's.
func (h *Handlers) Who(c echo.Context) (account.Principal, error) { return h.here(c) }

package handlers

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/labstack/echo/v4"

	"postroom/domain/fault"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/views"
)

// GetSeats answers GET /seats.
func (h *Handlers) GetSeats(c echo.Context) error {
	if sent, err := h.named(c); sent {
		return err
	}
	shell, _, err := h.shell(c, "Seats", "seats", "")
	if err != nil {
		return err
	}
	shell.Topics = "home=1"
	home := views.Home{Shell: shell}
	for _, s := range h.Seats.All() {
		team := teamOf(s.ID)
		if n := len(home.Seats); n == 0 || home.Seats[n-1].Name != team {
			home.Seats = append(home.Seats, views.TeamSeats{Name: team})
		}
		group := &home.Seats[len(home.Seats)-1]
		group.Seats = append(group.Seats, views.SeatRow{ID: s.ID, Description: s.Description})
	}
	return render(c, http.StatusOK, views.SeatsPage(home))
}

// GetSeat answers GET /seats/{id}.
func (h *Handlers) GetSeat(c echo.Context) error {
	if sent, err := h.named(c); sent {
		return err
	}
	return h.seatPage(c, http.StatusOK, views.Composer{})
}

func (h *Handlers) seatPage(c echo.Context, status int, composer views.Composer) error {
	ctx := c.Request().Context()
	who, err := h.here(c)
	if err != nil {
		return err
	}
	s, hired := h.Seats.Resolve(who.Organization, who.ID, param(c, "id"))
	if !hired {
		return seat.ErrNotHired.With("seat", param(c, "id"))
	}
	shell, _, err := h.shell(c, views.SeatName(s.ID), "seats", "")
	if err != nil {
		return err
	}
	talk := seat.TalkID(s.ID, who.ID)
	shell.Topics = url.Values{"talk": {talk}, "home": {"1"}}.Encode()
	page := views.Seat{
		Shell: shell, ID: s.ID, Kind: s.Kind, Description: s.Description, Instructions: s.Instructions, Tools: s.Tools, Session: talk,
	}
	if page.Entries, _, err = h.Presenter.Turns(ctx, who.Organization, talk, "", s.ID); err != nil {
		return err
	}
	if page.Runs, err = h.Presenter.TalkRuns(ctx, who.Organization, talk, s.ID); err != nil {
		return err
	}
	page.Model = s.Model
	for _, one := range s.Skills.Held {
		page.Skills = append(page.Skills, views.SeatSkill{Name: one.Name, Description: one.Description, Active: slices.Contains(s.Skills.Active, one.Name)})
	}
	for _, d := range s.Documents {
		page.Documents = append(page.Documents, views.SeatDocument{Name: d.Name, Ref: d.Ref, Text: d.Text})
	}
	if page.Conversations, err = h.conversations(c, who.Organization, s); err != nil {
		return err
	}
	composer.Action, composer.Field, composer.Label = "/seats/"+url.PathEscape(s.ID)+"/lines", "body", "Say something to "+views.SeatName(s.ID)
	composer.Placeholder, composer.Draft, composer.Button = "Say something to "+views.SeatName(s.ID)+".", "seat:"+s.ID, "Send"
	if composer.Key == "" {
		composer.Key = h.NewID("web")
	}
	page.Composer = composer
	return render(c, status, views.SeatPage(page))
}

func (h *Handlers) conversations(c echo.Context, organization string, s seat.Seat) ([]views.Conversation, error) {
	ctx := c.Request().Context()
	found, err := h.Client.Reader().Sessions(ctx, session.SessionQuery{
		Organization: organization, Children: true, FlowID: s.Address(), Limit: pageLines,
	})
	if err != nil {
		return nil, err
	}
	all := make([]views.Conversation, len(found))
	for i, one := range found {
		all[i] = views.Conversation{Mailbox: one.Parent, At: one.CreatedAt}
		if all[i].Status, err = h.Presenter.conversationStatus(ctx, one); err != nil {
			return nil, err
		}
		last, err := h.Client.Reader().Requests(ctx, session.RequestQuery{Organization: organization, Session: one.ID, Limit: 1})
		if err != nil {
			return nil, err
		}
		for _, r := range last {
			all[i].LastRun = r.ID
		}
	}
	return all, nil
}

// PostToSeat answers POST /seats/{id}/lines.
func (h *Handlers) PostToSeat(c echo.Context) error {
	if sent, err := h.namedFor(c, "/seats/"+url.PathEscape(param(c, "id"))); sent {
		return err
	}
	who, err := h.here(c)
	if err != nil {
		return err
	}
	s, hired := h.Seats.Resolve(who.Organization, who.ID, param(c, "id"))
	if !hired {
		return seat.ErrNotHired.With("seat", param(c, "id"))
	}
	text := formText(c, "body")
	r, err := h.submitForm(c, s.Kind, seat.TalkID(s.ID, who.ID), "run", map[string]string{"text": text}, false)
	if err != nil && wantsPage(c) {
		f := fault.Of(err)
		return h.seatPage(c, Status(f), views.Composer{Text: text, Error: f.Message, Code: f.Code, Key: h.nextKey(c, f)})
	}
	return formAnswer(c, r, err, "/seats/"+url.PathEscape(s.ID)+"#end")
}

// GetRun answers GET /runs/{id}.
func (h *Handlers) GetRun(c echo.Context) error {
	if sent, err := h.named(c); sent {
		return err
	}
	ctx := c.Request().Context()
	who, err := h.here(c)
	if err != nil {
		return err
	}
	id := param(c, "id")
	r, found, err := h.Client.Reader().Request(ctx, who.Organization, id)
	if err != nil {
		return err
	}
	if !found {
		return session.ErrNoRequest.Saying("There’s no run by this id.").With("request", id)
	}
	page, err := h.Presenter.Run(ctx, r)
	if err != nil {
		return err
	}
	page.Shell, _, err = h.shell(c, "Run of "+views.SeatName(page.SeatID), "", "")
	if err != nil {
		return err
	}
	page.Shell.Topics = url.Values{"run": {id}, "home": {"1"}}.Encode()
	return render(c, http.StatusOK, views.RunPage(page))
}

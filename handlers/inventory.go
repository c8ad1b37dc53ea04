package handlers

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"postroom/domain/board"
	"postroom/domain/mailbox"
)

// inventoryRow is one thing that is declared, hired or open, and what is wrong with it.
type inventoryRow struct {
	ID          string   `json:"id"`
	Kind        string   `json:"kind,omitempty"`
	Open        bool     `json:"open"`
	Description string   `json:"description,omitempty"`
	Members     []string `json:"members,omitempty"`
	Boards      []string `json:"boards,omitempty"`
	Hears       *bool    `json:"hears,omitempty"`
	Mailbox     string   `json:"mailbox,omitempty"`
	Problems    []string `json:"problems"`
}

// GetInventory answers GET /api/inventory/{what}.
func (h *Handlers) GetInventory(c echo.Context) error {
	who, err := h.here(c)
	if err != nil {
		return err
	}
	p := page[inventoryRow]{Items: []inventoryRow{}}
	declared := h.Directory.Declared()
	switch what := param(c, "what"); what {
	case "mailboxes":
		for _, m := range declared {
			row, err := h.mailboxRow(c, who.Organization, m)
			if err != nil {
				return err
			}
			p.Items = append(p.Items, row)
		}
	case "seats":
		for _, s := range h.Seats.All() {
			hears := s.Hears
			p.Items = append(p.Items, inventoryRow{ID: s.ID, Kind: s.Kind, Open: true, Description: s.Description, Hears: &hears, Problems: []string{}})
		}
	case "boards":
		for _, m := range declared {
			for _, name := range m.Boards {
				p.Items = append(p.Items, inventoryRow{
					ID: board.LedgerID(m.ID, name), Mailbox: m.ID, Open: true,
					Problems: []string{"No hired worker declares this board, so tasks on it wait for people."},
				})
			}
		}
	case "teams":
		for _, name := range h.teamNames(declared) {
			p.Items = append(p.Items, inventoryRow{ID: name, Open: true, Problems: []string{}})
		}
	default:
		return ErrInventory.With("asked for", what)
	}
	return c.JSON(http.StatusOK, p)
}

func (h *Handlers) mailboxRow(c echo.Context, organization string, m mailbox.Mailbox) (inventoryRow, error) {
	row := inventoryRow{ID: m.ID, Kind: m.Kind, Description: m.Description, Members: m.Members, Boards: m.Boards, Problems: []string{}}
	opened, err := h.Directory.Get(c.Request().Context(), organization, m.ID)
	if FaultOf(err) != nil {
		if FaultOf(err).Code != mailbox.ErrNotBound.Code {
			return row, err
		}
		row.Problems = append(row.Problems, "Declared, and not open.")
		return row, nil
	}
	row.Open, row.Members, row.Description = true, opened.Members, opened.Description
	if opened.Changed {
		row.Problems = append(row.Problems, "The file has changed since the mailbox was opened; members, charter and description stay as opened.")
	}
	for _, member := range opened.Members {
		if _, hired := h.Seats.Resolve(organization, "", member); !hired {
			row.Problems = append(row.Problems, "Member "+member+" has no hired seat.")
		}
	}
	return row, nil
}

func (h *Handlers) teamNames(declared []mailbox.Mailbox) []string {
	var names []string
	add := func(id string) {
		if team, _, inTeam := strings.Cut(id, "."); inTeam {
			names = append(names, team)
		}
	}
	for _, m := range declared {
		add(m.ID)
	}
	for _, s := range h.Seats.All() {
		add(s.ID)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Live answers GET /healthz.
func (h *Handlers) Live(c echo.Context) error {
	return c.JSON(http.StatusOK, map[string]string{"status": "alive"})
}

// ReadyToServe answers GET /readyz.
func (h *Handlers) ReadyToServe(c echo.Context) error {
	if err := h.Ready(c.Request().Context()); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]string{"status": "ready"})
}

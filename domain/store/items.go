package store

import (
	"context"
	"slices"
	"strings"

	"postroom/domain/session"
)

const (
	itemColumns = "id, organization, session, request, seq, type, component, data, created_at"
	itemInsert  = "INSERT INTO items (" + itemColumns + ", position) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)

func scanItem(row scanner) (session.Item, error) {
	var i session.Item
	var data []byte
	var created int64
	err := row.Scan(&i.ID, &i.Organization, &i.Session, &i.Request, &i.Seq, &i.Type, &i.Component, &data, &created)
	i.Data, i.CreatedAt = data, fromMilli(created)
	return i, err
}

// AppendItem implements session.Tx. The session's row is the lock that keeps seq dense.
func (t *transaction) AppendItem(ctx context.Context, i *session.Item) error {
	row, err := t.kept(ctx, i.Organization, i.Session)
	if err != nil {
		return coded("give an item of "+i.Session+" its seq", err)
	}
	row.LastSeq++
	row.moved, i.Seq = true, row.LastSeq
	_, err = t.exec(ctx, itemInsert, i.ID, i.Organization, i.Session, i.Request, i.Seq, i.Type, i.Component, []byte(i.Data),
		milli(i.CreatedAt), i.Position)
	return coded("append an item to "+i.Session, err)
}

// Items implements session.Reader. Which index leads is said by name: by its own
// lights the planner reads along the session, which is right for a page of it and
// for nothing else.
func (r reader) Items(ctx context.Context, q session.ItemQuery) ([]session.Item, error) {
	index, text := "", " WHERE organization = ? AND session = ? AND seq > ?"
	args := []any{q.Organization, q.Session, q.After}
	if q.Before > 0 {
		text, args = text+" AND seq < ?", append(args, q.Before)
	}
	if q.Type != "" {
		text, args = text+" AND type = ?", append(args, q.Type)
		if q.Type != session.TypeComponent {
			index, text = "items_by_type", text+" AND type <> 'component'"
		}
	}
	if len(q.Components) > 0 {
		index = "items_by_component"
		text += " AND component <> '' AND component IN (?" + strings.Repeat(", ?", len(q.Components)-1) + ")"
		for _, c := range q.Components {
			args = append(args, c)
		}
	}
	if q.Request != "" {
		index = "items_by_position"
		text += " AND position = (SELECT position FROM requests WHERE id = ?) AND request = ?"
		args = append(args, q.Request, q.Request)
	}
	if q.Window > 0 {
		before := q.WindowBefore
		if before == 0 {
			before = 1 << 62
		}
		index = "items_by_position" // a window is small, whatever else is asked of it
		text += ` AND position < ? AND position >= (SELECT coalesce(min(position), 0) FROM
			(SELECT position FROM requests WHERE organization = ? AND session = ? AND lane <> 'read' AND position < ?
			ORDER BY position DESC LIMIT ?))`
		args = append(args, before, q.Organization, q.Session, before, q.Window)
	}
	from := "SELECT " + itemColumns + " FROM items"
	if index != "" {
		from += " INDEXED BY " + index
	}
	text = from + text
	newest := q.Newest || q.Before > 0 && q.After == 0
	order := " ORDER BY seq LIMIT ?"
	if newest {
		order = " ORDER BY seq DESC LIMIT ?"
	}
	page, err := list(ctx, r, "list items of "+q.Session, text+order, append(args, session.Bound(q.Limit)), scanItem)
	if newest {
		slices.Reverse(page)
	}
	return page, err
}

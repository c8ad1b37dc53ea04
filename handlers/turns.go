package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"postroom/domain/fault"
	"postroom/domain/model"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/views"
)

// mostTurns is how many items of a conversation a page shows.
const mostTurns = 1000

// Turns shows the items of a conversation as turns: of one run, or its newest.
func (p *Presenter) Turns(ctx context.Context, organization, id, request, seatID string) ([]views.Entry, views.RunState, error) {
	t := &turns{seat: seatID, whole: request == "", calls: map[string]*views.Call{}}
	q := session.ItemQuery{Organization: organization, Session: id, Request: request, Newest: request == ""}
	for len(t.entries) < mostTurns {
		page, err := p.read.Items(ctx, q)
		if err != nil {
			return nil, t.state, fmt.Errorf("read the conversation %s: %w", id, err)
		}
		for _, item := range page {
			if err := t.add(item); err != nil {
				return nil, t.state, err
			}
			q.After = item.Seq
		}
		if len(page) < session.MaxPage || q.Newest {
			break
		}
	}
	return t.done(), t.state, nil
}

// turns gathers items into turns.
type turns struct {
	seat    string
	whole   bool // a whole talk rather than one run
	number  int
	entries []*views.TurnEntry
	calls   map[string]*views.Call
	order   map[*views.TurnEntry][]*views.Call
	state   views.RunState
}

func (t *turns) add(item session.Item) error {
	entry := &views.TurnEntry{Seq: item.Seq, At: item.CreatedAt}
	switch item.Type {
	case session.TypeMessage:
		var m seat.MessageData
		if err := json.Unmarshal(item.Data, &m); err != nil {
			return fmt.Errorf("read item %d: %w", item.Seq, err)
		}
		t.message(entry, m, item)
	case session.TypeToolUse:
		var u seat.ToolUseData
		if err := json.Unmarshal(item.Data, &u); err != nil {
			return fmt.Errorf("read item %d: %w", item.Seq, err)
		}
		if call, ok := t.calls[u.ID]; ok {
			call.Started = item.CreatedAt
		}
	case session.TypeToolResult:
		var r seat.ToolResultData
		if err := json.Unmarshal(item.Data, &r); err != nil {
			return fmt.Errorf("read item %d: %w", item.Seq, err)
		}
		if call, ok := t.calls[r.ID]; ok {
			call.Result, call.Failed, call.Pending, call.Ended = r.Text, r.IsError, false, item.CreatedAt
		}
	case session.TypeUsage:
		var u seat.UsageData
		if err := json.Unmarshal(item.Data, &u); err != nil {
			return fmt.Errorf("read item %d: %w", item.Seq, err)
		}
		t.state.Model, t.state.In, t.state.Out = u.Model, t.state.In+u.InputTokens, t.state.Out+u.OutputTokens
		if n := len(t.entries); n > 0 && t.entries[n-1].Seat {
			t.entries[n-1].Offline = u.Model == model.Offline
			t.entries[n-1].Tokens += u.InputTokens + u.OutputTokens
		}
	case session.TypeFailure:
		var f fault.Failure
		if err := json.Unmarshal(item.Data, &f); err != nil {
			return fmt.Errorf("read item %d: %w", item.Seq, err)
		}
		entry.Who, entry.Code, entry.Message, entry.Details = "Failed", f.Code, f.Message, details(f.Details)
		t.entries = append(t.entries, entry)
	}
	return nil
}

func (t *turns) message(entry *views.TurnEntry, m seat.MessageData, item session.Item) {
	said := model.Message{Role: m.Role, Content: m.Content}
	entry.Text, entry.Who = said.Words(), "Heard"
	if m.Role == model.Assistant {
		if t.whole {
			entry.Run = item.Request
		}
		t.number++
		entry.Who, entry.Seat, entry.SeatID = fmt.Sprintf("Turn %d", t.number), true, t.seat
		for _, use := range said.ToolUses() {
			call := &views.Call{ID: use.ID, Name: use.Name, Input: pretty(use.Input), Pending: true}
			t.calls[use.ID] = call
			if t.order == nil {
				t.order = map[*views.TurnEntry][]*views.Call{}
			}
			t.order[entry] = append(t.order[entry], call)
		}
	} else {
		t.number = 0
	}
	if t.whole {
		entry.Who = "You"
		if entry.Seat {
			entry.Who = views.SeatName(t.seat)
		}
	}
	t.entries = append(t.entries, entry)
}

func (t *turns) done() []views.Entry {
	all := make([]views.Entry, len(t.entries))
	for i, e := range t.entries {
		for _, c := range t.order[e] {
			e.Calls = append(e.Calls, *c)
		}
		all[i] = views.Entry{Turn: e}
	}
	return all
}

// details are what a failure is about, in the order of their names.
func details(of map[string]any) []views.Detail {
	all := make([]views.Detail, 0, len(of))
	for _, name := range slices.Sorted(maps.Keys(of)) {
		value := of[name]
		text, isText := value.(string)
		if list, isList := value.([]any); isList {
			words := make([]string, len(list))
			for i, one := range list {
				words[i] = fmt.Sprint(one)
			}
			text, isText = strings.Join(words, ", "), true
		}
		if !isText {
			text = fmt.Sprint(value)
		}
		all = append(all, views.Detail{Name: name, Value: text})
	}
	return all
}

func pretty(raw json.RawMessage) string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return string(raw)
	}
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return string(raw)
	}
	return string(text)
}

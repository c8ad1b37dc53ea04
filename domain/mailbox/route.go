package mailbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"postroom/domain/schema"
	"postroom/domain/session"
)

// Where a route's decision came from.
const (
	SourceHeld      = "held"      // the member who still owes this person an answer
	SourceEvaluator = "evaluator" // what the post is about
	SourceFallback  = "fallback"  // the route could not place it
	SourceNobody    = "nobody"    // and the fallback cannot be reached
)

// Decision is a mailbox-route item: where one post went, and why.
type Decision struct {
	PostID    string   `json:"postId"`
	Source    string   `json:"source"`
	Member    string   `json:"member,omitempty"`
	Reason    string   `json:"reason,omitempty"`
	Evaluator string   `json:"evaluator,omitempty"` // that was asked
	Score     *float64 `json:"score,omitempty"`     // of the member, where it gave any
}

// Candidate is a member who can take a post: a seat stands behind it that hears,
// and that whoever posted can reach.
type Candidate struct {
	Member      string
	Description string // empty: never picked for what a post is about
}

// Picked is what a router's one question came to.
type Picked struct {
	Member    string // one of the candidates, or what else was answered
	Evaluator string
	Score     *float64
}

// Router picks the one member that a post is for.
type Router interface {
	// Hears reports whether a shared seat that hears stands behind a member.
	Hears(member string) bool
	// Candidates are those of the members, in their order, that can take a post of
	// a principal's.
	Candidates(organization, principal string, members []string) []Candidate
	// Pick asks which of the candidates, all of which have a description, should
	// answer a post, and is called once a post.
	Pick(ctx context.Context, post Line, recent []Line, among []Candidate) (Picked, error)
}

// routedPost is the input of a routed post's fan-out. What it goes by is fixed when
// the line is written and travels with it.
type routedPost struct {
	postedLine
	Holder   string  `json:"holder,omitempty"`
	Fallback string  `json:"fallback"`
	Recent   []int64 `json:"recent,omitempty"` // seqs of the lines before it
}

// routedAction is the fan-out of a post in a routed mailbox. It runs beside the
// turns. Its decision is the transaction that ends it: before that nobody is woken,
// after it a cancel comes too late.
func (k *builtin) routedAction() session.Action {
	return session.Action{
		Schema: schema.Must(schema.For[routedPost]()), Lane: session.Beside, Repeatable: true,
		Run: func(t *session.Turn, input json.RawMessage) (any, error) {
			var p routedPost
			if err := json.Unmarshal(input, &p); err != nil {
				return nil, fmt.Errorf("read the post: %w", err)
			}
			return k.route(t, p)
		},
	}
}

func (k *builtin) route(t *session.Turn, p routedPost) (any, error) {
	recent, err := k.lines(t, p.Recent)
	if err != nil {
		return nil, err
	}
	kept, err := k.kept(t)
	if err != nil {
		return nil, err
	}
	d := Place(t.Context(), k.options.Route, Placing{
		Organization: t.Session().Organization, Post: p.Line, Recent: recent, Members: kept.Members, Holder: p.Holder, Fallback: p.Fallback,
	})
	if t.Context().Err() != nil {
		return nil, context.Cause(t.Context())
	}
	t.AtEnd(func(tx *session.Turn) error { return k.commitRoute(tx, p, d, recent) })
	return d, nil
}

// Placing is what a post is placed by.
type Placing struct {
	Organization string
	Post         Line
	Recent       []Line // before it, oldest first
	Members      []string
	Holder       string // who owes its writer an answer, or empty
	Fallback     string
}

// Place decides who takes a post: the three steps, in their order. It writes nothing.
func Place(ctx context.Context, route Router, p Placing) Decision {
	d := Decision{PostID: p.Post.ID}
	all := route.Candidates(p.Organization, p.Post.Principal, p.Members)
	reachable := func(member string) bool {
		return slices.ContainsFunc(all, func(c Candidate) bool { return c.Member == member })
	}
	if p.Holder != "" && reachable(p.Holder) {
		d.Source, d.Member = SourceHeld, p.Holder
		return d
	}
	described := slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool { return c.Description == "" })
	switch {
	case len(all) == 0:
		d.Reason = "No member whom the writer can reach hears a post."
	case len(described) == 0:
		d.Reason = "No member whom the writer can reach has a description."
	default:
		picked, err := route.Pick(ctx, p.Post, p.Recent, described)
		d.Evaluator, d.Score = picked.Evaluator, picked.Score
		switch {
		case err != nil:
			d.Reason = "The evaluator could not be asked: " + short(err.Error())
		case slices.ContainsFunc(described, func(c Candidate) bool { return c.Member == picked.Member }):
			d.Source, d.Member = SourceEvaluator, picked.Member
			return d
		case picked.Member == "":
			d.Reason = "It fits nobody's job."
		default:
			d.Reason = fmt.Sprintf("The evaluator answered %q, which was not offered.", short(picked.Member))
		}
	}
	if reachable(p.Fallback) {
		d.Source, d.Member = SourceFallback, p.Fallback
		return d
	}
	d.Source = SourceNobody
	d.Reason += fmt.Sprintf(" The fallback %s has no hired seat that hears and that the writer can reach.", p.Fallback)
	return d
}

func short(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	cut := s[:most]
	for !utf8.ValidString(cut) {
		cut = cut[:len(cut)-1]
	}
	return cut + "…"
}

// commitRoute writes a decision: the item, the ledger's note, the delivery and the
// chosen seat's run.
func (k *builtin) commitRoute(t *session.Turn, p routedPost, d Decision, recent []Line) error {
	keeper, err := deliveries(t)
	if err != nil {
		return err
	}
	if _, err := t.Emit(session.Entry{Type: session.TypeComponent, Component: ComponentRoute, Data: d}); err != nil {
		return err
	}
	if err := k.remember(t, func(l *Ledger) { l.routed(d.PostID, d.Source, d.Member) }); err != nil {
		return err
	}
	member := d.Member
	if d.Source == SourceNobody {
		member = p.Fallback
	}
	one := toldOutside{
		delivery: Delivery{
			MailboxID: t.Session().ID, Member: member, PostID: p.ID, Body: p.Body, Principal: p.Principal, Author: p.Author,
			Routed: true, Recent: within(recent, mostRecentBytes),
		},
		row: Delivered{
			Organization: t.Session().Organization, Mailbox: t.Session().ID, Post: p.ID, PostSeq: p.Seq, Member: member,
			State: Nobody, Reason: d.words(), At: t.Now(),
		},
	}
	if d.Source != SourceNobody {
		waker, ok := k.options.Notify.(Waker)
		if !ok {
			return errors.New("mailbox: a route needs a notifier that wakes seats")
		}
		out, err := waker.Wake(t, one.delivery)
		switch {
		case refused(err):
			one.row.fail(err)
		case err != nil:
			return err
		default:
			one.row.State, one.row.Request = out.State, out.Request
		}
	}
	_, err = keeper.AddDelivery(t.Context(), one.row)
	return err
}

// words say of a decision why, for people.
func (d Decision) words() string {
	switch d.Source {
	case SourceHeld:
		return "It is on an earlier post of the same writer."
	case SourceEvaluator:
		if d.Score != nil {
			return fmt.Sprintf("Picked for what the post is about (%s, score %.2f).", d.Evaluator, *d.Score)
		}
		return fmt.Sprintf("Picked for what the post is about (%s).", d.Evaluator)
	case SourceFallback:
		return "Takes what the route cannot place. " + d.Reason
	}
	return d.Reason
}

// mostRecentBytes bounds the lines that travel with a delivery.
const mostRecentBytes = 128 << 10

// within are the newest lines that fit into so many bytes.
func within(lines []Line, most int) []Line {
	from := len(lines)
	for from > 0 && most >= len(lines[from-1].Body) {
		from--
		most -= len(lines[from].Body)
	}
	return lines[from:]
}

// lines reads lines by seq, oldest first; those that are gone are left out.
func (k *builtin) lines(t *session.Turn, seqs []int64) ([]Line, error) {
	if len(seqs) == 0 {
		return nil, nil
	}
	items, err := t.Items(session.ItemQuery{
		Components: []string{ComponentPost}, After: seqs[0] - 1, Before: seqs[len(seqs)-1] + 1, Limit: recentLines,
	})
	if err != nil {
		return nil, err
	}
	var all []Line
	for _, item := range items {
		if e, ok := EntryOf(item); ok && slices.Contains(seqs, e.Seq) {
			all = append(all, e.Line)
		}
	}
	return all, nil
}

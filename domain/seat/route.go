package seat

import (
	"context"

	"postroom/domain/mailbox"
	"postroom/domain/model"
)

// RouteBlock is what a route's question is asked as, by which a test scripts it.
const RouteBlock = "mailbox-route"

const routeAsk = "A post came into a mailbox that several specialists answer. Which specialist should answer it? " +
	"Go by what the post is about. A reply to something that a specialist has just asked goes to that specialist. " +
	"You are given the mailbox's recent lines and the post, as JSON."

// RouteByPurpose makes a route that places each post by what it is about (the seed's
// routeByPurpose): one question to the evaluator, whose choices are the members'
// seats with their descriptions.
func RouteByPurpose(s *Seats, e model.Evaluator) mailbox.Router {
	return &route{seats: s, evaluator: e}
}

type route struct {
	seats     *Seats
	evaluator model.Evaluator
}

// Hears implements mailbox.Router.
func (r *route) Hears(member string) bool {
	if r.seats == nil {
		return true // nobody was hired, which is a problem of its own
	}
	s, ok := r.seats.Resolve("", "", member)
	return ok && s.Hears
}

// Candidates implements mailbox.Router.
func (r *route) Candidates(organization, principal string, members []string) []mailbox.Candidate {
	var all []mailbox.Candidate
	for _, member := range members {
		if s, ok := r.seats.Resolve(organization, principal, member); ok && s.Hears {
			all = append(all, mailbox.Candidate{Member: member, Description: s.Description})
		}
	}
	return all
}

// said is a line as a route's question shows it.
type said struct {
	From string `json:"from"`
	Text string `json:"text"`
}

// Pick implements mailbox.Router.
func (r *route) Pick(ctx context.Context, post mailbox.Line, recent []mailbox.Line, among []mailbox.Candidate) (mailbox.Picked, error) {
	q := model.Question{Block: RouteBlock, Name: "member", Ask: routeAsk}
	for _, c := range among {
		choice := model.Choice{ID: c.Member, Description: c.Description}
		if s, ok := r.seats.Resolve("", post.Principal, c.Member); ok {
			for _, d := range s.Documents {
				choice.Documents = append(choice.Documents, model.Document{Name: d.Name, Text: d.Text})
			}
		}
		q.Choices = append(q.Choices, choice)
	}
	lines := make([]said, len(recent))
	for i, l := range recent {
		lines[i] = said{l.Writer(), l.Body}
	}
	q.State = map[string]any{"recent": lines, "post": said{post.Writer(), post.Body}}
	a, err := r.evaluator.Evaluate(ctx, q)
	picked := mailbox.Picked{Member: a.Choice, Evaluator: a.Evaluator}
	if score, scored := a.Scores[a.Choice]; scored {
		picked.Score = &score
	}
	return picked, err
}

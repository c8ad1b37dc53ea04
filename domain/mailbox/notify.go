package mailbox

import "context"

// Delivery tells one member of one post. Fields as in the seed's
// mailboxNotifyInputSchema.
type Delivery struct {
	MailboxID    string `json:"mailboxId"`
	Member       string `json:"member"`
	PostID       string `json:"postId"`
	Body         string `json:"body"`
	Principal    string `json:"principal"`
	Author       string `json:"author,omitempty"`
	SeatAuthored bool   `json:"seatAuthored,omitempty"`
	Routed       bool   `json:"routed,omitempty"`
	Recent       []Line `json:"recent,omitempty"`
	AnswerToken  string `json:"answerToken,omitempty"`
}

// Writer is the author, else the principal.
func (d Delivery) Writer() string {
	if d.Author != "" {
		return d.Author
	}
	return d.Principal
}

// Notifier is told of each post, once for each declared member. It may be told
// again after a crash, so it should be able to tell (PostID, Member) twice apart.
// An error is recorded as that delivery's failure; the others go on.
type Notifier interface {
	Notify(ctx context.Context, d Delivery) error
}

// NotifierFunc is a function as a Notifier.
type NotifierFunc func(ctx context.Context, d Delivery) error

// Notify calls the function.
func (f NotifierFunc) Notify(ctx context.Context, d Delivery) error { return f(ctx, d) }

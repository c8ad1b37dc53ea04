package mailbox

import (
	"postroom/domain/session"
)

// The actions of the built-in kind.
const (
	actionPost     = "post"
	actionRead     = "read"
	ActionSeatPost = "seatPost" // internal: a seat's own line
	actionPosted   = "onPosted" // internal: the fan-out of a line
	actionRouted   = "onRouted" // internal: the fan-out of a post in a routed mailbox
)

// KindOptions say what the built-in kind is built with.
type KindOptions struct {
	// Notify is told of each post, once for each member. Nil tells nobody: then
	// posts have no fan-out.
	Notify Notifier
	// Boards are the boards that a mailbox holds, by its id, as bound from the
	// files at this start; nil for none.
	Boards func(mailboxID string) []string
	// Route picks the one member that a post is for, in mailboxes with a fallback.
	// It needs a Notify that wakes seats.
	Route Router
	// Fallback is the member who takes what the route cannot place, by the mailbox's
	// id, as bound from the files at this start; empty for one that is not routed.
	Fallback func(mailboxID string) string
}

// builtin is the kind that mailboxes run on.
type builtin struct {
	session.Kind
	options KindOptions
}

// NewKind makes the built-in mailbox kind (the seed's defineMailboxFlow).
func NewKind(o KindOptions) Kind {
	k := &builtin{options: o}
	internal := map[string]session.Action{ActionSeatPost: k.seatPostAction()}
	if o.Notify != nil {
		internal[actionPosted] = k.postedAction()
	}
	if o.Route != nil {
		internal[actionRouted] = k.routedAction()
		internal[ActionAnswer] = k.answerAction()
	}
	kind, err := session.NewKind(session.KindOptions{
		Name:     BuiltinKind,
		Public:   map[string]session.Action{actionPost: k.postAction(), actionRead: k.readAction()},
		Internal: internal,
	})
	if err != nil {
		panic("mailbox: " + err.Error())
	}
	k.Kind = kind
	return k
}

// HasRoute reports whether the kind can place a post.
func (k *builtin) HasRoute() bool { return k.options.Route != nil }

// Hears reports whether a member's seat, among those the route got, hears posts.
func (k *builtin) Hears(member string) bool {
	return k.options.Route != nil && k.options.Route.Hears(member)
}

// fallback is a routed mailbox's, or empty.
func (k *builtin) fallback(mailboxID string) string {
	if k.options.Route == nil || k.options.Fallback == nil {
		return ""
	}
	return k.options.Fallback(mailboxID)
}

// CanNotify reports whether the kind tells members of posts.
func (k *builtin) CanNotify() bool { return k.options.Notify != nil }

func (k *builtin) boards(mailboxID string) []string {
	if k.options.Boards == nil {
		return nil
	}
	return k.options.Boards(mailboxID)
}

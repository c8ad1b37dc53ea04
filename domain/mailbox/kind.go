package mailbox

import "postroom/domain/session"

// BuiltinKind is the name of the kind that mailboxes run on unless their record
// names another.
const BuiltinKind = "mailbox"

// Kind is a kind that mailboxes can run on: what NewKind makes, or a session.Kind
// of one's own.
type Kind interface {
	Name() string
	Definition() session.Kind
}

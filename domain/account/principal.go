package account

import (
	"context"
	"unicode"
	"unicode/utf8"

	"postroom/domain/fault"
)

// DefaultOrganization is the reserved organization of a server without sign-in.
const DefaultOrganization = "default"

// System is the principal of what the server does on its own account, such as
// opening the declared mailboxes at start.
const System = "system"

// Anonymous is the principal of a caller who named nobody, where there is no sign-in.
const Anonymous = "anonymous"

// Principal is the identity that the server resolved for one request.
type Principal struct {
	Organization string `json:"organization"`
	ID           string `json:"id"`
	// Verified says whether a sign-in stood behind ID.
	Verified bool `json:"verified"`
}

// SystemPrincipal is the server itself, in one organization.
func SystemPrincipal(organization string) Principal {
	return Principal{Organization: organization, ID: System, Verified: true}
}

// Claim is what a caller said of itself: the userId of an API call, or the name
// chosen in a browser. Empty means nothing was said.
type Claim struct {
	UserID string
}

// Resolver turns a claim into the identity that the server stands for. The
// context carries whatever a host's own middleware put there.
type Resolver interface {
	Resolve(ctx context.Context, claim Claim) (Principal, error)
}

// Unverified is the resolver of a server without sign-in: it believes the claim,
// says so in Verified, and calls who said nothing Anonymous.
type Unverified struct{}

// maxIDBytes is the longest a principal's id may be.
const maxIDBytes = 200

// ErrInvalidUser refuses a claim that cannot name anybody.
var ErrInvalidUser = fault.Define(fault.Invalid, "invalid-user-id",
	"A userId is at most 200 bytes of visible text, and not the server's own name; send another.")

// Resolve is Resolver's. It refuses with ErrInvalidUser.
func (Unverified) Resolve(_ context.Context, claim Claim) (Principal, error) {
	id := claim.UserID
	if id == "" {
		id = Anonymous
	}
	if len(id) > maxIDBytes || id == System || !utf8.ValidString(id) {
		return Principal{}, ErrInvalidUser.With("bytes", len(id))
	}
	for _, r := range id {
		if !unicode.IsPrint(r) {
			return Principal{}, ErrInvalidUser.With("bytes", len(id))
		}
	}
	return Principal{Organization: DefaultOrganization, ID: id}, nil
}

// Package session is the substrate: sessions, the requests made of them and the
// items those leave behind. It writes a request down before anyone is told it was
// accepted, runs the turns of one session one at a time and in order, lets no
// session wait for another, and takes work over from the dead without ever doing
// it twice with effect.
//
// Order and exclusivity live in the store, never in a process: a request's
// position is given in the transaction that accepts it, a claim is one conditional
// statement, and every write of a running request is fenced by (request, attempt).
//
// The package knows no HTTP, no SQL, no mailbox and no model. What a session does
// is said by its Kind, which others make with NewKind.
package session

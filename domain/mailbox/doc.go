// Package mailbox is one address, one conversation, many writers: what a
// MAILBOX.md record may say, how records are bound to kinds and opened as
// sessions, and what the built-in kind does: post, read, and the fan-out that
// tells each member.
//
// It knows seats only through its Notifier and Router, and knows no files, no
// HTTP and no SQL.
package mailbox

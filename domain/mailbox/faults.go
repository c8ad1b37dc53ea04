package mailbox

import "postroom/domain/fault"

// Refusals of the built-in kind.
var (
	ErrNotBound        = fault.Define(fault.NotFound, "mailbox-not-bound", "Nobody opened a mailbox by this id, so nothing was written; check the id.")
	ErrAuthorNotMember = fault.Define(fault.Invalid, "author-not-a-member", "The author must be one of this mailbox's members, so nothing was written; name one of them, or leave the author out.")
	ErrBodyEmpty       = fault.Define(fault.Invalid, "body-empty", "A post needs a body that is more than blanks; write something and send it again.")
	ErrBodyTooLarge    = fault.Define(fault.TooLarge, "body-too-large", "A post's body is at most 64 KiB; shorten it, or send it in parts.")
	ErrIDCollision     = fault.Define(fault.Conflict, "mailbox-id-held", "The mailbox's id is held by something else; rename the mailbox's folder.")
	ErrPreRename       = fault.Define(fault.Conflict, "pre-rename-store", "The database was written before channels were renamed to mailboxes; start from an empty one.")
	ErrDelivery        = fault.Define(fault.Internal, "delivery-failed", "The member could not be told of this post; the others were. Try again from the post.")
)

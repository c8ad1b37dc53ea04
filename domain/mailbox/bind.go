package mailbox

// Mailbox is one bound record.
type Mailbox struct {
	ID          string
	Kind        string
	Description string
	Members     []string
	Charter     string
	Boards      []string
}

// Bound is a roster of records that passed every check.
type Bound struct {
	mailboxes []Mailbox
}

// Mailboxes lists them, in id order.
func (b *Bound) Mailboxes() []Mailbox { return b.mailboxes }

// Get is the mailbox of that id.
func (b *Bound) Get(id string) (Mailbox, bool) {
	for _, m := range b.mailboxes {
		if m.ID == id {
			return m, true
		}
	}
	return Mailbox{}, false
}

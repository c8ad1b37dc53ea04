package mailbox

// Component names of the items that a mailbox keeps.
const (
	ComponentPost  = "mailbox-post"
	ComponentRoute = "mailbox-route"
)

// Line is one post in the transcript, as the seed spells it.
type Line struct {
	ID        string `json:"id"`
	At        int64  `json:"at"` // ms since the epoch, server clock
	Principal string `json:"principal"`
	// PrincipalVerified says whether a sign-in stood behind Principal.
	PrincipalVerified bool   `json:"principalVerified"`
	Author            string `json:"author,omitempty"` // a claim, checked against the roster
	AuthorVerified    bool   `json:"authorVerified"`   // always false
	SeatAuthored      bool   `json:"seatAuthored,omitempty"`
	// Answers is the id of the post that this line is the one answer to.
	Answers string `json:"answers,omitempty"`
	Body    string `json:"body"` // as given, at most MaxBodyBytes
	// Offline says that a seat wrote it with the offline model; ours, for the screen.
	Offline bool `json:"offline,omitempty"`
}

// Writer is who a reader takes the line to be from: the author, else the principal.
func (l Line) Writer() string {
	if l.Author != "" {
		return l.Author
	}
	return l.Principal
}

// MaxBodyBytes is the longest body of a post, in bytes.
const MaxBodyBytes = 64 << 10

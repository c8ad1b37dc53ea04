package session

// MaxPage is the most rows that one page of anything holds.
const MaxPage = 200

// ItemQuery picks a page of one session's items, oldest first.
type ItemQuery struct {
	Organization string
	Session      string
	Type         string   // empty: every type
	Components   []string // empty: every component
	Request      string   // only this request's items
	After        int64    // seq > After
	Before       int64    // seq < Before; 0: no bound. With it the page is the newest before it
	Newest       bool     // the newest page instead of the oldest, still oldest first
	Limit        int      // 1 to MaxPage; 0: MaxPage
	// Window, when positive, keeps only items of the newest Window requests that
	// count in the history (all but the read lane) before position WindowBefore.
	Window       int
	WindowBefore int64 // 0: no bound
}

// RequestQuery picks a page of requests. Ids are in order of time, so a page is
// keyed by id; newest first.
type RequestQuery struct {
	Organization string
	Session      string   // empty: any
	Parent       string   // only requests of this session's children
	Statuses     []Status // empty: any
	Action       string
	Lane         Lane
	After        string // ids older than this one
	Limit        int
}

// SessionQuery picks a page of sessions, by id.
//
//nolint:revive // one of three siblings, with ItemQuery and RequestQuery.
type SessionQuery struct {
	Organization string
	Kind         string
	Parent       string // only children of this session
	FlowID       string
	Children     bool   // without Parent: list conversations too
	After        string // ids after this one
	Limit        int
}

// Bound is the query's limit within 1 to MaxPage.
func Bound(limit int) int {
	if limit <= 0 || limit > MaxPage {
		return MaxPage
	}
	return limit
}

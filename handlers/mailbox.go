package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"postroom/domain/account"
	"postroom/domain/fault"
	"postroom/domain/mailbox"
	"postroom/domain/session"
	"postroom/views"
)

// pageLines is how many lines a page of a transcript holds.
const pageLines = 50

// GetHome answers GET /.
func (h *Handlers) GetHome(c echo.Context) error {
	if sent, err := h.named(c); sent {
		return err
	}
	shell, rows, err := h.shell(c, "Mailboxes", "mailboxes", "")
	if err != nil {
		return err
	}
	shell.Topics = "home=1"
	return render(c, http.StatusOK, views.HomePage(views.Home{Shell: shell, Rows: rows}))
}

// GetMailbox answers GET /mailboxes/{id}.
func (h *Handlers) GetMailbox(c echo.Context) error {
	if sent, err := h.named(c); sent {
		return err
	}
	return h.mailboxPage(c, http.StatusOK, views.Composer{})
}

// mailboxPage shows a page of the transcript; the composer may carry what a
// refused post left.
func (h *Handlers) mailboxPage(c echo.Context, status int, composer views.Composer) error {
	ctx := c.Request().Context()
	who, err := h.here(c)
	if err != nil {
		return err
	}
	id := param(c, "id")
	// The cursor is taken before the lines are read: what comes in between is told again.
	opened, err := h.Directory.Get(ctx, who.Organization, id)
	if err != nil {
		return h.nearest(err, id)
	}
	before, err := seqOf(c, "before")
	if err != nil {
		return err
	}
	lines := pageLines
	if text := c.QueryParam("limit"); text != "" {
		if lines, err = strconv.Atoi(text); err != nil || lines < 1 || lines > session.MaxPage {
			return invalid("limit", "is a number of lines from 1 to "+strconv.Itoa(session.MaxPage))
		}
	}
	entries, err := h.Directory.Transcript(ctx, who.Organization, id, mailbox.Page{Before: before, Limit: lines})
	if err != nil {
		return err
	}
	shown, err := h.entries(c, who.Organization, id, entries, before == 0)
	if err != nil {
		return err
	}
	shell, _, err := h.shell(c, views.LocalName(id), "", id)
	if err != nil {
		return err
	}
	strip, err := h.Presenter.Strip(ctx, who.Organization, id)
	if err != nil {
		return err
	}
	m := views.Mailbox{
		Shell: shell, ID: id, Description: opened.Description, Charter: opened.Charter, Boards: opened.Declared.Boards,
		Members: h.Presenter.Members(who.Organization, opened.Members, strip), OpenedAt: opened.OpenedAt, Changed: changes(opened),
		Entries: shown, Newer: before > 0, Runs: strip, Composer: h.composer(composer, id, who, opened),
	}
	if len(entries) == lines {
		m.Older = entries[0].Seq
	}
	if before == 0 {
		m.Shell.Topics = url.Values{"mailbox": {id}, "after": {strconv.FormatInt(opened.LastSeq, 10)}, "runs": {id}, "home": {"1"}}.Encode()
	}
	return render(c, status, views.MailboxPage(m))
}

func (h *Handlers) composer(kept views.Composer, id string, who account.Principal, opened mailbox.Opened) views.Composer {
	kept.Action, kept.Field, kept.Label = "/mailboxes/"+url.PathEscape(id)+"/lines", "body", "Post to "+id
	kept.Placeholder = "Post to " + views.LocalName(id) + ". Each member’s seat hears it."
	switch {
	case opened.Declared.Fallback != "":
		kept.Placeholder = "Post to " + views.LocalName(id) + ". Whoever’s job it is answers."
	case len(opened.Members) == 0:
		kept.Placeholder = "Post to " + views.LocalName(id) + "."
	}
	kept.Who, kept.Authors, kept.Draft, kept.Button = who.ID, opened.Members, id, "Post"
	if kept.Key == "" {
		kept.Key = h.NewID("web")
	}
	return kept
}

// entries puts lines, failed requests and notices into one order of time.
func (h *Handlers) entries(c echo.Context, organization, id string, entries []mailbox.Entry, newest bool) ([]views.Entry, error) {
	ctx := c.Request().Context()
	lines, err := h.Presenter.Lines(ctx, organization, id, entries)
	if err != nil {
		return nil, err
	}
	type timed struct {
		at    time.Time
		entry views.Entry
	}
	var all []timed
	first, last := int64(0), int64(0)
	var from, to time.Time
	for i := range lines {
		all = append(all, timed{lines[i].At, views.Entry{Line: &lines[i]}})
	}
	if n := len(lines); n > 0 {
		first, last, from, to = lines[0].Seq, lines[n-1].Seq, lines[0].At, lines[n-1].At
	}
	failed, err := h.Directory.Failed(ctx, organization, id, pageLines)
	if err != nil {
		return nil, err
	}
	for _, r := range failed {
		inside := !r.QueuedAt.Before(from) && (newest || !r.QueuedAt.After(to))
		if len(entries) < pageLines && newest || inside {
			f := h.Presenter.Failed(r)
			all = append(all, timed{f.At, views.Entry{Failed: &f}})
		}
	}
	notices, err := h.Directory.Notices(ctx, organization, id, first, last, newest)
	if err != nil {
		return nil, err
	}
	for _, item := range notices {
		if n, ok := NoticeOf(item); ok {
			all = append(all, timed{n.At, views.Entry{Notice: &n}})
		}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(a.at.UnixMilli(), b.at.UnixMilli()) })
	shown := make([]views.Entry, len(all))
	for i, t := range all {
		shown[i] = t.entry
	}
	return shown, nil
}

// NoticeOf reads a failure item as a notice.
func NoticeOf(item session.Item) (views.Notice, bool) {
	var f fault.Failure
	if item.Type != session.TypeFailure || json.Unmarshal(item.Data, &f) != nil {
		return views.Notice{}, false
	}
	return views.Notice{Seq: item.Seq, Code: f.Code, Message: f.Message, At: item.CreatedAt}, true
}

// changes lists what the file says differently since the mailbox was opened.
func changes(o mailbox.Opened) []views.Change {
	if !o.Changed {
		return nil
	}
	var all []views.Change
	for _, c := range []views.Change{
		{What: "Description", Kept: o.Description, File: o.Declared.Description},
		{What: "Members", Kept: strings.Join(o.Members, ", "), File: strings.Join(o.Declared.Members, ", ")},
		{What: "Charter", Kept: o.Charter, File: o.Declared.Charter},
	} {
		if c.Kept != c.File {
			all = append(all, c)
		}
	}
	return all
}

// nearest adds to "not bound" the open mailbox whose id is most like the one asked for.
func (h *Handlers) nearest(err error, id string) error {
	f := fault.Of(err)
	if f.Code != mailbox.ErrNotBound.Code {
		return err
	}
	best, least := "", 4
	for _, m := range h.Directory.Declared() {
		if d := distance(id, m.ID); d < least {
			best, least = m.ID, d
		}
	}
	f = f.Saying("Nobody opened a mailbox by the name " + id + ".")
	if best != "" {
		f = f.With("did you mean", best)
	}
	return f
}

// distance is how many characters differ between two ids (Levenshtein's).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}

// PostLine answers POST /mailboxes/{id}/lines: the page's form, with or without script.
func (h *Handlers) PostLine(c echo.Context) error {
	id, text, author := param(c, "id"), formText(c, "body"), c.FormValue("author")
	if sent, err := h.namedFor(c, "/mailboxes/"+url.PathEscape(id)); sent {
		return err
	}
	input := map[string]string{"body": text}
	if author != "" {
		input["author"] = author
	}
	r, err := h.submitForm(c, mailbox.BuiltinKind, id, "post", input, wantsPage(c))
	if err == nil && r.Failure != nil {
		err = refusal(r.Failure)
	}
	if err != nil && wantsPage(c) {
		f := fault.Of(err)
		return h.mailboxPage(c, Status(f), views.Composer{Text: text, Author: author, Error: f.Message, Code: f.Code, Key: h.nextKey(c, f)})
	}
	return formAnswer(c, r, err, "/mailboxes/"+url.PathEscape(id)+"#end")
}

// formWait is how long a form without script is held for its turn.
const formWait = 5 * time.Second

// submitForm makes a form's request. A page is held until the request has had its
// turn, so that it shows the line or says why there is none; a script is not, since
// it hears of both by its socket.
func (h *Handlers) submitForm(c echo.Context, kind, id, action string, input any, hold bool) (session.Request, error) {
	ctx := c.Request().Context()
	who, err := h.here(c)
	if err != nil {
		return session.Request{}, err
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return session.Request{}, err
	}
	r, err := h.Client.Submit(ctx, session.Submission{Kind: kind, Session: id, Action: action, Input: raw, Principal: who, Key: c.FormValue("key")})
	c.Set(MadeRequest, r.ID)
	if err != nil || !hold || r.Status.Ended() {
		return r, err
	}
	ctx, cancel := context.WithTimeout(ctx, formWait)
	defer cancel()
	return h.Client.Wait(ctx, r.Organization, r.ID)
}

// nextKey is the key for sending a form again. After a refusal it is a new one;
// where the server was in trouble it stays, since the post may have been kept.
func (h *Handlers) nextKey(c echo.Context, f *fault.Fault) string {
	if f.Class == fault.Busy || f.Class == fault.Internal {
		return c.FormValue("key")
	}
	return h.NewID("web")
}

// refusal is a stored failure as the fault it was.
func refusal(f *fault.Failure) error {
	made := fault.Define(fault.Invalid, f.Code, f.Message)
	made.Details = f.Details
	return made
}

// formAnswer sends a browser on, and answers a script with the request.
func formAnswer(c echo.Context, r session.Request, err error, to string) error {
	if err != nil {
		return err
	}
	if wantsPage(c) {
		return c.Redirect(http.StatusSeeOther, to)
	}
	return c.JSON(http.StatusAccepted, requestBody{shapeOf(r)})
}

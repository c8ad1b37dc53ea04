package cli

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"postroom/domain/fault"
	"postroom/domain/mailbox"
	"postroom/domain/model"
	"postroom/domain/model/learned"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
)

var (
	errNotRouted = fault.Define(fault.Invalid, "mailbox-not-routed", "No mailbox of this workforce has this id and a routing: line; name one that has.")
	errPosts     = fault.Define(fault.Invalid, "invalid-posts", "A file of posts is CSV with a header: a column text, and a column member where the posts are labelled.")
)

type route struct {
	Posts     string `arg:"" help:"CSV file of posts: a column text, and a column member where they are labelled (empty: fits nobody)."`
	Mailbox   string `required:"" help:"The routed mailbox's id."`
	Workforce string `help:"The workforce folder; the demo in the binary when none is named."`
	Train     string `help:"CSV file of labelled posts to learn from first, in memory only."`
	JSON      bool   `name:"json" help:"Print JSON."`
}

// routedRow is where one post would go.
type routedRow struct {
	Text     string   `json:"text"`
	Expected string   `json:"expected"`
	Member   string   `json:"member"`
	Source   string   `json:"source"`
	Score    *float64 `json:"score"`
}

// routeReport is where posts would go, and how many of the labelled ones rightly.
type routeReport struct {
	Posts     []routedRow               `json:"posts"`
	Accuracy  *routeAccuracy            `json:"accuracy"`  // null where the posts have no labels
	Confusion map[string]map[string]int `json:"confusion"` // by the member expected; "" is nobody
	misfits   int
}

// routeAccuracy are shares of the posts that are right, 0 to 1.
type routeAccuracy struct {
	Fitting float64 `json:"fitting"` // of those with a member: it got them, and not as the fallback
	Refused float64 `json:"refused"` // of those without: the fallback got them as what fits nobody
	All     float64 `json:"all"`
}

// Run prints who would get each post, and posts nothing.
func (c route) Run(ctx context.Context, s *streams) (err error) {
	tree, done, err := opened(c.Workforce)
	if err != nil {
		return s.cannot(err)
	}
	defer func() { err = errors.Join(err, done()) }()
	posts, labelled, err := readPosts(c.Posts)
	if err != nil {
		return s.cannot(err)
	}
	evaluator := offline.NewEvaluator()
	if c.Train != "" {
		examples, labelled, err := readPosts(c.Train)
		if err != nil {
			return s.cannot(err)
		}
		if !labelled {
			return s.cannot(errPosts.With("file", c.Train, "problem", "there is no column member to learn from"))
		}
		m := learned.Train(examples)
		if m.Report().Checked == 0 {
			s.say("nothing was learned from " + c.Train + ": it takes ten posts, of two members at least")
		}
		evaluator = learned.NewEvaluator(evaluator, evaluator, func(context.Context, model.Question) (*learned.Model, error) { return m, nil })
	}
	checked, err := look(tree)
	if err != nil {
		return s.cannot(err)
	}
	if checked.Bound == nil || checked.Seats == nil {
		return errors.Join(print(s.err, checked.Report), exit(1))
	}
	box, found := checked.Bound.Get(c.Mailbox)
	if !found || box.Fallback == "" {
		return errNotRouted.With("mailbox", c.Mailbox)
	}
	for _, e := range posts {
		if e.Choice != "" && !slices.Contains(box.Members, e.Choice) {
			s.say(fmt.Sprintf("%q is labelled in %s and is no member of %s, so no post of theirs can be right", e.Choice, c.Posts, box.ID))
			break
		}
	}
	report, err := tryRoute(ctx, seat.RouteByPurpose(checked.Seats, evaluator), box, posts)
	if err != nil {
		return err
	}
	if !labelled {
		report.Accuracy, report.Confusion = nil, nil
	}
	if !c.JSON {
		return report.print(s.out)
	}
	out := json.NewEncoder(s.out)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(report)
}

// tryRoute asks a route about posts, each by itself.
func tryRoute(ctx context.Context, by mailbox.Router, box mailbox.Mailbox, posts []learned.Example) (routeReport, error) {
	report := routeReport{Posts: make([]routedRow, 0, len(posts)), Confusion: make(map[string]map[string]int)}
	var fitting, fits, refused, misfits int
	for _, post := range posts {
		d := mailbox.Place(ctx, by, mailbox.Placing{
			Post: mailbox.Line{Body: post.Text, Principal: "somebody"}, Members: box.Members, Fallback: box.Fallback,
		})
		if err := ctx.Err(); err != nil {
			return report, err
		}
		report.Posts = append(report.Posts, routedRow{Text: post.Text, Expected: post.Choice, Member: d.Member, Source: d.Source, Score: d.Score})
		got := d.Member
		if d.Source != mailbox.SourceEvaluator {
			got = ""
		}
		if post.Choice == "" {
			misfits++
			if d.Source == mailbox.SourceFallback {
				refused++
			}
		} else {
			fits++
			if got == post.Choice {
				fitting++
			}
		}
		if report.Confusion[post.Choice] == nil {
			report.Confusion[post.Choice] = make(map[string]int)
		}
		report.Confusion[post.Choice][got]++
	}
	report.misfits = misfits
	report.Accuracy = &routeAccuracy{share(fitting, fits), share(refused, misfits), share(fitting+refused, fits+misfits)}
	return report, nil
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return math.Round(float64(n)/float64(of)*1e4) / 1e4
}

// print writes one line a post, then how right they were where that is known.
func (r routeReport) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var errs []error
	line := func(format string, args ...any) {
		_, err := fmt.Fprintf(table, format, args...)
		errs = append(errs, err)
	}
	for _, p := range r.Posts {
		score := ""
		if p.Score != nil {
			score = fmt.Sprintf("%.2f", *p.Score)
		}
		mark := ""
		if r.Accuracy != nil && p.Expected != "" && (p.Member != p.Expected || p.Source != mailbox.SourceEvaluator) {
			mark = "expected " + p.Expected
		}
		if r.Accuracy != nil && p.Expected == "" && p.Source != mailbox.SourceFallback {
			mark = "expected nobody"
		}
		line("%s\t%s\t%s\t%s\t%s\n", p.Member, p.Source, score, oneLine(p.Text), oneLine(mark))
	}
	if r.Accuracy == nil {
		return errors.Join(append(errs, table.Flush())...)
	}
	line("\n")
	if r.misfits < len(r.Posts) {
		line("fitting posts right\t%.1f%%\n", 100*r.Accuracy.Fitting)
	}
	if r.misfits > 0 {
		line("others refused\t%.1f%%\n", 100*r.Accuracy.Refused)
	}
	line("all right\t%.1f%%\n", 100*r.Accuracy.All)
	for _, expected := range slices.Sorted(maps.Keys(r.Confusion)) {
		for _, got := range slices.Sorted(maps.Keys(r.Confusion[expected])) {
			if got != expected {
				line("%s\twent to %s\t%d\n", named(expected), named(got), r.Confusion[expected][got])
			}
		}
	}
	return errors.Join(append(errs, table.Flush())...)
}

func named(member string) string {
	if member == "" {
		return "nobody"
	}
	return oneLine(member)
}

// oneLine is the beginning of a text, without what a terminal would obey.
func oneLine(text string) string {
	const most = 60
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
	if utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:most]) + "…"
	}
	return text
}

// readPosts reads posts with their labels; it reports whether there are labels.
func readPosts(path string) (posts []learned.Example, labelled bool, err error) {
	f, err := os.Open(path) //nolint:gosec // the file that whoever runs this named.
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	unmarked := bufio.NewReader(f)
	if mark, _ := unmarked.Peek(3); string(mark) == "\ufeff" {
		_, _ = unmarked.Discard(3)
	}
	r := csv.NewReader(unmarked)
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, false, errPosts.With("file", path, "problem", err.Error())
	}
	for i := range header {
		header[i] = strings.TrimSpace(header[i])
	}
	text, member := slices.Index(header, "text"), slices.Index(header, "member")
	if text < 0 {
		return nil, false, errPosts.With("file", path, "columns", strings.Join(header, ", "))
	}
	for {
		row, err := r.Read()
		switch {
		case errors.Is(err, io.EOF):
			return posts, member >= 0, nil
		case err != nil:
			return nil, false, errPosts.With("file", path, "problem", err.Error())
		case len(row) != len(header):
			at, _ := r.FieldPos(0)
			return nil, false, errPosts.With("file", path, "problem", fmt.Sprintf("line %d has %d columns and the header %d; put a text with a comma into quotes", at, len(row), len(header)))
		}
		e := learned.Example{Text: row[text]}
		if member >= 0 {
			e.Choice = strings.TrimSpace(row[member])
		}
		posts = append(posts, e)
	}
}

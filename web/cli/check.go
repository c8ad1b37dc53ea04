package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"postroom/domain/mailbox"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
	"postroom/workforce"
)

type check struct {
	Dir  string `arg:"" optional:"" help:"The workforce folder; the demo in the binary when none is named."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints what is wrong with a tree. It exits 1 when there are errors, and 2
// when it could not look.
func (c check) Run(s *streams) (err error) {
	tree, done, err := opened(c.Dir)
	if err != nil {
		return s.cannot(err)
	}
	defer func() { err = errors.Join(err, done()) }()
	report, err := inspect(tree)
	if err != nil {
		return s.cannot(err)
	}
	if c.JSON {
		out := json.NewEncoder(s.out)
		out.SetIndent("", "  ")
		out.SetEscapeHTML(false)
		err = out.Encode(report)
	} else {
		err = print(s.out, report)
	}
	if err == nil && len(report.Errors) > 0 {
		err = exit(1)
	}
	return err
}

// opened is a workforce folder, or the demo where none is named, until done is called.
func opened(dir string) (tree fs.FS, done func() error, err error) {
	if dir == "" {
		return workforce.Demo(), func() error { return nil }, nil
	}
	root, err := workforce.OpenDir(dir)
	if err != nil {
		return nil, nil, err
	}
	return root.FS(), root.Close, nil
}

// inspect checks a tree against what the server brings by itself.
func inspect(tree fs.FS) (workforce.Report, error) {
	checked, err := look(tree)
	return checked.Report, err
}

// look reads, binds and hires a tree by what the server brings by itself.
func look(tree fs.FS) (workforce.Checked, error) {
	names := make([]string, 0, 2)
	for _, t := range seat.Tools() {
		names = append(names, t.Name())
	}
	return workforce.Check(tree, workforce.CheckOptions{
		MailboxKinds: func(hired *seat.Seats) map[string]mailbox.Kind {
			return map[string]mailbox.Kind{mailbox.BuiltinKind: mailbox.NewKind(mailbox.KindOptions{
				Notify: seat.WakeMembers(&seat.Seats{}), Route: seat.RouteByPurpose(hired, offline.NewEvaluator()),
			})}
		},
		Tools: names,
	})
}

// print writes one line a finding, as compilers do, and a summary.
func print(w io.Writer, r workforce.Report) error {
	var errs []error
	line := func(f workforce.Finding, mark string) {
		at := f.Path
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.Path, f.Line)
		}
		_, err := fmt.Fprintf(w, "%s: %s%s: %s\n", at, mark, f.Code, f.Message)
		errs = append(errs, err)
	}
	for _, f := range r.Errors {
		line(f, "")
	}
	for _, f := range r.Warnings {
		line(f, "warning: ")
	}
	_, err := fmt.Fprintf(w, "%s, %s, %s\n", count(len(r.Mailboxes), "mailbox", "mailboxes"), count(len(r.Errors), "error", "errors"), count(len(r.Warnings), "warning", "warnings"))
	return errors.Join(append(errs, err)...)
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Package cli is the command line: one file a command.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"postroom/domain/fault"
)

// commands are what the program can do.
type commands struct {
	Serve   serve      `cmd:"" default:"withargs" help:"Serve the web application (the default)."`
	Init    initialise `cmd:"" help:"Write the demo workforce into a folder, to begin one's own with."`
	Backup  backup     `cmd:"" help:"Copy the database into a file, also while it is served."`
	Restore restore    `cmd:"" help:"Put a backup in the place of the database."`
	Check   check      `cmd:"" help:"Check a workforce folder and print what is wrong with it."`
	Route   route      `cmd:"" help:"Show who in a routed mailbox would get posts, and how rightly, without posting them."`
	Version version    `cmd:"" help:"Print the version."`
}

// streams are where a command reads and writes.
type streams struct {
	out, err io.Writer
}

// cannot says what kept a command from its work; its exit code is 2.
func (s *streams) cannot(err error) error {
	s.say(words(err))
	return exit(2)
}

// say writes a line for the person at the terminal, who may have left.
func (s *streams) say(text string) { _, _ = fmt.Fprintln(s.err, "postroom:", text) }

// exit is a command's own exit code.
type exit int

// Error says the code.
func (e exit) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Main runs a command and returns the process's exit code: 0, 1 for what the
// command refused or found, 2 for a wrong call.
func Main(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) int {
	var c commands
	code := -1
	parser, err := kong.New(&c, kong.Name("postroom"), kong.Description("Mailboxes that people and AI agents work together."),
		kong.Writers(stdout, stderr), kong.Exit(func(n int) { code = n }), kong.UsageOnError())
	if err != nil {
		(&streams{stdout, stderr}).say(err.Error())
		return 2
	}
	parsed, err := parser.Parse(args)
	if code >= 0 {
		return code // --help
	}
	if err != nil {
		(&streams{stdout, stderr}).say(err.Error())
		return 2
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(&streams{out: stdout, err: stderr})
	var own exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &own):
		return int(own)
	}
	(&streams{stdout, stderr}).say(words(err))
	return 1
}

// words is an error as a person at a terminal reads it.
func words(err error) string {
	var f *fault.Fault
	if errors.As(err, &f) && f.Class != fault.Internal {
		text := f.Code + ": " + f.Message
		for name, value := range f.Details {
			text += fmt.Sprintf(" (%s: %v)", name, value)
		}
		return text
	}
	return err.Error()
}

// logger is the server's log.
func logger(w io.Writer, asJSON bool) *slog.Logger {
	if asJSON {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

type version struct{}

// Run prints the version.
func (version) Run(s *streams) error {
	text := "devel"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		text = info.Main.Version
	}
	_, err := fmt.Fprintln(s.out, "postroom", text)
	return err
}

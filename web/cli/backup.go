package cli

import (
	"context"
	"fmt"
	"time"

	"postroom/domain/session"
	"postroom/domain/store"
	"postroom/web/config"
)

type backup struct {
	File     string `arg:"" help:"File to write the copy into; it must not be there."`
	Database string `default:"postroom.db" env:"POSTROOM_DATABASE" help:"SQLite file to copy; a server may have it open."`
}

// Run copies a database, also while it is served.
func (c backup) Run(ctx context.Context, s *streams) error {
	if err := (config.Config{Database: c.Database}).CheckDatabase(); err != nil {
		return err
	}
	if c.File == "" {
		return s.cannot(errNoName)
	}
	copied, err := store.Backup(ctx, c.Database, c.File)
	if err != nil {
		return err
	}
	return s.report("Copied", c.Database, "to", c.File, copied)
}

type restore struct {
	File     string `arg:"" help:"The backup."`
	Database string `default:"postroom.db" env:"POSTROOM_DATABASE" help:"SQLite file to put it at; no server may have it open."`
	Replace  bool   `help:"Put it in the place of a database that is there, which is kept beside it."`
}

// Run puts a backup in the place of a database.
func (c restore) Run(ctx context.Context, s *streams) error {
	if err := (config.Config{Database: c.Database}).CheckDatabase(); err != nil {
		return err
	}
	had, copied, err := store.Restore(ctx, c.File, c.Database, c.Replace, session.ULIDs(time.Now, nil))
	if had != "" {
		s.say("what was there before is kept as " + had)
	}
	if err != nil {
		return err
	}
	return s.report("Restored", c.File, "to", c.Database, copied)
}

func (s *streams) report(did, from, to, target string, c store.Copied) error {
	_, err := fmt.Fprintf(s.out, "%s %s %s %s: %d sessions, %d requests, %d items, schema %d, %d bytes. It was checked and is whole.\n",
		did, from, to, target, c.Sessions, c.Requests, c.Items, c.Schema, c.Bytes)
	return err
}

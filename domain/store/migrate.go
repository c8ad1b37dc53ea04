package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a file as ours: "PROM" in ASCII.
const applicationID = 0x50524f4d

// steps are the migrations' files, oldest first.
func steps() ([]string, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	return names, nil
}

// migrate brings the schema from the version in the file to the newest, one
// transaction a step. A file that is not ours is left as it was. Before a database
// with something in it is changed, a snapshot is taken and named in the log.
func migrate(ctx context.Context, db *sql.DB, o Options) error {
	have, err := version(ctx, db)
	if err != nil {
		return err
	}
	names, err := steps()
	if err != nil {
		return err
	}
	if have > len(names) {
		return ErrNewer.With("file", have, "this version", len(names))
	}
	if have > 0 && have < len(names) {
		kept := fmt.Sprintf("%s.schema-%d-%s", o.Path, have, o.Clock().UTC().Format("20060102T150405.000"))
		if err := snapshot(ctx, db, kept); err != nil {
			return err
		}
		o.Log.InfoContext(ctx, "the database is brought up to date; how it was before is kept", "from schema", have, "to schema", len(names), "snapshot", kept)
	}
	for i := have; i < len(names); i++ {
		if err := step(ctx, db, names[i], i+1, o); err != nil {
			return coded("migrate to schema "+names[i], err)
		}
	}
	return nil
}

// version is the file's schema version, 0 for an empty file.
func version(ctx context.Context, db *sql.DB) (int, error) {
	var id, have, tables int
	for _, q := range []struct {
		text string
		into *int
	}{
		{"PRAGMA application_id", &id},
		{"PRAGMA user_version", &have},
		{"SELECT count(*) FROM sqlite_schema", &tables},
	} {
		if err := db.QueryRowContext(ctx, q.text).Scan(q.into); err != nil {
			return 0, coded("read the database", err)
		}
	}
	if id != applicationID && (id != 0 || have != 0 || tables != 0) {
		return 0, ErrForeign.With("path", "")
	}
	return have, nil
}

func step(ctx context.Context, db *sql.DB, name string, to int, o Options) (err error) {
	text, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, tx.Rollback())
		}
	}()
	statements := string(text) + fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = %d;", applicationID, to)
	if _, err = tx.ExecContext(ctx, statements); err != nil {
		return err
	}
	if to == 1 {
		if _, err = tx.ExecContext(ctx, "INSERT INTO meta (name, value) VALUES ('epoch', ?)", o.NewID("epoch")); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (r reader) meta(ctx context.Context, name string) (string, error) {
	var value string
	err := r.row(ctx, "SELECT value FROM meta WHERE name = ?", name).Scan(&value)
	return value, coded("read "+name, err)
}

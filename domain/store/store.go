package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"postroom/domain/session"
)

// Options say which database to open.
type Options struct {
	Path  string // of the SQLite file; made when it is not there
	Clock func() time.Time
	NewID func(prefix string) string
	Log   *slog.Logger
	// Readers is how many reads go on at once [8].
	Readers int
}

// Store is the open database. Run must go on for Write to get anywhere.
type Store struct {
	reader
	writer *writer
	own    *own // the writer's statements
	write  *sql.DB
	read   *sql.DB
	lock   *flock.Flock
	epoch  string
}

var _ session.Store = (*Store)(nil)

// Open takes the database for this process alone, brings its schema up to date
// and starts nothing. It refuses with the coded errors of this package.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Path == "" || o.Clock == nil || o.NewID == nil || o.Log == nil {
		return nil, errors.New("store: a path, a clock, an id source and a log are needed")
	}
	lock, err := exclusive(o.Path)
	if err != nil {
		return nil, err
	}
	s := &Store{lock: lock}
	if err := s.open(ctx, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, o Options) error {
	var err error
	if s.write, err = pool(ctx, o.Path, 1, "&_txlock=immediate&_pragma=journal_mode(WAL)"); err != nil {
		return err
	}
	if err := migrate(ctx, s.write, o); err != nil {
		return err
	}
	readers := o.Readers
	if readers <= 0 {
		readers = 8
	}
	if s.read, err = pool(ctx, o.Path, readers, "&_pragma=query_only(1)"); err != nil {
		return err
	}
	readHandle, err := orm(s.read)
	if err != nil {
		return err
	}
	s.reader = reader{db: readHandle}
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return coded("open the database", err)
	}
	if s.own, err = prepare(ctx, conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	writeHandle, err := orm(conn)
	if err != nil {
		return err
	}
	s.writer = newWriter(writeHandle, s.own)
	if err := s.prune(ctx, o.Clock()); err != nil {
		return err
	}
	s.epoch, err = s.meta(ctx, "epoch")
	return err
}

// pool opens the file for so many connections.
func pool(ctx context.Context, path string, connections int, pragmas string) (*sql.DB, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() +
		"?_time_format=sqlite&_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=synchronous(FULL)" +
		"&_pragma=temp_store(MEMORY)&_pragma=cache_size(-32768)" + pragmas // savepoints journal in memory
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, coded("open the database", err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(coded("open the database", err), db.Close())
	}
	return db, nil
}

// orm is gorm on a pool, or on the writer's own connection, where each statement is
// prepared once already or runs seldom.
func orm(conn gorm.ConnPool) (*gorm.DB, error) {
	_, pooled := conn.(*sql.DB)
	db, err := gorm.Open(sqlite.New(sqlite.Config{DriverName: "sqlite", Conn: conn}), &gorm.Config{
		SkipDefaultTransaction: true, PrepareStmt: pooled, PrepareStmtMaxSize: 500,
		DisableAutomaticPing: true, Logger: logger.Discard,
	})
	return db, coded("open the database", err)
}

// exclusive takes the lock beside the database, which the system gives back
// however this process ends.
func exclusive(path string) (*flock.Flock, error) {
	if dir := filepath.Dir(path); dir != "." {
		if _, err := os.Stat(dir); err != nil {
			return nil, ErrNoFolder.With("path", path).Because(err)
		}
	}
	lock := flock.New(path + ".lock")
	ok, err := lock.TryLock()
	if err != nil {
		return nil, ErrNoFolder.With("path", path).Because(err)
	}
	if !ok {
		return nil, ErrInUse.With("path", path)
	}
	return lock, nil
}

// Write implements session.Store.
func (s *Store) Write(ctx context.Context, fn func(tx session.Tx) error) error {
	return s.writer.write(ctx, fn)
}

// Run groups and commits writes until ctx ends; then it commits what is queued
// and refuses the rest with ErrClosed.
func (s *Store) Run(ctx context.Context) error { return s.writer.run(ctx) }

// Epoch names this history: it changes when the database is made or restored, so
// that a cursor into another history is known for what it is.
func (s *Store) Epoch() string { return s.epoch }

// Ping reports whether the database can be read.
func (s *Store) Ping(ctx context.Context) error {
	return coded("read the database", s.read.PingContext(ctx))
}

// Close gives the database up. Call it when Run has returned.
func (s *Store) Close() error {
	errs := []error{s.own.close()}
	for _, pool := range []*sql.DB{s.read, s.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	if s.lock != nil {
		errs = append(errs, s.lock.Unlock())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("close the database: %w", err)
	}
	return nil
}

// CannotWrite is the trouble that the last write had with the database, or nil
// once one went through again.
func (s *Store) CannotWrite() error { return s.writer.trouble() }

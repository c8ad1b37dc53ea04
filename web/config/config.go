// Package config is what a server is told by flags and variables, checked at once.
package config

import (
	"errors"
	"net"
	"strings"
	"time"

	"postroom/domain/fault"
)

// Refusals of a configuration.
var (
	ErrDatabase = fault.Define(fault.Invalid, "database-unsupported", "Only SQLite is served so far; name a file with --database.")
	ErrAddress  = fault.Define(fault.Invalid, "address-not-loopback", "There is no sign-in yet, so the server answers on loopback only; use --addr 127.0.0.1:8080.")
	ErrBadAddr  = fault.Define(fault.Invalid, "invalid-address", "The address must be a host and a port, such as 127.0.0.1:8080.")
	ErrKey      = fault.Define(fault.Invalid, "model-key-missing", "The provider needs a key; set its variable (see details), or serve with --offline.")
	ErrBounds   = fault.Define(fault.Invalid, "invalid-limit", "A limit is out of its bounds; see details.")
)

// Config is the configuration of a server. Flags are also read from variables, as
// POSTROOM_ADDR is for --addr.
type Config struct {
	Addr             string        `default:"127.0.0.1:8080" env:"POSTROOM_ADDR" help:"Address to listen on; port 0 picks a free one."`
	MetricsAddr      string        `env:"POSTROOM_METRICS_ADDR" help:"Address on which /metrics is answered instead of on the main one, for a Prometheus on another machine; it shows counts only."`
	Database         string        `default:"postroom.db" env:"POSTROOM_DATABASE" help:"SQLite file to keep everything in; made when it is not there."`
	Workforce        string        `env:"POSTROOM_WORKFORCE" help:"Folder of the declared tree; the demo that ships in the binary when none is named."`
	LogJSON          bool          `name:"log-json" env:"POSTROOM_LOG_JSON" help:"Write the log as JSON."`
	Provider         string        `default:"auto" enum:"auto,anthropic,openai,offline" env:"POSTROOM_PROVIDER" help:"Who answers: anthropic, openai (any endpoint that speaks as it does), offline, or auto: by the keys that are set (ANTHROPIC_API_KEY, OPENAI_API_KEY or OPENAI_BASE_URL), else offline."`
	Model            string        `env:"POSTROOM_MODEL" help:"Name of the model for seats whose WORKER.md names none."`
	ModelTimeout     time.Duration `default:"2m" env:"POSTROOM_MODEL_TIMEOUT" help:"How long a model may say nothing before its answer is given up."`
	ModelConcurrency int           `default:"8" env:"POSTROOM_MODEL_CONCURRENCY" help:"Model calls in flight at once."`
	RunTimeout       time.Duration `default:"5m" env:"POSTROOM_RUN_TIMEOUT" help:"How long a seat's run may take."`
	Grace            time.Duration `default:"20s" env:"POSTROOM_GRACE" help:"How long runs may go on when the server stops."`
	OfflineDelay     time.Duration `default:"900ms" env:"POSTROOM_OFFLINE_DELAY" help:"How long the offline model takes over an answer, so that people see the seat at work."`
}

// WithDefaults fills in what was left out in code; flags have theirs. Without an
// address nothing is listened on.
func (c Config) WithDefaults() Config {
	if c.Database == "" {
		c.Database = "postroom.db"
	}
	if c.ModelConcurrency == 0 {
		c.ModelConcurrency = 8
	}
	if c.ModelTimeout == 0 {
		c.ModelTimeout = 2 * time.Minute
	}
	if c.RunTimeout == 0 {
		c.RunTimeout = 5 * time.Minute
	}
	return c
}

// Check refuses what cannot be served, all of it at once.
func (c Config) Check() error {
	var errs []error
	if err := c.CheckDatabase(); err != nil {
		errs = append(errs, err)
	}
	host, _, err := net.SplitHostPort(c.Addr)
	if c.Addr == "" {
		host, err = "localhost", nil
	}
	if err != nil {
		errs = append(errs, ErrBadAddr.With("addr", c.Addr).Because(err))
	} else if !Loopback(host) {
		errs = append(errs, ErrAddress.With("addr", c.Addr))
	}
	if _, _, err := net.SplitHostPort(c.MetricsAddr); c.MetricsAddr != "" && err != nil {
		errs = append(errs, ErrBadAddr.With("metrics-addr", c.MetricsAddr).Because(err))
	}
	for _, limit := range []struct {
		name string
		bad  bool
	}{
		{"model-concurrency", c.ModelConcurrency < 1 || c.ModelConcurrency > 1000},
		{"model-timeout", c.ModelTimeout < time.Second || c.ModelTimeout > time.Hour},
		{"run-timeout", c.RunTimeout < time.Second || c.RunTimeout > 24*time.Hour},
		{"grace", c.Grace < 0 || c.Grace > time.Hour},
		{"offline-delay", c.OfflineDelay < 0 || c.OfflineDelay > time.Minute},
	} {
		if limit.bad {
			errs = append(errs, ErrBounds.With("limit", limit.name))
		}
	}
	return errors.Join(errs...)
}

// CheckDatabase refuses a database that is no SQLite file.
func (c Config) CheckDatabase() error {
	if strings.Contains(c.Database, "://") || c.Database == "" {
		return ErrDatabase.With("database", scheme(c.Database))
	}
	return nil
}

// scheme is what stands before ://; the rest may hold a password.
func scheme(database string) string {
	before, _, _ := strings.Cut(database, "://")
	return before
}

// Loopback reports whether a host's name or address is this machine's own.
func Loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return ip != nil && ip.IsLoopback()
}

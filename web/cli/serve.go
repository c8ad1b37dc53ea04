package cli

import (
	"context"
	"errors"
	"net"
	"os"

	"postroom/web"
	"postroom/web/config"
	"postroom/workforce"
)

type serve struct {
	config.Config
	Offline bool `env:"POSTROOM_OFFLINE" help:"Answer without a language model, from the seats' documents, whatever keys are set."`
}

// Run serves until the context ends.
func (c serve) Run(ctx context.Context, s *streams) (err error) {
	log := logger(s.err, c.LogJSON)
	options := web.Options{Config: c.Config, Log: log}
	if c.Workforce != "" {
		root, err := workforce.OpenDir(c.Workforce)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, root.Close()) }()
		options.Workforce = root.FS()
	}
	if c.ModelConcurrency == 0 {
		return config.ErrBounds.With("limit", "model-concurrency")
	}
	if c.ModelTimeout == 0 {
		return config.ErrBounds.With("limit", "model-timeout")
	}
	talker, err := c.talker(os.Getenv)
	if err != nil {
		return err
	}
	options.Model, options.Config.Model = talker.client, talker.model
	var server *web.Server
	options.Listening = func(addr net.Addr) {
		log.Info("listening", "url", "http://"+addr.String(), "database", c.Database, "provider", talker.provider, "model", talker.model)
		log.Info("there is no sign-in: names are what people say, and only this machine is answered")
		for _, w := range server.Report().Warnings {
			log.Warn(w.Message, "code", w.Code, "path", w.Path, "line", w.Line)
		}
	}
	if server, err = web.New(options); err != nil {
		return err
	}
	return server.Run(ctx)
}

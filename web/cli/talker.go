package cli

import (
	"postroom/domain/model"
	"postroom/domain/model/anthropic"
	"postroom/domain/model/openai"
	"postroom/web/config"
)

// The models that are asked when none is named.
const (
	anthropicModel = "claude-sonnet-5-5"
	openaiModel    = "gpt-5.4-mini"
)

// talker is who answers for the seats. Without a client it is the offline model.
type talker struct {
	provider string
	client   model.Client
	model    string
}

// talker picks the provider by flags and by the variables that its SDK is known by.
// Keys come by variables alone: a command line can be read by everybody here.
func (c serve) talker(env func(string) string) (talker, error) {
	provider := c.Provider
	if c.Offline {
		provider = "offline"
	}
	if provider == "auto" || provider == "" {
		switch {
		case env("ANTHROPIC_API_KEY") != "":
			provider = "anthropic"
		case env("OPENAI_API_KEY") != "" || env("OPENAI_BASE_URL") != "":
			provider = "openai"
		default:
			provider = "offline"
		}
	}
	t := talker{provider: provider, model: c.Model}
	switch provider {
	case "anthropic":
		o := anthropic.Options{APIKey: env("ANTHROPIC_API_KEY"), BaseURL: env("ANTHROPIC_BASE_URL"), Idle: c.ModelTimeout}
		if o.APIKey == "" {
			return t, config.ErrKey.With("variable", "ANTHROPIC_API_KEY")
		}
		if t.model == "" {
			t.model = anthropicModel
		}
		t.client = anthropic.New(o)
	case "openai":
		o := openai.Options{APIKey: env("OPENAI_API_KEY"), BaseURL: env("OPENAI_BASE_URL"), Idle: c.ModelTimeout}
		if o.APIKey == "" && o.BaseURL == "" {
			return t, config.ErrKey.With("variable", "OPENAI_API_KEY")
		}
		if t.model == "" {
			t.model = openaiModel
		}
		t.client = openai.New(o)
	default:
		t.model = model.Offline
	}
	return t, nil
}

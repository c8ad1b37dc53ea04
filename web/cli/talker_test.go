package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"postroom/domain/model/modeltest"
)

// The binary asks whom its variables name, and the answer lands in the mailbox.
func TestServeAsksTheProviderItsVariablesName(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		env  func(url string) []string
		path string
		args []string
		want string
	}{
		"anthropic": {func(url string) []string { return []string{"ANTHROPIC_API_KEY=sk-test", "ANTHROPIC_BASE_URL=" + url} }, "/v1/messages", nil, "claude-sonnet-5-5"},
		"openai":    {func(url string) []string { return []string{"OPENAI_BASE_URL=" + url + "/v1"} }, "/v1/chat/completions", []string{"--model", "qwen"}, "qwen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wire := modeltest.NewServer(func(int, modeltest.Received) modeltest.Reply {
				return modeltest.Reply{Response: modeltest.Say("over the wire")}
			})
			defer wire.Close()
			p := launch(t, t.TempDir()+"/p.db", row.env(wire.URL), row.args...)
			defer p.stop(t)
			body := `{"userId":"mara","input":{"text":"hello"}}`
			res, err := http.Post(p.url+"/api/flows/agent/support.devices:mara/actions/run?wait=20s", "application/json", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			var got struct {
				Request struct {
					Output struct{ Text, Model string }
				}
			}
			if err != nil || json.Unmarshal(raw, &got) != nil || got.Request.Output.Text != "over the wire" {
				t.Fatalf("%d %s %v", res.StatusCode, raw, err)
			}
			asked := wire.Received()[0]
			if asked.Path != row.path || asked.Model != row.want {
				t.Errorf("asked %s for %s", asked.Path, asked.Model)
			}
			if strings.Contains(p.log(), "sk-test") || !strings.Contains(p.log(), "provider="+name) {
				t.Errorf("log: %s", p.log())
			}
		})
	}
}

func TestAProviderWithoutItsKeyIsRefused(t *testing.T) {
	for _, provider := range []string{"anthropic", "openai"} {
		t.Setenv("ANTHROPIC_API_KEY", "")
		t.Setenv("OPENAI_API_KEY", "")
		t.Setenv("OPENAI_BASE_URL", "")
		code, _, errs := run(t, "serve", "--provider", provider, "--database", t.TempDir()+"/p.db", "--addr", "127.0.0.1:0")
		if code != 1 || !strings.Contains(errs, "model-key-missing") || !strings.Contains(errs, strings.ToUpper(provider)+"_API_KEY") {
			t.Errorf("%s: %d %s", provider, code, fmt.Sprint(errs))
		}
	}
}

package offline_test

import (
	"testing"

	"postroom/domain/model"
	"postroom/domain/model/offline"
)

type said struct {
	From string `json:"from"`
	Text string `json:"text"`
}

func TestAPostIsPlacedByItsWordsAndByWhatWasTalkedAboutBefore(t *testing.T) {
	t.Parallel()
	choices := []model.Choice{
		{ID: "devices", Description: "Printers, laptops, phones and wifi.", Documents: []model.Document{{Name: "printer", Text: "# Paper\n\nOpen the rear tray when the paper is jammed."}}},
		{ID: "accounts", Description: "Logins, passwords, invoices.", Documents: []model.Document{{Name: "signing-in", Text: "# Passwords\n\nA password is set anew by mail. After it, sign in once more."}}},
	}
	e := offline.NewEvaluator()
	for name, row := range map[string]struct {
		recent []said
		text   string
		want   string
	}{
		"by the description": {nil, "The wifi is gone.", "devices"},
		"by a document":      {nil, "there is paper jammed in the tray", "devices"},
		"by what came before": {
			[]said{{"tamsin", "I cannot sign in with my password"}, {"accounts", "Was the password set anew?"}}, "yes, and then it still fails", "accounts"},
		"nobody's":          {nil, "The canary sings at noon.", ""},
		"nothing to go by":  {nil, "?", ""},
		"in another script": {nil, "打印机坏了", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, err := e.Evaluate(t.Context(), model.Question{Name: "member", Choices: choices, State: map[string]any{"recent": row.recent, "post": said{"tamsin", row.text}}})
			if err != nil || a.Choice != row.want {
				t.Errorf("%+v %v, want %q", a, err, row.want)
			}
		})
	}
}

package workforce_test

import (
	"strings"
	"testing"

	"postroom/domain/model"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
	"postroom/workforce"
)

// What shops ask the demo's desk, and whose documents answer it; empty for nobody's.
var asked = map[string]string{
	"How long does a refund take?":              "support.accounts",
	"The receipt printer prints blank receipts": "support.devices",
	"Since the update I am signed out right after typing the password. The page flashes and I’m back at the sign-in form.": "support.accounts",
	"Can two tablets share one card reader? We open a second till on Saturday.":                                            "support.devices",
	"Where do I find my invoice?":                     "support.accounts",
	"The card reader doesn't turn on":                 "support.devices",
	"A customer was charged twice":                    "support.accounts",
	"When do payouts arrive in my bank?":              "support.accounts",
	"There is a paper jam in the printer":             "support.devices",
	"How do I add a staff member?":                    "support.accounts",
	"The tablet is slow and freezes":                  "support.devices",
	"My card was declined with number 51":             "support.devices",
	"I forgot my password":                            "support.accounts",
	"Can we go on selling when the internet is down?": "support.devices",
	"What are the fees for a card payment?":           "support.accounts",
	"how do I change the tax number on my invoices":   "support.accounts",
	"our tablet was stolen last night":                "support.accounts",
	"the printer is not found on the wifi":            "support.devices",
	"How do I pair the reader with a new tablet?":     "support.devices",
	"What is the capital of France?":                  "",
	"Do you know a good dentist nearby?":              "",
	"Who won the match yesterday?":                    "",
	"Please send flowers to my aunt":                  "",
}

// TestTheDemosDeskAnswersWhatItsDocumentsHold counts how often the right seat
// answers, and how often the wrong one speaks up instead of saying that it does not
// know.
func TestTheDemosDeskAnswersWhatItsDocumentsHold(t *testing.T) {
	t.Parallel()
	c, err := workforce.Check(workforce.Demo(), workforce.CheckOptions{
		MailboxKinds: served, Tools: []string{seat.PostToMailboxTool, seat.ReadDocumentTool},
	})
	if err != nil {
		t.Fatal(err)
	}
	answers := func(id, question string) bool {
		s, _ := c.Seats.Resolve("", "", id)
		docs := make([]model.Document, len(s.Documents))
		for i, d := range s.Documents {
			docs[i] = model.Document{Name: d.Name, Text: d.Text}
		}
		return !strings.HasPrefix(offline.Answer(docs, question), "I don’t know")
	}
	right, wrong := 0, 0
	for question, want := range asked {
		for _, id := range []string{"support.devices", "support.accounts"} {
			switch speaks := answers(id, question); {
			case speaks && id == want:
				right++
			case speaks:
				wrong++
				t.Logf("%s speaks up on %q", id, question)
			case id == want:
				t.Logf("%s does not know %q", id, question)
			}
		}
	}
	t.Logf("%d of 19 answered by the right seat, %d times the wrong one spoke up", right, wrong)
	if right < 19 || wrong > 1 {
		t.Errorf("%d of 19 answered by the right seat, %d times the wrong one spoke up", right, wrong)
	}
}

package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"postroom/domain/model"
	"postroom/domain/model/offline"
)

var documents = []model.Document{
	{Name: "printers", Text: "# Printers\n\n## Paper jams\n\nOpen the rear tray, pull the sheet towards you, and close the tray until it clicks.\n\n## The printer is offline\n\nHold the power button for ten seconds. Then print a test page from the settings."},
	{Name: "wifi", Text: "# Wifi\n\n## Joining the network\n\nChoose the shop's network and type the passphrase from the sticker under the router.\n\n## Slow connection\n\nMove the router away from the microwave and restart it."},
	{Name: "sign-in", Text: "# Signing in\n\n## Forgotten password\n\nUse *Forgot password* on the sign-in form. The mail with the link is valid for one hour.\n\n## Signed out after an update\n\nSign out everywhere from the account page, wait a minute, and sign in again."},
	{Name: "refunds", Text: "# Refunds\n\nA refund goes back to the card that paid within five working days. Open the sale, choose Refund, and type the amount."},
	{Name: "shipping", Text: "# Shipping\n\nOrders placed before noon leave the same day. Tracking numbers come by mail. Delivery abroad takes a week."},
	{Name: "warranty", Text: "# Warranty\n\nEvery card reader has two years of warranty. A broken screen or a fall is not covered."},
	{Name: "路由器", Text: "# 路由器\n\n路由器的密码在底部的贴纸上。重启路由器需要一分钟。"},
}

func TestTheRightDocumentAnswers(t *testing.T) {
	t.Parallel()
	right, total := 0, 0
	for question, want := range map[string]string{
		"There is a paper jam in the printer again":          "printers",
		"my printer shows as offline":                        "printers",
		"How do I print a test page?":                        "printers",
		"the sheet is stuck in the rear tray":                "printers",
		"where is the passphrase for the network":            "wifi",
		"Our connection is really slow near the microwave":   "wifi",
		"How do I join the shop's wifi?":                     "wifi",
		"I forgot my password":                               "sign-in",
		"Since the update I'm signed out":                    "sign-in",
		"the link in the password mail is not valid":         "sign-in",
		"How long does a refund take?":                       "refunds",
		"I refunded a card, when does it arrive":             "refunds",
		"can I type a smaller amount to refund":              "refunds",
		"When does my order leave?":                          "shipping",
		"do you have a tracking number for the delivery":     "shipping",
		"delivery abroad":                                    "shipping",
		"is a broken screen covered by warranty":             "warranty",
		"how many years of warranty does a card reader have": "warranty",
		"路由器的密码在哪里":                                          "路由器",
		"怎么重启路由器":                                            "路由器",
	} {
		total++
		if got := offline.Answer(documents, question); strings.HasSuffix(got, "From *"+want+"*.") {
			right++
		} else {
			t.Logf("%q: %q, want %s", question, got, want)
		}
	}
	if right < total-1 {
		t.Errorf("%d of %d questions answered from the right document", right, total)
	}
}

func TestWhatNoDocumentFitsIsNotAnswered(t *testing.T) {
	t.Parallel()
	for _, question := range []string{
		"What is the capital of France?", "Can you recommend a good novel?", "Who won the match yesterday?",
		"Please book a flight to Oslo", "", "???",
	} {
		if got := offline.Answer(documents, question); !strings.HasPrefix(got, "I don’t know") {
			t.Errorf("%q: %q", question, got)
		}
	}
	if got := offline.Answer(nil, "the printer"); !strings.Contains(got, "no documents") {
		t.Errorf("without documents: %q", got)
	}
}

func TestThanksAreTakenAsThanks(t *testing.T) {
	t.Parallel()
	if got := offline.Answer(documents, "Thank you!"); !strings.HasPrefix(got, "You’re welcome") {
		t.Errorf("thanks: %q", got)
	}
	if got := offline.Answer(documents, "Thanks, but the paper jam is back"); !strings.Contains(got, "printers") {
		t.Errorf("thanks with a question: %q", got)
	}
}

func turn(text string, tools ...model.Tool) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: []model.Block{model.Text(text)}}}, Tools: tools, Documents: documents}
}

func TestWokenByAPostItPostsItsAnswerOnceAndTheSameAgain(t *testing.T) {
	t.Parallel()
	client := offline.New(offline.Options{})
	r := turn("Tamsin Orrel in support.help: there is a paper jam: what now?", model.Tool{Name: offline.PostTool})

	first, err := client.Respond(t.Context(), r, nil)
	again, err2 := client.Respond(t.Context(), r, nil)

	if err != nil || err2 != nil || len(first.Content) != 1 || first.Content[0].Name != offline.PostTool {
		t.Fatalf("response: %+v %v %v", first, err, err2)
	}
	var in struct{ Mailbox, Body string }
	if err := json.Unmarshal(first.Content[0].Input, &in); err != nil || in.Mailbox != "support.help" || !strings.Contains(in.Body, "rear tray") {
		t.Errorf("input: %+v %v", in, err)
	}
	if first.Content[0].ID != again.Content[0].ID || string(first.Content[0].Input) != string(again.Content[0].Input) {
		t.Errorf("the same turn made another call: %+v", again.Content[0])
	}
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Content: first.Content},
		model.Message{Role: model.User, Content: []model.Block{{Type: model.ToolResultBlock, ToolUseID: first.Content[0].ID, Content: "handed over"}}})
	closing, err := client.Respond(t.Context(), r, nil)
	if err != nil || closing.StopReason != model.EndTurn || len(closing.Content) != 1 || closing.Content[0].Type != model.TextBlock {
		t.Errorf("after the tool: %+v %v", closing, err)
	}
}

// What was said after a run that was cut off stands in one message with the result
// that its call never got.
func TestATurnAfterACallThatWasCutOffIsAnsweredAnew(t *testing.T) {
	t.Parallel()
	r := turn("", model.Tool{Name: offline.PostTool})
	r.Messages[0].Content = []model.Block{
		{Type: model.ToolResultBlock, ToolUseID: "call_1", Content: "interrupted", IsError: true},
		model.Text("Tamsin Orrel in support.help: there is a paper jam"),
	}

	got, err := offline.New(offline.Options{}).Respond(t.Context(), r, nil)

	if err != nil || len(got.Content) != 1 || got.Content[0].Name != offline.PostTool {
		t.Errorf("response: %+v %v", got, err)
	}
}

func TestWithoutTheToolOrTheWakeItAnswersInText(t *testing.T) {
	t.Parallel()
	client := offline.New(offline.Options{})
	for _, r := range []model.Request{
		turn("there is a paper jam", model.Tool{Name: offline.PostTool}),
		turn("Tamsin Orrel in support.help: there is a paper jam"),
	} {
		got, err := client.Respond(t.Context(), r, nil)

		if err != nil || got.Content[0].Type != model.TextBlock || !strings.Contains(got.Content[0].Text, "rear tray") {
			t.Errorf("response: %+v %v", got, err)
		}
	}
}

func TestAnAnswerThatTakesItsTimeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := offline.New(offline.Options{Delay: time.Hour}).Respond(ctx, turn("hello"), nil)

	if !errors.Is(err, context.Canceled) {
		t.Errorf("respond: %v", err)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("the printer is offline", "# A\n\ntext\n## B\n```\n# no heading\n```\n")
	f.Add("路由器", "路")
	f.Fuzz(func(t *testing.T, question, document string) {
		got := offline.Answer([]model.Document{{Name: "d", Text: document}}, question)
		if got == "" || got != offline.Answer([]model.Document{{Name: "d", Text: document}}, question) {
			t.Errorf("answer: %q", got)
		}
	})
}

package workforce_test

import (
	"testing"

	"postroom/domain/mailbox"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
	"postroom/workforce"
)

// TestTheDemosDeskPlacesPosts asks the route of the demo's help offline, with the
// lines that stand before each post. An empty member is the fallback's.
func TestTheDemosDeskPlacesPosts(t *testing.T) {
	t.Parallel()
	c, err := workforce.Check(workforce.Demo(), workforce.CheckOptions{
		MailboxKinds: served, Tools: []string{seat.PostToMailboxTool, seat.ReadDocumentTool},
	})
	if err != nil {
		t.Fatal(err)
	}
	members := []string{"support.devices", "support.accounts", "support.product", "support.general"}
	route := seat.RouteByPurpose(c.Seats, offline.NewEvaluator())
	line := func(text string) mailbox.Line { return mailbox.Line{Principal: "tamsin", Body: text} }
	const login = "I cannot log in, the password is not taken"
	for _, row := range []struct {
		before []string
		post   string
		want   string
	}{
		{nil, "The receipt printer prints blank receipts", "support.devices"},
		{nil, "my printer is jammed", "support.devices"},
		{nil, "our printer stopped printing this morning", "support.devices"},
		{nil, "The card reader doesn't turn on", "support.devices"},
		{nil, login, "support.accounts"},
		{[]string{login}, "it fails right after the password", "support.accounts"},
		{[]string{"The receipt printer prints blank receipts"}, login, "support.accounts"},
		{[]string{"The receipt printer prints blank receipts", login}, "it fails right after the password", "support.accounts"},
		{nil, "Where do I find my invoice?", "support.accounts"},
		{nil, "I have a question about billing", "support.accounts"},
		{nil, "How long does a refund take?", "support.accounts"},
		{nil, "What does a Till 10 tablet cost?", "support.product"},
		{nil, "When will my order be delivered?", "support.product"},
		{nil, "What are your opening hours?", "support.general"},
		{nil, "I want to make a complaint", "support.general"},
		{nil, "The canary sings at noon", ""},
		{nil, "What is the capital of France?", ""},
		{nil, "Please send flowers to my aunt", ""},
		{[]string{login, "it fails right after the password"}, "The canary sings at noon", ""},
	} {
		var before []mailbox.Line
		for _, text := range row.before {
			before = append(before, line(text))
		}
		got, err := route.Pick(t.Context(), line(row.post), before, route.Candidates("", "tamsin", members))
		if err != nil || got.Member != row.want {
			t.Errorf("after %q, %q went to %q (%v), want %q", row.before, row.post, got.Member, err, row.want)
		}
	}
}

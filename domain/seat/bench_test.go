package seat_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"postroom/domain/account"
	"postroom/domain/mailbox"
	"postroom/domain/mailbox/mailboxtest"
	"postroom/domain/model"
	"postroom/domain/model/modeltest"
	"postroom/domain/model/offline"
	"postroom/domain/seat"
	"postroom/domain/session"
	"postroom/domain/session/sessiontest"
)

// benchedMembers are the seats behind a benched desk.
func benchedMembers() []seat.Record {
	return []seat.Record{
		described("support.devices", "Card readers, tablets, receipt printers and wifi."),
		described("support.accounts", "Signing in, passwords, staff accounts, invoices and refunds."),
		described("support.general", "Opening hours, complaints, and what is nobody else's."),
	}
}

// BenchmarkDecision times deciding alone, with the offline evaluator; beside is the
// lookup of who can take a post at all, which each decision begins with.
func BenchmarkDecision(b *testing.B) {
	seats, err := seat.Hire(benchedMembers(), seat.HireOptions{Tools: []string{seat.PostToMailboxTool, seat.ReadDocumentTool}})
	if err != nil {
		b.Fatal(err)
	}
	route := seat.RouteByPurpose(seats, offline.NewEvaluator())
	members := []string{"support.devices", "support.accounts", "support.general"}
	var recent []mailbox.Line
	for i := range 20 {
		recent = append(recent, mailbox.Line{Principal: fmt.Sprintf("writer-%d", i%6), Body: "The receipt printer prints blank receipts since this morning."})
	}
	began := time.Now()
	const lookups = 20000
	for range lookups {
		route.Candidates(account.DefaultOrganization, "tamsin", members)
	}
	lookup := time.Since(began) / lookups
	for _, row := range []struct{ name, body, holder, source string }{
		{"Held", "and then?", "support.accounts", mailbox.SourceHeld},
		{"Evaluated", "I cannot sign in, my password is not taken", "", mailbox.SourceEvaluator},
		{"Fallback", "The canary sings at noon", "", mailbox.SourceFallback},
	} {
		b.Run(row.name, func(b *testing.B) {
			for b.Loop() {
				d := mailbox.Place(b.Context(), route, mailbox.Placing{
					Organization: account.DefaultOrganization, Post: mailbox.Line{Principal: "tamsin", Body: row.body}, Recent: recent,
					Members: members, Holder: row.holder, Fallback: "support.general",
				})
				if d.Source != row.source {
					b.Fatalf("%+v", d)
				}
			}
			each := b.Elapsed() / time.Duration(b.N)
			b.ReportMetric(float64(time.Second)/float64(each), "decisions/s")
			b.ReportMetric(float64(each)/float64(lookup), "x-lookup")
		})
	}
}

// BenchmarkRoutedDesk posts 1,000 posts into 50 routed mailboxes, answered by a model
// that takes 50 ms, 8 calls at once. Beside is what the calls alone would take.
func BenchmarkRoutedDesk(b *testing.B) {
	const boxes, posts, calls, takes = 50, 1000, 8, 50 * time.Millisecond
	client := model.Limited(modeltest.New(func(ctx context.Context, _ int, _ model.Request) (model.Response, error) {
		select {
		case <-time.After(takes):
			return modeltest.Say("It is done."), nil
		case <-ctx.Done():
			return model.Response{}, ctx.Err()
		}
	}), calls)
	for b.Loop() {
		b.StopTimer()
		setup := mailboxtest.Setup{Workers: benchedMembers(), Model: client, Evaluator: offline.NewEvaluator()}
		for i := range boxes {
			setup.Mailboxes = append(setup.Mailboxes, routedBox(fmt.Sprintf("support.box%d", i), "support.devices", "support.accounts", "support.general"))
		}
		// The engine as it is served: a world for tests looks for lost work at each breath.
		d := mailboxtest.Open(b, setup, sessiontest.WithLimits(session.Limits{}))
		b.StartTimer()
		var writing sync.WaitGroup
		for i := range boxes {
			writing.Go(func() {
				for n := range posts / boxes {
					r := d.Post(fmt.Sprintf("support.box%d", i), fmt.Sprintf("writer-%d", n), "the receipt printer is jammed", "")
					if r.Status != session.Completed {
						b.Errorf("a post: %+v", r)
					}
				}
			})
		}
		writing.Wait()
		for open := true; open; {
			left, err := d.Store.Requests(b.Context(), session.RequestQuery{
				Organization: account.DefaultOrganization, Statuses: []session.Status{session.Queued, session.Running}, Limit: 1,
			})
			if err != nil {
				b.Fatal(err)
			}
			if open = len(left) > 0; open {
				time.Sleep(20 * time.Millisecond)
			}
		}
		b.StopTimer()
		answers := 0
		for i := range boxes {
			for _, l := range d.Lines(fmt.Sprintf("support.box%d", i)) {
				if l.Answers != "" {
					answers++
				}
			}
		}
		if answers != posts {
			b.Fatalf("%d answers to %d posts", answers, posts)
		}
		b.StartTimer()
	}
	ideal := posts / calls * takes
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(ideal), "x-calls-alone")
}

package live_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"postroom/domain/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASubscriptionHearsItsTopicsAndNothingElse(t *testing.T) {
	t.Parallel()
	b := live.NewBroker()
	box, run, all := b.Subscribe(live.OfSession("o", "box")), b.Subscribe(live.OfRequest("req_1")), b.Subscribe(live.All)
	defer box.Close()
	defer run.Close()
	defer all.Close()

	b.Publish(live.Change{Organization: "o", Session: "box", Seq: 3})
	b.Publish(live.Change{Organization: "o", Session: "box~seat", Parent: "box", Request: "req_1"})
	b.Publish(live.Change{Organization: "other", Session: "box", Seq: 9})

	for name, row := range map[string]struct {
		sub  *live.Subscription
		want int
	}{"a session and its children": {box, 2}, "a request": {run, 1}, "everything": {all, 3}} {
		if got, err := row.sub.Next(t.Context()); err != nil || len(got) != row.want {
			t.Errorf("%s: %+v %v, want %d", name, got, err, row.want)
		}
	}
}

func TestChangesOfOneThingGatherToTheNewest(t *testing.T) {
	t.Parallel()
	b := live.NewBroker()
	sub := b.Subscribe(live.All)
	defer sub.Close()
	for seq := range int64(1000) {
		b.Publish(live.Change{Organization: "o", Session: "a", Seq: seq + 1})
		b.Publish(live.Change{Organization: "o", Session: "b", Seq: seq + 1})
	}
	b.Publish(live.Change{Organization: "o", Session: "a"})

	got, err := sub.Next(t.Context())

	if err != nil || len(got) != 2 || got[0].Session != "a" || got[0].Seq != 1000 || got[1].Seq != 1000 {
		t.Errorf("gathered: %+v %v", got, err)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	sub := live.NewBroker().Subscribe(live.All)
	defer sub.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if _, err := sub.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("next: %v", err)
	}
}

func TestNobodyMissesAChangeHoweverManyPublishAndLeave(t *testing.T) {
	t.Parallel()
	b := live.NewBroker()
	listening := b.Subscribe(live.All)
	defer listening.Close()
	var publishing sync.WaitGroup
	for p := range 8 {
		publishing.Go(func() {
			for i := range 100 {
				passing := b.Subscribe(live.OfSession("o", fmt.Sprint(p)))
				b.Publish(live.Change{Organization: "o", Session: fmt.Sprint(p), Seq: int64(i + 1)})
				passing.Close()
				passing.Close()
			}
		})
	}
	newest := map[string]int64{}
	for len(newest) < 8 || !complete(newest) {
		changes, err := listening.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			newest[c.Session] = max(newest[c.Session], c.Seq)
		}
	}
	publishing.Wait()
}

func complete(newest map[string]int64) bool {
	for _, seq := range newest {
		if seq != 100 {
			return false
		}
	}
	return true
}

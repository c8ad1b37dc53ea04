package session

import (
	"crypto/rand"
	"io"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// ULIDs is a source of ids: the prefix, an underscore, a ULID. Those of one
// source rise strictly, also within a millisecond. A nil entropy is crypto/rand.
func ULIDs(clock func() time.Time, entropy io.Reader) func(prefix string) string {
	if entropy == nil {
		entropy = rand.Reader
	}
	var mu sync.Mutex
	monotonic := ulid.Monotonic(entropy, 0)
	return func(prefix string) string {
		mu.Lock()
		defer mu.Unlock()
		return prefix + "_" + ulid.MustNew(ulid.Timestamp(clock()), monotonic).String()
	}
}

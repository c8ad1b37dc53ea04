package transport

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"postroom/domain/model"
)

// Retry is how often and how long apart a failed request is made again. Zero values
// are the documented defaults.
type Retry struct {
	Attempts int           // in all [4]
	Base     time.Duration // most of the first wait; it doubles from there [500 ms]
	Longest  time.Duration // most of any wait, also where the provider asks for more [20 s]
}

// Final wraps an error that making the request again would not mend.
type Final struct{ Cause error }

// Error is the cause's.
func (f *Final) Error() string { return f.Cause.Error() }

// Unwrap is the cause.
func (f *Final) Unwrap() error { return f.Cause }

// Do makes a request until it succeeds, may not be made again, or was made as often
// as it may. ask returns how long the provider asks to wait, 0 if it does not. A
// *model.Error is told how many attempts there were.
func (r Retry) Do(ctx context.Context, ask func() (wait time.Duration, err error)) error {
	if r.Attempts == 0 {
		r.Attempts = 4
	}
	if r.Base == 0 {
		r.Base = 500 * time.Millisecond
	}
	if r.Longest == 0 {
		r.Longest = 20 * time.Second
	}
	for attempt := 1; ; attempt++ {
		wait, err := ask()
		if err == nil {
			return nil
		}
		var told *model.Error
		if errors.As(err, &told) {
			told.Attempts = attempt
		}
		var final *Final
		if errors.As(err, &final) {
			return final.Cause
		}
		if attempt >= r.Attempts || ctx.Err() != nil || told != nil && !Again(told.Status) {
			return err
		}
		timer := time.NewTimer(r.pause(attempt, wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return errors.Join(ctx.Err(), err)
		case <-timer.C:
		}
	}
}

// Respond is Do for one response: what the last attempt gave.
func (r Retry) Respond(ctx context.Context, once func() (model.Response, time.Duration, error)) (model.Response, error) {
	var response model.Response
	err := r.Do(ctx, func() (wait time.Duration, err error) {
		response, wait, err = once()
		return wait, err
	})
	return response, err
}

// Short is a provider's sentence within what a log or a page should hold.
func Short(s string) string {
	const most = 300
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// pause is half of what has doubled since the first attempt and a random share of
// the other half, so that many callers do not come back together; never less than
// the provider asks for, within the bound.
func (r Retry) pause(attempt int, asked time.Duration) time.Duration {
	most := r.Longest
	if shift := attempt - 1; shift < 16 && r.Base<<shift < most {
		most = r.Base << shift
	}
	wait := most/2 + rand.N(most/2+1) //nolint:gosec // spreading callers out is no secret.
	return min(max(wait, asked), r.Longest)
}

// Again reports whether a request with this status may succeed when made again; 0
// is one that got no answer.
func Again(status int) bool {
	switch status {
	case 0, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// Asked is how long a response's headers ask to wait.
func Asked(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && seconds > 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil && at.After(now) {
		return at.Sub(now)
	}
	return 0
}

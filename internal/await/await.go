// Package await is how tests wait: for a condition, never for a time.
package await

import (
	"testing"
	"time"
)

// Patience ends a test that waits for what will never come. It says nothing
// about speed: a slow machine under the race detector must stay far below it.
const Patience = 3 * time.Minute

// True waits until ok is. It asks at once and then ever less often, since asking
// a service every other millisecond cost more than what the test was about.
func True(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); {
		waited := time.Since(began)
		if waited > Patience {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(min(max(waited/8, time.Millisecond), 10*time.Millisecond))
	}
}

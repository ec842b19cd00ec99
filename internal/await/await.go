// Package await is how tests wait: for a condition, never for a time.
package await

import (
	"testing"
	"time"
)

// Patience ends a test that waits for what will never come. It says nothing
// about speed: a slow machine under the race detector must stay far below it.
const Patience = 3 * time.Minute

// True waits until ok is. It asks often: what a screen shows may be gone soon.
func True(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

package patience

import (
	"testing"
	"time"
)

func TestTimes(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 1, "1": 1, "4": 4, "100": 100, "5000": 100, "0": 1, "-3": 1, "fast": 1} {
		if got := times(text); got != want {
			t.Errorf("%s=%q makes limits %d times as long, want %d", Variable, text, got, want)
		}
	}
}

//go:build !linux

package edge

import "time"

// sinceBoot is not known: the clock on the wall has to tell of sleep alone.
func sinceBoot() time.Duration { return 0 }

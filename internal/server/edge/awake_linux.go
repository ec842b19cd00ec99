package edge

import (
	"time"

	"golang.org/x/sys/unix"
)

// sinceBoot counts on while the machine sleeps, and nobody can set it. It is zero
// where the system has no such clock.
func sinceBoot() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

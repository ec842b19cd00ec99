//go:build unix && !linux

package plain

import (
	"syscall"
	"time"
)

func statusChange(st *syscall.Stat_t) time.Time { return time.Unix(st.Ctimespec.Unix()) }

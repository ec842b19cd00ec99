package mergecheck

import (
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// limit bounds a process and all that it starts. What counts is memory that can
// be written to: runtimes reserve address space by the gigabyte and use little.
func limit(pid int, memory uint64) {
	for what, most := range map[int]uint64{
		unix.RLIMIT_DATA:  memory,
		unix.RLIMIT_FSIZE: maxFile,
		unix.RLIMIT_CPU:   uint64(DefaultTimeout.Seconds()),
		unix.RLIMIT_CORE:  0,
	} {
		_ = unix.Prlimit(pid, what, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
	// If the machine has too little memory, this goes first.
	_ = os.WriteFile(filepath.Join("/proc", strconv.Itoa(pid), "oom_score_adj"), []byte("1000"), 0)
}

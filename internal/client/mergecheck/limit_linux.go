package mergecheck

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// limit bounds a process and all that it starts. What counts is memory that can
// be written to: runtimes reserve address space by the gigabyte and use little.
func limit(pid int, memory uint64, budget time.Duration) {
	for what, most := range map[int]uint64{
		unix.RLIMIT_DATA:  memory,
		unix.RLIMIT_FSIZE: maxFile,
		unix.RLIMIT_CPU:   uint64(budget.Seconds()) + 1,
		unix.RLIMIT_CORE:  0,
	} {
		_ = unix.Prlimit(pid, what, &unix.Rlimit{Cur: most, Max: most}, nil)
	}
	// If the machine has too little memory, this goes first.
	_ = os.WriteFile(filepath.Join("/proc", strconv.Itoa(pid), "oom_score_adj"), []byte("1000"), 0)
}

// ticks is how many of them Linux tells for a second of processor time.
const ticks = 100

// groupTime is the processor time that a group of processes has used, with what
// ended in it, and whether one of them runs or would if it could.
func groupTime(group int) (used time.Duration, runs, ok bool) {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return 0, false, false
	}
	for _, name := range stats {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it ended meanwhile
		}
		// What stands behind the name of the program, which may hold anything.
		f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
		if len(f) < 15 || string(f[2]) != strconv.Itoa(group) {
			continue
		}
		for _, n := range f[11:15] {
			t, _ := strconv.ParseInt(string(n), 10, 64)
			used += time.Duration(t) * time.Second / ticks
		}
		runs = runs || f[0][0] == 'R' || f[0][0] == 'D'
	}
	return used, runs, true
}

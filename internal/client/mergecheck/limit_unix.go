//go:build unix && !linux

package mergecheck

import (
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// limit does nothing where a process cannot be limited from outside: checkers
// keep to what they are asked to, and to their time.
func limit(int, uint64, time.Duration) {}

// groupTime is the processor time that the living processes of a group have
// used, as ps tells it.
func groupTime(group int) (used time.Duration, runs, ok bool) {
	out, err := exec.Command("ps", "-A", "-o", "pgid=,stat=,time=").Output()
	if err != nil {
		return 0, false, false
	}
	for l := range strings.Lines(string(out)) {
		f := strings.Fields(l)
		if len(f) != 3 || f[0] != strconv.Itoa(group) {
			continue
		}
		runs = runs || strings.HasPrefix(f[1], "R") || strings.HasPrefix(f[1], "U")
		used += clockTime(f[2])
	}
	return used, runs, true
}

// clockTime reads [[hours:]minutes:]seconds.
func clockTime(s string) time.Duration {
	total := 0.0
	for part := range strings.SplitSeq(s, ":") {
		n, _ := strconv.ParseFloat(part, 64)
		total = total*60 + n
	}
	return time.Duration(total * float64(time.Second))
}

//go:build unix

package childtest

import (
	"os/exec"
	"runtime"
	"testing"
)

// A child's figure is its own, however large the test is that starts it, and it
// ends as it would by itself.
func TestAChildIsMeasuredByItself(t *testing.T) {
	const size = 400 << 20
	large := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		large[i] = 1
	}
	for name, tt := range map[string]struct {
		script string
		code   int
	}{"success": {"exit 0", 0}, "failure": {"exit 3", 3}, "killed": {"kill -9 $$", 128}} {
		cmd := exec.Command("sh", "-c", tt.script)
		most, err := Run(t, cmd)
		if got := cmd.ProcessState.ExitCode(); got != tt.code {
			t.Errorf("%s: exit %d (%v), want %d", name, got, err, tt.code)
		}
		if most <= 0 || most > size>>11 { // half of the test's own
			t.Errorf("%s: a shell takes %d KiB", name, most)
		}
	}
	runtime.KeepAlive(large)
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/version"
)

// program returns the svc that agent hosts start: they know it by its name
// alone, and where there is none, or another program of that name, our hooks
// do nothing.
func program(ctx context.Context) (string, error) {
	found, err := exec.LookPath("svc")
	if err != nil {
		return "", errors.New("svc is not on the PATH: agent hosts start it by name, and without it the hooks do nothing")
	}
	if isSelf(found) {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, found, "--version").Output()
	if err != nil || !strings.HasPrefix(string(out), "svc ") {
		return "", fmt.Errorf("%s is another program: agent hosts start svc by name, and the hooks do nothing", found)
	}
	if theirs := strings.TrimSpace(string(out)); theirs != version.Line("svc") {
		return "", fmt.Errorf("agent hosts start %s (%s), which comes first on the PATH, not this one (%s)", found, theirs, version.Line("svc"))
	}
	return found, nil
}

// isSelf reports whether a file is this program.
func isSelf(file string) bool {
	self, err := os.Executable()
	if err != nil {
		return false
	}
	a, errA := os.Stat(file)
	b, errB := os.Stat(self)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

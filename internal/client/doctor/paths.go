package doctor

import (
	"context"
	"errors"
	"regexp"
	"runtime"
	"strings"
	"syscall"
)

// isFull reports whether there is no room for a file: the disk is full, or what
// one may use of it.
func isFull(err error) bool {
	const windowsDiskFull = syscall.Errno(112)
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) ||
		runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull)
}

// placed are variables that name a folder.
var placed = []string{"HOME", "SVC_CONFIG_DIR", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "CODEX_HOME"}

var windowsPath = regexp.MustCompile(`^[A-Za-z]:[\\/]`)

// checkPaths tells of folders that are written as another system writes them:
// with Windows and Linux on one machine, variables go from one to the other.
func checkPaths(_ context.Context, p *Patient) (out []Check) {
	const name = "paths"
	if p.Getenv == nil {
		return nil
	}
	for _, v := range placed {
		value := p.Getenv(v)
		switch {
		case strings.HasSuffix(value, "\r"):
			out = append(out, one(name, Fail, "unset "+v+", or take the line break out of where it is set",
				"%s ends with a line break, as a file with Windows line endings gives it", v)...)
		case runtime.GOOS != "windows" && windowsPath.MatchString(value):
			out = append(out, one(name, Fail, "unset "+v+", or write it as this system does (wslpath -u)",
				"%s is a path of Windows, which is no folder here: %s", v, value)...)
		}
	}
	return out
}

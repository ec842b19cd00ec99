// Package first answers svc --version while the program is still starting, and
// says which of the commands that others wait for was meant.
//
// Go initialises packages in the order of their paths, each after those that
// it imports. This one imports next to nothing, so its turn comes before that
// of net and net/http, whose initialisation is a third of what the whole
// answer costs: 1.3 times a program that says hello, against 1.7.
package first

import (
	"os"
	"runtime"
	"slices"

	"github.com/svc-hq/svc/internal/core/version"
)

func init() {
	if len(os.Args) == 2 && (os.Args[1] == "--version" || os.Args[1] == "-v") {
		os.Stdout.WriteString(version.Line("svc") + "\n")
		os.Exit(0)
	}
	if Hook() {
		makeRoom(os.Args[:1])
		// A hook does one thing after the other: other threads look for work, find none and take a twentieth of its time.
		runtime.GOMAXPROCS(1)
	}
}

// makeRoom has the stack grow at once to what a hook needs, as attend does: the
// packages that start after this one would let it grow in steps, and each moves
// all that it holds.
//
//go:noinline
func makeRoom(args []string) byte {
	var room [24 << 10]byte
	return room[len(args)]
}

// Hook reports whether this process is svc hook. Its page is the command tree's.
func Hook() bool {
	return len(os.Args) > 1 && os.Args[1] == "hook" && !slices.Contains(os.Args, "--help") && !slices.Contains(os.Args, "-h")
}

// Prompt reports whether this process is svc prompt, for which shells wait.
func Prompt() bool { return len(os.Args) == 2 && os.Args[1] == "prompt" }

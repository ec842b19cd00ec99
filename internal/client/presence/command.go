//go:build linux || darwin

package presence

import "strings"

// runsCommand reports whether a shell was started for one command line, as
// programs do, and not for somebody who types.
func runsCommand(args []string) bool {
	for _, a := range args[min(1, len(args)):] {
		if !strings.HasPrefix(a, "-") {
			return a != "" // a script, or for env and its like a program
		}
		if !strings.HasPrefix(a, "--") && strings.Contains(a, "c") {
			return true
		}
	}
	return false
}

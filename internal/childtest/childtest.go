//go:build unix

// Package childtest judges the programs that tests start.
package childtest

import "syscall"

// Maxrss is the most that a child's Rusage.Maxrss may show for a child that has
// at most that much memory. The kernel counts a program in its parent's memory
// until it has replaced it, so that the figure of a child of a large test is
// never below the test's own.
func Maxrss(most int64) int64 {
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil {
		return most
	}
	return max(most, int64(own.Maxrss))
}

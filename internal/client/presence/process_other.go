//go:build !linux && !darwin && !windows

package presence

import "errors"

// here is "": processes cannot be told apart, so nobody is found by them.
func here() string { return "" }

func look(int) (seen, error) { return seen{}, errors.New("processes are not read on this system") }

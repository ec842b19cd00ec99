package analysis

import (
	"regexp"
	"sync"
)

// pattern compiles a regular expression when it is first used: most starts of
// the program need none of them.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

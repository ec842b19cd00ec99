//go:build lean

package grammar

import "time"

// How says in what form this build has the grammars.
const How = "none"

// Supported tells whether this build can parse a language.
func Supported(lang string) bool { return false }

func list(int, bool) ([]string, error) { return nil, ErrUnsupported }

func parse(int, []byte, []byte, *edit, time.Duration) (before, after []Node, err error) {
	return nil, nil, ErrUnsupported
}

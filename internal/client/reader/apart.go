//go:build apart && !lean

package reader

import (
	"errors"
	"os"

	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/grammar"
)

// The svc that a lean one carries was told by it where the grammars are.
func init() {
	grammar.Use(grammar.Program{
		Path: func() (string, error) {
			if path := os.Getenv(companion.ParserVariable); path != "" {
				return path, nil
			}
			return "", errors.New("this part of svc is started by svc; run svc itself")
		},
		Repair: func(string) bool { return false },
	})
}

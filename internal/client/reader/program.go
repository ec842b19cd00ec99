//go:build lean || apart

package reader

import (
	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/grammar"
)

// useProgram has code parsed by the program that svc carries.
func useProgram() {
	grammar.Use(grammar.Program{
		Path:   func() (string, error) { return companion.Path(companion.Parser) },
		Repair: companion.Repair,
	})
}

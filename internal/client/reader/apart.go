//go:build apart && !lean

package reader

import "github.com/svc-hq/svc/internal/client/companion"

// The svc that a lean one carries has the grammars of it.
func init() {
	if companion.Inner {
		useProgram()
	}
}

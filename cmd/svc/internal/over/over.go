// Package over hands what is not svc hook or svc prompt to the svc inside a
// lean one, while the lean one is still starting.
package over

import (
	"os"

	"github.com/svc-hq/svc/cmd/svc/internal/first"
	"github.com/svc-hq/svc/internal/client/companion"
)

func init() {
	if !first.Hook() && !first.Prompt() {
		os.Exit(companion.HandOver(os.Args[1:]))
	}
}

// Package early answers hooks while the program is still starting, as package
// first does for svc --version: what the command tree, the reading of code and
// the formats of the hosts' settings need to start is a fifth of what a hook
// before an edit costs.
package early

import (
	"os"

	"github.com/svc-hq/svc/cmd/svc/internal/first" // whose turn is before
	"github.com/svc-hq/svc/internal/client/attend"
)

func init() {
	if !first.Hook() {
		return
	}
	if code, over := attend.Begin(os.Args[2:]); over {
		os.Exit(code)
	}
}

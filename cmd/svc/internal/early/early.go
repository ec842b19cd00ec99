// Package early answers hooks while the program is still starting, as package
// first does for svc --version: what the command tree, the reading of code and
// the formats of the hosts' settings need to start is a fifth of what a hook
// before an edit costs.
package early

import (
	"os"
	"slices"

	_ "github.com/svc-hq/svc/cmd/svc/internal/first" // whose turn is before
	"github.com/svc-hq/svc/internal/client/attend"
)

func init() {
	if len(os.Args) < 2 || os.Args[1] != "hook" || slices.Contains(os.Args, "--help") || slices.Contains(os.Args, "-h") {
		return
	}
	if code, over := attend.Begin(os.Args[2:]); over {
		os.Exit(code)
	}
}

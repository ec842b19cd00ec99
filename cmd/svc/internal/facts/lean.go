//go:build lean

// Package facts ends, in a lean svc, the hooks that cannot go on without what
// reads code, as soon as that has started: what the command tree needs is not
// theirs.
package facts

import (
	"os"

	_ "github.com/svc-hq/svc/cmd/svc/internal/early" // which begins them
	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/reader"
)

func init() {
	if attend.Begun() {
		os.Exit(attend.Finish(reader.Facts, os.Args[2:]))
	}
}

//go:build !lean

package reader

import (
	"context"
	"runtime/debug"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Facts finds the facts.
func (in Request) Facts(ctx context.Context) (*coord.Analysis, error) {
	debug.SetGCPercent(1000) // the process ends with its answer: what it leaves is collected by that
	return analysis.WorkingTree(ctx, in.Root, in.Paths, analysis.Options{Base: in.Base, MetadataOnly: in.MetadataOnly,
		Deltas: in.Deltas, Along: in.Along, Keep: keep(), Rules: ownRules(in.Root)})
}

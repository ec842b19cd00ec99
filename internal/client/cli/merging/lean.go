//go:build lean

package merging

import (
	"context"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/core/wire"
)

// What reads code is not in the lean svc: the one that it carries has it.

func runAgainst(context.Context, *app.Run, string, bool) error { return app.HandedOver() }

func runMergeCheck(context.Context, *app.Run, string, []wire.WantedCheck, string) error {
	return app.HandedOver()
}

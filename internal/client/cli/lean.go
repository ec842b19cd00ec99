//go:build lean

package cli

import (
	"context"
	"errors"

	"github.com/svc-hq/svc/internal/client/cli/app"
)

// What reads code is not in the lean svc: the one that it carries has it.

func runAnalyze(context.Context, *app.Run, []string, bool, bool) error { return app.HandedOver() }

func runIndex(context.Context, *app.Run, bool, string) error { return app.HandedOver() }

func runRulesCheck(context.Context, *app.Run) error { return app.HandedOver() }

func explainFile(context.Context, *app.Run, string) error { return app.HandedOver() }

func runBacktest(context.Context, *app.Run, []string, *backtestFlags) error { return app.HandedOver() }

func runTop(context.Context, *app.Run, bool) error {
	return errors.New("this svc is without svc top; svc status --watch shows the same in plain lines")
}

//go:build lean

package cli

import (
	"context"
	"os"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/wire"
)

// What reads code is not in the lean svc: the one that it carries has it.

func (a *app) runAnalyze(context.Context, []string, bool) error { return handedOver() }

func (a *app) runIndex(context.Context, bool, string) error { return handedOver() }

func (a *app) explainFile(context.Context, string) error { return handedOver() }

func (a *app) runBacktest(context.Context, []string, *backtestFlags) error { return handedOver() }

func (a *app) runAgainst(context.Context, string, bool) error { return handedOver() }

func (a *app) runMergeCheck(context.Context, string, []wire.WantedCheck, string) error {
	return handedOver()
}

// handedOver runs the whole command line elsewhere: global flags may stand
// before the command.
func handedOver() error { return &term.Exit{Code: handOver(os.Args[1:])} }

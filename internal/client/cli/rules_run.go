package cli

import (
	"context"
	"fmt"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/ownrules"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// runRulesCheck reads the files of the working copy with its own rules, whether
// or not the clone is trusted: it only shows what they find.
func runRulesCheck(ctx context.Context, a *app.Run) error {
	repo, ok := gitrepo.Find(a.Dir)
	if !ok {
		return fmt.Errorf("%s is in no git repository", a.Dir)
	}
	own, err := ownrules.Of(repo.Root, a.Getenv, true)
	if err != nil {
		return err
	}
	found, err := analysis.CheckRules(ctx, repo.Root, own.Set)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"rules": found})
	}
	if len(found) == 0 {
		fmt.Fprintf(a.Stdout, "no rules: write some in %s/LANGUAGE/NAME.rules\n", ownrules.Folder)
	}
	for _, r := range found {
		if r.Role != "provides" && r.Role != "uses" { // it only says something of what others find
			fmt.Fprintf(a.Stdout, "%s %s %s\n", peertext.Path(r.Rule), r.Role, r.Contract)
			continue
		}
		fmt.Fprintf(a.Stdout, "%s %s %s: %d found\n", peertext.Path(r.Rule), r.Role, r.Contract, len(r.Found))
		for _, f := range r.Found {
			fmt.Fprintf(a.Stdout, "  %s:%d %s %s\n", peertext.Path(f.Path), f.Line, f.Role, peertext.Path(f.Key))
		}
	}
	return nil
}

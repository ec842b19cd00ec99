//go:build !lean

package cli

import (
	"context"
	"fmt"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/index"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func (a *app) runIndex(ctx context.Context, quiet bool, after string) error {
	here, err := a.here()
	if err != nil {
		return err
	}
	c, l, err := a.client()
	if err != nil {
		return err
	}
	base, err := gitrepo.Base(ctx, here.Root, "")
	if err != nil {
		return err
	}
	run := index.Run{Root: here.Root, Commit: base, Repo: here.Fingerprint, Client: c, After: after}
	run.Private = l.DataMode == coord.DataMetadataOnly
	run.Progress = func(total wire.Indexed) {
		if !quiet && !a.json {
			fmt.Fprintf(a.Stderr, "\r%d files, %d contracts", total.Files, total.Contracts)
		}
	}
	got, err := run.Send(ctx)
	if err != nil {
		return fmt.Errorf("%w; go on with: svc index --after %q", err, got.After)
	}
	if got.Unowned > 0 && !quiet {
		fmt.Fprintf(a.Stderr, "\rsvc: who changed the uses in %d files last was not looked up, for time; those have no owner\n", got.Unowned)
	}
	if got.Left > 0 && !quiet {
		fmt.Fprintf(a.Stderr, "\rsvc: stopped at its limit with %d files left; go on with: svc index --after %q\n", got.Left, got.After)
	}
	if a.json {
		return a.PrintJSON(got.Total)
	}
	if !quiet {
		fmt.Fprintf(a.Stderr, "\r")
		fmt.Fprintf(a.Stdout, "indexed %d files with %d contracts\n", got.Total.Files, got.Total.Contracts)
		if got.Unread > 0 {
			fmt.Fprintf(a.Stdout, "%d places look like routes or calls but could not be read; svc index --explain FILE shows them\n", got.Unread)
		}
	}
	return nil
}

// explainFile shows what is known of one file. It needs no server.
func (a *app) explainFile(ctx context.Context, file string) error {
	repo, ok := gitrepo.Find(a.Dir)
	if !ok {
		return fmt.Errorf("%s is in no git repository", a.Dir)
	}
	path, err := a.inRepo(place{Root: repo.Root}, file)
	if err != nil {
		return err
	}
	x, err := analysis.Explain(ctx, repo.Root, path)
	if err != nil {
		return err
	}
	if a.json {
		return a.PrintJSON(x)
	}
	a.printExplanation(x)
	return nil
}

func (a *app) printExplanation(x *analysis.Explanation) {
	if !x.Read {
		fmt.Fprintf(a.Stdout, "%s: only its lines are known: %s\n", peertext.Path(x.Path), x.Why)
		return
	}
	fmt.Fprintf(a.Stdout, "%s (%s)\n", peertext.Path(x.Path), x.Language)
	for _, c := range x.Contracts {
		by := ""
		if c.Rule != "" {
			by = ", by " + c.Rule
		}
		fmt.Fprintf(a.Stdout, "  %-8s %s (line %d%s)\n", c.Role, peertext.Path(c.Key), c.Line, by)
	}
	for _, r := range x.Requests {
		fmt.Fprintf(a.Stdout, "  requests by %s\n", peertext.Path(r))
	}
	for _, m := range x.Missed {
		fmt.Fprintf(a.Stdout, "  unread   line %d: %s looks like a route that it %s (%s), but %s\n",
			m.Line, peertext.Path(m.What), m.Role, m.Rule, m.Why)
	}
	if len(x.Contracts)+len(x.Requests)+len(x.Missed) == 0 {
		fmt.Fprintln(a.Stdout, "  nothing that other programs could depend on was found; a rules file can teach svc what is missing")
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/index"
	"github.com/svc-hq/svc/internal/client/ownrules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func runIndex(ctx context.Context, a *app.Run, quiet bool, after string) error {
	here, err := a.Here()
	if err != nil {
		return err
	}
	c, l, err := a.Client()
	if err != nil {
		return err
	}
	base, err := gitrepo.Base(ctx, here.Root, "")
	if err != nil {
		return err
	}
	own, err := ownRules(a, here.Root)
	if err != nil {
		return err
	}
	j, err := index.OpenJournal()
	if err != nil {
		return err
	}
	if j == nil && len(a.Started) > 0 {
		return guardIndex(ctx, a)
	}
	run := index.Run{Root: here.Root, Commit: base, Repo: here.Fingerprint, Client: c, After: after, Journal: j, Rules: own.Set}
	run.Private = l.DataMode == coord.DataMetadataOnly
	run.Progress = func(total wire.Indexed) {
		if !quiet && !a.JSON {
			fmt.Fprintf(a.Stderr, "\r%d files, %d contracts", total.Files, total.Contracts)
		}
	}
	got, err := run.Send(ctx)
	if err != nil {
		return fmt.Errorf("%w; go on with: svc index --after %q", err, got.After)
	}
	if len(got.Died) > 0 && !quiet {
		fmt.Fprintf(a.Stderr, "\rsvc: %d files ended their reader and were left out: %s\n", len(got.Died),
			peertext.Path(strings.Join(got.Died, ", ")))
	}
	if got.Unowned > 0 && !quiet {
		fmt.Fprintf(a.Stderr, "\rsvc: who changed the uses in %d files last was not looked up, for time; those have no owner\n", got.Unowned)
	}
	if got.Left > 0 && !quiet {
		fmt.Fprintf(a.Stderr, "\rsvc: stopped at its limit with %d files left; go on with: svc index --after %q\n", got.Left, got.After)
	}
	if a.JSON {
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

// guardIndex runs this very command in a process of its own: a file that kills
// its reader then costs no more than that file.
func guardIndex(ctx context.Context, a *app.Run) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	err = index.Guard(ctx, func(ctx context.Context, env string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, self)
		cmd.Args, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.Started, a.Stdin, a.Stdout, a.Stderr
		cmd.Env = append(cmd.Environ(), env)
		return cmd
	})
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return &term.Exit{Code: max(exit.ExitCode(), 1)}
	}
	return err
}

// ownRules are the rules of a working copy; of a clone that is not trusted it is
// said that its own do not count.
func ownRules(a *app.Run, root string) (ownrules.Found, error) {
	found, err := ownrules.Of(root, a.Getenv, false)
	if found.Untrusted > 0 && os.Getenv(index.JournalVariable) == "" {
		fmt.Fprintf(a.Stderr, "svc: %d rules files in %s do not count; run svc trust to use them in this clone\n",
			found.Untrusted, ownrules.Folder)
	}
	return found, err
}

// explainFile shows what is known of one file. It needs no server.
func explainFile(ctx context.Context, a *app.Run, file string) error {
	repo, ok := gitrepo.Find(a.Dir)
	if !ok {
		return fmt.Errorf("%s is in no git repository", a.Dir)
	}
	path, err := a.InRepo(app.Place{Root: repo.Root}, file)
	if err != nil {
		return err
	}
	own, err := ownRules(a, repo.Root)
	if err != nil {
		return err
	}
	x, err := analysis.Explain(ctx, repo.Root, path, own.Set)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(x)
	}
	printExplanation(a, x)
	return nil
}

func printExplanation(a *app.Run, x *analysis.Explanation) {
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
		fmt.Fprintln(a.Stdout, "  nothing that other programs could depend on was found; your own rules can teach svc more (svc rules --help)")
	}
}

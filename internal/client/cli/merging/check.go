// Package merging has the commands that say whether work goes together before it
// is merged: svc check, svc trust and what hooks run in the background. It never
// changes the working copy, and runs code of a repository only where it is trusted.
package merging

import (
	"bufio"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/records"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
)

const maxCheck = 200

func CheckCommand(a *app.Run) *cobra.Command {
	var staged, lean bool
	var against string
	var push pushFlags
	cmd := &cobra.Command{
		Use:   "check [--staged] [--against BRANCH|PR|@PERSON] [--push] PATH...",
		Short: "Ask whether files may be edited; exits 1 when blocked",
		Long: "Ask what editing the files would run into. Nothing is stored. Exits 1 when\n" +
			"an edit would be blocked, so it can guard a commit. A PATH of - reads paths\n" +
			"from standard input, one a line.\n\n" +
			"With --against, compare what is in this working copy, uncommitted work too,\n" +
			"with a branch, a pull request or the branches of a person, in this clone or as\n" +
			"they were pushed: what git cannot merge, what it merges and breaks, and what\n" +
			"the languages' own checkers find in the merged files and in neither side\n" +
			"alone. Needs no server but for @PERSON, and changes nothing: what it fetches\n" +
			"goes to a folder of svc's own. Exits 1 when the two do not go together.\n" +
			"Checkers that run code of the repository run only after svc trust.\n\n" +
			"With --push, check the commits of a push, as the pre-receive hook of a git\n" +
			"server: it reads the hook's standard input and exits 1 when a commit changes\n" +
			"what somebody else than the pusher holds exclusively (policy claims_at_merge).",
		Example: "  svc check auth/login.go 'api/**'\n" +
			"  svc check --staged              # in .git/hooks/pre-commit\n" +
			"  git diff --name-only | svc check -\n" +
			"  svc check --against origin/api-v2\n" +
			"  svc check --against 12          # a pull or merge request\n" +
			"  svc check --against @ana\n" +
			"  svc check --push --repo acme/shop --pusher \"$REMOTE_USER\"",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case push.on && (len(args) > 0 || staged || against != ""):
				return term.Usagef("--push checks the commits that a hook names: leave the paths, --staged and --against out")
			case push.on:
				return runPush(cmd.Context(), a, push)
			case against != "" && (len(args) > 0 || staged):
				return term.Usagef("--against compares the whole working copy: leave the paths and --staged out")
			case against != "":
				return runAgainst(cmd.Context(), a, against, !lean)
			}
			return runCheck(cmd.Context(), a, args, staged)
		},
	}
	cmd.Flags().StringVar(&against, "against", "", "compare with a branch, a pull request or a person's branches")
	cmd.Flags().BoolVar(&lean, "no-types", false, "with --against: leave the languages' checkers out")
	cmd.Flags().BoolVar(&staged, "staged", false, "check what git has staged")
	push.register(a, cmd)
	return cmd
}

func runCheck(ctx context.Context, a *app.Run, args []string, staged bool) error {
	if len(args) == 0 && !staged {
		return term.Usagef("expected paths, or --staged")
	}
	here, err := a.Here()
	if err != nil {
		return err
	}
	paths, err := checkPaths(ctx, a, here, args, staged)
	if err != nil {
		return err
	}
	res := wire.ScopeChecked{Decision: wire.Allow, Findings: []wire.ScopeFinding{}}
	var open []coord.Conflict
	if len(paths) > 0 {
		c, _, err := a.Client()
		if err != nil {
			return err
		}
		if res, err = c.CheckScope(ctx, wire.ScopeCheck{
			Paths:     paths,
			Symbols:   []string{},
			Contracts: []string{},
			Repo:      &here.Fingerprint,
		}); err != nil {
			return err
		}
		open = openOn(ctx, c, here.Fingerprint, paths)
	}
	if a.JSON {
		err = a.PrintJSON(res)
	} else {
		printCheck(a, res, len(paths))
		for _, cf := range open {
			fmt.Fprintf(a.Stdout, "  open %s %s: %s\n", cf.Ref, peertext.Name(string(cf.Kind)), team.Why(a.Now(), cf.Explanation, 500))
		}
	}
	if err == nil && res.Decision == wire.Block {
		return &term.Exit{Code: term.ExitError}
	}
	return err
}

// openOn returns the conflicts about the paths that are not over. What cannot
// be had is left out: the answer to the question is another.
func openOn(ctx context.Context, c *remote.Client, repo string, paths []string) []coord.Conflict {
	page, err := c.Conflicts(ctx, remote.Filter{Status: "live", Repo: repo, Limit: 100})
	if err != nil {
		return nil
	}
	asked := make([]scope.Glob, 0, len(paths))
	for _, p := range paths {
		if g, err := scope.ParseGlob(p); err == nil {
			asked = append(asked, g)
		}
	}
	return slices.DeleteFunc(page.Items, func(cf coord.Conflict) bool {
		return !slices.ContainsFunc(cf.Evidence, func(e coord.Evidence) bool {
			return e.Path != nil && slices.ContainsFunc(asked, func(g scope.Glob) bool { return g.Match(*e.Path) })
		})
	})
}

func printCheck(a *app.Run, res wire.ScopeChecked, n int) {
	switch res.Decision {
	case wire.Block:
		fmt.Fprintln(a.Stdout, a.Paint(term.Red, "blocked")+": "+peertext.Line(res.Reason, 1000))
	case wire.Warn:
		fmt.Fprintln(a.Stdout, a.Paint(term.Yellow, "warning")+": "+peertext.Line(res.Reason, 1000))
	default:
		fmt.Fprintf(a.Stdout, "%s: nothing keeps you from editing %s\n", a.Paint(term.Green, "free"), term.Plural(n, "path"))
	}
	for _, f := range res.Findings {
		fmt.Fprintf(a.Stdout, "  %s %s: %s\n", records.Severity(a, f.Severity), peertext.Name(string(f.Kind)), peertext.Line(f.Explanation, 500))
		if f.Suggestion.Text != "" {
			fmt.Fprintf(a.Stdout, "    next: %s\n", peertext.Line(f.Suggestion.Text, 500))
		}
	}
}

// checkPaths returns the paths to ask about, relative to the repository.
func checkPaths(ctx context.Context, a *app.Run, here app.Place, args []string, staged bool) ([]string, error) {
	var paths []string
	for _, arg := range args {
		if arg != "-" {
			p, err := a.InRepo(here, arg)
			if err != nil {
				return nil, err
			}
			paths = append(paths, p)
			continue
		}
		// What git prints is relative to the repository already.
		for s := bufio.NewScanner(a.Stdin); s.Scan(); {
			if p := strings.TrimSpace(s.Text()); p != "" {
				paths = append(paths, filepath.ToSlash(p))
			}
		}
	}
	if staged {
		repo, ok := gitrepo.At(here.Root)
		if !ok {
			return nil, fmt.Errorf("%s is not a git repository", here.Root)
		}
		names, err := repo.Staged(ctx)
		if err != nil {
			return nil, fmt.Errorf("git cannot tell what is staged: %w", err)
		}
		paths = append(paths, names...)
	}
	if len(paths) > maxCheck {
		return nil, fmt.Errorf("%d paths are more than one check takes (%d); check folders instead, such as 'src/**'", len(paths), maxCheck)
	}
	return paths, nil
}

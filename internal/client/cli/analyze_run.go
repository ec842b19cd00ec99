package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/merging"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

func runAnalyze(ctx context.Context, a *app.Run, args []string, metadataOnly, patch bool) error {
	repo, ok := gitrepo.Find(a.Dir)
	if !ok {
		return fmt.Errorf("%s is in no git repository", a.Dir)
	}
	var paths []string
	for _, arg := range args {
		p, err := a.InRepo(app.Place{Root: repo.Root}, arg)
		if err != nil {
			return err
		}
		paths = append(paths, p)
	}
	own, err := ownRules(a, repo.Root)
	if err != nil {
		return err
	}
	facts, err := analysis.WorkingTree(ctx, repo.Root, paths, analysis.Options{MetadataOnly: metadataOnly, Rules: own.Set})
	if err != nil {
		return err
	}
	for i, p := range paths {
		_, err := os.Lstat(filepath.Join(repo.Root, filepath.FromSlash(p)))
		gone := func(f coord.FileFacts) bool {
			return f.Status != coord.FileUnchanged && (f.Path == p || strings.HasPrefix(f.Path, strings.TrimSuffix(p, "**")))
		}
		if err != nil && !strings.ContainsAny(p, "*?[{") && !slices.ContainsFunc(facts.Files, gone) {
			return fmt.Errorf("%s is not there, and was not when this work began", args[i])
		}
	}
	switch {
	case patch:
		return printPatch(ctx, a, repo, facts)
	case a.JSON:
		return a.PrintJSON(facts)
	}
	printFacts(a, facts)
	return nil
}

// printPatch shows what a merge check would hand over of the changed files, were
// others at work near all of them.
func printPatch(ctx context.Context, a *app.Run, repo *gitrepo.Repo, facts *coord.Analysis) error {
	var near []string
	for _, f := range facts.Files {
		if f.Status != coord.FileUnchanged && coord.NameFamily(f.Language) != "" {
			near = append(near, f.Path)
		}
	}
	base, diff, err := merging.Patch(ctx, repo, near)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.PrintJSON(map[string]string{"base": base, "diff": diff})
	}
	_, err = fmt.Fprint(a.Stdout, peertext.Clean(diff))
	return err
}

func printFacts(a *app.Run, facts *coord.Analysis) {
	if len(facts.Files) == 0 {
		fmt.Fprintln(a.Stdout, "nothing differs from the version this work started from")
	}
	for _, f := range facts.Files {
		fmt.Fprintf(a.Stdout, "%s %s (%s)\n", f.Status, peertext.Path(f.Path), f.Language)
		for _, h := range f.Hunks {
			fmt.Fprintf(a.Stdout, "  lines %d-%d of the base\n", h.Start, h.Start+max(h.Count, 1)-1)
		}
		for _, s := range f.Symbols {
			fmt.Fprintf(a.Stdout, "  %s %s (%s)\n", s.Change, peertext.Path(s.Key), s.Compatibility)
		}
		for _, c := range f.Contracts {
			if c.Change != coord.Same {
				fmt.Fprintf(a.Stdout, "  %s %s %s (%s)\n", c.Change, c.Role, peertext.Path(c.Key), c.Compatibility)
			}
		}
	}
	if facts.Truncated {
		fmt.Fprintln(a.Stdout, "(cut short by a limit or the time budget)")
	}
}

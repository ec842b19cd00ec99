package merging

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/ownrules"
)

// TrustCommand marks a clone as one whose code may run: some checkers are, or
// run, code of the repository.
func TrustCommand(a *app.Run) *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:   "trust [--off]",
		Short: "Let checkers run this clone's own code, and use its rules",
		Long: "Mark the clone here as trusted. Checking merged work with its own tsc, mypy,\n" +
			"pyright or cargo runs code of the repository (compilers, plugins, build\n" +
			"scripts), also code that only a branch or pull request has. So svc does it only\n" +
			"in clones that you trust. The checkers of Go, C, C++ and Java run nothing of the\n" +
			"repository as svc starts them, and need no trust. The rules that a repository\n" +
			"has for its own framework (.svc/rules) count only in clones that you trust.",
		Example: "  svc trust\n  svc trust --off",
		Args:    term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			repo, ok := gitrepo.Find(a.Dir)
			if !ok {
				return fmt.Errorf("%s is in no git repository", a.Dir)
			}
			file, err := ownrules.TrustFile(repo, a.Getenv)
			if err != nil {
				return err
			}
			if off {
				if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				endCompilers(a)
				return printTrust(a, repo.Root, false)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(repo.CommonDir+"\n"), 0o600); err != nil {
				return err
			}
			return printTrust(a, repo.Root, true)
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "trust it no longer")
	return cmd
}

// mergedDir is where merged files of clones are unpacked, or "".
func mergedDir(a *app.Run) string {
	if dir := a.CacheDir(); dir != "" {
		return filepath.Join(dir, "svc", "merged")
	}
	return ""
}

// endCompilers ends what stayed of clones' own code after a check: without its
// socket a compiler ends within seconds.
func endCompilers(a *app.Run) {
	dir := mergedDir(a)
	if dir == "" {
		return
	}
	sockets, _ := filepath.Glob(filepath.Join(dir, "*", "tsc-*.sock"))
	for _, s := range sockets {
		os.Remove(s)
	}
}

func printTrust(a *app.Run, root string, trusted bool) error {
	switch {
	case a.JSON:
		return a.PrintJSON(map[string]any{"clone": root, "trusted": trusted})
	case trusted:
		fmt.Fprintf(a.Stdout, "%s is trusted: checks of merged work may run its own code, and its rules count (svc trust --off takes it back)\n",
			root)
	default:
		fmt.Fprintf(a.Stdout, "%s is not trusted: its own code does not run in checks, and its rules do not count\n", root)
	}
	return nil
}

func trusts(a *app.Run, repo *gitrepo.Repo) bool { return ownrules.Trusts(repo, a.Getenv) }

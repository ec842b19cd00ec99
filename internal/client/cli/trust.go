package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/login"
)

// trustCommand marks a clone as one whose code may run: some checkers are, or
// run, code of the repository.
func (a *app) trustCommand() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:   "trust [--off]",
		Short: "Let checkers run this clone's own code",
		Long: "Mark the clone here as trusted. Checking merged work with its own tsc, mypy,\n" +
			"pyright or cargo runs code of the repository (compilers, plugins, build\n" +
			"scripts), also code that only a branch or pull request has. So svc does it only\n" +
			"in clones that you trust. The checkers of Go, C, C++ and Java run nothing of the\n" +
			"repository as svc starts them, and need no trust.",
		Example: "  svc trust\n  svc trust --off",
		Args:    term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			repo, ok := gitrepo.Find(a.Dir)
			if !ok {
				return fmt.Errorf("%s is in no git repository", a.Dir)
			}
			file, err := a.trustFile(repo)
			if err != nil {
				return err
			}
			if off {
				if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				a.endCompilers()
				return a.printTrust(repo.Root, false)
			}
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				return err
			}
			if err := os.WriteFile(file, []byte(repo.CommonDir+"\n"), 0o600); err != nil {
				return err
			}
			return a.printTrust(repo.Root, true)
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "trust it no longer")
	return cmd
}

// mergedDir is where merged files of clones are unpacked, or "".
func (a *app) mergedDir() string {
	if dir := a.cacheDir(); dir != "" {
		return filepath.Join(dir, "svc", "merged")
	}
	return ""
}

// endCompilers ends what stayed of clones' own code after a check: without its
// socket a compiler ends within seconds.
func (a *app) endCompilers() {
	dir := a.mergedDir()
	if dir == "" {
		return
	}
	sockets, _ := filepath.Glob(filepath.Join(dir, "*", "tsc-*.sock"))
	for _, s := range sockets {
		os.Remove(s)
	}
}

func (a *app) printTrust(root string, trusted bool) error {
	switch {
	case a.json:
		return a.PrintJSON(map[string]any{"clone": root, "trusted": trusted})
	case trusted:
		fmt.Fprintf(a.Stdout, "%s is trusted: checks of merged work may run its own code (svc trust --off takes it back)\n", root)
	default:
		fmt.Fprintf(a.Stdout, "%s is not trusted: its own code does not run in checks\n", root)
	}
	return nil
}

// trustFile marks a clone as trusted. It lies with the user's configuration,
// where no repository can write.
func (a *app) trustFile(repo *gitrepo.Repo) (string, error) {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return "", err
	}
	return filepath.Join(store.Dir, "trusted", repoHash(repo)), nil
}

func (a *app) trusts(repo *gitrepo.Repo) bool {
	file, err := a.trustFile(repo)
	if err != nil {
		return false
	}
	_, err = os.Lstat(file)
	return err == nil
}

// repoHash names a clone.
func repoHash(repo *gitrepo.Repo) string {
	sum := sha256.Sum256([]byte(repo.CommonDir))
	return hex.EncodeToString(sum[:16])
}

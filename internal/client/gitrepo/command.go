package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// environment is what every git process of ours runs with: it takes no locks
// that the agent's own git could trip over (for git diff, harmless sees to
// that), asks nobody anything, fetches
// nothing, starts nothing and reads paths literally. None of the caller's
// variables for git stays, for a hook that git itself started would inherit
// those of another repository; except where the user's own configuration is.
func environment() []string {
	env := make([]string, 0, len(os.Environ())+16)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "GIT_CONFIG_GLOBAL=") ||
			strings.HasPrefix(v, "GIT_CONFIG_SYSTEM=") || strings.HasPrefix(v, "GIT_CONFIG_NOSYSTEM=") || strings.HasPrefix(v, "GIT_EXEC_PATH=") {
			env = append(env, v)
		}
	}
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none",
		"GIT_SSH_COMMAND=false", "GIT_ASKPASS=false", "GIT_EDITOR=false", "GIT_PAGER=cat", "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_LITERAL_PATHSPECS=1", "LC_ALL=C")
}

// harmless are the settings with which git starts no program, whatever a
// configuration says.
var harmless = []string{
	"--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.untrackedCache=false",
	"-c", "core.quotePath=false", "-c", "diff.external=", "-c", "diff.trustExitCode=false",
	"-c", "diff.autoRefreshIndex=false", "-c", "log.showSignature=false",
	"-c", "protocol.allow=never", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
}

// command prepares a git process about the working copy or the git folder at
// dir, which dies with ctx. Git works from a shelter: it does not get to see
// the configuration there.
func command(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := bare(ctx, dir, args...)
	repo, ok := At(dir)
	if !ok {
		repo, ok = atGitDir(dir)
	}
	if !ok {
		cmd.Err = fmt.Errorf("%s is not a git repository", dir)
		return cmd
	}
	env, err := repo.sheltered()
	if err != nil {
		cmd.Err = err
	}
	cmd.Env = append(append(cmd.Env, env...), moreObjects(ctx)...)
	return cmd
}

// bare prepares a git process that reads the repository's own references and
// therefore its configuration. It is for commands that touch neither working
// tree nor index, where no setting makes git start a program.
func bare(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append(append([]string{}, harmless...), args...)...)
	cmd.Dir = dir
	cmd.Env = environment()
	cmd.WaitDelay = 3 * time.Second // somebody may hold the pipe open
	return cmd
}

// atGitDir returns the repository whose git folder is dir itself.
func atGitDir(dir string) (*Repo, bool) {
	if r, ok := atWorkspace(filepath.Dir(filepath.Dir(dir))); ok && r.GitDir == dir {
		r.Root = dir
		return r, true
	}
	if info, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	common := dir
	if c := odb.ReadLine(filepath.Join(dir, "commondir")); c != "" {
		common = absolute(dir, c)
	}
	if info, err := os.Stat(filepath.Join(common, "objects")); err != nil || !info.IsDir() {
		return nil, false
	}
	return &Repo{Root: dir, GitDir: dir, CommonDir: common}, true
}

// output runs git from a shelter and returns what it wrote.
func output(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return run(ctx, args[0], command(ctx, dir, args...))
}

// run returns what a command wrote.
func run(ctx context.Context, what string, cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, gitError(ctx, what, stderr.String(), err)
	}
	return out, nil
}

// gitError says which git command failed and in git's own words why.
func gitError(ctx context.Context, what, stderr string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("git %s: %w", what, ctx.Err())
	}
	if msg := strings.TrimSpace(stderr); msg != "" {
		first, _, _ := strings.Cut(msg, "\n")
		return fmt.Errorf("git %s: %s", what, first)
	}
	return fmt.Errorf("git %s: %w", what, err)
}

package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// repoVariables point git at a repository. We are told the folder, and a hook
// that git itself started would otherwise inherit those of another one.
var repoVariables = []string{
	"GIT_DIR=", "GIT_WORK_TREE=", "GIT_INDEX_FILE=", "GIT_COMMON_DIR=", "GIT_PREFIX=", "GIT_NAMESPACE=",
	"GIT_OBJECT_DIRECTORY=", "GIT_ALTERNATE_OBJECT_DIRECTORIES=", "GIT_EXTERNAL_DIFF=", "GIT_DIFF_OPTS=",
	"GIT_CONFIG_PARAMETERS=", "GIT_GLOB_PATHSPECS=", "GIT_NOGLOB_PATHSPECS=", "GIT_ICASE_PATHSPECS=",
}

// environment is what every git process of ours runs with: it takes no locks
// that the agent's own git could trip over, asks nobody anything, fetches
// nothing, and reads paths literally.
func environment() []string {
	env := make([]string, 0, len(os.Environ())+6)
next:
	for _, v := range os.Environ() {
		for _, drop := range repoVariables {
			if strings.HasPrefix(v, drop) {
				continue next
			}
		}
		env = append(env, v)
	}
	return append(env, "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_NO_LAZY_FETCH=1",
		"GIT_LITERAL_PATHSPECS=1", "LC_ALL=C")
}

// command prepares a git process in root that dies with ctx.
func command(ctx context.Context, root string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	cmd.Env = environment()
	cmd.WaitDelay = 3 * time.Second // a filter that git started may hold the pipe open
	return cmd
}

// output runs git and returns what it wrote.
func output(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := command(ctx, root, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, gitError(ctx, args[0], stderr.String(), err)
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

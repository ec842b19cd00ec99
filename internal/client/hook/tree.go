package hook

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// changedSince returns the files of a working tree that changed since start,
// when HEAD was at head. Git tells what differs from the last commit; the
// times of the files tell what of it is new. touched are files that the
// session changed before: of those, the ones that no longer differ were put
// back.
func changedSince(ctx context.Context, repo *gitrepo.Repo, head string, start time.Time, touched []string) []string {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var out []string
	differs := map[string]bool{}
	for _, name := range status(ctx, repo.Root) {
		differs[name] = true
		if changedAfter(repo.Root, name, start) {
			out = append(out, name)
		}
	}
	// What the command changed and committed does not differ any more.
	if before, ok := repo.LastCommitted(); ok && head != "" && repo.Head().SHA != head && before != "" {
		for _, name := range committed(ctx, repo.Root, head) {
			if !differs[name] && changedAfter(repo.Root, name, start) {
				out = append(out, name)
			}
		}
	}
	for _, name := range touched {
		if !differs[name] && changedAfter(repo.Root, name, start) {
			out = append(out, name)
		}
	}
	return appendNew(nil, out)
}

// changedAfter reports whether a file changed at or after start. Of a file
// that is gone, the folder tells.
func changedAfter(root, name string, start time.Time) bool {
	p := filepath.Join(root, filepath.FromSlash(name))
	info, err := os.Lstat(p)
	for err != nil && p != root {
		p = filepath.Dir(p)
		info, err = os.Lstat(p)
	}
	return err == nil && !changedAt(info).Before(start)
}

// status returns the files that differ from the last commit, new ones too.
func status(ctx context.Context, root string) []string {
	out, err := git(ctx, root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
	if err != nil {
		return nil
	}
	var names []string
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) > 3 {
			names = append(names, string(entry[3:]))
		}
	}
	return names
}

// committed returns the files that differ between a commit and HEAD.
func committed(ctx context.Context, root, since string) []string {
	out, err := git(ctx, root, "diff", "--name-only", "-z", "--no-renames", since, "HEAD", "--")
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
}

// git runs git so that it takes no locks, runs nobody's hooks and asks nobody.
func git(ctx context.Context, root string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root, "-c", "core.fsmonitor=false", "-c", "core.quotePath=false"}, args...)...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "GIT_") { // we may run inside one of git's own hooks
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	cmd.WaitDelay = 100 * time.Millisecond
	return cmd.Output()
}

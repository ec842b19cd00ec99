package gitrepo

import (
	"context"
	"strings"
)

// Base returns the commit that the work in root started from: the merge base
// of HEAD and the default branch, else HEAD, else the empty tree. An empty
// defaultBranch means the one that origin names, else main, else master.
func Base(ctx context.Context, root, defaultBranch string) (string, error) {
	candidates := []string{"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main", "refs/heads/master"}
	if defaultBranch != "" {
		candidates = []string{"refs/remotes/origin/" + defaultBranch, "refs/heads/" + defaultBranch}
	}
	// One process tells which of the refs exist, and what HEAD is.
	args := append([]string{"for-each-ref", "--format=%(refname)"}, candidates...)
	out, err := output(ctx, root, args...)
	if err != nil {
		return "", err
	}
	exists := map[string]bool{}
	for ref := range strings.Lines(string(out)) {
		exists[strings.TrimSpace(ref)] = true
	}
	for _, ref := range candidates {
		if !exists[ref] {
			continue
		}
		if out, err := output(ctx, root, "merge-base", "HEAD", ref); err == nil {
			return strings.TrimSpace(string(out)), nil
		} else if ctx.Err() != nil {
			return "", err
		}
		break // unrelated histories, or no commit yet
	}
	out, err = output(ctx, root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	return emptyTree(ctx, root)
}

// emptyTree is the base of a repository that has no commit yet. Git knows it
// without having stored it; the id depends on the repository's hash.
func emptyTree(ctx context.Context, root string) (string, error) {
	out, err := output(ctx, root, "hash-object", "-t", "tree", "--stdin")
	return strings.TrimSpace(string(out)), err
}

// Root returns the top folder of the working tree that dir lies in.
func Root(ctx context.Context, dir string) (string, error) {
	out, err := output(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

package gitrepo

import (
	"context"
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// Base returns the commit that the work in root started from: the merge base
// of HEAD and the default branch, else HEAD, else the empty tree. An empty
// defaultBranch means the one that origin names, else main, else master.
func Base(ctx context.Context, root, defaultBranch string) (string, error) {
	repo, ok := At(root)
	if !ok {
		if repo, ok = atGitDir(root); !ok {
			return "", fmt.Errorf("%s is not a git repository", root)
		}
	}
	head, err := repo.headCommit(ctx)
	if err != nil {
		return "", err
	}
	if head == "" {
		return emptyTree(repo), nil
	}
	upstream := ""
	for _, ref := range repo.upstreams(defaultBranch) {
		if upstream = repo.refCommit(ctx, ref); upstream != "" {
			break
		}
	}
	switch upstream {
	case "", head:
		return head, nil
	}
	out, err := output(ctx, root, "merge-base", head, upstream)
	if err == nil {
		return strings.TrimSpace(string(out)), nil
	}
	if ctx.Err() != nil {
		return "", err
	}
	return head, nil // unrelated histories
}

// upstreams are the references that the default branch may have.
func (r *Repo) upstreams(defaultBranch string) []string {
	if defaultBranch != "" {
		return []string{"refs/remotes/origin/" + defaultBranch, "refs/heads/" + defaultBranch}
	}
	return []string{
		"refs/remotes/origin/HEAD", "refs/remotes/origin/main", "refs/remotes/origin/master", "refs/heads/main",
		"refs/heads/master",
	}
}

// headCommit returns the commit that is checked out, or "" where there is none
// yet.
func (r *Repo) headCommit(ctx context.Context) (string, error) {
	if !r.reftable() {
		return r.Head().SHA, nil
	}
	out, err := run(ctx, "rev-parse", bare(ctx, r.GitDir, "rev-parse", "--verify", "--quiet", "HEAD^{commit}"))
	if err != nil && ctx.Err() != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// refCommit returns the commit that a reference leads to.
func (r *Repo) refCommit(ctx context.Context, ref string) string {
	if !r.reftable() {
		return r.Ref(ref)
	}
	out, _ := run(ctx, "rev-parse", bare(ctx, r.GitDir, "rev-parse", "--verify", "--quiet", ref+"^{commit}"))
	return strings.TrimSpace(string(out))
}

// reftable reports whether references are kept in a form that only git reads.
func (r *Repo) reftable() bool {
	return odb.ReadLine(r.GitDir+"/HEAD") == "ref: refs/heads/.invalid"
}

// emptyTree is the base of a repository that has no commit yet. Git knows it
// without having stored it; the id depends on the repository's hash.
func emptyTree(r *Repo) string {
	for _, s := range r.settings() {
		if s.name == "extensions.objectformat" && s.value == "sha256" {
			return "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
		}
	}
	return "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
}

// Root returns the top folder of the working tree that dir lies in.
func Root(ctx context.Context, dir string) (string, error) {
	out, err := run(ctx, "rev-parse", bare(ctx, dir, "rev-parse", "--show-toplevel"))
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(out), "\n"), nil
}

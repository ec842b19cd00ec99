package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type objectsKey struct{}

// WithObjects makes git, wherever it only reads, see the objects in a folder of
// the caller's too.
func WithObjects(ctx context.Context, dir string) context.Context {
	return context.WithValue(ctx, objectsKey{}, dir)
}

// moreObjects are the variables for such a folder.
func moreObjects(ctx context.Context) []string {
	if dir, ok := ctx.Value(objectsKey{}).(string); ok {
		return []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteList(dir)}
	}
	return nil
}

// writing prepares a git process that writes its objects to scratch, a folder
// of the caller's, and reads those of the repository.
func (r *Repo) writing(ctx context.Context, scratch string, args ...string) *exec.Cmd {
	cmd := command(ctx, r.GitDir, args...)
	cmd.Dir = scratch
	cmd.Env = append(cmd.Env, r.writesTo(ctx, scratch)...)
	return cmd
}

// writesTo are the variables that make git write objects to a folder and read
// those of the repository, and those of WithObjects.
func (r *Repo) writesTo(ctx context.Context, scratch string) []string {
	from := quoteList(filepath.Join(r.CommonDir, "objects"))
	if dir, ok := ctx.Value(objectsKey{}).(string); ok && dir != scratch {
		from += string(os.PathListSeparator) + quoteList(dir)
	}
	return []string{"GIT_OBJECT_DIRECTORY=" + scratch, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + from}
}

// Snapshot makes a commit of what is in the working tree now, uncommitted work
// and new files too, on top of HEAD. What it writes goes to scratch; the
// repository, its index and its references stay as they are.
func (r *Repo) Snapshot(ctx context.Context, scratch string) (string, error) {
	head := r.Head().SHA
	if head == "" {
		return "", errors.New("there is no commit yet")
	}
	w := &worktree{ctx: ctx, root: r.Root}
	index, err := w.copyIndex()
	if err != nil {
		return "", err
	}
	defer os.Remove(index)
	step := func(args ...string) (string, error) {
		cmd := r.writing(ctx, scratch, args...)
		cmd.Dir = r.Root
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index, "GIT_WORK_TREE="+r.Root, "GIT_LITERAL_PATHSPECS=0",
			"GIT_AUTHOR_NAME=svc", "GIT_AUTHOR_EMAIL=svc@localhost",
			"GIT_COMMITTER_NAME=svc", "GIT_COMMITTER_EMAIL=svc@localhost", "GIT_AUTHOR_DATE=@0 +0000", "GIT_COMMITTER_DATE=@0 +0000")
		out, err := run(ctx, args[0], cmd)
		return strings.TrimSpace(string(out)), err
	}
	large, err := r.largeNew(ctx)
	if err != nil {
		return "", err
	}
	if _, err := step(append([]string{"add", "-A", "--ignore-errors", "--", "."}, large...)...); err != nil {
		return "", err
	}
	tree, err := step("write-tree")
	if err != nil {
		return "", err
	}
	return step("commit-tree", tree, "-p", head, "-m", "what is in the working tree")
}

// maxNew is how large a file may be that git does not know yet: what is larger
// is no code, and every look at it would read all of it.
const maxNew = 8 << 20

// largeNew are the new files that are left out of a snapshot, as git is told to.
func (r *Repo) largeNew(ctx context.Context) (out []string, err error) {
	list, err := output(ctx, r.Root, "ls-files", "--others", "--exclude-standard", "-z")
	for name := range strings.SplitSeq(string(list), "\x00") {
		info, err := os.Lstat(filepath.Join(r.Root, filepath.FromSlash(name)))
		if err == nil && info.Mode().IsRegular() && info.Size() > maxNew {
			out = append(out, ":(exclude,top,literal)"+name)
		}
	}
	return out, err
}

// MergeBase returns the best common ancestor of two commits, "" if they have
// none.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	out, err := run(ctx, "merge-base", command(ctx, r.GitDir, "merge-base", a, b))
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) || strings.Contains(err.Error(), "exit status 1") {
			return "", nil
		}
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// MergedTree merges two commits and returns the tree that git makes, and the
// files that it could not merge.
func (r *Repo) MergedTree(ctx context.Context, scratch, a, b string) (tree string, conflicts []string, err error) {
	args := append(append([]string{}, mergeConfig...), "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", a, b)
	cmd := r.writing(ctx, scratch, args...)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		return "", nil, gitError(ctx, "merge-tree", "", err)
	}
	fields := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if len(fields[0]) < 40 {
		return "", nil, fmt.Errorf("unexpected output of git merge-tree: %.80q", out)
	}
	return fields[0], fields[1:], nil
}

// Unpack makes dir, a folder that nobody but the caller uses now, hold the files
// of a tree. What is there from an earlier tree is only changed where it differs.
func (r *Repo) Unpack(ctx context.Context, scratch, tree, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	index := dir + ".index"
	// Left by a git that was ended at work, it would keep all others out for ever.
	if err := os.Remove(index + ".lock"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	cmd := r.writing(ctx, scratch, "read-tree", "--reset", "-u", tree)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "GIT_WORK_TREE="+dir, "GIT_INDEX_FILE="+index)
	_, err := run(ctx, "read-tree", cmd)
	return err
}

// A Copy is a working copy of a repository: several may share one clone.
type Copy struct{ Root, Branch string }

// Copies lists the working copies that share this one's clone.
func (r *Repo) Copies(ctx context.Context) ([]Copy, error) {
	out, err := run(ctx, "worktree", r.bare(ctx, "worktree", "list", "--porcelain", "-z"))
	if err != nil {
		return nil, err
	}
	var all []Copy
	for field := range strings.SplitSeq(string(out), "\x00") {
		if root, ok := strings.CutPrefix(field, "worktree "); ok {
			all = append(all, Copy{Root: root})
		} else if ref, ok := strings.CutPrefix(field, "branch refs/heads/"); ok && len(all) > 0 {
			all[len(all)-1].Branch = ref
		}
	}
	return all, nil
}

// Links returns the symbolic links in a tree.
func (r *Repo) Links(ctx context.Context, scratch, tree string) (out []string, err error) {
	list, err := run(ctx, "ls-tree", r.writing(ctx, scratch, "ls-tree", "-r", "-z", "--full-tree", tree))
	for entry := range strings.SplitSeq(string(list), "\x00") {
		if about, name, ok := strings.Cut(entry, "\t"); ok && strings.HasPrefix(about, "120000 ") {
			out = append(out, name)
		}
	}
	return out, err
}

package gitrepo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// Difference returns what a commit has of some files that base does not have, as
// git writes it for Applied. A file whose part does not fit in limit bytes with
// those before it is left out.
func (r *Repo) Difference(ctx context.Context, base, head string, paths []string, limit int) (string, error) {
	if len(paths) == 0 {
		return "", nil
	}
	out, err := run(ctx, "diff", command(ctx, r.GitDir, append([]string{"--literal-pathspecs", "diff", "--binary", "--full-index",
		"--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", base, head, "--"}, paths...)...))
	if err != nil {
		return "", err
	}
	const begins = "diff --git "
	var b strings.Builder
	for part := range strings.SplitSeq("\n"+string(out), "\n"+begins) {
		if part != "" && b.Len()+len(begins)+len(part)+1 <= limit {
			b.WriteString(begins + strings.TrimSuffix(part, "\n") + "\n")
		}
	}
	return b.String(), nil
}

// Applied makes a commit of a difference on top of base, in scratch. It returns
// "" where the repository does not have base, or the difference is none of it.
func (r *Repo) Applied(ctx context.Context, scratch, base, diff string) (string, error) {
	if odb.CommitID(base) == "" {
		return "", fmt.Errorf("%.80q is no commit", base)
	}
	index := filepath.Join(scratch, "applied.index")
	defer os.Remove(index)
	step := func(in string, args ...string) (string, error) {
		cmd := r.writing(ctx, scratch, args...)
		cmd.Stdin = strings.NewReader(in)
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index, "GIT_AUTHOR_NAME=svc", "GIT_AUTHOR_EMAIL=svc@localhost",
			"GIT_COMMITTER_NAME=svc", "GIT_COMMITTER_EMAIL=svc@localhost", "GIT_AUTHOR_DATE=@0 +0000", "GIT_COMMITTER_DATE=@0 +0000")
		out, err := run(ctx, args[0], cmd)
		return strings.TrimSpace(string(out)), err
	}
	for _, s := range []struct {
		in   string
		args []string
	}{
		{"", []string{"read-tree", base}},
		{diff, []string{"apply", "--cached", "--whitespace=nowarn", "-"}},
	} {
		if _, err := step(s.in, s.args...); err != nil {
			return "", ctx.Err() // it is not here, or does not fit
		}
	}
	tree, err := step("", "write-tree")
	if err != nil {
		return "", err
	}
	return step("", "commit-tree", tree, "-p", base, "-m", "what another machine has")
}

package gitrepo

import (
	"bytes"
	"context"
	"strings"
)

// Status returns the files that differ from the last commit, new ones too.
func (r *Repo) Status(ctx context.Context) ([]string, error) {
	out, err := output(ctx, r.Root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	var names []string
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) > 3 {
			names = append(names, string(entry[3:]))
		}
	}
	return names, nil
}

// Changed returns the files that differ between two commits.
func (r *Repo) Changed(ctx context.Context, from, to string) ([]string, error) {
	out, err := output(ctx, r.Root, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=dirty", from, to, "--")
	return nulTexts(out), err
}

// Staged returns the files in the index that differ from the last commit.
func (r *Repo) Staged(ctx context.Context) ([]string, error) {
	out, err := output(ctx, r.Root, "diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff")
	return nulTexts(out), err
}

func nulTexts(out []byte) []string {
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
}

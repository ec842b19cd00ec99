package gitrepo

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/core/limit"
)

// Pushed is what the commits of a push change.
type Pushed struct {
	Paths  limit.List[string] // files, under their old and new names
	Emails []string           // of the committers
}

const (
	maxPushed = 5000
	maxEmails = 50
)

// IsID reports whether s is the id of an object, or zeros for none.
func IsID(s string) bool { return odb.CommitID(s) != "" || len(s) >= 40 && strings.Trim(s, "0") == "" }

// PushedCommits returns what the commits change that are new on a branch. Those
// that the default branch has already are others' work that was merged into it.
// dir is the bare repository, in a pre-receive hook.
func PushedCommits(ctx context.Context, dir, old, now, ref string) (out Pushed, err error) {
	if strings.Trim(now, "0") == "" {
		return out, nil // the branch is deleted
	}
	args := []string{"-c", "log.showRoot=true", "log", "--format=%x01%ce", "--name-only", "-z", "-c", "--no-renames", now, "--not"}
	if strings.Trim(old, "0") != "" {
		args = append(args, old)
	}
	head, err := received(ctx, dir, "symbolic-ref", "-q", "HEAD")
	if main := strings.TrimSpace(string(head)); err == nil && main != ref {
		if _, err := received(ctx, dir, "rev-parse", "-q", "--verify", main); err == nil {
			args = append(args, main)
		}
	}
	text, err := received(ctx, dir, append(args, "--")...)
	if err != nil {
		return out, err
	}
	seen := map[string]bool{}
	for field := range strings.SplitSeq(string(text), "\x00") {
		if field = strings.TrimPrefix(field, "\n"); field == "" || seen[field] {
			continue
		}
		seen[field] = true
		if email, ok := strings.CutPrefix(field, "\x01"); !ok {
			out.Paths.Add(maxPushed, field)
		} else if len(out.Emails) < maxEmails {
			out.Emails = append(out.Emails, email)
		}
	}
	return out, nil
}

// received runs git in a bare repository in which a push has arrived, and is
// still kept apart: git says where by its variables.
func received(ctx context.Context, dir string, args ...string) ([]byte, error) {
	cmd := bare(ctx, dir, args...)
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		if slices.Contains([]string{"GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_QUARANTINE_PATH"}, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	return run(ctx, args[0], cmd)
}

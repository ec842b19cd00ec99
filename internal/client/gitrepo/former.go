package gitrepo

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
)

// How far back names of a file are looked for, in seconds, and how many: work
// that started before is rarely older, and each is a place where it may be met.
const (
	formerReach = 365 * 24 * 60 * 60
	maxFormer   = 5
)

// YearBefore returns the commit of base's history that is a year older, or ""
// where there is none: what was there already has hardly moved since.
func (r *Repo) YearBefore(ctx context.Context, base string) (string, error) {
	since, err := r.yearBefore(ctx, base)
	if err != nil {
		return "", err
	}
	out, err := output(ctx, r.Root, "rev-list", "-1", "--first-parent", "--before="+since, base)
	return strings.TrimSpace(string(out)), err
}

func (r *Repo) yearBefore(ctx context.Context, base string) (string, error) {
	out, err := output(ctx, r.Root, "log", "-1", "--format=%ct", base)
	if err != nil {
		return "", err
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return "@" + strconv.FormatInt(max(at-formerReach, 0), 10), err
}

// Absent returns those of paths that a commit or tree does not have.
func (r *Repo) Absent(treeish string, paths []string) []string {
	store := r.Store()
	defer store.Close()
	return slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return has(store, treeish, p) })
}

func has(store *odb.Store, treeish, path string) bool {
	e, err := store.Entry(treeish, path)
	return err == nil && e != nil
}

// Former returns the names that a file of base had in the year before, the
// latest first, by git's own renames. Names that base has again are left out:
// what is there now is another file.
func (r *Repo) Former(ctx context.Context, base, path string) ([]string, error) {
	since, err := r.yearBefore(ctx, base)
	if err != nil {
		return nil, err
	}
	out, err := output(ctx, r.Root, "--literal-pathspecs", "log", "--follow", "--diff-filter=R", "--find-renames=50%", "-l400",
		"--since="+since, "--format=", "--name-status", "-z", base, "--", path)
	if err != nil {
		return nil, err
	}
	return r.names(base, path, strings.Split(string(out), "\x00")), nil
}

// names reads git's list of renames: status, old name, new name.
func (r *Repo) names(base, path string, fields []string) (out []string) {
	store := r.Store()
	defer store.Close()
	for now := path; len(fields) >= 3 && len(out) < maxFormer; fields = fields[3:] {
		old, to := fields[1], fields[2]
		if !strings.HasPrefix(strings.TrimSpace(fields[0]), "R") || to != now {
			return out
		}
		now = old
		if !has(store, base, old) && !slices.Contains(out, old) {
			out = append(out, old)
		}
	}
	return out
}

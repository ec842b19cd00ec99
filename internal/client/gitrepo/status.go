package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
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

// StatusIgnored is Status that also returns the folders that are ignored as a
// whole.
func (r *Repo) StatusIgnored(ctx context.Context) (names, ignored []string, err error) {
	out, err := output(ctx, r.Root, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty",
		"--ignored=matching")
	if err != nil {
		return nil, nil, err
	}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		if len(entry) <= 3 {
			continue
		}
		name := string(entry[3:])
		if !bytes.HasPrefix(entry, []byte("!! ")) {
			names = append(names, name)
		} else if dir, ok := strings.CutSuffix(name, "/"); ok {
			ignored = append(ignored, dir)
		}
	}
	return names, ignored, nil
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

// Stashed returns the files that a stash holds: the latest, or one by its name
// or number.
func (r *Repo) Stashed(ctx context.Context, name string) ([]string, error) {
	s, err := r.Stash(name)
	if err != nil {
		return nil, err
	}
	return r.Changed(ctx, s.ID+"^1", s.ID)
}

// A Stash is one of the stashes of a clone, which its working copies share.
type Stash struct {
	ID   string // of its commit
	Made time.Time
}

// Stash returns the latest stash, or one by its name or number.
func (r *Repo) Stash(name string) (Stash, error) {
	name = strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(name, "refs/"), "stash@{"), "}")
	if name == "" || name == "stash" {
		name = "0"
	}
	back, err := strconv.ParseUint(name, 10, 16)
	if err != nil {
		return Stash{}, fmt.Errorf("no stash is called %q", name)
	}
	all, err := r.Stashes()
	if err == nil && back >= uint64(len(all)) {
		err = fmt.Errorf("there is no stash@{%d}", back)
	}
	if err != nil {
		return Stash{}, err
	}
	return all[back], nil
}

// Stashes returns all stashes, the latest first.
func (r *Repo) Stashes() (all []Stash, err error) {
	log, err := plain.ReadHere(filepath.Join(r.CommonDir, "logs", "refs", "stash"), odb.MaxText)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(log)) { // before, after, who, when, zone; the latest last
		entry, _, _ := strings.Cut(line, "\t")
		fields := strings.Fields(entry)
		if len(fields) < 4 || odb.CommitID(fields[1]) == "" {
			return nil, fmt.Errorf("the log of stashes is damaged")
		}
		at, _ := strconv.ParseInt(fields[len(fields)-2], 10, 64)
		all = append(all, Stash{ID: fields[1], Made: time.Unix(at, 0)})
	}
	slices.Reverse(all)
	return all, nil
}

// maxModules is how many submodules of a working copy are looked at.
const maxModules = 50

// Submodules returns the submodules that are checked out in a working copy, and
// theirs.
func (r *Repo) Submodules() []*Repo {
	var out []*Repo
	for level := []*Repo{r}; len(level) > 0 && len(out) < maxModules; {
		var below []*Repo
		for _, at := range level {
			below = append(below, at.modules()...)
		}
		out = append(out, below...)
		level = below
	}
	return out[:min(len(out), maxModules)]
}

func (r *Repo) modules() (out []*Repo) {
	data, err := plain.ReadHere(filepath.Join(r.Root, ".gitmodules"), odb.MaxText)
	if err != nil {
		return nil
	}
	for _, s := range parseConfig(string(data)) {
		dir := filepath.FromSlash(s.value)
		if !strings.HasPrefix(s.name, "submodule.") || !strings.HasSuffix(s.name, ".path") || !filepath.IsLocal(dir) || dir == "." {
			continue
		}
		if sub, ok := At(filepath.Join(r.Root, dir)); ok && len(out) < maxModules {
			out = append(out, sub)
		}
	}
	return out
}

func nulTexts(out []byte) []string {
	return strings.FieldsFunc(string(out), func(c rune) bool { return c == 0 })
}

// LastCommits returns when files were last changed by a commit, as far as the
// newest commits of the branch tell, in seconds since 1970.
func (r *Repo) LastCommits(ctx context.Context, paths []string) (map[string]int64, error) {
	args := append([]string{"log", "-n", "300", "--no-renames", "--format=%x01%ct", "--name-only", "-z", "HEAD", "--"}, paths...)
	out, err := output(ctx, r.Root, args...)
	if err != nil {
		return nil, err
	}
	times := make(map[string]int64, len(paths))
	at := int64(0)
	for field := range strings.SplitSeq(string(out), "\x00") {
		field = strings.TrimPrefix(field, "\n")
		if when, ok := strings.CutPrefix(field, "\x01"); ok {
			at, _ = strconv.ParseInt(strings.TrimSpace(when), 10, 64)
			continue
		}
		if _, known := times[field]; field != "" && !known {
			times[field] = at
		}
	}
	return times, nil
}

package hook

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/limit"
	"github.com/svc-hq/svc/internal/core/wire"
)

// maxRepos is how many repositories of one folder a session starts in.
const maxRepos = 8

// A target is a repository and the files in it that an event is about.
type target struct {
	at    *place
	paths []string      // from the repository's root
	under []string      // selectors of what more is about to be written, as far as it was not listed
	as    *record.Owner // who wrote them, if not the session that speaks
	// untold tells that no hook told of the edit, whoever made it.
	untold bool
}

// targets returns the repositories that the call concerns.
func (r *runner) targets(ctx context.Context) ([]target, error) {
	c := r.call
	switch c.Event {
	case wire.HookPreEdit, wire.HookPreShell, wire.HookPostEdit:
		if c.IsShell() {
			return r.shellTargets(ctx)
		}
		if c.Tool == host.Foreign {
			repo, ok := r.findRepo(c.Cwd)
			if !ok {
				return nil, nil
			}
			return r.places(repo), nil
		}
		paths := absolutes(c.Cwd, c.Paths, r.real)
		out := r.split(paths)
		if c.Event == wire.HookPostEdit {
			return spelled(out), nil
		}
		return r.withDetaches(out, r.protected(paths, false)), nil
	case wire.HookStop:
		return r.stopTargets(), nil
	}
	if repo, ok := r.findRepo(c.Cwd); ok {
		return r.places(repo), nil
	}
	// A folder that holds several repositories.
	repos := childRepos(realPath(c.Cwd))
	if c.Event == wire.HookSessionStart || c.Event == wire.HookSessionEnd || c.At == host.BeforeModel {
		return r.places(repos...), nil
	}
	if worked := r.worked(); len(worked) > 0 {
		return r.places(worked...), nil
	}
	return r.places(repos[:min(1, len(repos))]...), nil
}

// stopTargets returns where the turn changed files, and the working folder.
func (r *runner) stopTargets() []target {
	touched := r.spool.Touched(true)
	var repos []*gitrepo.Repo
	if repo, ok := r.findRepo(r.call.Cwd); ok {
		repos = append(repos, repo)
	} else if len(touched) == 0 {
		repos = childRepos(realPath(r.call.Cwd))
		repos = repos[:min(1, len(repos))]
	}
	for root := range touched {
		if repo, ok := r.at(root); ok && !slices.ContainsFunc(repos, func(o *gitrepo.Repo) bool { return o.Root == root }) {
			repos = append(repos, repo)
		}
	}
	out := r.places(repos...)
	for i := range out {
		files := touched[out[i].at.Root]
		out[i].paths = files[:min(len(files), wire.MaxHookPaths)]
	}
	return out
}

// worked returns the repositories in which the session has changed files.
func (r *runner) worked() []*gitrepo.Repo {
	var out []*gitrepo.Repo
	for root := range r.spool.Touched(false) {
		if repo, ok := r.at(root); ok {
			out = append(out, repo)
		}
	}
	return out
}

// places returns the repositories that have a remote, as targets.
func (r *runner) places(repos ...*gitrepo.Repo) []target {
	var out []target
	for _, repo := range repos {
		if p, ok := r.placeOf(repo); ok && len(out) < maxRepos {
			out = append(out, target{at: p})
		}
	}
	return out
}

// split sorts absolute paths by repository. Paths in no repository with a
// remote stay on the machine.
func (r *runner) split(paths []string) []target {
	var out []target
	index, seen := map[string]int{}, map[string]bool{}
	paths, unknown := r.otherNames(paths)
	for _, p := range paths {
		repo, ok := r.find(p)
		if !ok {
			continue
		}
		i, known := index[repo.Root]
		if !known {
			at, ok := r.placeOf(repo)
			if !ok {
				continue
			}
			i = len(out)
			index[repo.Root] = i
			out = append(out, target{at: at})
		}
		rel, err := filepath.Rel(repo.Root, p)
		if err != nil || rel == "." {
			continue
		}
		rel = filepath.ToSlash(rel)
		if key := repo.Root + "\x00" + rel; !seen[key] && !gitrepo.Within(rel) {
			seen[key] = true
			out[i].paths = append(out[i].paths, rel)
		}
	}
	out = slices.DeleteFunc(out, func(t target) bool { return len(t.paths) == 0 })
	for i := range out {
		out[i].bound()
	}
	return r.withFolders(out, unknown)
}

// bound keeps the paths of a target to as many, and as long ones, as an event
// takes. What is left out goes as the folders that it is in.
func (t *target) bound() {
	long := func(p string) bool { return len(p) > maxPathLength }
	var rest []string
	for _, p := range t.paths {
		if long(p) {
			rest = append(rest, p)
		}
	}
	first := limit.First(slices.DeleteFunc(t.paths, long), wire.MaxHookPaths)
	if first.Cut {
		rest = append(rest, t.paths[len(first.Items):len(t.paths)-len(rest)]...)
	}
	t.paths = first.Items
	t.under = appendNew(t.under, folders(rest))
}

const (
	maxPathLength = 1024
	maxFolders    = 100
)

// folders returns selectors of the folders that paths are in: as few as an event
// takes, so perhaps of folders above them.
func folders(paths []string) []string {
	for depth := 64; depth > 0 && len(paths) > 0; depth /= 2 {
		found := map[string]bool{}
		for _, p := range paths {
			found[selector(path.Dir(p), depth)] = true
		}
		if len(found) <= maxFolders/2 {
			return slices.Sorted(maps.Keys(found))
		}
	}
	if len(paths) == 0 {
		return nil
	}
	return []string{"**"}
}

// selector returns what selects all below a folder, or the one of at most depth
// steps above it. What a selector would read as more than a name is left out.
func selector(dir string, depth int) string {
	parts := strings.Split(dir, "/")
	parts = parts[:min(len(parts), depth)]
	if at := slices.IndexFunc(parts, func(p string) bool { return p == "." || strings.ContainsAny(p, "*?[]{},\\!") }); at >= 0 {
		parts = parts[:at]
	}
	for len(strings.Join(parts, "/")) > maxPathLength-len("/**") {
		parts = parts[:len(parts)-1]
	}
	return path.Join(append(parts, "**")...)
}

// spelled writes paths as the disk does, where names that differ in case alone
// are one file: git knows a file by one spelling, whatever an agent writes. What
// is not there any more stays as it is.
func spelled(targets []target) []target {
	for i := range targets {
		t := &targets[i]
		if !t.at.ignoresCase {
			continue
		}
		for n, p := range t.paths {
			t.paths[n] = onDisk(t.at.Root, p)
		}
		slices.Sort(t.paths)
		t.paths = slices.Compact(t.paths)
	}
	return targets
}

// onDisk returns the spelling of a path on disk.
func onDisk(root, path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		list, err := plain.List(filepath.Join(root, filepath.Join(parts[:i]...)))
		if err != nil {
			return path
		}
		if slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == part }) {
			continue
		}
		at := slices.IndexFunc(list, func(e fs.DirEntry) bool { return strings.EqualFold(e.Name(), part) })
		if at < 0 {
			return path
		}
		parts[i] = list[at].Name()
	}
	return strings.Join(parts, "/")
}

// childRepos returns the repositories right below dir, or one folder deeper,
// the most recently active first.
func childRepos(dir string) []*gitrepo.Repo {
	type found struct {
		repo *gitrepo.Repo
		at   time.Time
	}
	var all []found
	visited := 0
	var look func(dir string, depth int)
	look = func(dir string, depth int) {
		list, err := plain.List(dir)
		if err != nil {
			return
		}
		for _, e := range list {
			if visited++; visited > 500 || !e.IsDir() || strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" {
				continue
			}
			sub := filepath.Join(dir, e.Name())
			if repo, ok := gitrepo.At(sub); ok {
				all = append(all, found{repo, lastActive(repo)})
			} else if depth > 0 {
				look(sub, depth-1)
			}
		}
	}
	look(dir, 1)
	slices.SortStableFunc(all, func(a, b found) int { return b.at.Compare(a.at) })
	out := make([]*gitrepo.Repo, len(all))
	for i, f := range all {
		out[i] = f.repo
	}
	return out
}

// lastActive returns when git, or Jujutsu, last did something in the repository.
func lastActive(repo *gitrepo.Repo) time.Time {
	var last time.Time
	for _, name := range []string{"index", "HEAD", "logs/HEAD", "FETCH_HEAD", "checkout"} {
		if info, err := os.Stat(filepath.Join(repo.GitDir, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// real is realPath, which looks at a folder once in a run: the paths of one call
// and of svc's own files lie close together.
func (r *runner) real(path string) string {
	plain := filepath.IsAbs(path) && filepath.Clean(path) == path && runtime.GOOS != "windows" // where a name has many spellings
	if r.reals == nil || !plain {
		return realPath(path)
	}
	if known, ok := r.reals[path]; ok {
		return known
	}
	parent, out := filepath.Dir(path), path
	if parent != path {
		out = filepath.Join(r.real(parent), filepath.Base(path))
		if info, err := os.Lstat(out); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			out = realPath(out)
		}
	}
	r.reals[path] = out
	return out
}

func (r *runner) findRepo(dir string) (*gitrepo.Repo, bool) {
	if dir == "" {
		return nil, false
	}
	return r.find(r.real(dir))
}

func absolutes(dir string, paths []string, real func(string) string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, real(absolute(dir, p)))
	}
	return out
}

func absolute(dir, path string) string {
	path = filepath.FromSlash(path)
	if rest, ok := strings.CutPrefix(path, "~"+string(filepath.Separator)); ok { // as hosts' file tools read it
		if home, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// realPath follows links, of the part of the path that exists: a claimed file
// must not be reachable under another name.
func realPath(path string) string {
	rest := ""
	for dir := path; ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return path
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = parent
	}
}

package hook

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/record"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/core/wire"
)

// maxRepos is how many repositories of one folder a session starts in.
const maxRepos = 8

// A target is a repository and the files in it that an event is about.
type target struct {
	at    *place
	paths []string      // from the repository's root
	as    *record.Owner // who wrote them, if not the session that speaks
}

// targets returns the repositories that the call concerns.
func (r *runner) targets(ctx context.Context) ([]target, error) {
	c := r.call
	switch c.Event {
	case wire.HookPreEdit, wire.HookPreShell, wire.HookPostEdit:
		if c.IsShell() {
			return r.shellTargets(ctx)
		}
		out := split(absolutes(c.Cwd, c.Paths))
		if c.Event == wire.HookPostEdit {
			out = spelled(out)
		}
		return out, nil
	case wire.HookStop:
		return r.stopTargets(), nil
	}
	if repo, ok := findRepo(c.Cwd); ok {
		return places(repo), nil
	}
	// A folder that holds several repositories.
	repos := childRepos(realPath(c.Cwd))
	if c.Event == wire.HookSessionStart || c.Event == wire.HookSessionEnd || c.At == host.BeforeModel {
		return places(repos...), nil
	}
	if worked := r.worked(); len(worked) > 0 {
		return places(worked...), nil
	}
	return places(repos[:min(1, len(repos))]...), nil
}

// stopTargets returns where the turn changed files, and the working folder.
func (r *runner) stopTargets() []target {
	touched := r.spool.Touched(true)
	var repos []*gitrepo.Repo
	if repo, ok := findRepo(r.call.Cwd); ok {
		repos = append(repos, repo)
	} else if len(touched) == 0 {
		repos = childRepos(realPath(r.call.Cwd))
		repos = repos[:min(1, len(repos))]
	}
	for root := range touched {
		if repo, ok := gitrepo.At(root); ok && !slices.ContainsFunc(repos, func(o *gitrepo.Repo) bool { return o.Root == root }) {
			repos = append(repos, repo)
		}
	}
	out := places(repos...)
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
		if repo, ok := gitrepo.At(root); ok {
			out = append(out, repo)
		}
	}
	return out
}

// places returns the repositories that have a remote, as targets.
func places(repos ...*gitrepo.Repo) []target {
	var out []target
	for _, repo := range repos {
		if p, ok := placeOf(repo); ok && len(out) < maxRepos {
			out = append(out, target{at: p})
		}
	}
	return out
}

// split sorts absolute paths by repository. Paths in no repository with a
// remote stay on the machine.
func split(paths []string) []target {
	var out []target
	index := map[string]int{}
	for _, p := range paths {
		repo, ok := gitrepo.Find(p)
		if !ok {
			continue
		}
		i, known := index[repo.Root]
		if !known {
			at, ok := placeOf(repo)
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
		if len(rel) > 1024 || rel == ".git" || strings.HasPrefix(rel, ".git/") || slices.Contains(out[i].paths, rel) {
			continue
		}
		if len(out[i].paths) < wire.MaxHookPaths {
			out[i].paths = append(out[i].paths, rel)
		}
	}
	return slices.DeleteFunc(out, func(t target) bool { return len(t.paths) == 0 })
}

// spelled writes paths as the disk does, where names that differ in case alone
// are one file: git knows a file by one spelling, whatever an agent writes. What
// is not there any more stays as it is.
func spelled(targets []target) []target {
	for i := range targets {
		t := &targets[i]
		if !t.at.IgnoresCase() {
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
		dir, err := os.Open(filepath.Join(root, filepath.Join(parts[:i]...)))
		if err != nil {
			return path
		}
		names, _ := dir.Readdirnames(-1)
		dir.Close()
		if slices.Contains(names, part) {
			continue
		}
		at := slices.IndexFunc(names, func(n string) bool { return strings.EqualFold(n, part) })
		if at < 0 {
			return path
		}
		parts[i] = names[at]
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
		list, err := os.ReadDir(dir)
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

// lastActive returns when git last did something in the repository.
func lastActive(repo *gitrepo.Repo) time.Time {
	var last time.Time
	for _, name := range []string{"index", "HEAD", "logs/HEAD", "FETCH_HEAD"} {
		if info, err := os.Stat(filepath.Join(repo.GitDir, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

func findRepo(dir string) (*gitrepo.Repo, bool) {
	if dir == "" {
		return nil, false
	}
	return gitrepo.Find(realPath(dir))
}

func absolutes(dir string, paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		out = append(out, realPath(absolute(dir, p)))
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

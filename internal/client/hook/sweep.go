package hook

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/wire"
)

// sweepsBy sorts the git commands of a shell call that take hold of uncommitted
// work by the working copies in which they do: another one than the call runs
// in, with -C or in a submodule. repo is that of dir, where the call runs, if
// there is one.
func (r *runner) sweepsBy(dir string, repo *gitrepo.Repo, sweeps []shellscan.Sweep) (
	repos []*gitrepo.Repo, by map[string][]shellscan.Sweep) {
	by = map[string][]shellscan.Sweep{}
	for _, s := range sweeps {
		home := repo
		if s.Dir != "" {
			if other, ok := r.findRepo(absolute(dir, s.Dir)); ok {
				home = other
			}
		}
		if home == nil {
			continue
		}
		var in []*gitrepo.Repo
		if s.Modules != shellscan.OnlyModules {
			in = append(in, home)
		}
		if s.Modules != shellscan.NoModules {
			in = append(in, home.Submodules()...)
		}
		for _, at := range in {
			if _, known := by[at.Root]; !known {
				if len(repos) == maxRepos {
					continue
				}
				repos = append(repos, at)
			}
			by[at.Root] = append(by[at.Root], s)
		}
	}
	return repos, by
}

// swept returns git commands that take hold of uncommitted work, with the files
// in the repository that they would hit. dir is where the call runs.
func swept(ctx context.Context, repo *gitrepo.Repo, dir string, sweeps []shellscan.Sweep, makers stashMakers) []wire.HookGit {
	if len(sweeps) == 0 {
		return nil
	}
	// An agent waits, but such commands are rare and what they take is gone.
	ctx, cancel := context.WithTimeout(ctx, patience.Of(statusTimeout))
	defer cancel()
	hit := map[string]bool{}
	out := make([]wire.HookGit, 0, len(sweeps))
	for _, s := range sweeps {
		names, err := inReach(ctx, repo, s)
		if err != nil {
			out = append(out, unseen(repo, dir, s))
			continue
		}
		stashes := makers.of(repo, s)
		if len(s.Patches) > 0 {
			for _, file := range s.Patches {
				listed := patched(absolute(dir, s.Dir), absolute(dir, file), s.Strip)
				if s.Paths = append(s.Paths, listed.Items...); listed.Cut {
					s.Paths = append(s.Paths, "") // any file
				}
			}
		}
		g := wire.HookGit{Verb: excerpt.Text(s.Verb, 40), Effect: wire.GitEffect(s.Effect), Stashes: stashes}
		hits := limited(repo.Root, dir, s.Paths)
		for _, name := range names {
			if !hits(filepath.Join(repo.Root, filepath.FromSlash(name))) {
				continue
			}
			if len(g.Files) == maxSwept || len(name) > 1024 {
				g.All, g.Files = true, nil
				break
			}
			g.Files = append(g.Files, wire.GitFile{Path: name})
			hit[name] = true
		}
		if len(g.Files) > 0 || g.All || len(g.Stashes) > 0 {
			out = append(out, g)
		}
	}
	dateFiles(ctx, repo, out, hit)
	return out
}

// inReach returns the files with the uncommitted work that a command is about.
func inReach(ctx context.Context, repo *gitrepo.Repo, s shellscan.Sweep) ([]string, error) {
	switch s.Of {
	case shellscan.Stack:
		return nil, nil
	case shellscan.Staged:
		return repo.Staged(ctx)
	case shellscan.Stashed:
		held, err := repo.Stashed(ctx, s.Stash)
		if err != nil || len(held) == 0 {
			return nil, ctx.Err() // there is no such stash
		}
		dirty, err := repo.Status(ctx)
		return slices.DeleteFunc(dirty, func(name string) bool { return !slices.Contains(held, name) }), err
	}
	return repo.Status(ctx)
}

// unseen is what a command may hit when git could not say in time what is
// uncommitted: the files it names, else everything. Not to know is not
// "nothing to see".
func unseen(repo *gitrepo.Repo, dir string, s shellscan.Sweep) wire.HookGit {
	g := wire.HookGit{Verb: excerpt.Text(s.Verb, 40), Effect: wire.GitEffect(s.Effect), All: len(s.Paths) == 0}
	for _, p := range s.Paths {
		full := named(repo.Root, dir, p)
		name, err := filepath.Rel(repo.Root, full)
		if info, e := os.Lstat(full); p == "" || err != nil || e != nil || info.IsDir() {
			g.All, g.Files = true, nil
			break
		}
		g.Files = append(g.Files, wire.GitFile{Path: filepath.ToSlash(name)})
	}
	return g
}

// named is the file or folder that a path of a command means, which runs in dir
// or names it from the top of the working copy.
func named(root, dir, p string) string {
	if rest, ok := strings.CutPrefix(p, ":/"); ok {
		return filepath.Join(root, filepath.FromSlash(rest))
	}
	return realPath(absolute(dir, p))
}

// maxSwept is how many files of a command are listed.
const maxSwept = 500

// patternOf finds the files that a pattern of a command selects. A shell has it
// stand for files and folders, git itself for whole paths, in which * goes on
// beyond a slash: what either would hit counts.
func patternOf(pattern string) (*regexp.Regexp, error) {
	var b strings.Builder
	b.WriteString("(?s)^")
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '*':
			b.WriteString(".*")
		case c == '?' || c == '[' && !strings.Contains(pattern[i:], "]"):
			b.WriteString(".")
		case c == '[': // which characters does not matter so much as not to miss one
			b.WriteString(".")
			i += strings.IndexByte(pattern[i+1:], ']') + 1
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString("(?:" + regexp.QuoteMeta(string(filepath.Separator)) + ".*)?$")
	return regexp.Compile(b.String())
}

// limited returns whether a command that is limited to paths hits a file. What
// the paths mean is found out once: a patch names hundreds of them.
func limited(root, dir string, paths []string) (hits func(file string) bool) {
	at := map[string]bool{}
	var patterns []*regexp.Regexp
	for _, p := range paths {
		everything := p == "" || strings.HasPrefix(p, ":") && !strings.HasPrefix(p, ":/") // magic of git's may select anything
		if !strings.ContainsAny(p, "*?[") {
			at[filepath.Clean(named(root, dir, p))] = true
		} else if re, err := patternOf(named(root, dir, p)); err == nil {
			patterns = append(patterns, re)
		} else {
			everything = true
		}
		if everything {
			return func(string) bool { return true }
		}
	}
	return func(file string) bool {
		for dir, last := file, ""; dir != last; dir, last = filepath.Dir(dir), dir {
			if at[dir] {
				return true
			}
		}
		return slices.ContainsFunc(patterns, func(re *regexp.Regexp) bool { return re.MatchString(file) })
	}
}

// dateFiles adds when the files were last committed: what was written before
// is safe.
func dateFiles(ctx context.Context, repo *gitrepo.Repo, commands []wire.HookGit, hit map[string]bool) {
	if len(hit) == 0 || len(hit) > maxSwept {
		return
	}
	paths := make([]string, 0, len(hit))
	for p := range hit {
		paths = append(paths, p)
	}
	times, err := repo.LastCommits(ctx, paths)
	if err != nil {
		return
	}
	for _, g := range commands {
		for i := range g.Files {
			if at := times[g.Files[i].Path]; at > 0 {
				when := coord.TimeOf(time.Unix(at, 0))
				g.Files[i].CommittedAt = &when
			}
		}
	}
}

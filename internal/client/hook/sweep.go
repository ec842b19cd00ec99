package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// swept returns the git commands of a shell call that take hold of uncommitted
// work, with the files in the repository that they would hit. dir is where the
// call runs.
func swept(ctx context.Context, repo *gitrepo.Repo, dir string, sweeps []shellscan.Sweep) []wire.HookGit {
	if len(sweeps) == 0 {
		return nil
	}
	// An agent waits, but such commands are rare and what they take is gone.
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	dirty, err := repo.Status(ctx)
	if err != nil {
		return unseen(repo, dir, sweeps)
	}
	hit := map[string]bool{}
	out := make([]wire.HookGit, 0, len(sweeps))
	for _, s := range sweeps {
		g := wire.HookGit{Verb: s.Verb, Effect: wire.GitEffect(s.Effect)}
		for _, name := range dirty {
			if !takes(repo.Root, dir, s.Paths, name) || len(name) > 1024 {
				continue
			}
			if len(g.Files) == maxSwept {
				g.All, g.Files = true, nil
				break
			}
			g.Files = append(g.Files, wire.GitFile{Path: name})
			hit[name] = true
		}
		if len(g.Files) > 0 || g.All {
			out = append(out, g)
		}
	}
	dateFiles(ctx, repo, out, hit)
	return out
}

// unseen is what commands may hit when git could not say in time what is
// uncommitted: the files they name, else everything. Not to know is not
// "nothing to see".
func unseen(repo *gitrepo.Repo, dir string, sweeps []shellscan.Sweep) []wire.HookGit {
	out := make([]wire.HookGit, 0, len(sweeps))
	for _, s := range sweeps {
		g := wire.HookGit{Verb: s.Verb, Effect: wire.GitEffect(s.Effect)}
		for _, p := range s.Paths {
			full := realPath(absolute(dir, p))
			name, err := filepath.Rel(repo.Root, full)
			if info, e := os.Lstat(full); p == "" || err != nil || e != nil || info.IsDir() {
				g.All, g.Files = true, nil
				break
			}
			g.Files = append(g.Files, wire.GitFile{Path: filepath.ToSlash(name)})
		}
		out = append(out, g)
	}
	return out
}

// maxSwept is how many files of a command are listed.
const maxSwept = 500

// takes reports whether a command limited to paths hits a file.
func takes(root, dir string, paths []string, name string) bool {
	file := filepath.Join(root, filepath.FromSlash(name))
	for _, p := range paths {
		if p == "" {
			return true
		}
		full := realPath(absolute(dir, p))
		if strings.ContainsAny(p, "*?[") {
			if ok, _ := filepath.Match(full, file); ok || strings.HasPrefix(file, strings.TrimRight(full[:strings.IndexAny(full, "*?[")], "/")+"/") {
				return true
			}
			continue
		}
		if file == full || strings.HasPrefix(file, strings.TrimSuffix(full, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
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

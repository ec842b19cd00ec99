package hook

import (
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/patch"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A command is what is known of one in a shell, before it runs or after.
type command struct {
	// sweeps are its git commands that take hold of uncommitted work, by the
	// working copy in which they do.
	sweeps  map[string][]wire.HookGit
	scanned *shellscan.Result
	stashes bool      // it has ended, and may have made a stash
	began   time.Time // when it did
}

// shellTargets returns what a command is about to write, or has written.
func (r *runner) shellTargets(ctx context.Context) ([]target, error) {
	c := r.call
	dir := r.commandDir()
	repo, inRepo := findRepo(dir)
	result := r.scan(dir, repo)
	var out []target
	if c.At == host.BeforeTool {
		r.showing(dir, result.Reads)
		if !result.ReadOnly {
			r.spool.Put(spool.ShellPrefix+r.commandKey(), snapshot(repo))
		}
		reached, by := sweepsBy(dir, repo, result.Sweeps)
		r.shell.sweeps = map[string][]wire.HookGit{}
		for _, at := range reached {
			r.shell.sweeps[at.Root] = swept(ctx, at, dir, by[at.Root], r.stashMakers(at))
		}
		files := expand(ctx, dir, result.Writes)
		if len(files) == 0 { // a patch for a command we do not know
			files = absolutes(dir, c.Paths)
		}
		out = split(files)
		for _, at := range reached {
			if len(r.shell.sweeps[at.Root]) > 0 {
				out = withRepo(out, at)
			}
		}
	} else {
		r.shell.stashes = slices.ContainsFunc(result.Sweeps, func(s shellscan.Sweep) bool { return s.Verb == "stash" })
		out = r.changedBy(ctx, spool.ShellPrefix+r.commandKey())
	}
	if inRepo {
		out = withRepo(out, repo)
	}
	return out, nil
}

// commandDir is where a command runs.
func (r *runner) commandDir() string {
	if r.call.Folder != "" {
		return realPath(absolute(r.call.Cwd, r.call.Folder))
	}
	return realPath(r.call.Cwd)
}

// withRepo adds the repository the command runs in, if it is not there yet.
func withRepo(out []target, repo *gitrepo.Repo) []target {
	for _, t := range out {
		if t.at.Root == repo.Root {
			return out
		}
	}
	return append(out, places(repo)...)
}

func (r *runner) scan(dir string, repo *gitrepo.Repo) shellscan.Result {
	if r.shell.scanned == nil {
		found := r.read(dir, repo)
		r.shell.scanned = &found
	}
	return *r.shell.scanned
}

// read reads the command of the call.
func (r *runner) read(dir string, repo *gitrepo.Repo) shellscan.Result {
	vars := map[string]string{"HOME": login.Home(r.Getenv), "TMPDIR": r.Getenv("TMPDIR"), "PWD": dir}
	if repo != nil {
		vars["GIT_ROOT"] = repo.Root
	}
	if r.call.Tool == host.PowerShell {
		return shellscan.ScanPowerShell(r.call.Command, vars)
	}
	return shellscan.Scan(r.call.Command, vars)
}

// commandKey names a command between its start and its end.
func (r *runner) commandKey() string {
	return spool.Hash(r.call.CallID, r.call.Command)[:24]
}

// snapshot is what is remembered of a repository when a command starts. The
// time of the file that holds it counts as the time of the start.
func snapshot(repo *gitrepo.Repo) string {
	if repo == nil {
		return ""
	}
	return repo.Root + "\n" + repo.Head().SHA
}

// changedBy returns what changed since the first of the commands with the
// given entries in the spool started. Where one started outside of a
// repository there is nothing to compare with.
func (r *runner) changedBy(ctx context.Context, entries ...string) []target {
	type start struct {
		head string
		at   time.Time
	}
	starts := map[string]start{}
	for _, name := range entries {
		content, info := r.spool.TakeFile(name)
		root, head, ok := strings.Cut(content, "\n")
		if !ok {
			continue
		}
		if r.shell.began.IsZero() || info.ModTime().Before(r.shell.began) {
			r.shell.began = info.ModTime()
		}
		if s, known := starts[root]; !known || info.ModTime().Before(s.at) {
			starts[root] = start{head, info.ModTime()}
		}
	}
	var paths []string
	for root, s := range starts {
		if repo, ok := gitrepo.At(root); ok {
			for _, p := range changedSince(ctx, repo, s.head, s.at, r.spool.Touched(false)[root]) {
				paths = append(paths, filepath.Join(root, filepath.FromSlash(p)))
			}
		}
	}
	return split(paths)
}

// unreported returns what was changed by commands whose end no event told of,
// because they failed or because the host tells of none. It adds the files to
// those of the turn.
func (r *runner) unreported(ctx context.Context, stops []target) []target {
	out := r.changedBy(ctx, r.spool.Entries(spool.ShellPrefix)...)
	for _, t := range out {
		for i := range stops {
			if stops[i].at.Root == t.at.Root {
				stops[i].paths = appendNew(stops[i].paths, t.paths)
			}
		}
	}
	return out
}

func appendNew(list, more []string) []string {
	seen := make(map[string]bool, len(list))
	for _, s := range list {
		seen[s] = true
	}
	for _, s := range more {
		if !seen[s] && len(list) < wire.MaxHookPaths {
			list = append(list, s)
		}
	}
	return list
}

// Limits of looking at the disk before a command runs.
const (
	maxVisited = 5000
	maxPatch   = 1 << 20
)

// expand turns what a command writes into the files that it means, as absolute
// paths.
func expand(ctx context.Context, dir string, writes []shellscan.Write) []string {
	var out []string
	for _, w := range writes {
		p := absolute(dir, w.Path)
		switch {
		case w.Kind == shellscan.Under:
		case w.Kind == shellscan.Patch:
			out = append(out, patched(dir, p, w.Strip)...)
		case w.Kind == shellscan.Dirty:
			out = append(out, dirty(ctx, p)...)
		case w.Glob:
			for _, m := range glob(p) {
				out = append(out, one(dir, m, w)...)
			}
		default:
			out = append(out, one(dir, p, w)...)
		}
		if len(out) > 2*wire.MaxHookPaths {
			break
		}
	}
	for i, p := range out {
		out[i] = realPath(p)
	}
	return out
}

// one returns the files behind a single path of a command that runs in dir.
func one(dir, p string, w shellscan.Write) []string {
	info, err := os.Stat(p)
	isDir := err == nil && info.IsDir()
	switch {
	case w.From != "":
		if isDir && w.Base != "" && w.Base != "." {
			p = filepath.Join(p, w.Base)
		}
		from := absolute(dir, w.From)
		var out []string
		for _, f := range filesUnder(from) {
			if rel, err := filepath.Rel(from, f); err == nil {
				out = append(out, filepath.Join(p, rel))
			}
		}
		return out
	case isDir && w.Base != "" && w.Kind == shellscan.File:
		return []string{filepath.Join(p, w.Base)}
	case isDir:
		return filesUnder(p)
	}
	return []string{p}
}

// filesUnder lists the files in a folder, within limits.
func filesUnder(dir string) []string {
	var out []string
	visited := 0
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if visited++; err != nil || visited > maxVisited || len(out) > wire.MaxHookPaths {
			return filepath.SkipAll
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !e.IsDir() {
			out = append(out, p)
		}
		return nil
	})
	return out
}

// glob expands wildcards; ** stands for any number of folders.
func glob(pattern string) []string {
	before, after, deep := strings.Cut(filepath.ToSlash(pattern), "**/")
	if !deep {
		found, _ := filepath.Glob(pattern)
		return found
	}
	var out []string
	for _, f := range filesUnder(filepath.FromSlash(strings.TrimSuffix(before, "/"))) {
		if ok, _ := path.Match(path.Base(after), filepath.Base(f)); ok {
			out = append(out, f)
		}
	}
	return out
}

// patched returns the files that a patch on disk names.
func patched(dir, file string, strip int) []string {
	info, err := os.Stat(file)
	if err != nil || info.Size() > maxPatch {
		return nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	names := patch.Envelope(string(data))
	if len(names) == 0 {
		names = patch.Diff(string(data), strip)
	}
	return absolutes(dir, names)
}

// dirty returns the files with uncommitted changes at or under a path. It has
// to ask git, and only commands that throw work away get here.
func dirty(ctx context.Context, p string) []string {
	repo, ok := findRepo(p)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(200*time.Millisecond)) // an agent waits
	defer cancel()
	p = realPath(p)
	var out []string
	names, _ := repo.Status(ctx)
	for _, name := range names {
		f := filepath.Join(repo.Root, filepath.FromSlash(name))
		if f == p || strings.HasPrefix(f, p+string(filepath.Separator)) {
			out = append(out, f)
		}
	}
	return out
}

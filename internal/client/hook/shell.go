package hook

import (
	"context"
	"errors"
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
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/client/shellscan"
	"github.com/svc-hq/svc/internal/core/limit"
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
	repo, inRepo := r.findRepo(dir)
	result := r.scan(dir, repo)
	var out []target
	if c.At == host.BeforeTool {
		r.showing(dir, result.Reads)
		if !result.ReadOnly {
			r.spool.Put(spool.ShellPrefix+r.commandKey(), snapshot(repo))
		}
		reached, by := r.sweepsBy(dir, repo, result.Sweeps)
		r.shell.sweeps = map[string][]wire.HookGit{}
		for _, at := range reached {
			r.shell.sweeps[at.Root] = swept(ctx, at, dir, by[at.Root], r.stashMakers(at))
		}
		files, whole := r.expand(ctx, dir, result.Writes)
		if len(files)+len(whole) == 0 { // a patch for a command we do not know
			files = absolutes(dir, c.Paths, r.real)
		}
		out = r.withFolders(r.split(files), whole)
		for _, at := range reached {
			if len(r.shell.sweeps[at.Root]) > 0 {
				out = r.withRepo(out, at)
			}
		}
		out = r.withDetaches(out, r.detaching(dir, result))
	} else {
		r.shell.stashes = slices.ContainsFunc(result.Sweeps, func(s shellscan.Sweep) bool { return s.Verb == "stash" })
		out = r.changedBy(ctx, spool.ShellPrefix+r.commandKey())
	}
	if inRepo {
		out = r.withRepo(out, repo)
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
func (r *runner) withRepo(out []target, repo *gitrepo.Repo) []target {
	for _, t := range out {
		if t.at.Root == repo.Root {
			return out
		}
	}
	return append(out, r.places(repo)...)
}

func (r *runner) scan(dir string, repo *gitrepo.Repo) shellscan.Result {
	if r.shell.scanned == nil {
		found := r.read(dir, repo)
		r.shell.scanned = &found
	}
	return *r.shell.scanned
}

// scanText reads a script that a command of the call runs.
func (r *runner) scanText(text, dir string) shellscan.Result {
	return shellscan.Scan(text, r.variables(dir))
}

// variables are those of a command whose values are known.
func (r *runner) variables(dir string) map[string]string {
	vars := map[string]string{"HOME": login.Home(r.Getenv), "TMPDIR": r.Getenv("TMPDIR"), "PWD": dir}
	for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "SVC_CONFIG_DIR", "SVC_LOCAL_DIR"} {
		if v := r.Getenv(name); v != "" {
			vars[name] = v
		}
	}
	return vars
}

// read reads the command of the call.
func (r *runner) read(dir string, repo *gitrepo.Repo) shellscan.Result {
	vars := r.variables(dir)
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
		if repo, ok := r.at(root); ok {
			changed, err := changedSince(ctx, repo, s.head, s.at, r.spool.Touched(false)[root])
			if err != nil {
				r.unseenTree(&place{Repo: repo}, err)
			}
			for _, p := range changed {
				paths = append(paths, filepath.Join(root, filepath.FromSlash(p)))
			}
		}
	}
	return r.split(paths)
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

// withFolders adds folders of which not all files were listed.
func (r *runner) withFolders(out []target, whole []string) []target {
	for _, dir := range whole {
		repo, ok := r.find(dir)
		if !ok {
			continue
		}
		rel, err := filepath.Rel(repo.Root, dir)
		if err != nil {
			continue
		}
		out = r.withRepo(out, repo)
		for i := range out {
			if out[i].at.Root == repo.Root {
				out[i].under = appendNew(out[i].under, []string{selector(filepath.ToSlash(rel), len(rel)+1)})
			}
		}
	}
	for i := range out {
		if len(out[i].under) > maxFolders {
			out[i].under = []string{"**"}
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
// paths. whole are folders in which it may write files that are not listed.
func (r *runner) expand(ctx context.Context, dir string, writes []shellscan.Write) (out, whole []string) {
	add := func(at string, found limit.List[string]) {
		for _, p := range found.Items {
			out = append(out, realPath(p))
		}
		if found.Cut {
			whole = append(whole, realPath(at))
		}
	}
	for _, w := range writes {
		p := r.meant(dir, w)
		switch {
		case w.Kind == shellscan.Under:
		case w.Kind == shellscan.Patch:
			add(dir, patched(dir, p, w.Strip))
		case w.Kind == shellscan.Dirty:
			add(p, r.dirty(ctx, p))
		case len(out) > 2*wire.MaxHookPaths: // enough: the others go as folders
			add(beforeWildcard(p), limit.List[string]{Cut: true})
		case w.Glob:
			found := glob(p)
			add(beforeWildcard(p), limit.List[string]{Cut: found.Cut})
			for _, m := range found.Items {
				add(m, one(dir, m, w))
			}
		default:
			add(p, one(dir, p, w))
		}
	}
	return slices.DeleteFunc(out, func(p string) bool { // what is in such a folder needs no line of its own
		return slices.ContainsFunc(whole, func(dir string) bool { return strings.HasPrefix(p, dir+string(filepath.Separator)) })
	}), whole
}

// meant is the path that a command writes, which may be said from the top of a
// working copy.
func (r *runner) meant(dir string, w shellscan.Write) string {
	if rest, ok := strings.CutPrefix(w.Path, ":/"); ok {
		if repo, ok := r.findRepo(absolute(dir, w.In)); ok {
			return filepath.Join(repo.Root, rest)
		}
	}
	return absolute(dir, w.Path)
}

// beforeWildcard is the folder below which a pattern selects something.
func beforeWildcard(pattern string) string {
	if at := strings.IndexAny(pattern, "*?["); at >= 0 {
		return filepath.Dir(pattern[:at] + "x")
	}
	return pattern
}

// one returns the files behind a single path of a command that runs in dir.
func one(dir, p string, w shellscan.Write) (out limit.List[string]) {
	info, err := os.Stat(p)
	isDir := err == nil && info.IsDir()
	switch {
	case w.From != "":
		if isDir && w.Base != "" && w.Base != "." {
			p = filepath.Join(p, w.Base)
		}
		from := absolute(dir, w.From)
		found := filesUnder(from)
		out.Cut = found.Cut
		for _, f := range found.Items {
			if rel, err := filepath.Rel(from, f); err == nil {
				out.Items = append(out.Items, filepath.Join(p, rel))
			}
		}
		return out
	case isDir && w.Base != "" && w.Kind == shellscan.File:
		out.Items = []string{filepath.Join(p, w.Base)}
	case isDir:
		return filesUnder(p)
	default:
		out.Items = []string{p}
	}
	return out
}

// filesUnder lists the files in a folder, within limits.
func filesUnder(dir string) (out limit.List[string]) {
	visited := 0
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if visited++; err != nil && visited > 1 || visited > maxVisited || out.Cut {
			out.Cut = true
			return filepath.SkipAll
		}
		if err != nil { // it is not there yet
			return filepath.SkipAll
		}
		if e.IsDir() && (gitrepo.Keeps(e.Name()) || e.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if !e.IsDir() {
			out.Add(wire.MaxHookPaths, p)
		}
		return nil
	})
	return out
}

// glob expands wildcards; ** stands for any number of folders.
func glob(pattern string) (out limit.List[string]) {
	before, after, deep := strings.Cut(filepath.ToSlash(pattern), "**/")
	if !deep {
		found, _ := filepath.Glob(pattern)
		return limit.First(found, 2*wire.MaxHookPaths)
	}
	found := filesUnder(filepath.FromSlash(strings.TrimSuffix(before, "/")))
	out.Cut = found.Cut
	for _, f := range found.Items {
		if ok, _ := path.Match(path.Base(after), filepath.Base(f)); ok {
			out.Items = append(out.Items, f)
		}
	}
	return out
}

// patched returns the files that a patch on disk names. One that cannot be read
// may name any.
func patched(dir, file string, strip int) limit.List[string] {
	data, err := plain.Read(file, maxPatch)
	if err != nil {
		return limit.List[string]{Cut: !errors.Is(err, fs.ErrNotExist)}
	}
	names := patch.Envelope(string(data))
	if len(names) == 0 {
		names = patch.Diff(string(data), strip)
	}
	return limit.List[string]{Items: absolutes(dir, names, realPath)}
}

// dirty returns the files with uncommitted changes at or under a path. It has
// to ask git, and only commands that throw work away get here.
func (r *runner) dirty(ctx context.Context, p string) (out limit.List[string]) {
	repo, ok := r.findRepo(p)
	if !ok {
		return out
	}
	ctx, cancel := context.WithTimeout(ctx, patience.Of(200*time.Millisecond)) // an agent waits
	defer cancel()
	p = realPath(p)
	names, err := repo.Status(ctx)
	out.Cut = err != nil // git could not say in time
	for _, name := range names {
		f := filepath.Join(repo.Root, filepath.FromSlash(name))
		if f == p || strings.HasPrefix(f, p+string(filepath.Separator)) {
			out.Items = append(out.Items, f)
		}
	}
	return out
}

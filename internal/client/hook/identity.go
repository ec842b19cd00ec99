package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/copies"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/limit"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Which repository a working copy is, it could say itself: by its remotes, by
// where its .git is. But an agent can change all that with one command, and what
// others have claimed would hold it back no longer. So a copy that a service
// has known stays what it was, until its person says otherwise (svc share).

// An Identity is what is known of which repository a working copy is.
type Identity struct {
	Fingerprints []string     // of its remotes, or of its folder
	Was          *copies.Copy // as what a service knew it; nil for none
}

func (r *runner) known() *copies.Book {
	if r.copies == nil {
		dir, err := r.ConfigDir()
		if err != nil {
			dir = ""
		}
		r.copies = copies.Open(dir)
	}
	return r.copies
}

// stays reports whether a login is to the service that knew the copy.
func (p *place) stays(l Login) bool {
	return p.was != nil && p.was.Local() == l.Local && (l.Local || p.was.Server == l.Server)
}

// settle notes where events about the place go, and as what it is known there.
func (p *place) settle(l Login) {
	p.login, p.fingerprints = l, p.now
	if !p.stays(l) {
		return
	}
	p.fingerprints = slices.Clone(p.was.Remotes)
	for _, f := range p.now {
		if !slices.Contains(p.fingerprints, f) && len(p.fingerprints) < maxFingerprints {
			p.fingerprints = append(p.fingerprints, f)
		}
	}
}

const maxFingerprints = 20

// ErrLeft means that the person took a working copy from the server that knew it.
var ErrLeft = errors.New("svc logout or svc share --stop took it out")

// left is why nobody is asked any more about a working copy that a server knew,
// nil if that is not so. The agent is told once: svc logout and svc share --stop
// are a person's word, and a script can say it, too.
func (p *place) left() error {
	if p.was == nil || p.was.Local() || !p.was.Out {
		return nil
	}
	return fmt.Errorf("%w of %s", ErrLeft, p.was.Server)
}

// remember notes as what the service knows a working copy, and tells when the
// copy calls itself something else.
func (r *runner) remember(s send, reply wire.HookReply) {
	if reply.SessionID == nil || s.as != nil {
		return
	}
	server := s.at.login.Server
	if s.at.login.Local {
		server = ""
	}
	names := s.at.now
	if s.at.stays(s.at.login) && !slices.Equal(s.at.was.Remotes, names) {
		same := slices.ContainsFunc(names, func(f string) bool { return slices.Contains(s.at.was.Remotes, f) })
		if names = s.at.was.Remotes; same {
			names = s.at.fingerprints
		} else if key := "renamed-" + spool.Hash(append([]string{s.at.Root}, s.at.now...)...)[:24]; !r.spool.Has(key) {
			r.spool.Put(key, "")
			r.spool.QueueContext("svc: this clone was " + s.at.was.Remotes[0] + " and now calls itself " + s.at.now[0] + ". Edits are still " +
				"checked as in " + s.at.was.Remotes[0] + ". If the change is meant, ask the user to run svc share here.")
		}
	}
	var commits []string
	if s.event == wire.HookSessionStart || s.event == wire.HookPrompt || s.at.was == nil || len(s.at.was.Commits) == 0 {
		commits = append(strings.Fields(strings.Trim(r.spool.Shared("roots-"+spool.Hash(s.at.CommonDir)[:24]), "-")), s.at.Head().SHA)
	}
	r.known().Keep(s.at.Repo, server, names, commits...)
}

// find returns the repository that a path lies in, as this machine remembers it.
func (r *runner) find(path string) (*gitrepo.Repo, bool) {
	repo, ok := gitrepo.Find(path)
	above, known := r.known().Above(path)
	switch {
	case !known || ok && above.Root == repo.Root:
		return repo, ok
	case !ok || len(above.Root) > len(repo.Root): // its .git is gone, and maybe one further up was found
		return gitrepo.Gone(above.Root), true
	}
	outer, there := gitrepo.At(above.Root)
	if !there {
		outer = gitrepo.Gone(above.Root)
	}
	if r.pretends(repo, outer) {
		return outer, true
	}
	return repo, true
}

// at returns the repository whose root is dir, as this machine remembers it.
func (r *runner) at(dir string) (*gitrepo.Repo, bool) {
	repo, ok := r.find(dir)
	return repo, ok && repo.Root == dir
}

// pretends reports whether a repository inside a working copy is none of its
// own: neither a linked worktree nor a submodule, nor one that was cloned into a
// folder of which the working copy has nothing.
func (r *runner) pretends(inner, outer *gitrepo.Repo) bool {
	rel, err := filepath.Rel(outer.Root, inner.Root)
	if err != nil {
		return false
	}
	if inner.GitDir != inner.CommonDir && copies.Genuine(inner) {
		return false
	}
	files, module, known := outer.Tracks(filepath.ToSlash(rel))
	switch {
	case known && module:
		return false
	case known && files:
		return true
	}
	return inner.Head().SHA == "" || len(inner.Remotes()) == 0 || !copies.Genuine(inner)
}

// maxNamed is how many files are compared to find the other names of one.
const maxNamed = 50_000

// otherNames adds the other names of files that have several: a claim is on a
// file, whatever it is called. unknown are the working copies in which a name may
// be that was not found.
func (r *runner) otherNames(paths []string) (all, unknown []string) {
	for _, p := range paths {
		info, err := os.Lstat(p)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		id, names := plain.ID(info)
		if id == "" || names < 2 {
			continue
		}
		if all == nil {
			all = slices.Clone(paths)
		}
		found, cut := r.namesOf(info, p, id, names)
		all, unknown = append(all, found...), append(unknown, cut...)
	}
	if all == nil {
		all = paths
	}
	return all, unknown
}

// namesOf looks for a file under other names: in the working copy that it lies
// in, and in those that this machine remembers on the same device.
func (r *runner) namesOf(info os.FileInfo, path, id string, names uint64) (found, unknown []string) {
	device, _, _ := strings.Cut(id, ":")
	var roots []string
	if repo, ok := gitrepo.Find(path); ok {
		roots = append(roots, repo.Root)
	}
	for _, c := range r.known().All() {
		if at, _, _ := strings.Cut(c.RootID, ":"); at == device && !slices.Contains(roots, c.Root) {
			roots = append(roots, c.Root)
		}
	}
	left := maxNamed
	for _, root := range roots {
		files := filesOf(root, max(left, 0))
		left -= len(files.Items)
		for _, name := range files.Items {
			if other, err := os.Lstat(name); err == nil && os.SameFile(info, other) && name != path {
				found = append(found, name)
			}
		}
		if files.Cut {
			unknown = append(unknown, root)
		}
	}
	if uint64(len(found))+1 >= names { // all of them
		return found, nil
	}
	return found, unknown
}

// filesOf returns the files of a working copy: those that git lists, and what
// else is there.
func filesOf(root string, most int) (out limit.List[string]) {
	seen := map[string]bool{}
	if repo, ok := gitrepo.At(root); ok {
		names, _ := repo.Indexed()
		for _, n := range names {
			name := filepath.Join(root, filepath.FromSlash(n))
			seen[name] = true
			out.Add(most, name)
		}
	}
	visited := 0
	_ = filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if visited++; visited > most || out.Cut {
			out.Cut = true
			return filepath.SkipAll
		}
		if err == nil && e.IsDir() && (gitrepo.Keeps(e.Name()) || e.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if err == nil && !e.IsDir() && !seen[p] {
			out.Add(most, p)
		}
		return nil
	})
	return out
}

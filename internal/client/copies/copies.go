// Package copies remembers which repository each working copy on this machine
// is. What a working copy says of itself (its remotes, where its .git is, what
// lies around it) can be changed by anybody who can write there, so a copy that
// a service has once known as a repository stays that repository until a person
// says otherwise.
//
// The book is one file with a line per working copy, in the user's own folder.
// It is changed under a lock and replaced by renaming. Nothing is written into a
// working copy, and no service is asked.
package copies

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/plain"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A Copy is one working copy, as a service knows it.
type Copy struct {
	Root    string
	RootID  string   // of the folder, whatever its name
	GitID   string   // of the folder with refs and objects, which linked worktrees share
	Server  string   // that was told of it; "" for the service on this machine
	Remotes []string // fingerprints under which the service knows it
	Commits []string // some that its history holds
	Out     bool     // the person logged out of the server, or stopped sharing
	Seen    time.Time
}

// Local reports whether the copy's work stays on this machine.
func (c Copy) Local() bool { return c.Server == "" }

// A Book is what is remembered. The zero Book is empty and keeps nothing.
type Book struct {
	dir  string
	list []Copy
	read bool
}

const (
	bookName = "copies"
	lockName = "copies.lock"
	// maxCopies is how many are remembered, the latest. A folder per agent and
	// task adds up.
	maxCopies = 400
	// keepSeen is how much older the time of a line may be than what it tells.
	keepSeen   = 24 * time.Hour
	lockWait   = 200 * time.Millisecond
	maxRemotes = 20
	maxCommits = 8
)

// Open returns the book that lies with a configuration.
func Open(config string) *Book { return &Book{dir: config} }

// All returns every copy, the one that was seen last first.
func (b *Book) All() []Copy {
	if b.dir == "" || b.read {
		return b.list
	}
	b.read = true
	b.list = load(b.dir)
	return b.list
}

func load(dir string) (out []Copy) {
	data, err := plain.ReadHere(filepath.Join(dir, bookName), plain.Record)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		if c, ok := parse(strings.TrimSuffix(line, "\n")); ok {
			out = append(out, c)
		}
	}
	return out
}

func parse(line string) (c Copy, ok bool) {
	f := strings.Split(line, "\t")
	if len(f) != 8 {
		return c, false
	}
	root, err := strconv.Unquote(f[0])
	at, err2 := strconv.ParseInt(f[7], 10, 64)
	if err != nil || err2 != nil || !filepath.IsAbs(root) {
		return c, false
	}
	return Copy{Root: root, RootID: f[1], GitID: f[2], Server: f[3], Remotes: strings.Fields(f[4]), Commits: strings.Fields(f[5]),
		Out: f[6] == "out", Seen: time.Unix(at, 0)}, true
}

func (c Copy) line() string {
	out := ""
	if c.Out {
		out = "out"
	}
	return strings.Join([]string{strconv.Quote(c.Root), c.RootID, c.GitID, c.Server, strings.Join(c.Remotes, " "),
		strings.Join(c.Commits, " "), out, strconv.FormatInt(c.Seen.Unix(), 10)}, "\t")
}

// Of returns what a working copy was known as. It is known again by its folder,
// by the folder of its refs and objects, or where it was by what its history
// holds; one that is no repository of its own any more, by its folder alone.
func (b *Book) Of(repo *gitrepo.Repo) (Copy, bool) {
	all := b.All()
	if len(all) == 0 {
		return Copy{}, false
	}
	rootID, gitID := idOf(repo.Root), idOf(repo.CommonDir)
	for _, c := range all { // the folder of refs and objects says most
		if gitID != "" && c.GitID == gitID && (c.Root == repo.Root || Genuine(repo)) && b.continues(repo, c) {
			return c, true
		}
	}
	for _, c := range all {
		here := c.Root == repo.Root
		if (rootID != "" && c.RootID == rootID || here) && (b.sameHistory(repo, c) || !standsAlone(repo) && rootID == c.RootID) {
			return c, true
		}
	}
	if len(repo.Remotes()) > 0 {
		return Copy{}, false
	}
	for _, c := range all { // a copy of the whole folder that lost its remotes
		if len(c.Remotes) > 0 && b.sameHistory(repo, c) {
			return c, true
		}
	}
	return Copy{}, false
}

// continues reports whether a repository may be what a copy was. Systems give
// the number of a folder that was removed to a new one, so a clone of something
// else may have it: one that shares neither a remote nor history.
func (b *Book) continues(repo *gitrepo.Repo, c Copy) bool {
	for _, r := range repo.Remotes() {
		if f, ok := scope.Fingerprint(r.URL); ok && slices.Contains(c.Remotes, f) {
			return true
		}
	}
	return len(c.Commits) == 0 || !standsAlone(repo) || b.sameHistory(repo, c)
}

// standsAlone reports whether a repository has commits and remotes of its own,
// as one that was cloned has.
func standsAlone(repo *gitrepo.Repo) bool { return repo.Head().SHA != "" && len(repo.Remotes()) > 0 }

func (b *Book) sameHistory(repo *gitrepo.Repo, c Copy) bool {
	store := repo.Store()
	defer store.Close()
	return slices.ContainsFunc(c.Commits, func(id string) bool {
		kind, _, err := store.Read(id, 1<<20)
		return err == nil && kind == "commit"
	})
}

// Genuine reports whether the folder of refs and objects knows the working copy
// as its own: the .git folder in it, or a linked worktree that points back.
func Genuine(repo *gitrepo.Repo) bool {
	if own, known := repo.OwnWorkspace(); known {
		return own
	}
	if repo.GitDir == repo.CommonDir {
		return repo.GitDir == filepath.Join(repo.Root, ".git")
	}
	back, err := plain.ReadHere(filepath.Join(repo.GitDir, "gitdir"), 1<<12)
	if err != nil {
		return false
	}
	return real(strings.TrimSpace(string(back))) == real(filepath.Join(repo.Root, ".git"))
}

func real(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

// Above returns the copy whose folder is nearest at or above a path.
func (b *Book) Above(path string) (found Copy, ok bool) {
	for _, c := range b.All() {
		if len(c.Root) > len(found.Root) && (path == c.Root || strings.HasPrefix(path, c.Root+string(filepath.Separator))) &&
			idOf(c.Root) == c.RootID {
			found, ok = c, true
		}
	}
	return found, ok
}

func idOf(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	id, _ := plain.ID(info)
	return id
}

// Keep remembers what a service knows a working copy as.
func (b *Book) Keep(repo *gitrepo.Repo, server string, remotes []string, commits ...string) {
	if strings.ContainsAny(server+strings.Join(remotes, "")+strings.Join(commits, ""), "\t\n") || b.dir == "" {
		return
	}
	now := Copy{Root: repo.Root, RootID: idOf(repo.Root), GitID: idOf(repo.CommonDir), Server: server,
		Remotes: first(remotes, maxRemotes), Seen: time.Now()}
	at := slices.IndexFunc(b.All(), func(c Copy) bool { return c.Root == repo.Root })
	var was Copy
	if at >= 0 {
		was = b.list[at]
	}
	if now.GitID == "" && was.RootID == now.RootID { // what is gone is remembered as it was
		now.GitID = was.GitID
	}
	for _, id := range append(slices.Clone(commits), was.Commits...) {
		if id != "" && !slices.Contains(now.Commits, id) && len(now.Commits) < maxCommits {
			now.Commits = append(now.Commits, id)
		}
	}
	if at >= 0 && was.RootID == now.RootID && was.GitID == now.GitID && was.Server == now.Server && !was.Out &&
		slices.Equal(was.Remotes, now.Remotes) && slices.Equal(was.Commits, now.Commits) && now.Seen.Sub(was.Seen) < keepSeen {
		return
	}
	_ = b.change(lockWait, func(all []Copy) []Copy {
		all = slices.DeleteFunc(all, func(c Copy) bool { return c.Root == now.Root })
		return append([]Copy{now}, all...)
	})
}

func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }

// Forget takes back what is remembered of copies: their person says what they
// are.
func (b *Book) Forget(these func(Copy) bool) error {
	return b.change(10*lockWait, func(all []Copy) []Copy { return slices.DeleteFunc(all, these) })
}

// Leave notes that the person no longer wants their server to hear of copies.
// Hooks say so once in each session.
func (b *Book) Leave(these func(Copy) bool) error {
	return b.change(10*lockWait, func(all []Copy) []Copy {
		for i := range all {
			all[i].Out = all[i].Out || !all[i].Local() && these(all[i])
		}
		return all
	})
}

// ErrBusy means that another process changes the book.
var ErrBusy = errors.New("another svc is noting which repositories are on this machine; try again")

func (b *Book) change(wait time.Duration, with func([]Copy) []Copy) error {
	if b.dir == "" {
		return nil
	}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return err
	}
	lock, ok := plain.LockWithin(filepath.Join(b.dir, lockName), wait)
	if !ok {
		return ErrBusy
	}
	defer lock.Close()
	was := load(b.dir)
	all := with(slices.Clone(was))
	if len(was) == 0 && len(all) == 0 {
		return nil
	}
	var text strings.Builder
	for _, c := range first(all, maxCopies) {
		text.WriteString(c.line() + "\n")
	}
	b.list, b.read = all, true
	return plain.Write(filepath.Join(b.dir, bookName), []byte(text.String()))
}

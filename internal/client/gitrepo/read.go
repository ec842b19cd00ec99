// Package gitrepo reads what git knows: remotes and branches, the version a
// file started from, and which of its lines were replaced since. What git's files
// say is read by odb, lines are compared by diff, and the rest is asked of git.
//
// It writes nothing, takes no locks and fetches nothing.
package gitrepo

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/jj"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
)

// What is in this file is read straight from the .git folder: a hook runs
// before every edit, and starting git would cost more than everything else it
// does.

// A Repo is a working copy on disk. Its fields are absolute paths.
type Repo struct {
	Root      string // the folder that holds .git, or .jj alone
	GitDir    string // HEAD and index of this worktree; Jujutsu's state where there is no .git
	CommonDir string // refs, config and objects; shared by linked worktrees

	jj *jj.Workspace // nil where Jujutsu does not know it
}

// A Remote is a named place the repository is fetched from.
type Remote struct {
	Name string
	URL  string
}

// A Head is what a worktree has checked out. Branch is empty when HEAD is
// detached, SHA when the branch has no commit yet.
type Head struct {
	Branch string
	SHA    string
}

// Find returns the repository that path lies in, looking upwards from it. The
// path need not exist: a file about to be written does not.
func Find(path string) (*Repo, bool) {
	for dir := filepath.Clean(path); ; {
		if r, ok := At(dir); ok {
			return r, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil, false
		}
		dir = parent
	}
}

// At returns the repository whose root is dir.
func At(dir string) (*Repo, bool) {
	dotgit := filepath.Join(dir, ".git")
	info, err := os.Lstat(dotgit)
	if err != nil {
		return atWorkspace(dir)
	}
	gitDir := dotgit
	if !info.IsDir() {
		// A linked worktree or a submodule: the file says where to look.
		target, ok := strings.CutPrefix(odb.ReadLine(dotgit), "gitdir: ")
		if !ok {
			return nil, false
		}
		gitDir = absolute(dir, target)
	}
	if info, err := os.Lstat(filepath.Join(gitDir, "HEAD")); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	common := gitDir
	if c := odb.ReadLine(filepath.Join(gitDir, "commondir")); c != "" {
		common = absolute(gitDir, c)
	}
	r := &Repo{Root: dir, GitDir: gitDir, CommonDir: common}
	r.jj, _ = jj.At(dir)
	return r, true
}

// Head returns the branch and commit that are checked out. In a workspace of
// Jujutsu's the branch is the nearest bookmark, else the change that the work
// begins with.
func (r *Repo) Head() Head {
	if s := r.stack(); s != nil {
		return Head{Branch: s.branch, SHA: s.head}
	}
	line := odb.ReadLine(filepath.Join(r.GitDir, "HEAD"))
	ref, ok := strings.CutPrefix(line, "ref: ")
	if !ok {
		return Head{SHA: odb.CommitID(line)}
	}
	if ref == "refs/heads/.invalid" { // references kept in a reftable: only git can read them
		return Head{}
	}
	return Head{Branch: strings.TrimPrefix(ref, "refs/heads/"), SHA: r.Ref(ref)}
}

// Ref returns the commit that a full reference name such as refs/heads/main
// points to, or "" if there is none.
func (r *Repo) Ref(name string) string {
	return odb.Refs{Dir: r.GitDir, Common: r.CommonDir}.Commit(name)
}

// DefaultBranch returns the branch that a clone of origin checks out, as
// origin last told. Where it never did, main or master is taken if origin has
// exactly that one.
func (r *Repo) DefaultBranch() string {
	head := odb.ReadLine(filepath.Join(r.CommonDir, "refs", "remotes", "origin", "HEAD"))
	if b, ok := strings.CutPrefix(head, "ref: refs/remotes/origin/"); ok {
		return b
	}
	if b := r.trunkAlias(); b != "" {
		return b
	}
	for _, b := range []string{"main", "master"} {
		if r.Ref("refs/remotes/origin/"+b) != "" {
			return b
		}
	}
	return ""
}

// Remotes returns the remotes with a URL, origin first, the others in the
// order of the configuration.
func (r *Repo) Remotes() []Remote {
	out, _ := r.Configured()
	return out
}

// Configured returns the remotes, and whether paths that differ in case alone
// are one file, as git found out when it made the repository (core.ignorecase):
// both of one look at the configuration.
func (r *Repo) Configured() (out []Remote, ignoresCase bool) {
	for _, set := range r.settings() {
		if strings.EqualFold(set.name, "core.ignorecase") { // the last one counts
			ignoresCase = slices.Contains([]string{"", "true", "yes", "on", "1"}, strings.ToLower(set.value))
		}
		name, isURL := strings.CutSuffix(set.name, ".url")
		if name, isRemote := strings.CutPrefix(name, "remote."); isURL && isRemote && set.value != "" {
			out = append(out, Remote{name, set.value})
		}
	}
	slices.SortStableFunc(out, func(a, b Remote) int {
		return rank(a) - rank(b)
	})
	return out, ignoresCase
}

func rank(r Remote) int {
	if r.Name == "origin" {
		return 0
	}
	return 1
}

// configValue undoes the quoting of a configuration value and drops a comment
// after it.
func configValue(s string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case !quoted && (c == '#' || c == ';'):
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}

// LastCommitted reports whether the newest movement of HEAD made a commit
// (rather than checked out, pulled or reset), and which commit came before.
func (r *Repo) LastCommitted() (before string, ok bool) {
	data, err := plain.ReadEndHere(filepath.Join(r.GitDir, "logs", "HEAD"), 4096) // a line is two ids, a name and a subject
	if err != nil {
		return "", false
	}
	lines := strings.Split(strings.TrimRight(string(data), "\n"), "\n")
	who, what, _ := strings.Cut(lines[len(lines)-1], "\t")
	action, _, _ := strings.Cut(what, ":")
	action, _, _ = strings.Cut(action, " ")
	if len(who) < 40 || !slices.Contains([]string{"commit", "cherry-pick", "revert", "am"}, action) {
		return "", false
	}
	id, _, _ := strings.Cut(who, " ")
	return odb.CommitID(id), true
}

func absolute(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// Store opens the objects of r. Close it after use.
func (r *Repo) Store() *odb.Store {
	return odb.Open(filepath.Join(r.CommonDir, "objects"), r.idWidth())
}

// idWidth is how many bytes the ids of objects have.
func (r *Repo) idWidth() int { return len(emptyTree(r)) / 2 }

// IndexFile is the index of the working copy: the list of the files that git
// keeps track of.
func (r *Repo) IndexFile() string {
	name, _ := r.index()
	return name
}

func (r *Repo) index() (string, error) {
	if r.plainJJ() {
		return r.madeIndex()
	}
	return filepath.Join(r.GitDir, "index"), nil
}

// Indexed returns the paths in the index, without asking git.
func (r *Repo) Indexed() ([]string, error) {
	return odb.Index(r.IndexFile(), r.idWidth())
}

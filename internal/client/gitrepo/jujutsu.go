package gitrepo

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo/jj"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
)

// Jujutsu keeps its commits in a git folder. Beside a .git of its own (it is
// colocated) a workspace is what git takes it for, with a HEAD that is detached
// nearly always. Without, there is neither HEAD nor index: the parent of the
// commit that is worked on is taken for HEAD, as Jujutsu itself does where it
// is colocated, and an index with the files of that commit lies in the shelter.

// At a repository, these names are not its files.
var kept = []string{".git", jj.Folder}

// Keeps reports whether a folder of this name holds a repository rather than
// files of it.
func Keeps(name string) bool { return slices.Contains(kept, name) }

// Within reports whether a path, with slashes, lies in such a folder at the root.
func Within(rel string) bool {
	first, _, _ := strings.Cut(rel, "/")
	return Keeps(first)
}

// Is reports whether dir is the root of a repository, by the look of it.
func Is(dir string) bool {
	return slices.ContainsFunc(kept, func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	})
}

// atWorkspace returns the repository of a Jujutsu workspace that has no .git.
func atWorkspace(dir string) (*Repo, bool) {
	w, ok := jj.At(dir)
	if !ok {
		return nil, false
	}
	return &Repo{Root: dir, GitDir: w.Dir, CommonDir: w.Git, jj: w}, true
}

// plainJJ reports whether git knows nothing of the working copy.
func (r *Repo) plainJJ() bool { return r.jj != nil && r.GitDir == r.jj.Dir }

// OwnWorkspace reports whether the repository knows a workspace that has no .git
// as its own; known is false where git can tell.
func (r *Repo) OwnWorkspace() (own, known bool) {
	if !r.plainJJ() {
		return false, false
	}
	return r.jj.Owned(), true
}

// Jujutsu reports whether what is checked out is Jujutsu's to say.
func (r *Repo) Jujutsu() bool { return r.stack() != nil }

// Stack returns the names of the bookmarks and changes that are worked on, from
// the change on disk back to the default branch; nil without Jujutsu.
func (r *Repo) Stack() []string {
	if s := r.stack(); s != nil {
		return s.names
	}
	return nil
}

// A stack is the changes of a workspace, from the one on disk back to the
// default branch.
type stack struct {
	of     string // what it was worked out from
	head   string // the parent of the first
	branch string
	names  []string
}

var (
	stackMu sync.Mutex
	stacks  = map[string]*stack{} // by folder of the workspace, for this process
)

// stack returns the changes that are worked on, nil where git alone knows what
// is checked out: somebody used git to go elsewhere.
func (r *Repo) stack() *stack {
	if r.jj == nil {
		return nil
	}
	detached := ""
	if !r.plainJJ() {
		if detached = odb.CommitID(odb.ReadLine(filepath.Join(r.GitDir, "HEAD"))); detached == "" {
			return nil
		}
	}
	checkout, err := plain.ReadHere(filepath.Join(r.jj.Dir, "checkout"), odb.MaxText)
	if err != nil {
		return nil
	}
	def := r.DefaultBranch()
	of := strings.Join([]string{string(checkout), detached, def, r.Ref("refs/remotes/origin/" + def)}, "\x00")
	stackMu.Lock()
	defer stackMu.Unlock()
	if s := stacks[r.jj.Dir]; s != nil && s.of == of {
		return s
	}
	view, err := r.jj.View()
	if err != nil {
		return nil
	}
	w := &walk{repo: r, store: r.Store(), view: view, def: def}
	defer w.store.Close()
	s := w.stack()
	if s == nil || detached != "" && s.head != detached {
		return nil
	}
	s.of = of
	stacks[r.jj.Dir] = s
	return s
}

// A walk goes back through a workspace's changes.
type walk struct {
	repo  *Repo
	store *odb.Store
	view  jj.View
	def   string
}

// maxWalked is how many commits are read to find where a stack begins.
const maxWalked = 300

// change is a commit as far as a stack goes by it.
type change struct {
	id, parent, name string
	at               int64
}

func (w *walk) stack() *stack {
	top, ok := w.read(w.view.Commit)
	if !ok {
		return nil
	}
	s := &stack{head: top.parent, branch: top.name}
	bookmark, first := "", ""
	trunk, passed := w.trunk(), map[string]bool{}
	own := top
	for n := 0; own.id != "" && n < maxWalked; n++ {
		passed[trunk.id] = true
		if passed[own.id] { // the first change of a stack stays while others come on top
			s.branch = cmp.Or(first, s.branch)
			break
		}
		if trunk.id != "" && trunk.at >= own.at && own.id != top.id { // the newer one first, so that they meet
			trunk, _ = w.read(trunk.parent)
			continue
		}
		marks := slices.DeleteFunc(slices.Sorted(slices.Values(w.view.Bookmarks[own.id])), w.isTrunk)
		if bookmark == "" && len(marks) > 0 {
			bookmark = marks[0]
		}
		s.names = append(s.names, marks...)
		if own.name != "" {
			s.names, first = append(s.names, own.name), own.name
		}
		own, _ = w.read(own.parent)
	}
	s.branch = cmp.Or(bookmark, s.branch)
	return s
}

// isTrunk reports whether a bookmark is the default branch.
func (w *walk) isTrunk(name string) bool {
	return name == w.def || w.def == "" && (name == "main" || name == "master")
}

// trunk is the commit of the default branch.
func (w *walk) trunk() change {
	for _, ref := range w.repo.upstreams(w.def) {
		if id := w.repo.Ref(ref); id != "" {
			c, _ := w.read(id)
			return c
		}
	}
	for id, names := range w.view.Bookmarks {
		if slices.ContainsFunc(names, w.isTrunk) {
			c, _ := w.read(id)
			return c
		}
	}
	return change{}
}

// shownID is how many letters of a change's id jj shows.
const shownID = 8

// read returns a commit; git's first parent is the one that a stack goes on with.
func (w *walk) read(id string) (c change, ok bool) {
	kind, data, err := w.store.Read(id, odb.MaxText)
	if err != nil || kind != "commit" {
		return c, false
	}
	c.id = id
	head, _, _ := bytes.Cut(data, []byte("\n\n"))
	for line := range strings.SplitSeq(string(head), "\n") {
		key, value, _ := strings.Cut(line, " ")
		switch {
		case key == "parent" && c.parent == "":
			c.parent = odb.CommitID(value)
		case key == "change-id" && len(value) >= shownID && strings.Trim(value, "klmnopqrstuvwxyz") == "":
			c.name = value[:shownID]
		case key == "committer":
			if f := strings.Fields(value); len(f) > 1 {
				c.at, _ = strconv.ParseInt(f[len(f)-2], 10, 64)
			}
		}
	}
	return c, true
}

// trunkAlias returns the branch of origin that jj has noted as its trunk.
func (r *Repo) trunkAlias() string {
	if r.jj == nil {
		return ""
	}
	data, err := plain.ReadHere(filepath.Join(r.jj.Repo, "config.toml"), odb.MaxText)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(line, "=")
		name, ok := strings.CutSuffix(strings.Trim(strings.TrimSpace(value), `"'`), "@origin")
		if strings.Trim(strings.TrimSpace(key), `"'`) == "trunk()" && ok && r.Ref("refs/remotes/origin/"+name) != "" {
			return name
		}
	}
	return ""
}

// indexAge is how long an index of a HEAD that is no more is kept: a git that
// still reads it would take all files for new.
const indexAge = time.Hour

// madeIndex returns the index in a shelter with the files of HEAD, and makes it
// where there is none yet. What the one before knew of files that did not change
// is taken over: git need not read them again.
func (r *Repo) madeIndex() (string, error) {
	s, err := r.shelter()
	if err != nil {
		return "", err
	}
	head := r.Head().SHA
	name := filepath.Join(s.dir, "index-"+head)
	if _, err := os.Lstat(name); err == nil || head == "" {
		return name, nil
	}
	dir, err := os.MkdirTemp(s.dir, "making-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "index")
	before, _ := filepath.Glob(filepath.Join(s.dir, "index-*"))
	slices.SortFunc(before, func(a, b string) int { return modified(b).Compare(modified(a)) })
	if len(before) > 0 {
		if data, err := plain.ReadHere(before[0], odb.MaxIndex); err == nil {
			_ = os.WriteFile(made, data, 0o600) // without it, git reads more
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	step := func(args ...string) error {
		root := filepath.Dir(filepath.Dir(r.jj.Dir))
		cmd := bare(ctx, root, args...)
		cmd.Env = append(cmd.Env, "GIT_DIR="+s.dir, "GIT_WORK_TREE="+root, "GIT_INDEX_FILE="+made,
			"GIT_OBJECT_DIRECTORY="+filepath.Join(r.CommonDir, "objects"))
		_, err := run(ctx, args[0], cmd)
		return err
	}
	if err := step("read-tree", "-i", "-m", head); err != nil {
		return "", fmt.Errorf("the files of %s: %w", head, err)
	}
	_ = step("update-index", "-q", "--refresh") // it complains of files that differ
	if err := os.Rename(made, name); err != nil {
		return "", err
	}
	for _, old := range before {
		if time.Since(modified(old)) > indexAge {
			_ = os.Remove(old)
		}
	}
	return name, nil
}

func modified(name string) time.Time {
	info, err := os.Lstat(name)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// bare prepares a git process that reads the repository's own references.
func (r *Repo) bare(ctx context.Context, args ...string) *exec.Cmd {
	if r.plainJJ() {
		return bare(ctx, r.CommonDir, args...)
	}
	return bare(ctx, r.GitDir, args...)
}

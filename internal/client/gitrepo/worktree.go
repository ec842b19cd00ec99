package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
)

// WorkingTree compares what is on disk under root with base. With paths, the
// result has one delta for each of them that lies inside root, unchanged ones
// too, and for a folder those of the files in it; without, every file that
// differs. What is on disk counts, staged or not, tracked or not; files that
// git ignores count only when named.
//
// root must be the top folder of the working tree.
func WorkingTree(ctx context.Context, root, base string, paths []string) ([]diff.Delta, error) {
	w := &worktree{ctx: ctx, root: root, base: base, found: map[string]*diff.Delta{}}
	w.sort(paths)
	if paths != nil && len(w.files)+len(w.folders) == 0 {
		return nil, nil
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if len(w.folders) == 0 {
		if deltas, err := quickDeltas(ctx, root, base, w.files); err == nil || ctx.Err() != nil {
			return deltas, err
		}
	}
	return w.ask()
}

// ask leaves the comparison to git.
func (w *worktree) ask() ([]diff.Delta, error) {
	if err := w.compare(); err != nil {
		return nil, err
	}
	if err := w.revive(); err != nil {
		return nil, err
	}
	if err := w.addUntracked(); err != nil {
		return nil, err
	}
	if err := w.findRenames(); err != nil {
		return nil, err
	}
	return w.deltas(), nil
}

type worktree struct {
	ctx     context.Context
	root    string
	base    string
	files   []string               // asked for, clean, each once
	folders []string               // asked for; [""] for everything
	entries map[string]*odb.Entry  // of the base, for the files
	found   map[string]*diff.Delta // by path

	untracked []string // those of found that git does not know yet
}

// sort tells the files asked for from the folders.
func (w *worktree) sort(paths []string) {
	if paths == nil {
		w.folders = []string{""}
		return
	}
	seen := map[string]bool{}
	for _, p := range paths {
		p = path.Clean(filepath.ToSlash(p))
		if p == ".." || strings.HasPrefix(p, "../") || path.IsAbs(p) || strings.Contains(p, "\x00") || seen[p] || Within(p) {
			continue
		}
		seen[p] = true
		if info, err := os.Lstat(filepath.Join(w.root, p)); err == nil && info.IsDir() && !Is(filepath.Join(w.root, p)) {
			if p == "." {
				p = ""
			}
			w.folders = append(w.folders, p)
			continue
		}
		w.files = append(w.files, p)
	}
}

// pathspecs are the arguments that limit a git command to what was asked for.
func (w *worktree) pathspecs() []string {
	if slices.Contains(w.folders, "") {
		return nil
	}
	return append(slices.Clone(w.folders), w.files...)
}

// compare asks git for the tracked files and for the base's entries, at once.
func (w *worktree) compare() error {
	type answer struct {
		entries []odb.Entry
		err     error
	}
	entries := make(chan answer, 1)
	go func() {
		if len(w.files) == 0 {
			entries <- answer{}
			return
		}
		e, err := Entries(w.ctx, w.root, w.base, w.files)
		entries <- answer{e, err}
	}()
	deltas, err := w.diff("", append([]string{w.base, "--"}, w.pathspecs()...)...)
	a := <-entries
	if err != nil {
		return err
	}
	if a.err != nil {
		return a.err
	}
	w.entries = make(map[string]*odb.Entry, len(a.entries))
	for i := range a.entries {
		w.entries[a.entries[i].Path] = &a.entries[i]
	}
	for i := range deltas {
		w.found[deltas[i].Path] = &deltas[i]
	}
	return nil
}

// diff runs git diff with the given last arguments, on the repository's index
// or another one.
func (w *worktree) diff(index string, args ...string) ([]diff.Delta, error) {
	cmd := command(w.ctx, w.root, append(append([]string{"diff"}, diff.MergeArgs...), args...)...)
	if index != "" {
		cmd.Env = append(cmd.Env, "GIT_INDEX_FILE="+index)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("git diff: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("git diff: %w", err)
	}
	deltas, readErr := diff.Read(bufio.NewReaderSize(stdout, 64<<10), "")
	_, _ = io.Copy(io.Discard, stdout)
	if err := cmd.Wait(); err != nil {
		return nil, gitError(w.ctx, "diff", stderr.String(), err)
	}
	if readErr != nil {
		return nil, fmt.Errorf("git diff: %w", readErr)
	}
	return deltas, nil
}

// revive compares files that git calls deleted but that are on disk: removed
// from the index or by a commit of the branch, then written again.
func (w *worktree) revive() error {
	for p, d := range w.found {
		if d.Status != diff.Deleted || d.OldMode == diff.ModeSubmodule {
			continue
		}
		info, err := os.Lstat(filepath.Join(w.root, p))
		if err != nil || !info.Mode().IsRegular() || d.OldMode == diff.ModeSymlink {
			continue
		}
		again, err := w.diff("", d.OldBlob, "--", p)
		if err != nil {
			return err
		}
		d.Hunks, d.Binary, d.Status, d.NewMode = nil, false, diff.Unchanged, d.OldMode
		d.NewBlob = d.OldBlob
		if len(again) == 1 {
			d.Status, d.Hunks, d.Binary, d.NewBlob = diff.Modified, again[0].Hunks, again[0].Binary, again[0].NewBlob
		}
	}
	return nil
}

// addUntracked adds the files that git does not know yet.
func (w *worktree) addUntracked() error {
	var fresh []string
	for _, p := range w.files {
		if w.found[p] == nil && w.entries[p] == nil && !w.inSubmodule(p) {
			if _, err := os.Lstat(filepath.Join(w.root, p)); err == nil {
				fresh = append(fresh, p)
			}
		}
	}
	if len(w.folders) > 0 {
		args := []string{"ls-files", "--others", "--exclude-standard", "-z", "--"}
		if !slices.Contains(w.folders, "") {
			args = append(args, w.folders...)
		}
		out, err := output(w.ctx, w.root, args...)
		if err != nil {
			return err
		}
		for p := range bytes.SplitSeq(out, []byte{0}) {
			if name := strings.TrimSuffix(string(p), "/"); name != "" && w.found[name] == nil && !slices.Contains(fresh, name) {
				fresh = append(fresh, name)
			}
		}
	}
	return w.readUntracked(fresh)
}

// inSubmodule tells whether p lies in a submodule, whose files are not ours.
func (w *worktree) inSubmodule(p string) bool {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if Is(filepath.Join(w.root, dir)) {
			return true
		}
	}
	return false
}

// readUntracked describes new files. Git makes the ids of ordinary ones, for
// it knows which filters apply.
func (w *worktree) readUntracked(fresh []string) error {
	var regular []string
	for _, p := range fresh {
		info, err := os.Lstat(filepath.Join(w.root, p))
		if err != nil {
			continue // gone since
		}
		switch {
		case info.Mode().IsRegular():
			regular = append(regular, p)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(filepath.Join(w.root, p))
			if err != nil {
				continue
			}
			id, err := w.hashText(target)
			if err != nil {
				return err
			}
			d := newFile(p, diff.ModeSymlink, id)
			d.Hunks = []diff.Hunk{diff.Whole(strings.NewReader(target))}
			w.found[p] = d
			w.untracked = append(w.untracked, p)
		}
	}
	ids, err := w.hashObjects(regular)
	if err != nil {
		return err
	}
	for i, p := range regular {
		d := newFile(p, 0o100644, ids[i])
		if err := describeNew(d, filepath.Join(w.root, p)); err != nil {
			continue // gone since
		}
		w.found[p] = d
		w.untracked = append(w.untracked, p)
	}
	return nil
}

func newFile(p string, mode int, id string) *diff.Delta {
	return &diff.Delta{Path: p, Status: diff.Added, NewMode: mode, NewBlob: id}
}

// describeNew reads a new file's lines and tells, as git does by its first
// 8,000 bytes, whether it has any.
func describeNew(d *diff.Delta, file string) error {
	f, err := plain.Handle(file, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 64<<10)
	head, _ := r.Peek(8000)
	if len(head) == 0 {
		return nil
	}
	if bytes.IndexByte(head, 0) >= 0 {
		d.Binary = true
		return nil
	}
	d.Hunks = []diff.Hunk{diff.Whole(r)}
	return nil
}

// maxArguments keeps a command line below what every system takes; Windows
// takes the least, 32,767 characters with the program's path in it.
const maxArguments = 30 << 10

// hashObjects returns the ids that git would give the files.
func (w *worktree) hashObjects(paths []string) ([]string, error) {
	var ids []string
	for start := 0; start < len(paths); {
		end, size := start, 0
		for end < len(paths) && (end == start || size+len(paths[end]) < maxArguments) {
			size += len(paths[end]) + 1
			end++
		}
		out, err := output(w.ctx, w.root, append([]string{"hash-object", "--"}, paths[start:end]...)...)
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.Fields(string(out))...)
		start = end
	}
	if len(ids) != len(paths) {
		return nil, fmt.Errorf("git hash-object: %d ids for %d files", len(ids), len(paths))
	}
	return ids, nil
}

// hashText returns the id that git would give a blob with this content.
func (w *worktree) hashText(content string) (string, error) {
	cmd := command(w.ctx, w.root, "hash-object", "--stdin", "--no-filters")
	cmd.Stdin = strings.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		return "", gitError(w.ctx, "hash-object", "", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// deltas puts the result in order of path and adds what did not change.
func (w *worktree) deltas() []diff.Delta {
	for _, p := range w.files {
		if w.found[p] != nil || w.renamedAway(p) {
			continue
		}
		d := &diff.Delta{Path: p}
		if e := w.entries[p]; e != nil {
			d.OldMode, d.NewMode, d.OldBlob, d.NewBlob = e.Mode, e.Mode, e.ID, e.ID
		}
		w.found[p] = d
	}
	out := make([]diff.Delta, 0, len(w.found))
	for _, d := range w.found {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b diff.Delta) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// renamedAway tells whether p is the old name of a file in the result.
func (w *worktree) renamedAway(p string) bool {
	for _, d := range w.found {
		if d.OldPath == p {
			return true
		}
	}
	return false
}

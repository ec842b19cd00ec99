package gitrepo

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
)

// maxQuick is the size of the largest file that is compared in this process.
const maxQuick = 8 << 20

// A quick comparison looks at named files without asking git about its index,
// the cost of which grows with the repository. It knows ordinary files only:
// whatever else there is, it leaves the whole question to git.
type quick struct {
	ctx    context.Context
	repo   *Repo
	store  *odb.Store
	base   string
	deltas []diff.Delta
	attrs  attributes
	fresh  bool // some are new
}

// errSlow means that only git can tell.
var errSlow = errors.New("not an ordinary file")

// quickDeltas compares files with base as WorkingTree does, or returns errSlow.
func quickDeltas(ctx context.Context, root, base string, files []string) ([]diff.Delta, error) {
	q, err := newQuick(ctx, root, base)
	if err != nil {
		return nil, err
	}
	defer q.store.Close()
	for _, p := range files {
		if err := q.file(p); err != nil {
			return nil, err
		}
	}
	if q.fresh {
		// A new file may be an old one that was moved.
		gone, err := goneFiles(ctx, root, base)
		if err != nil || len(gone) > 0 {
			return nil, errSlow
		}
	}
	if err := q.hunks(); err != nil {
		return nil, err
	}
	slices.SortFunc(q.deltas, func(a, b diff.Delta) int { return strings.Compare(a.Path, b.Path) })
	return q.deltas, nil
}

func newQuick(ctx context.Context, root, base string) (*quick, error) {
	repo, ok := At(root)
	if !ok || odb.CommitID(base) == "" {
		return nil, errSlow
	}
	q := &quick{ctx: ctx, repo: repo, base: base, store: repo.Store()}
	q.attrs = attributes{root: root, info: repo.infoFile("attributes")}
	return q, nil
}

// A Draft is what a file would be like after an edit that is not made yet.
type Draft struct {
	Path     string
	BaseBlob string // empty where the base has no such file
	NowBlob  string // on disk; empty where there is no file
	NewBlob  string
	Hunks    []diff.Hunk // of the base
	Edits    []diff.Hunk // of what is on disk
}

// Drafts compares contents that files are about to get with the base and with
// what is on disk. Files of which git would not compare the bytes are left out.
func Drafts(ctx context.Context, root, base string, contents map[string][]byte) ([]Draft, error) {
	return drafts(ctx, root, base, contents, false)
}

// Unsaved is Drafts of what is typed in an editor, whose lines may end as its
// system ends them.
func Unsaved(ctx context.Context, root, base string, contents map[string][]byte) ([]Draft, error) {
	return drafts(ctx, root, base, contents, true)
}

// AsStored returns a text of the working copy with the line ends that git stores
// beside a version: its own, unless the version has others.
func AsStored(text, version []byte) []byte {
	if bytes.IndexByte(text, '\r') < 0 || bytes.Contains(version, []byte("\r\n")) {
		return text
	}
	return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
}

func drafts(ctx context.Context, root, base string, contents map[string][]byte, typed bool) ([]Draft, error) {
	q, err := newQuick(ctx, root, base)
	if err != nil {
		return nil, err
	}
	defer q.store.Close()
	var out []Draft
	var pairs [][2][]byte
	for p, content := range contents {
		entry, err := q.store.Entry(base, p)
		same := q.attrs.plain(p, content) || typed && q.attrs.harmless(p)
		if err != nil || !same || diff.IsBinary(content) || len(content) > maxQuick {
			continue
		}
		d := Draft{Path: p}
		var old []byte
		if entry != nil {
			kind, data, err := q.store.Read(entry.ID, maxQuick)
			if err != nil || kind != "blob" || diff.IsBinary(data) {
				continue
			}
			old, d.BaseBlob = data, entry.ID
		}
		if typed {
			content = AsStored(content, old)
		}
		d.NewBlob = q.store.BlobID(content)
		now, err := plain.ReadHere(filepath.Join(root, filepath.FromSlash(p)), maxQuick)
		if err == nil {
			if typed {
				now = AsStored(now, old)
			}
			d.NowBlob = q.store.BlobID(now)
		}
		out = append(out, d)
		pairs = append(pairs, [2][]byte{old, content}, [2][]byte{now, content})
	}
	found, err := diffContents(ctx, pairs)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Hunks, out[i].Edits = found[2*i].Hunks, found[2*i+1].Hunks
	}
	return out, nil
}

// file compares one file.
func (q *quick) file(p string) error {
	name := filepath.Join(q.repo.Root, filepath.FromSlash(p))
	entry, err := q.store.Entry(q.base, p)
	if err != nil {
		return errSlow
	}
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist) && entry == nil:
		q.deltas = append(q.deltas, diff.Delta{Path: p})
		return nil
	case err != nil || !info.Mode().IsRegular() || info.Size() > maxQuick || q.inOther(p):
		return errSlow
	}
	content, err := plain.ReadHere(name, maxQuick)
	if err != nil {
		return errSlow
	}
	id := q.store.BlobID(content)
	mode := 0o100644
	if info.Mode()&0o100 != 0 {
		mode = 0o100755
	}
	if entry == nil {
		return q.added(p, content, id)
	}
	if entry.Mode != mode {
		return errSlow
	}
	d := diff.Delta{Path: p, OldMode: mode, NewMode: mode, OldBlob: entry.ID, NewBlob: id}
	if id != entry.ID {
		kind, old, err := q.store.Read(entry.ID, maxQuick)
		if err != nil || kind != "blob" || !q.attrs.plain(p, content) || bytes.IndexByte(old, '\r') >= 0 {
			return errSlow
		}
		d.Status, d.Old, d.New = diff.Modified, old, content
	}
	q.deltas = append(q.deltas, d)
	return nil
}

// added describes a new file.
func (q *quick) added(p string, content []byte, id string) error {
	if !q.attrs.plain(p, content) {
		return errSlow
	}
	d := diff.Delta{Path: p, Status: diff.Added, NewMode: 0o100644, NewBlob: id}
	switch {
	case len(content) == 0:
	case diff.IsBinary(content):
		d.Binary = true
	default:
		d.Hunks = []diff.Hunk{diff.Whole(bytes.NewReader(content))}
	}
	q.deltas = append(q.deltas, d)
	q.fresh = q.fresh || len(content) > 0
	return nil
}

// inOther reports whether p lies in another repository below this one.
func (q *quick) inOther(p string) bool {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if Is(filepath.Join(q.repo.Root, filepath.FromSlash(dir))) {
			return true
		}
	}
	return false
}

// hunks finds the lines that differ.
func (q *quick) hunks() error {
	var modified []*diff.Delta
	var sides [][2][]byte
	for i := range q.deltas {
		if d := &q.deltas[i]; d.Status == diff.Modified {
			modified, sides = append(modified, d), append(sides, [2][]byte{d.Old, d.New})
		}
	}
	found, err := diffContents(q.ctx, sides)
	if err != nil {
		return err
	}
	for i, d := range modified {
		d.Hunks, d.Binary = found[i].Hunks, found[i].Binary
	}
	return nil
}

// diffContents compares pairs of contents: in this process, and those of which
// only git can tell, by git.
func diffContents(ctx context.Context, pairs [][2][]byte) ([]diff.Delta, error) {
	out := make([]diff.Delta, len(pairs))
	var hard []int
	for i, p := range pairs {
		switch hunks, ok := diff.Compare(p[0], p[1]); {
		case diff.IsBinary(p[0]) || diff.IsBinary(p[1]):
			out[i].Binary = !bytes.Equal(p[0], p[1])
		case ok:
			out[i].Hunks = hunks
		default:
			hard = append(hard, i)
		}
	}
	left := make([][2][]byte, len(hard))
	for k, i := range hard {
		left[k] = pairs[i]
	}
	found, err := askGit(ctx, left)
	for k, i := range hard {
		if err == nil {
			out[i] = found[k]
		}
	}
	return out, err
}

// askGit compares pairs of contents, in a folder of their own, so that git
// reads neither index nor configuration nor attributes.
func askGit(ctx context.Context, pairs [][2][]byte) ([]diff.Delta, error) {
	out := make([]diff.Delta, len(pairs))
	if len(pairs) == 0 {
		return out, nil
	}
	dir, err := os.MkdirTemp("", "svc-diff-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	for side, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			return nil, err
		}
		for i, p := range pairs {
			if err := os.WriteFile(filepath.Join(dir, name, strconv.Itoa(i)), p[side], 0o600); err != nil {
				return nil, err
			}
		}
	}
	found, err := diffFolders(ctx, dir)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		i, err := strconv.Atoi(strings.TrimPrefix(f.Path, "a/"))
		if err != nil || i < 0 || i >= len(pairs) {
			return nil, fmt.Errorf("git diff: a file %q", f.Path)
		}
		out[i] = f
	}
	return out, nil
}

// diffFolders returns what differs between the folders a and b in dir.
func diffFolders(ctx context.Context, dir string) ([]diff.Delta, error) {
	args := append([]string{"diff", "--no-index"}, diff.MergeArgs...)
	cmd := bare(ctx, dir, append(args, "--", "a", "b")...)
	cmd.Env = append(cmd.Env, "GIT_DIR="+filepath.Join(dir, "none"))
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // 1: they differ
		text := ""
		if exit != nil {
			text = string(exit.Stderr)
		}
		return nil, gitError(ctx, "diff", text, err)
	}
	return diff.Read(bufio.NewReader(bytes.NewReader(out)), "")
}

// goneFiles returns files of base that are no longer there.
func goneFiles(ctx context.Context, root, base string) ([]string, error) {
	out, err := output(ctx, root, "diff", "--no-renames", "--diff-filter=D", "--name-only", "--no-ext-diff",
		"--ignore-submodules=all", "-z", base, "--")
	return nulTexts(out), err
}

package gitrepo

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/gittest"
)

// edited draws a version of text with some lines replaced, inserted or removed.
func edited(t *rapid.T, text []string, label string) []string {
	var out []string
	for i, line := range text {
		switch rapid.IntRange(0, 11).Draw(t, fmt.Sprintf("%s%d", label, i)) {
		case 0:
			out = append(out, rapid.SampledFrom([]string{"}", "", "x", "y", "return"}).Draw(t, "line"))
		case 1:
			out = append(out, line, rapid.SampledFrom([]string{"}", "", "x", "y", "return"}).Draw(t, "line"))
		case 2: // removed
		default:
			out = append(out, line)
		}
	}
	return out
}

func join(l []string, newline bool) string {
	s := strings.Join(l, "\n")
	if newline && len(l) > 0 {
		s += "\n"
	}
	return s
}

// apply replays hunks on base with the lines of the new version.
func apply(base, fresh []string, hunks []diff.Hunk) []string {
	var out []string
	at := 1
	for _, h := range hunks {
		out = append(out, base[at-1:h.OldStart-1]...)
		out = append(out, fresh[h.NewStart-1:h.NewStart-1+h.NewCount]...)
		at = h.OldStart + h.OldCount
	}
	return append(out, base[at-1:]...)
}

// meet tells whether two sides' hunks overlap or touch without being alike.
func meet(a, b []diff.Hunk) bool {
	for _, x := range a {
		for _, y := range b {
			if x.OldStart <= y.OldStart+y.OldCount && y.OldStart <= x.OldStart+x.OldCount &&
				(x.OldStart != y.OldStart || x.OldCount != y.OldCount || x.Hash != y.Hash) {
				return true
			}
		}
	}
	return false
}

// Hunks that neither overlap nor touch always merge, and replaying them gives
// the new version. Git's own merge is the judge.
func TestHunksAreThoseOfGitsMerge(t *testing.T) {
	r := newRepo(t)
	objects := NewObjects(t.Context(), r.root)
	trees := NewTrees(t.Context(), r.root, objects)
	defer func() {
		if err := errors.Join(trees.Close(), objects.Close()); err != nil {
			t.Error(err)
		}
	}()
	agreed, met := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 25).Draw(t, "lines")
		base := make([]string, n)
		for i := range base {
			base[i] = rapid.SampledFrom([]string{"{", "}", "", fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("c", i)}).Draw(t, "base")
		}
		left, right := edited(t, base, "l"), edited(t, base, "r")
		end := rapid.Bool().Draw(t, "newline")
		commit := func(l []string, parents ...string) string { return r.commitFile(join(l, end), parents...) }
		b := commit(base)
		l, rt := commit(left, b), commit(right, b)
		dl, dr := side(t, trees, b, l), side(t, trees, b, rt)
		if end {
			if got := apply(base, left, dl); !cmp.Equal(join(got, true), join(left, true)) {
				t.Fatalf("replaying %+v gives %q, want %q", dl, got, left)
			}
		}
		clean := exec.Command("git", "-C", r.root, "merge-tree", "--write-tree", l, rt).Run() == nil
		if !clean && !meet(dl, dr) {
			t.Fatalf("git finds a conflict and the hunks do not meet: %+v %+v", dl, dr)
		}
		if meet(dl, dr) {
			met++
			if !clean {
				agreed++
			}
		}
	})
	t.Logf("hunks met in %d cases, git stopped in %d of them", met, agreed)
	if agreed*100 < met*80 {
		t.Errorf("of %d cases where hunks met git stopped in only %d", met, agreed)
	}
}

func side(t *rapid.T, trees *Trees, base, commit string) []diff.Hunk {
	d, err := trees.Deltas(base, commit)
	if err != nil {
		t.Fatal(err)
	}
	if len(d) == 0 {
		return nil
	}
	return d[0].Hunks
}

// commitFile makes a commit with one file without touching the working tree.
func (r *testRepo) commitFile(content string, parents ...string) string {
	blob := r.feed(content, "hash-object", "-w", "--stdin")
	tree := r.feed("100644 blob "+blob+"\tfile\n", "mktree")
	args := []string{"commit-tree", tree, "-m", "x"}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return r.git(args...)
}

func (r *testRepo) feed(in string, args ...string) string {
	r.t.Helper()
	return gittest.Feed(r.t, r.root, in, args...)
}

// The two ways to compare must agree: a committed tree and the same files on disk.
func TestTreesAgreeWithTheWorkingTree(t *testing.T) {
	r := newRepo(t)
	r.write("keep", lines(30))
	r.write("move", lines(40)+"end\n")
	r.write("drop", "x\ny\n")
	r.write("bin", "\x00")
	base := r.commit("base")
	r.write("keep", replaceLine(lines(30), 7, "seven\n"))
	r.git("mv", "move", "moved")
	r.remove("drop")
	r.write("bin", "\x00\x01")
	r.write("fresh", "1\n2\n3")
	r.git("add", "-A")
	disk, err := WorkingTree(t.Context(), r.root, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	side := r.commit("side")
	objects := NewObjects(t.Context(), r.root)
	defer objects.Close()
	trees := NewTrees(t.Context(), r.root, objects)
	defer trees.Close()
	for range 2 { // the process serves more than one pair
		got, err := trees.Deltas(base, side)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(disk, got); diff != "" {
			t.Errorf("on disk (-) and in the tree (+):\n%s", diff)
		}
		if none, err := trees.Deltas(side, side); err != nil || len(none) != 0 {
			t.Errorf("equal trees: %v, %v", none, err)
		}
	}
	if _, err := trees.Deltas(base, "nonsense"); !errors.Is(err, odb.ErrMissing) {
		t.Errorf("an unknown version: %v, want odb.ErrMissing", err)
	}
	if got, err := trees.Deltas(base, side); err != nil || len(got) != 5 {
		t.Errorf("after an unknown version: %d deltas, %v; want 5", len(got), err)
	}
}

func TestTreesGoOnAfterAnObjectThatIsMissing(t *testing.T) {
	r := newRepo(t)
	r.write("a", lines(50))
	base := r.commit("base")
	r.write("a", lines(60))
	lost := r.commit("lost")
	r.write("a", lines(70))
	side := r.commit("side")
	blob := r.git("rev-parse", lost+":a")
	if err := os.Remove(filepath.Join(r.root, ".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	objects := NewObjects(t.Context(), r.root)
	defer objects.Close()
	trees := NewTrees(t.Context(), r.root, objects)
	defer trees.Close()
	if _, err := trees.Deltas(base, lost); err == nil || !strings.Contains(err.Error(), blob) {
		t.Errorf("error %v, want git's word on %s", err, blob)
	}
	if d, err := trees.Deltas(base, side); err != nil || len(d) != 1 {
		t.Errorf("after that: %v, %v", d, err)
	}
}

func TestObjects(t *testing.T) {
	r := newRepo(t)
	r.write("d/a", "hello\n")
	r.commit("one")
	o := NewObjects(t.Context(), r.root)
	defer o.Close()
	for _, tt := range []struct {
		name, object string
		limit        int64
		want         string
		err          error
	}{
		{"a blob by path", "HEAD:d/a", 100, "hello\n", nil},
		{"one over the limit", "HEAD:d/a", 5, "", odb.ErrTooLarge},
		{"none", "HEAD:nothing", 100, "", odb.ErrMissing},
		{"a folder", "HEAD:d", 100, "", odb.ErrMissing},
		{"a name with a newline", "HEAD:a\nb", 100, "", odb.ErrMissing},
		{"a blob after all that", "HEAD:d/a", 100, "hello\n", nil},
	} {
		got, err := o.Blob(tt.object, tt.limit)
		if !errors.Is(err, tt.err) || string(got) != tt.want {
			t.Errorf("%s: %q, %v; want %q, %v", tt.name, got, err, tt.want, tt.err)
		}
	}
}

// An insertion between repeated lines has several places. It must be given the
// one that git's merge takes, however long the rest of the file is.
func TestAnInsertionAmongRepeatedLinesStandsWhereGitMergesIt(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	block := "<Accordion>\n" + strings.Repeat("  some text of the block\n", 98) + "</Accordion>\n"
	head, tail := "start\n"+block, strings.Repeat("a line of the long rest of the file\n", 200)
	commit := func(middle string) string {
		if err := os.WriteFile(filepath.Join(dir, "a.md"), []byte(head+middle+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, dir, "add", "a.md")
		gittest.Run(t, dir, "commit", "-q", "-m", "x")
		return strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
	}
	base := commit("")
	side := commit(block)
	objects := NewObjects(t.Context(), dir)
	defer objects.Close()
	trees := NewTrees(t.Context(), dir, objects)
	defer trees.Close()
	deltas, err := trees.Deltas(base, side)
	if err != nil {
		t.Fatal(err)
	}
	if len(deltas) != 1 || len(deltas[0].Hunks) != 1 || deltas[0].Hunks[0].OldStart != 102 {
		t.Errorf("deltas = %+v, want one insertion before line 102", deltas)
	}
}

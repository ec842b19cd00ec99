package gitrepo

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/gittest"
)

// A testRepo is a real repository in a temporary folder.
type testRepo struct {
	t    testing.TB
	root string
}

func newRepo(t testing.TB) *testRepo {
	t.Helper()
	return &testRepo{t, gittest.Init(t)}
}

func (r *testRepo) git(args ...string) string {
	r.t.Helper()
	return gittest.Run(r.t, r.root, args...)
}

func (r *testRepo) write(name, content string) {
	r.t.Helper()
	gittest.Write(r.t, r.root, name, content)
}

func (r *testRepo) remove(name string) {
	r.t.Helper()
	if err := os.Remove(filepath.Join(r.root, name)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *testRepo) commit(msg string) string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", msg)
	return r.git("rev-parse", "HEAD")
}

// lines returns n numbered lines.
func lines(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		b.WriteString("line ")
		b.WriteString(strings.Repeat("x", i%7))
		b.WriteByte(byte('a' + i%26))
		b.WriteByte(byte('0' + i/26))
		b.WriteByte('\n')
	}
	return b.String()
}

// replaceLine returns text with its nth line replaced.
func replaceLine(text string, n int, with string) string {
	l := strings.SplitAfter(text, "\n")
	l[n-1] = with
	return strings.Join(l, "")
}

func TestWorkingTree(t *testing.T) {
	ten := lines(10)
	for _, tt := range []struct {
		name  string
		base  func(*testRepo)
		edit  func(*testRepo)
		paths []string
		want  []diff.Delta
	}{
		{
			name:  "a changed line",
			edit:  func(r *testRepo) { r.write("a.txt", replaceLine(ten, 4, "new\n")) },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(4, 1, 4, 1)}}},
		},
		{
			name:  "an insertion stands before its start",
			edit:  func(r *testRepo) { r.write("a.txt", replaceLine(ten, 4, "new\nline xxxxe0\n")) },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(4, 0, 4, 1)}}},
		},
		{
			name:  "an insertion at the top, an append and a deletion",
			edit:  func(r *testRepo) { r.write("a.txt", "top\n"+replaceLine(ten, 5, "")+"end") },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 0, 1, 1), hunk(5, 1, 6, 0), hunk(11, 0, 11, 1)}}},
		},
		{
			name:  "only the newline at the end is gone",
			edit:  func(r *testRepo) { r.write("a.txt", strings.TrimSuffix(ten, "\n")) },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(10, 1, 10, 1)}}},
		},
		{
			name:  "an edit that was undone",
			edit:  func(r *testRepo) { r.write("a.txt", ten) },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Unchanged}},
		},
		{
			name: "a staged edit with more on disk",
			edit: func(r *testRepo) {
				r.write("a.txt", "1\n")
				r.git("add", "a.txt")
				r.write("a.txt", replaceLine(ten, 2, "2\n"))
			},
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(2, 1, 2, 1)}}},
		},
		{
			name: "a commit of the branch and an edit on disk are one change",
			edit: func(r *testRepo) {
				r.write("a.txt", replaceLine(ten, 2, "2\n"))
				r.commit("work")
				r.write("a.txt", replaceLine(replaceLine(ten, 2, "2\n"), 9, "9\n"))
			},
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(2, 1, 2, 1), hunk(9, 1, 9, 1)}}},
		},
		{
			name:  "an untracked file",
			edit:  func(r *testRepo) { r.write("new.txt", "1\n2") },
			paths: []string{"new.txt"},
			want:  []diff.Delta{{Path: "new.txt", Status: diff.Added, Hunks: []diff.Hunk{hunk(1, 0, 1, 2)}}},
		},
		{
			name: "a staged new file, an empty one and one that is only staged",
			edit: func(r *testRepo) {
				r.write("n1", "1\n")
				r.write("n2", "")
				r.write("n3", "3\n")
				r.git("add", ".")
				r.remove("n3")
			},
			paths: []string{"n1", "n2", "n3"},
			want: []diff.Delta{
				{Path: "n1", Status: diff.Added, Hunks: []diff.Hunk{hunk(1, 0, 1, 1)}},
				{Path: "n2", Status: diff.Added},
				{Path: "n3", Status: diff.Unchanged},
			},
		},
		{
			name:  "deleted on disk",
			edit:  func(r *testRepo) { r.remove("a.txt") },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Deleted, Hunks: []diff.Hunk{hunk(1, 10, 1, 0)}}},
		},
		{
			name: "deleted by a commit and written again",
			edit: func(r *testRepo) {
				r.git("rm", "-q", "a.txt")
				r.commit("gone")
				r.write("a.txt", replaceLine(ten, 3, "3\n"))
			},
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(3, 1, 3, 1)}}},
		},
		{
			name:  "renamed by git, only the new name asked for",
			edit:  func(r *testRepo) { r.git("mv", "a.txt", "b.txt"); r.write("b.txt", replaceLine(ten, 3, "3\n")) },
			paths: []string{"b.txt"},
			want:  []diff.Delta{{Path: "b.txt", OldPath: "a.txt", Status: diff.Renamed, Hunks: []diff.Hunk{hunk(3, 1, 3, 1)}}},
		},
		{
			name:  "moved without git, both names asked for",
			edit:  func(r *testRepo) { r.remove("a.txt"); r.write("b.txt", replaceLine(ten, 3, "3\n")) },
			paths: []string{"a.txt", "b.txt"},
			want:  []diff.Delta{{Path: "b.txt", OldPath: "a.txt", Status: diff.Renamed, Hunks: []diff.Hunk{hunk(3, 1, 3, 1)}}},
		},
		{
			name:  "a binary file",
			base:  func(r *testRepo) { r.write("x.bin", "a\x00b") },
			edit:  func(r *testRepo) { r.write("x.bin", "a\x00c"); r.write("y.bin", "\x00") },
			paths: []string{"x.bin", "y.bin"},
			want:  []diff.Delta{{Path: "x.bin", Status: diff.Modified, Binary: true}, {Path: "y.bin", Status: diff.Added, Binary: true}},
		},
		{
			name: "a file that becomes a link",
			edit: func(r *testRepo) {
				r.remove("a.txt")
				if err := os.Symlink("elsewhere", filepath.Join(r.root, "a.txt")); err != nil {
					r.t.Fatal(err)
				}
			},
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 10, 1, 1)}}},
		},
		{
			name: "a new link is not followed",
			edit: func(r *testRepo) {
				if err := os.Symlink("a.txt", filepath.Join(r.root, "l")); err != nil {
					r.t.Fatal(err)
				}
			},
			paths: []string{"l"},
			want:  []diff.Delta{{Path: "l", Status: diff.Added, Hunks: []diff.Hunk{hunk(1, 0, 1, 1)}}},
		},
		{
			name:  "only the mode",
			edit:  func(r *testRepo) { os.Chmod(filepath.Join(r.root, "a.txt"), 0o755) },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified}},
		},
		{
			name:  "line ends that git converts are no change",
			base:  func(r *testRepo) { r.write(".gitattributes", "*.txt text eol=crlf\n") },
			edit:  func(r *testRepo) { r.write("a.txt", strings.ReplaceAll(replaceLine(ten, 6, "6\n"), "\n", "\r\n")) },
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(6, 1, 6, 1)}}},
		},
		{
			name: "line ends that git keeps are a change of every line",
			edit: func(r *testRepo) {
				r.git("config", "core.autocrlf", "false")
				r.write("a.txt", strings.ReplaceAll(ten, "\n", "\r\n"))
			},
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 10, 1, 10)}}},
		},
		{
			name: "names that are patterns, quotes, spaces, newlines or no UTF-8",
			base: func(r *testRepo) {
				r.write("[a]*.txt", "1\n")
				r.write("q\"\t é.txt", "1\n")
				r.write("n\nl", "1\n")
				r.write("l\xe9", "1\n")
			},
			edit: func(r *testRepo) {
				r.write("[a]*.txt", "2\n")
				r.write("q\"\t é.txt", "2\n")
				r.write("n\nl", "2\n")
				r.write("l\xe9", "2\n")
				r.write("u\n\xff", "2\n")
			},
			paths: []string{"[a]*.txt", "q\"\t é.txt", "n\nl", "l\xe9", "u\n\xff"},
			want: []diff.Delta{
				{Path: "[a]*.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 1, 1, 1)}},
				{Path: "l\xe9", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 1, 1, 1)}},
				{
					Path:   "n\nl",
					Status: diff.Modified,
					Hunks:  []diff.Hunk{hunk(1, 1, 1, 1)},
				}, {Path: "q\"\t é.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 1, 1, 1)}},
				{Path: "u\n\xff", Status: diff.Added, Hunks: []diff.Hunk{hunk(1, 0, 1, 1)}},
			},
		},
		{
			name: "content that looks like a patch",
			base: func(r *testRepo) { r.write("p", "diff --git a/x b/x\n@@ -1 +1 @@\n- a\n") },
			edit: func(r *testRepo) {
				r.write("p", "diff --git a/y b/y\n@@ -9 +9 @@\n-- a\n++ b\n\\ No newline\nindex 1..2\nBinary files a\n")
			},
			paths: []string{"p"},
			want:  []diff.Delta{{Path: "p", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 3, 1, 7)}}},
		},
		{
			name:  "paths outside the repository and in .git are ignored",
			edit:  func(r *testRepo) {},
			paths: []string{"../x", "/etc/passwd", ".git/config", "a.txt", "./a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Unchanged}},
		},
		{
			name: "everything, with ignored files left out",
			base: func(r *testRepo) { r.write(".gitignore", "*.log\n") },
			edit: func(r *testRepo) {
				r.write("a.txt", replaceLine(ten, 1, "1\n"))
				r.write("d/new", "1\n")
				r.write("x.log", "1\n")
			},
			want: []diff.Delta{
				{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 1, 1, 1)}},
				{Path: "d/new", Status: diff.Added, Hunks: []diff.Hunk{hunk(1, 0, 1, 1)}},
			},
		},
		{
			name:  "a folder",
			base:  func(r *testRepo) { r.write("d/old", "1\n") },
			edit:  func(r *testRepo) { r.write("a.txt", "1\n"); r.write("d/new", "1\n"); r.write("d/old", "2\n") },
			paths: []string{"d"},
			want: []diff.Delta{
				{Path: "d/new", Status: diff.Added, Hunks: []diff.Hunk{hunk(1, 0, 1, 1)}},
				{Path: "d/old", Status: diff.Modified, Hunks: []diff.Hunk{hunk(1, 1, 1, 1)}},
			},
		},
		{
			name: "a user's own diff settings",
			edit: func(r *testRepo) {
				for k, v := range map[string]string{
					"diff.noprefix":         "true",
					"diff.context":          "9",
					"diff.interHunkContext": "9",
					"color.ui":              "always",
					"diff.external":         "false",
					"diff.renames":          "false",
					"diff.algorithm":        "patience",
					"core.quotePath":        "true",
				} {
					r.git("config", k, v)
				}
				r.write("a.txt", replaceLine(replaceLine(ten, 2, "2\n"), 4, "4\n"))
			},
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(2, 1, 2, 1), hunk(4, 1, 4, 1)}}},
		},
		{
			name: "an unmerged file",
			edit: func(r *testRepo) {
				r.git("checkout", "-q", "-b", "other")
				r.write("a.txt", replaceLine(ten, 5, "other\n"))
				r.commit("other")
				r.git("checkout", "-q", "-b", "mine", "main")
				r.write("a.txt", replaceLine(ten, 5, "mine\n"))
				r.commit("mine")
				exec.Command("git", "-C", r.root, "merge", "-q", "other").Run()
			},
			paths: []string{"a.txt"},
			want:  []diff.Delta{{Path: "a.txt", Status: diff.Modified, Hunks: []diff.Hunk{hunk(5, 1, 5, 5)}}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRepo(t)
			r.write("a.txt", ten)
			if tt.base != nil {
				tt.base(r)
			}
			base := r.commit("base")
			tt.edit(r)
			got, err := WorkingTree(t.Context(), r.root, base, tt.paths)
			if err != nil {
				t.Fatal(err)
			}
			r.checkBlobs(base, got)
			ignore := []cmp.Option{
				cmpopts.IgnoreFields(diff.Delta{}, "Old", "New"), // the texts are there only if git was not asked
				cmpopts.IgnoreFields(diff.Hunk{}, "Hash"),
				cmpopts.IgnoreFields(diff.Delta{}, "OldMode", "NewMode", "OldBlob", "NewBlob"),
				cmpopts.EquateEmpty(),
			}
			if diff := cmp.Diff(tt.want, got, ignore...); diff != "" {
				t.Errorf("deltas (-want +got):\n%s", diff)
			}
		})
	}
}

// checkBlobs compares ids with those git gives.
func (r *testRepo) checkBlobs(base string, deltas []diff.Delta) {
	r.t.Helper()
	for _, d := range deltas {
		old := d.Path
		if d.OldPath != "" {
			old = d.OldPath
		}
		if d.OldBlob != "" {
			if want := r.git("rev-parse", base+":"+old); d.OldBlob != want {
				r.t.Errorf("%q: base blob %s, want %s", d.Path, d.OldBlob, want)
			}
		}
		info, err := os.Lstat(filepath.Join(r.root, d.Path))
		if err == nil && info.Mode().IsRegular() {
			if want := r.git("hash-object", "--", d.Path); d.NewBlob != want {
				r.t.Errorf("%q: new blob %q, want %s", d.Path, d.NewBlob, want)
			}
		} else if err != nil && d.NewBlob != "" {
			r.t.Errorf("%q is gone and has blob %s", d.Path, d.NewBlob)
		}
	}
}

func TestSubmoduleIsOneThing(t *testing.T) {
	lib := newRepo(t)
	lib.write("f", "1\n")
	first := lib.commit("one")
	r := newRepo(t)
	r.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", lib.root, "lib")
	base := r.commit("base")
	r.write("lib/f", "2\n")
	got, err := WorkingTree(t.Context(), r.root, base, []string{"lib", "lib/f"})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range got {
		if d.Status != diff.Unchanged {
			t.Errorf("dirty files of a submodule are not ours: %+v", d)
		}
	}
	sub := &testRepo{t, filepath.Join(r.root, "lib")}
	sub.git("config", "user.email", "dev@example.com")
	sub.git("config", "user.name", "Dev")
	second := sub.commit("two")
	got, err = WorkingTree(t.Context(), r.root, base, []string{"lib"})
	if err != nil {
		t.Fatal(err)
	}
	want := []diff.Delta{{
		Path:    "lib",
		Status:  diff.Modified,
		OldMode: diff.ModeSubmodule,
		NewMode: diff.ModeSubmodule,
		OldBlob: first,
		NewBlob: second,
		Hunks:   []diff.Hunk{hunk(1, 1, 1, 1)},
	}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(diff.Hunk{}, "Hash")); diff != "" {
		t.Errorf("deltas (-want +got):\n%s", diff)
	}
}

func TestWorkingTreeWritesNothing(t *testing.T) {
	r := newRepo(t)
	r.write("a.txt", lines(10))
	base := r.commit("base")
	r.remove("a.txt")
	r.write("b.txt", lines(10))
	before := r.git("status", "--porcelain")
	index, err := os.ReadFile(filepath.Join(r.root, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WorkingTree(t.Context(), r.root, base, nil); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(r.root, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if string(index) != string(after) {
		t.Error("the index was written")
	}
	if now := r.git("status", "--porcelain"); now != before {
		t.Errorf("status was %q, is %q", before, now)
	}
}

func TestBase(t *testing.T) {
	r := newRepo(t)
	empty, err := Base(t.Context(), r.root, "")
	if err != nil {
		t.Fatal(err)
	}
	if empty != "4b825dc642cb6eb9a060e54bf8d69288fbee4904" {
		t.Errorf("without a commit the base is %s, want the empty tree", empty)
	}
	r.write("new", "1\n")
	if got, err := WorkingTree(t.Context(), r.root, empty, []string{"new"}); err != nil || len(got) != 1 || got[0].Status != diff.Added {
		t.Errorf("in an empty repository: %+v, %v", got, err)
	}
	fork := r.commit("one")
	r.git("checkout", "-q", "-b", "work")
	r.commit("two")
	head := r.git("rev-parse", "HEAD")
	for _, tt := range []struct{ name, branch, want string }{
		{"the merge base with main", "", fork},
		{"the merge base with the named branch", "main", fork},
		{"HEAD when the default branch is not here", "trunk", head},
	} {
		if got, err := Base(t.Context(), r.root, tt.branch); err != nil || got != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}

func TestAnEndedContextIsTheError(t *testing.T) {
	r := newRepo(t)
	r.write("a", "1\n")
	base := r.commit("base")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := WorkingTree(ctx, r.root, base, []string{"a"}); err == nil || ctx.Err() == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("error %v, want that of the context", err)
	}
}

// hunk is one whose lines do not matter.
func hunk(oldStart, oldCount, newStart, newCount int) diff.Hunk {
	return diff.Hunk{OldStart: oldStart, OldCount: oldCount, NewStart: newStart, NewCount: newCount}
}

package rebase_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/rebase"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/gittest"
)

// start makes a clone on a branch, with main beside it.
func start(t *testing.T, files map[string]string) (*gitrepo.Repo, string) {
	t.Helper()
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	commit(t, dir, "start", files)
	gittest.Run(t, dir, "checkout", "-q", "-b", "work")
	repo, err := gitrepo.FindGit(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo, dir
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if text == "" {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		gittest.Write(t, dir, name, text)
	}
}

func commit(t *testing.T, dir, subject string, files map[string]string) {
	t.Helper()
	put(t, dir, files)
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", subject)
}

// land commits on main, and comes back to work.
func land(t *testing.T, dir, subject string, files map[string]string) string {
	t.Helper()
	gittest.Run(t, dir, "checkout", "-q", "main")
	commit(t, dir, subject, files)
	tip := strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD"))
	gittest.Run(t, dir, "checkout", "-q", "work")
	return tip
}

func TestWhatBecomesOfTheWork(t *testing.T) {
	long := gittest.Numbered(40, nil)
	edit := func(at int, text string) string { return gittest.Numbered(40, map[int]string{at: text}) }
	added := "func sum(a, b int) int {\n\tif a == 0 {\n\t\treturn b\n\t}\n\treturn a + b\n}\n"
	for _, tc := range []struct {
		name         string
		landed, work map[string]string
		text         string
	}{
		{"nothing of one's own", map[string]string{"a.txt": edit(3, "x\n")}, nil, ""},
		{"clean", map[string]string{"a.txt": edit(3, "x\n")}, map[string]string{"a.txt": edit(30, "y\n")}, "your work still applies"},
		{"four lines", map[string]string{"a.txt": edit(11, "x\n")},
			map[string]string{"a.txt": gittest.Numbered(40, map[int]string{2: "new\nline 2\n", 10: "a\n", 11: "b\n", 12: "c\n", 13: "d\n"})},
			"git cannot merge your work with it at a.txt lines 11-14. Rebase"},
		{"one line, and a file that is gone", map[string]string{"a.txt": edit(5, "x\n"), "b.txt": ""},
			map[string]string{"a.txt": edit(5, "y\n"), "b.txt": edit(7, "z\n")}, "at a.txt line 5, b.txt. Rebase"},
		{"a line that is there twice", map[string]string{"a.txt": edit(30, "x\n")},
			map[string]string{"a.txt": gittest.Numbered(40, map[int]string{5: "twice\n", 30: "twice\n"})}, "at a.txt line 30. Rebase"},
		{"twice, and what landed brings more of it", map[string]string{"a.txt": gittest.Numbered(40, map[int]string{3: "new\nnew\n", 30: "x\n"})},
			map[string]string{"a.txt": gittest.Numbered(40, map[int]string{20: "", 25: "twice\n", 30: "twice\n"})}, "at a.txt line 29. Rebase"},
		{"a new file", map[string]string{"c.txt": "theirs\n"}, map[string]string{"c.txt": "mine\n"}, "at c.txt line 1. Rebase"},
		{"done already", map[string]string{"a.txt": edit(20, "line 20\n"+added)}, map[string]string{"a.txt": edit(20, "line 20\n"+added)},
			"4 of your 4 new lines in a.txt landed there already, with"},
		{"nearly done", map[string]string{"a.txt": edit(20, "line 20\n"+added+"one more\n")},
			map[string]string{"a.txt": edit(20, "line 20\n// sum adds.\n"+added)}, "4 of your 5 new lines in a.txt landed there already"},
		{"something else there", map[string]string{"a.txt": edit(20, "p\nq\nrrr\nsss\nttt\n")},
			map[string]string{"a.txt": edit(20, "line 20\n"+added)}, "at a.txt lines 20-26. Rebase before you go on there."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			repo, dir := start(t, map[string]string{"a.txt": long, "b.txt": long})
			tip := land(t, dir, "Land it", tc.landed)
			put(t, dir, tc.work)
			before := gittest.Run(t, dir, "status", "--porcelain", "-uall") + gittest.Run(t, dir, "count-objects", "-v")
			v, err := rebase.Of(t.Context(), repo, tip)
			if err != nil {
				t.Fatal(err)
			}
			text := peertext.Unmarked(v.Text("origin/main"))
			done := strings.Contains(tc.text, "already")
			if tc.text == "" && text != "" || !strings.Contains(text, tc.text) || done != strings.Contains(text, "already") {
				t.Errorf("%q, want %q", text, tc.text)
			}
			if done && !strings.Contains(text, "Land it") {
				t.Errorf("no evidence: %q", text)
			}
			if after := gittest.Run(t, dir, "status", "--porcelain", "-uall") + gittest.Run(t, dir, "count-objects", "-v"); after != before {
				t.Errorf("something was written:\n%s\n%s", before, after)
			}
			gittest.Run(t, dir, "add", "-A")
			gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "mine")
			gittest.Run(t, dir, "merge", "-q", "-s", "ours", "-m", "take it in", tip)
			if v, err := rebase.Of(t.Context(), repo, tip); err != nil || v.Text("main") != "" {
				t.Errorf("rebased: %+v, %v", v, err)
			}
		})
	}
}

// The verdict is git's: whatever both sides do, the files and the lines are those
// at which a real git merge stops in a real working tree.
func TestTheVerdictIsGits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	stopped := 0
	for n := range 25 {
		text := gittest.Numbered(12, nil)
		repo, dir := start(t, map[string]string{"a.txt": text, "b.txt": text, "c/d.txt": text})
		drawn := func(who string) map[string]string {
			out := map[string]string{}
			for _, name := range []string{"a.txt", "b.txt", "c/d.txt", "e.txt"} {
				switch r.IntN(7) {
				case 0, 1, 2:
					at := map[int]string{}
					for range 1 + r.IntN(3) {
						k := 1 + r.IntN(12)
						at[k] = []string{who + "\n", "same\n", "", fmt.Sprintf("line %d\n%s\n", k, who)}[r.IntN(4)]
					}
					out[name] = gittest.Numbered(12, at)
				case 3:
					if name != "e.txt" && r.IntN(3) == 0 {
						out[name] = ""
					}
				}
			}
			return out
		}
		tip := land(t, dir, "theirs", drawn("theirs"))
		put(t, dir, drawn("mine"))
		v, err := rebase.Of(t.Context(), repo, tip)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range v.Stops {
			got = append(got, s.Path)
		}
		slices.Sort(got)
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "mine")
		cmd := exec.Command("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "merge", "-q", tip)
		cmd.Dir = dir
		mergeErr := cmd.Run()
		want := strings.Fields(gittest.Run(t, dir, "diff", "--name-only", "--diff-filter=U"))
		slices.Sort(want)
		if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 || (mergeErr == nil) != (len(got) == 0) {
			t.Fatalf("draw %d: %v\n%s", n, mergeErr, d)
		}
		stopped += len(want)
		for _, s := range v.Stops {
			text, err := os.ReadFile(filepath.Join(dir, s.Path))
			if err != nil {
				continue // deleted
			}
			places := 0
			for _, c := range rebase.Conflicts(text) {
				if len(c[0]) > 0 {
					places++
				}
			}
			if places != len(s.Lines) {
				t.Errorf("draw %d: %s: %d places, git has %d:\n%s", n, s.Path, len(s.Lines), places, text)
			}
		}
	}
	if stopped < 10 {
		t.Errorf("git stopped at %d files only", stopped)
	}
}

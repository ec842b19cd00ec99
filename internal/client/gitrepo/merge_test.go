package gitrepo

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/gittest"
)

func TestMergePairsTellsWhatGitDoes(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	// A merge driver of the repository must not be started.
	gittest.Run(t, dir, "config", "merge.touch.driver", "touch "+filepath.Join(dir, "driver-ran"))
	side := func(branch, from string, files map[string]string) {
		gittest.Run(t, dir, "checkout", "-q", "-B", branch, from)
		for name, text := range files {
			if text == "" {
				gittest.Run(t, dir, "rm", "-q", name)
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "commit", "-q", "-m", branch)
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitattributes"), []byte("* merge=touch\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-q", "-m", "start")
	side("main", "main", map[string]string{"a": "1\n2\n3\n", "b": "b\n", "c d": "c\n"})
	side("one", "main", map[string]string{"a": "1\nx\n3\n", "b": ""})
	side("two", "main", map[string]string{"a": "1\ny\n3\n", "b": "B\n"})
	side("three", "main", map[string]string{"c d": "C\n"})
	repo, err := FindGit(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	before := gittest.Run(t, dir, "count-objects", "-v")
	one, two, three := repo.Ref("refs/heads/one"), repo.Ref("refs/heads/two"), repo.Ref("refs/heads/three")
	got, err := repo.MergePairs(t.Context(), t.TempDir(), [][2]string{{one, three}, {one, two}, {two, three}})
	if err != nil {
		t.Fatal(err)
	}
	base := func(name string) string { return strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "main:"+name)) }
	want := []Merge{
		{Clean: true},
		{Conflicts: []MergeConflict{{"a", base("a"), []string{"contents"}}, {"b", base("b"), []string{"modify/delete"}}}},
		{Clean: true},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if after := gittest.Run(t, dir, "count-objects", "-v"); after != before {
		t.Errorf("git wrote to the repository:\n%s\n%s", before, after)
	}
	if _, err := os.Stat(filepath.Join(dir, "driver-ran")); err == nil {
		t.Error("a merge driver was started")
	}
	some, err := repo.MergePairs(t.Context(), t.TempDir(), [][2]string{{one, three}, {one, "nobody"}, {two, three}})
	if err == nil || !strings.Contains(err.Error(), "nobody") || len(some) > 1 {
		t.Errorf("%+v, %v", some, err)
	}
}

func TestLogRefsAndSubjects(t *testing.T) {
	dir := t.TempDir()
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "first\n\nbody")
	gittest.Run(t, dir, "commit", "-q", "--allow-empty", "-m", "second")
	gittest.Run(t, dir, "tag", "-a", "-m", "a tag", "v1")
	repo, err := FindGit(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var log []Commit
	if err := repo.Log(t.Context(), []string{"HEAD"}, func(c Commit) { log = append(log, c) }); err != nil {
		t.Fatal(err)
	}
	if len(log) != 2 || len(log[1].Parents) != 0 || len(log[0].Parents) != 1 || log[0].Parents[0] != log[1].ID || log[0].Committed == 0 ||
		log[0].Email == "" {
		t.Errorf("log = %+v", log)
	}
	subjects, err := repo.Subjects(t.Context(), []string{log[0].ID, log[1].ID})
	if d := cmp.Diff(map[string]string{log[0].ID: "second", log[1].ID: "first"}, subjects); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	refs, err := repo.Refs(t.Context(), []string{"refs/tags/*", "refs/heads/*"})
	if d := cmp.Diff([]NamedRef{{"refs/heads/main", log[0].ID}, {"refs/tags/v1", log[0].ID}}, refs); d != "" || err != nil {
		t.Errorf("%v\n%s", err, d)
	}
	if err := repo.Log(t.Context(), []string{"nowhere"}, func(Commit) {}); err == nil {
		t.Error("a revision that does not exist has a log")
	}
	if id, err := repo.Commit(t.Context(), "v1"); id != log[0].ID || err != nil {
		t.Errorf("%s, %v", id, err)
	}
}

// What git prints is foreign: whatever it is, reading it ends, and what was cut
// off is not taken for whole.
func FuzzReadMerges(f *testing.F) {
	f.Add("1\x00abc\x00\x00")
	f.Add("0\x00abc\x00100644 12ab 1\ta\x00100644 12ab 2\tb\x00\x001\x00a\x00CONFLICT (contents)\x00text\n\x00\x001\x00abc\x00\x00")
	f.Add("0\x00abc\x00100644 12ab 1\ta\x00\x0099999999999\x00")
	f.Add("0\x00abc\x00100644 12ab 1\ta\x00\x00-1\x00a\x00\x00")
	f.Add("0\x00abc\x00a\x00\x00")
	f.Fuzz(func(t *testing.T, out string) {
		merges, _ := readMerges(out)
		for cut := range min(len(out), 40) {
			if some, _ := readMerges(out[:cut]); len(some) > len(merges) {
				t.Errorf("%d merges in a part of %d", len(some), len(merges))
			}
		}
	})
}

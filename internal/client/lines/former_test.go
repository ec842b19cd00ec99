package lines_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
)

// A file's former names are told, through several moves. One that another file
// has since is not among them, and what git said once is not asked for again.
func TestFormer(t *testing.T) {
	t.Setenv(patience.Variable, "100")
	dir := gittest.Init(t)
	text := "a\nb\nc\nd\ne\nf\ng\nh\n"
	commit := func() string {
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "commit", "-qm", "x")
		return gittest.Run(t, dir, "rev-parse", "HEAD")
	}
	gittest.Write(t, dir, "one/f.txt", text)
	gittest.Write(t, dir, "stays.txt", "other\n")
	commit()
	gittest.Run(t, dir, "mv", "one", "two")
	commit()
	gittest.Run(t, dir, "mv", "two", "three")
	base := commit()
	repo, ok := gitrepo.At(dir)
	if !ok {
		t.Fatal("no repository")
	}
	folder := filepath.Join(t.TempDir(), "moved")
	told := func(base string) map[string][]string {
		a := &coord.Analysis{Files: []coord.FileFacts{
			{Path: "three/f.txt", Status: coord.FileModified}, {Path: "stays.txt", Status: coord.FileModified},
			{Path: "fresh.txt", Status: coord.FileAdded}}}
		lines.Former(t.Context(), repo, base, folder, a)
		out := map[string][]string{}
		for _, f := range a.Files {
			if f.Former != nil {
				out[f.Path] = f.Former
			}
		}
		return out
	}
	both := map[string][]string{"three/f.txt": {"two/f.txt", "one/f.txt"}}
	if diff := cmp.Diff(both, told(base)); diff != "" {
		t.Error(diff)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", "") // no git
	if diff := cmp.Diff(both, told(base)); diff != "" {
		t.Error("asked again:", diff)
	}
	// What git does not tell in time is asked for later, once.
	folder = filepath.Join(t.TempDir(), "moved")
	late := func() []string {
		return lines.Former(t.Context(), repo, base, folder, &coord.Analysis{Files: []coord.FileFacts{
			{Path: "three/f.txt", Status: coord.FileModified}}})
	}
	if got := late(); !slices.Equal(got, []string{"three/f.txt"}) {
		t.Errorf("left to be asked for: %q", got)
	}
	if got := late(); got != nil {
		t.Errorf("to be asked for again: %q", got)
	}
	t.Setenv("PATH", path)
	lines.LookBack(t.Context(), repo, base, folder, []string{"three/f.txt"})
	if diff := cmp.Diff(both, told(base)); diff != "" {
		t.Error("looked back in vain:", diff)
	}
}

// What stands at a former name today is another file.
func TestFormerNamesThatCameBack(t *testing.T) {
	dir := gittest.Init(t)
	gittest.Write(t, dir, "old/f.txt", "a\nb\nc\nd\ne\nf\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "x")
	gittest.Run(t, dir, "mv", "old", "new")
	gittest.Run(t, dir, "commit", "-qm", "x")
	gittest.Write(t, dir, "old/f.txt", "what stands here now\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "commit", "-qm", "x")
	repo, ok := gitrepo.At(dir)
	if !ok {
		t.Fatal("no repository")
	}
	a := &coord.Analysis{Files: []coord.FileFacts{{Path: "new/f.txt", Status: coord.FileModified}}}
	lines.FormerNow(t.Context(), repo, repo.Head().SHA, a)
	if a.Files[0].Former != nil {
		t.Error(a.Files[0].Former)
	}
}

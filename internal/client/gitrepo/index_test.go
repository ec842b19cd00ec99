package gitrepo

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/gittest"
)

// The index lists what git says that it lists, in every version of it.
func TestTheIndexIsReadAsGitReadsIt(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run(version, func(t *testing.T) {
			dir := gittest.Init(t)
			for i := range 200 {
				gittest.Write(t, dir, fmt.Sprintf("a%d/%s/é %d.txt", i%7, strings.Repeat("x", i), i), "x\n")
			}
			gittest.Run(t, dir, "add", "-A")
			gittest.Write(t, dir, "later.txt", "x\n")
			gittest.Run(t, dir, "add", "-N", "later.txt") // which needs version 3
			gittest.Run(t, dir, "update-index", "--index-version", version)
			listsAsGit(t, dir)
			if repo, _ := At(dir); repo != nil {
				if _, err := repo.indexed(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	t.Run("split", func(t *testing.T) {
		dir := gittest.Init(t)
		gittest.Write(t, dir, "a.txt", "x\n")
		gittest.Run(t, dir, "add", "-A")
		gittest.Run(t, dir, "update-index", "--split-index")
		gittest.Write(t, dir, "b.txt", "x\n")
		gittest.Run(t, dir, "add", "-A")
		listsAsGit(t, dir)
	})
}

func listsAsGit(t *testing.T, dir string) {
	t.Helper()
	got, err := Files(t.Context(), dir)
	if want := nulTexts([]byte(gittest.Run(t, dir, "ls-files", "-z"))); err != nil || len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("%d files, want %d, %v", len(got), len(want), err)
	}
}

// A damaged index is an error, and nothing worse.
func TestADamagedIndex(t *testing.T) {
	dir := gittest.Init(t)
	for i := range 20 {
		gittest.Write(t, dir, fmt.Sprintf("d/f%d.txt", i), "x\n")
	}
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "update-index", "--index-version", "4")
	repo, _ := At(dir)
	file := filepath.Join(repo.GitDir, "index")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		data := slices.Clone(whole)
		for range rapid.IntRange(1, 8).Draw(t, "bytes") {
			data[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		if err := os.WriteFile(file, data[:rapid.IntRange(0, len(data)).Draw(t, "length")], 0o644); err != nil {
			t.Fatal(err)
		}
		_, _ = repo.indexed()
	})
}

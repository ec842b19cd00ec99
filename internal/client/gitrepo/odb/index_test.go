package odb

import (
	"errors"
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
			want := strings.FieldsFunc(gittest.Run(t, dir, "ls-files", "-z"), func(c rune) bool { return c == 0 })
			got, err := Index(filepath.Join(dir, ".git", "index"), 20)
			if err != nil || len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("%d files, want %d, %v", len(got), len(want), err)
			}
		})
	}
	t.Run("split", func(t *testing.T) {
		if _, err := Index(filepath.Join(splitIndex(t), ".git", "index"), 20); !errors.Is(err, errIndex) {
			t.Errorf("an index that has entries elsewhere: %v", err)
		}
	})
}

// splitIndex makes a repository whose index has its entries in a second file.
func splitIndex(t *testing.T) string {
	t.Helper()
	dir := gittest.Init(t)
	gittest.Write(t, dir, "a.txt", "x\n")
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "update-index", "--split-index")
	gittest.Write(t, dir, "b.txt", "x\n")
	gittest.Run(t, dir, "add", "-A")
	return dir
}

// A damaged index is an error, and nothing worse.
func TestADamagedIndex(t *testing.T) {
	dir := gittest.Init(t)
	for i := range 20 {
		gittest.Write(t, dir, fmt.Sprintf("d/f%d.txt", i), "x\n")
	}
	gittest.Run(t, dir, "add", "-A")
	gittest.Run(t, dir, "update-index", "--index-version", "4")
	file := filepath.Join(dir, ".git", "index")
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
		_, _ = Index(file, 20)
	})
}

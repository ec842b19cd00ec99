package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// Git decides what merges. Random pairs of edits of one file are merged by git
// itself and judged by the engine from their line ranges alone; the two must
// agree. Git runs only here.
func TestEditOverlapAgreesWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed to know what git does:", err)
	}
	const perBatch = 300
	batches := rounds(5)
	for _, tt := range []struct {
		name     string
		distinct bool // every line of the base is different
	}{
		{"distinct lines", true},
		{"repeated lines", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(7, 11))
			conflicts := 0
			for range batches {
				cases := make([]mergeCase, perBatch)
				for i := range cases {
					cases[i] = randomCase(r, tt.distinct)
				}
				mergeWithGit(t, git, cases)
				for _, c := range cases {
					got := judged(c)
					if c.conflict {
						conflicts++
					}
					if got != c.conflict {
						t.Fatalf("engine says conflict %v, git says %v\nbase   %q\nours   %q\ntheirs %q\nhunks  %v\nand    %v", got, c.conflict, c.base,
							c.ours, c.theirs, c.hunks[0], c.hunks[1])
					}
				}
			}
			all := batches * perBatch
			t.Logf("%d pairs, %d conflicts", all, conflicts)
			if conflicts < all/10 || conflicts > all*9/10 {
				t.Errorf("%d conflicts of %d: the cases tell little", conflicts, all)
			}
		})
	}
}

type mergeCase struct {
	base, ours, theirs []string
	hunks              [2][]coord.Hunk
	conflict           bool
}

func randomCase(r *rand.Rand, distinct bool) mergeCase {
	var c mergeCase
	for i := range 4 + r.IntN(20) {
		line := fmt.Sprintf("line %d", i)
		if !distinct {
			line = fmt.Sprintf("line %d", r.IntN(6))
		}
		c.base = append(c.base, line)
	}
	c.ours, c.theirs = edited(r, c.base), edited(r, c.base)
	if r.IntN(4) == 0 {
		// Both made one edit alike, and perhaps others.
		c.ours = edited(r, c.base)
		c.theirs = c.ours
		if r.IntN(2) == 0 {
			c.theirs = edited(r, c.ours)
		}
	}
	return c
}

// edited replaces, inserts or deletes one to three small ranges.
func edited(r *rand.Rand, base []string) []string {
	out := append([]string(nil), base...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(out) + 1)
		n := min(r.IntN(3), len(out)-at)
		var fresh []string
		for range r.IntN(3) {
			fresh = append(fresh, fmt.Sprintf("new %d", r.IntN(3)))
		}
		out = append(out[:at:at], append(fresh, out[at+n:]...)...)
	}
	return out
}

// mergeWithGit writes all cases out, takes the hunks from one diff process a
// side and asks git for each merge.
func mergeWithGit(t *testing.T, git string, cases []mergeCase) {
	t.Helper()
	dir := t.TempDir()
	sides := []string{"base", "ours", "theirs"}
	for _, s := range sides {
		if err := os.Mkdir(filepath.Join(dir, s), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range cases {
		for j, text := range [][]string{c.base, c.ours, c.theirs} {
			content := strings.Join(text, "\n") + "\n"
			if len(text) == 0 {
				content = ""
			}
			if err := os.WriteFile(filepath.Join(dir, sides[j], fmt.Sprint(i)), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for side, name := range sides[1:] {
		for i, hunks := range diffFolders(t, git, dir, "base", name) {
			cases[i].hunks[side] = hunks
		}
	}
	for i := range cases {
		cmd := exec.Command(git, "merge-file", "-p", "-q", "ours/"+fmt.Sprint(i), "base/"+fmt.Sprint(i), "theirs/"+fmt.Sprint(i))
		cmd.Dir = dir
		err := cmd.Run()
		exit, failed := err.(*exec.ExitError)
		if err != nil && !failed || failed && exit.ExitCode() > 127 {
			t.Fatal(err)
		}
		cases[i].conflict = failed
	}
}

var (
	fileLine = regexp.MustCompile(`^diff --git a/\S+/(\d+) b/`)
	hunkLine = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+`)
)

func diffFolders(t *testing.T, git, dir, a, b string) map[int][]coord.Hunk {
	t.Helper()
	cmd := exec.Command(git, "-c", "core.quotepath=off", "diff", "--no-index", "-U0", "--no-indent-heuristic", "--diff-algorithm=myers",
		"--no-color", "--no-ext-diff", a, b)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	found := map[int][]coord.Hunk{}
	file := -1
	var text bytes.Buffer
	seal := func() {
		if hs := found[file]; len(hs) > 0 && hs[len(hs)-1].LinesHash == "" {
			sum := sha256.Sum256(text.Bytes())
			hs[len(hs)-1].LinesHash = hex.EncodeToString(sum[:8])
		}
		text.Reset()
	}
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, "diff --git"):
			seal()
			file, _ = strconv.Atoi(fileLine.FindStringSubmatch(line)[1])
		case strings.HasPrefix(line, "@@"):
			seal()
			m := hunkLine.FindStringSubmatch(line)
			start, _ := strconv.Atoi(m[1])
			count := 1
			if m[2] != "" {
				count, _ = strconv.Atoi(m[2])
			}
			if count == 0 {
				start++ // git names the line before an insertion
			}
			found[file] = append(found[file], coord.Hunk{Start: start, Count: count})
		case strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++"):
			text.WriteString(line)
		}
	}
	seal()
	return found
}

// judged asks the engine what it makes of a pair of edits.
func judged(c mergeCase) bool {
	ix := engine.New()
	blob := "base"
	for i, id := range []string{"a", "b"} {
		ix.PutWorker(&engine.Worker{ID: id, Repo: repoName("shop"), Since: coord.Time(i)})
		if len(c.hunks[i]) > 0 {
			content := strings.Join([][]string{c.ours, c.theirs}[i], "\n")
			ix.PutChange(&engine.Change{RepoID: "shop", Copy: id, By: []engine.Touch{{Worker: id, At: 1}},
				Facts: coord.FileFacts{Path: "f", Status: coord.FileModified, BaseBlob: &blob, NewBlob: &content, Hunks: c.hunks[i]}})
		}
	}
	for _, f := range engine.Detect(ix, "a") {
		if f.Kind == coord.EditOverlap {
			return true
		}
	}
	return false
}

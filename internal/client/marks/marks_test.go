package marks_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/marks"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/gittest"
)

// Both sides edit at random: the marks of the one in the buffer of the other are
// where git says that the lines are.
func TestMarksAreWhereGitSays(t *testing.T) {
	dir := gittest.Init(t)
	repo := marks.Repo{Root: dir}
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		base := lines(rng, 5+rng.IntN(60))
		theirs, buffer := edited(rng, base), edited(rng, base)
		id := strings.TrimSpace(stored(t, dir, join(base)))
		hunks, err := gitrepo.Compare(t.Context(), join(base), join(theirs))
		if err != nil {
			rt.Fatal(err)
		}
		w := wire.LiveWork{Base: &id, Status: coord.FileModified}
		for _, h := range hunks {
			w.Lines = append(w.Lines, coord.LineCount{Start: h.OldStart, Count: h.OldCount})
		}
		got, err := repo.In(join(buffer)).Place(t.Context(), wire.LiveFile{Work: []wire.LiveWork{w}})
		if err != nil || !got[0].Placed || len(got[0].At) != len(w.Lines) {
			rt.Fatalf("%+v, %v", got, err)
		}
		image := gitMap(t, join(base), join(buffer))
		for i, l := range w.Lines {
			check(rt, l, got[0].At[i], image, len(buffer))
		}
		repo.Keep()
	})
}

// Lines come and go above, below and within a mark: it stays with its lines.
func TestMarksFollowWhatIsTyped(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lines := 1 + rapid.IntRange(5, 60).Draw(rt, "lines")
		l := coord.LineCount{Start: rapid.IntRange(1, lines).Draw(rt, "start")}
		l.Count = rapid.IntRange(1, lines+1-l.Start).Draw(rt, "count")
		m := marks.Mark{At: []coord.LineCount{l}}
		now := make([]int, lines) // which of the lines stands where; 0 is a new one
		for i := range now {
			now[i] = i + 1
		}
		for range rapid.IntRange(1, 5).Draw(rt, "edits") {
			at := rapid.IntRange(0, len(now)).Draw(rt, "at")
			gone := rapid.IntRange(0, min(3, len(now)-at)).Draw(rt, "gone")
			came := rapid.IntRange(0, 3).Draw(rt, "came")
			now = slices.Replace(now, at, at+gone, make([]int, came)...)
			before := m.At[0]
			if moved := m.Shift(coord.LineShift{FromStart: at + 1, FromCount: gone, ToStart: at + 1, ToCount: came}); moved != (before != m.At[0]) {
				rt.Errorf("moved from %+v to %+v: %v", before, m.At[0], moved)
			}
		}
		image := make([]int, lines)
		for i, line := range now {
			if line > 0 {
				image[line-1] = i + 1
			}
		}
		check(rt, l, m.At[0], image, len(now))
	})
}

// check holds a moved range to what became of each line: those in it are in it
// still, and no other that stayed is.
func check(t *rapid.T, l, at coord.LineCount, image []int, most int) {
	t.Helper()
	if at.Start < 1 || at.Count < 0 || at.Start+at.Count > most+1 {
		t.Errorf("%+v is moved to %+v of %d lines", l, at, most)
	}
	whole := true
	for i, now := range image {
		line := i + 1
		in := l.Start <= line && line < l.Start+l.Count
		whole = whole && (!in || now > 0)
		if marked := at.Start <= now && now < at.Start+at.Count; now > 0 && marked != in {
			t.Errorf("line %d is in %+v: %v; line %d, where it stands now, in %+v: %v", line, l, in, now, at, marked)
		}
	}
	if whole && l.Count == 1 && at.Count != 1 {
		t.Errorf("line %d, which is as it was, is moved to %+v", l.Start, at)
	}
}

// gitMap returns where each line stands in the other text, 0 if it is gone.
func gitMap(t *testing.T, before, after []byte) (image []int) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string][]byte{"a": before, "b": after} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("git", "diff", "--no-index", "--unified=100000", "--diff-algorithm=histogram", "--no-indent-heuristic", "--no-color",
		"a", "b")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err == nil { // they do not differ
		for i := range bytes.Count(before, []byte{'\n'}) {
			image = append(image, i+1)
		}
		return image
	}
	_, patch, _ := strings.Cut(string(out), "\n@@")
	now := 1
	for line := range strings.Lines(patch[strings.IndexByte(patch, '\n')+1:]) {
		switch line[0] {
		case ' ':
			image = append(image, now)
			now++
		case '-':
			image = append(image, 0)
		case '+':
			now++
		}
	}
	return image
}

func lines(rng *rand.Rand, n int) (out []string) {
	for range n {
		out = append(out, fmt.Sprintf("word %d\n", rng.IntN(2*n))) // some of them twice
	}
	return out
}

func edited(rng *rand.Rand, base []string) []string {
	out := slices.Clone(base)
	for range 1 + rng.IntN(4) {
		at := rng.IntN(len(out))
		end := min(len(out), at+rng.IntN(4))
		if len(out)-(end-at) < 2 {
			continue
		}
		out = slices.Replace(out, at, end, lines(rng, rng.IntN(4))...)
	}
	return out
}

func join(lines []string) []byte { return []byte(strings.Join(lines, "")) }

func stored(t *testing.T, dir string, text []byte) string {
	t.Helper()
	cmd := exec.Command("git", "hash-object", "-w", "--stdin")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

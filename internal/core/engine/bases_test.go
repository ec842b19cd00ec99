package engine_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// Git decides what merges, whatever each side branched from. A history of a
// default branch is drawn, with many files; two heads leave it at commits of
// their own, and git merge-tree merges them. What already conflicts between a
// head and the commit that the other left from is drift, not the other worker:
// there nothing is asked of the engine, for every other file the two must agree.
func TestDifferentBasesAgreeWithGit(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal("git is needed to know what git does:", err)
	}
	for _, tt := range []struct {
		name     string
		distinct bool
		moves    bool // the default branch moves every second file to another folder with each version
		off      int  // of 1,000 files may be told otherwise: alignments of repeated lines are not unique
	}{
		{"distinct lines", true, false, 0},
		{"distinct lines, files move", true, true, 0},
		{"repeated lines", false, false, 15},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 5))
			files, conflicts, drift, wrong := 0, 0, 0, 0
			for range rounds(10) {
				h := newHistory(t, git, r, 60, tt.distinct, tt.moves)
				stopped, drifted := h.conflicts("a", "b"), h.conflicts("a", h.bases[1])
				for path := range h.conflicts("b", h.bases[0]) {
					drifted[path] = true
				}
				ours, theirs, between := h.diff(h.bases[0], "a"), h.diff(h.bases[1], "b"), h.diff(h.bases[0], h.bases[1])
				for path := range h.files {
					files++
					if drifted[path] {
						drift++
						continue
					}
					if stopped[path] {
						conflicts++
					}
					if got := h.judged(path, ours[path], theirs[path], between[path]); got != stopped[path] {
						wrong++
						if tt.off == 0 {
							t.Errorf("%s: engine says conflict %v, git says %v\nours %+v\ntheirs %+v\nbetween %+v", path, got, stopped[path],
								ours[path], theirs[path], between[path])
						}
					}
				}
			}
			t.Logf("%d files, %d conflicts, %d drifted, %d told otherwise than git", files, conflicts, drift, wrong)
			if wrong*1000 > tt.off*files {
				t.Errorf("%d of %d told otherwise than git", wrong, files)
			}
			if conflicts < files/20 || drift > files/2 {
				t.Errorf("%d conflicts and %d drifted of %d: the cases tell little", conflicts, drift, files)
			}
		})
	}
}

// A history is a repository in a folder, with two heads a and b.
type history struct {
	t        *testing.T
	git, dir string
	bases    [2]string // the commits that the heads left from
	files    map[string]bool
	moves    bool
}

// name is what the default branch calls a file in a version of it.
func (h *history) name(file string, version string) string {
	if h.moves && strings.TrimLeft(file, "f")[0]%2 == 0 {
		return "in-" + version + "/" + file
	}
	return file
}

// former are the names that a file had in earlier versions, the latest first.
func (h *history) former(file, version string) (out []string) {
	for v := int(version[1]-'0') - 1; v >= 0; v-- {
		if name := h.name(file, fmt.Sprint("v", v)); name != h.name(file, version) {
			out = append(out, name)
		}
	}
	return out
}

func newHistory(t *testing.T, git string, r *rand.Rand, n int, distinct, moves bool) *history {
	h := &history{t: t, git: git, dir: t.TempDir(), files: map[string]bool{}, moves: moves}
	h.run("", "init", "-q", "--bare", ".")
	var in bytes.Buffer
	commit := func(ref, from, version string, texts map[string][]string) {
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter x <x@x> 0 +0000\ndata 1\nx\n", ref)
		if from != "" {
			fmt.Fprintf(&in, "from refs/heads/%s\n", from)
		}
		fmt.Fprintln(&in, "deleteall")
		for file, lines := range texts {
			content := strings.Join(lines, "\n") + "\n"
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", h.name(file, version), len(content), content)
		}
	}
	const versions = 4
	main := make([]map[string][]string, versions)
	for v := range main {
		main[v] = map[string][]string{}
		for i := range n {
			path := fmt.Sprint("f", i)
			h.files[path] = true
			switch {
			case v == 0:
				for k := range 25 + r.IntN(20) {
					line := fmt.Sprint("line ", k, " of ", path) // files that are alike are taken for one another when they move
					if !distinct {
						line = fmt.Sprint("line ", r.IntN(12))
					}
					main[0][path] = append(main[0][path], line)
				}
			case r.IntN(2) == 0:
				main[v][path] = main[v-1][path]
			default:
				main[v][path] = changedOnce(r, main[v-1][path], fmt.Sprint("main", v))
			}
		}
		from := ""
		if v > 0 {
			from = fmt.Sprint("v", v-1)
		}
		commit(fmt.Sprint("v", v), from, fmt.Sprint("v", v), main[v])
	}
	x := r.IntN(versions - 1)
	at := [2]int{x, x + 1 + r.IntN(versions-1-x)}
	if r.IntN(2) == 0 {
		at[0], at[1] = at[1], at[0]
	}
	for i, name := range []string{"a", "b"} {
		texts := map[string][]string{}
		for f := range n { // in order: what is drawn must not depend on a map's
			path := fmt.Sprint("f", f)
			lines := main[at[i]][path]
			// Now and then somebody makes what the default branch made too, or undoes it.
			if r.IntN(4) == 0 {
				lines = main[at[1-i]][path]
			}
			if r.IntN(6) > 0 {
				lines = changedOnce(r, lines, name)
			}
			texts[path] = lines
		}
		h.bases[i] = fmt.Sprint("v", at[i])
		commit(name, h.bases[i], h.bases[i], texts)
	}
	h.run(in.String(), "fast-import", "--quiet")
	return h
}

// changedOnce replaces, inserts or deletes one or two small ranges. Its words
// are its own now and then only.
func changedOnce(r *rand.Rand, lines []string, who string) []string {
	out := append([]string(nil), lines...)
	for range 1 + r.IntN(2) {
		at := r.IntN(len(out))
		n := min(r.IntN(3), len(out)-at)
		var fresh []string
		for range r.IntN(3) {
			fresh = append(fresh, fmt.Sprint(who, " ", r.IntN(100)))
		}
		out = append(out[:at:at], append(fresh, out[at+n:]...)...)
	}
	return out
}

func (h *history) run(in string, args ...string) string {
	h.t.Helper()
	cmd := exec.Command(h.git, append([]string{"-c", "core.quotepath=off", "-c", "merge.conflictStyle=merge"}, args...)...)
	cmd.Dir = h.dir
	cmd.Stdin = strings.NewReader(in)
	out, err := cmd.Output()
	if exit, ok := err.(*exec.ExitError); err != nil && (!ok || exit.ExitCode() != 1) {
		h.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// conflicts returns the files at which a merge of two commits stops.
func (h *history) conflicts(a, b string) map[string]bool {
	out := map[string]bool{}
	for i, path := range strings.Split(h.run("", "merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", a, b), "\x00") {
		if i > 0 && path != "" {
			out[filepath.Base(path)] = true
		}
	}
	return out
}

type differs struct {
	base, now string
	hunks     []coord.Hunk
	shifts    []coord.LineShift
}

var (
	anyFile  = regexp.MustCompile(`^diff --git a/(\S+) b/`)
	anyIndex = regexp.MustCompile(`^index ([0-9a-f]+)\.\.([0-9a-f]+)`)
	anyHunk  = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
)

// diff returns what differs between two commits, by file.
func (h *history) diff(a, b string) map[string]*differs {
	out := map[string]*differs{}
	var d *differs
	var text, was strings.Builder
	seal := func() {
		if d != nil && len(d.hunks) > 0 {
			n := len(d.hunks) - 1
			d.hunks[n].LinesHash = fmt.Sprintf("%q", text.String())
			d.shifts[n].FromHash, d.shifts[n].ToHash = fmt.Sprintf("%q", was.String()), d.hunks[n].LinesHash
		}
		text.Reset()
		was.Reset()
	}
	args := []string{"diff", "-U0", "--full-index", "--find-renames", "--no-indent-heuristic", "--diff-algorithm=histogram", a, b}
	for line := range strings.Lines(h.run("", args...)) {
		switch {
		case strings.HasPrefix(line, "diff --git"):
			seal()
			d = &differs{}
			out[filepath.Base(anyFile.FindStringSubmatch(line)[1])] = d
		case strings.HasPrefix(line, "index "):
			m := anyIndex.FindStringSubmatch(line)
			d.base, d.now = m[1], m[2]
		case strings.HasPrefix(line, "@@"):
			if len(d.hunks) > 0 {
				seal()
			}
			m := anyHunk.FindStringSubmatch(line)
			from, n := gitRange(m[1], m[2])
			to, k := gitRange(m[3], m[4])
			d.hunks = append(d.hunks, coord.Hunk{Start: from, Count: n})
			d.shifts = append(d.shifts, coord.LineShift{FromStart: from, FromCount: n, ToStart: to, ToCount: k})
		case strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++"):
			text.WriteString(line[1:])
		case strings.HasPrefix(line, "-") && !strings.HasPrefix(line, "---"):
			was.WriteString(line[1:])
		}
	}
	seal()
	return out
}

func gitRange(start, count string) (int, int) {
	s, _ := strconv.Atoi(start)
	if count == "" {
		return s, 1
	}
	n, _ := strconv.Atoi(count)
	if n == 0 {
		s++ // git names the line before
	}
	return s, n
}

// judged asks the engine of two changes and what lies between their bases, both
// ways: the answers must be one.
func (h *history) judged(path string, ours, theirs, between *differs) bool {
	ix := engine.New()
	for i, d := range []*differs{ours, theirs} {
		id := []string{"a", "b"}[i]
		ix.PutWorker(&engine.Worker{ID: id, Repo: repoName("shop"), Since: coord.Time(i)})
		if d != nil {
			ix.PutChange(&engine.Change{RepoID: "shop", Copy: id, By: []engine.Touch{{Worker: id, At: 1}}, Facts: coord.FileFacts{
				Path: h.name(path, h.bases[i]), Former: h.former(path, h.bases[i]),
				Status: coord.FileModified, BaseBlob: &d.base, NewBlob: &d.now, Hunks: d.hunks}})
		}
	}
	if between != nil && between.base != "" {
		ix.PutLineMap("shop", coord.LineMap{From: between.base, To: between.now, Shifts: between.shifts})
	}
	if missing := engine.WantedMaps(ix, "a"); len(missing) > 0 {
		h.t.Fatalf("%s: still wanted: %v", path, missing)
	}
	var found [2]bool
	for i, id := range []string{"a", "b"} {
		for _, f := range engine.Detect(ix, id) {
			found[i] = found[i] || f.Kind == coord.EditOverlap
		}
	}
	if found[0] != found[1] {
		h.t.Fatalf("%s: one side is told, the other is not", path)
	}
	return found[0]
}

package engine_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
)

// Whole trees: sides that edit, delete, rename and add files, text and binary,
// are merged by git and judged by the engine from the facts alone.
func TestStructureAgreesWithGit(t *testing.T) {
	cases := rounds(400)
	r := rand.New(rand.NewPCG(17, 19))
	base := baseTree()
	var stream bytes.Buffer
	commit(&stream, "base", "", base.content())
	pairs := make([][2]side, cases)
	for i := range pairs {
		for j := range pairs[i] {
			pairs[i][j] = randomSide(r, base)
			commit(&stream, fmt.Sprintf("s%d-%d", i, j), "base", pairs[i][j].tree.content())
		}
	}
	dir := t.TempDir()
	run := func(in []byte, args ...string) (string, int) {
		cmd := exec.Command("git", append([]string{"-c", "merge.directoryRenames=false", "-c", "merge.renameLimit=100"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(in)
		out, err := cmd.CombinedOutput()
		exit, failed := err.(*exec.ExitError)
		if err != nil && (!failed || exit.ExitCode() > 1) {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		if failed {
			return string(out), exit.ExitCode()
		}
		return string(out), 0
	}
	run(nil, "init", "-q", "--bare", ".")
	run(stream.Bytes(), "fast-import", "--quiet")
	conflicts := 0
	for i, p := range pairs {
		out, code := run(nil, "merge-tree", "--write-tree", fmt.Sprintf("s%d-0", i), fmt.Sprintf("s%d-1", i))
		if code == 1 {
			conflicts++
		}
		if got := sidesClash(p); got != (code == 1) {
			t.Fatalf("engine says conflict %v, git says:\n%s\nours   %v\ntheirs %v", got, out, p[0].did, p[1].did)
		}
	}
	t.Logf("%d pairs, %d conflicts", cases, conflicts)
	if conflicts < cases/8 || conflicts > cases*7/8 {
		t.Errorf("%d conflicts of %d: the cases tell little", conflicts, cases)
	}
}

// A tree is files by path, each a list of lines; binary ones have one line
// with a zero byte.
type tree map[string][]string

func (tr tree) content() map[string]string {
	out := map[string]string{}
	for path, lines := range tr {
		out[path] = strings.Join(lines, "\n") + "\n"
	}
	return out
}

func baseTree() tree {
	tr := tree{}
	for i := range 5 {
		for line := range 30 {
			tr[fmt.Sprintf("d%d/f%d", i%2, i)] = append(tr[fmt.Sprintf("d%d/f%d", i%2, i)], fmt.Sprintf("file %d line %d of it", i, line))
		}
	}
	tr["logo"] = []string{"\x00binary"}
	return tr
}

type side struct {
	tree  tree
	facts []coord.FileFacts
	did   []string
}

// randomSide changes two or three files of the base and perhaps adds one.
func randomSide(r *rand.Rand, base tree) side {
	s := side{tree: maps.Clone(base)}
	paths := slices.Sorted(maps.Keys(base))
	r.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	fresh := []string{"n0", "n1", "n1/x", "d0/n2"}
	r.Shuffle(len(fresh), func(i, j int) { fresh[i], fresh[j] = fresh[j], fresh[i] })
	taken := func(p string) bool {
		for q := range s.tree {
			if q == p || strings.HasPrefix(q, p+"/") || strings.HasPrefix(p, q+"/") {
				return true
			}
		}
		return false
	}
	for _, path := range paths[:2+r.IntN(2)] {
		f := coord.FileFacts{Path: path, Status: coord.FileModified, BaseBlob: blob(base[path]), Binary: path == "logo"}
		lines := base[path]
		if r.IntN(3) > 0 || f.Binary {
			lines, f.Hunks = randomLines(r, lines, f.Binary)
		}
		switch op := r.IntN(5); {
		case op == 0:
			f.Status, f.Hunks = coord.FileDeleted, nil
			delete(s.tree, path)
		case op == 1 && !f.Binary && !taken(fresh[0]):
			f.Status, f.OldPath, f.Path, fresh = coord.FileRenamed, opt(path), fresh[0], fresh[1:]
			delete(s.tree, path)
			s.tree[f.Path], f.NewBlob = lines, blob(lines)
		default:
			if len(f.Hunks) == 0 && !f.Binary {
				continue
			}
			s.tree[path], f.NewBlob = lines, blob(lines)
		}
		s.facts = append(s.facts, f)
		s.did = append(s.did, fmt.Sprintf("%s %s from %s %v", f.Status, f.Path, path, f.Hunks))
	}
	if r.IntN(3) == 0 && !taken(fresh[0]) {
		lines := []string{fmt.Sprintf("a new file, number %d", r.IntN(2))}
		s.tree[fresh[0]] = lines
		s.facts = append(s.facts, coord.FileFacts{Path: fresh[0], Status: coord.FileAdded, NewBlob: blob(lines)})
		s.did = append(s.did, "added "+fresh[0]+" "+lines[0])
	}
	return s
}

// randomLines replaces one or two lines that do not touch each other.
func randomLines(r *rand.Rand, lines []string, binary bool) ([]string, []coord.Hunk) {
	if binary {
		return []string{fmt.Sprintf("\x00binary %d", r.IntN(2))}, nil
	}
	lines = slices.Clone(lines)
	var hunks []coord.Hunk
	for at := r.IntN(12); at < len(lines) && len(hunks) < 2; at += 2 + r.IntN(12) {
		text := fmt.Sprintf("changed %d at %d", r.IntN(2), at)
		lines[at] = text
		hunks = append(hunks, coord.Hunk{Start: at + 1, Count: 1, LinesHash: text})
	}
	return lines, hunks
}

func blob(lines []string) *string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return opt(hex.EncodeToString(sum[:8]))
}

// commit writes a commit for git fast-import.
func commit(w *bytes.Buffer, branch, from string, files map[string]string) {
	fmt.Fprintf(w, "commit refs/heads/%s\ncommitter T <t@example.com> 0 +0000\ndata 0\n", branch)
	if from != "" {
		fmt.Fprintf(w, "from refs/heads/%s\ndeleteall\n", from)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(w, "M 100644 inline %s\ndata %d\n%s\n", path, len(files[path]), files[path])
	}
}

func sidesClash(p [2]side) bool {
	ix := engine.New()
	for i, id := range []string{"a", "b"} {
		ix.PutWorker(&engine.Worker{ID: id, Repo: repoName("shop"), Since: coord.Time(i)})
		for _, f := range p[i].facts {
			ix.PutChange(&engine.Change{RepoID: "shop", Copy: id, By: []engine.Touch{{Worker: id, At: 1}}, Facts: f})
		}
	}
	return slices.ContainsFunc(engine.Detect(ix, "a"), func(f engine.Finding) bool { return f.Kind == coord.EditOverlap })
}

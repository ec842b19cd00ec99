package gitrepo

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// A Merge is what git makes of two commits, without a working tree.
type Merge struct {
	Clean     bool
	Conflicts []MergeConflict
}

// A MergeConflict is a file that git cannot merge, by the name git gives it.
type MergeConflict struct {
	Path  string
	Base  string   // object id of what both sides started from, by git's own renames; empty if there was none
	Kinds []string // such as "contents" or "modify/delete"
}

// mergeConfig fixes what a user's configuration could change about a merge.
var mergeConfig = []string{
	"-c", "merge.renames=true", "-c", "merge.directoryRenames=conflict", "-c", "merge.renormalize=false",
	"-c", "merge.conflictStyle=merge", "-c", "diff.algorithm=histogram", "-c", "diff.renameLimit=0", "-c", "merge.renameLimit=0",
}

// MergePairs merges pairs of commits through one process and returns what
// became of each, in order. What git writes goes to scratch, a folder of the
// caller's, never into the repository. The git folder is where git runs, so
// that no attributes of files apply, and a shelter is what it sees, so that no
// merge driver of the repository's is started. When git stops early, as at an object that is missing, the merges so far are returned with
// the error.
func (r *Repo) MergePairs(ctx context.Context, scratch string, pairs [][2]string) ([]Merge, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	for _, p := range pairs {
		fmt.Fprintf(&in, "%s %s\n", p[0], p[1])
	}
	args := append(append([]string{}, mergeConfig...), "merge-tree", "--write-tree", "--stdin", "-z")
	cmd := command(ctx, r.GitDir, args...)
	cmd.Env = append(cmd.Env, r.writesTo(ctx, scratch)...)
	var out, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &stderr
	runErr := cmd.Run()
	merges, err := readMerges(out.String())
	if runErr != nil || len(merges) < len(pairs) {
		return merges, gitError(ctx, "merge-tree", stderr.String(),
			fmt.Errorf("%d of %d pairs were merged: %w", len(merges), len(pairs), errOr(runErr, err)))
	}
	return merges, err
}

// quoteList quotes a path for a list of paths, so that a colon in it does not
// end it.
func quoteList(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}

func errOr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// readMerges reads what git merge-tree --stdin -z tells: for each pair whether
// it merged, the tree, the files in conflict and what was said about each,
// every list ended by an empty field. What is cut off is left out.
func readMerges(out string) ([]Merge, error) {
	f := &fields{rest: out}
	var merges []Merge
	for f.more() {
		status, _ := f.next()
		if status != "0" && status != "1" {
			return merges, fmt.Errorf("unexpected output of git merge-tree: %.80q", status)
		}
		f.skip() // the tree
		m := Merge{Clean: status == "1"}
		for entry, ok := f.next(); ok && entry != ""; entry, ok = f.next() {
			if err := m.entry(entry); err != nil {
				return merges, err
			}
		}
		if !m.Clean {
			f.messages(&m)
		}
		if f.short {
			break
		}
		merges = append(merges, m)
	}
	return merges, nil
}

// entry reads one version of a file in conflict: its mode, object and stage,
// of which 1 is the base, and its path.
func (m *Merge) entry(text string) error {
	about, path, ok := strings.Cut(text, "\t")
	words := strings.Fields(about)
	if !ok || len(words) != 3 {
		return fmt.Errorf("unexpected output of git merge-tree: %.80q", text)
	}
	if n := len(m.Conflicts); n == 0 || m.Conflicts[n-1].Path != path {
		m.Conflicts = append(m.Conflicts, MergeConflict{Path: path})
	}
	if words[2] == "1" {
		m.Conflicts[len(m.Conflicts)-1].Base = words[1]
	}
	return nil
}

// A fields reads NUL-terminated fields.
type fields struct {
	rest  string
	short bool // a field was asked for that is not there
}

func (f *fields) more() bool { return f.rest != "" }

func (f *fields) next() (string, bool) {
	field, rest, ok := strings.Cut(f.rest, "\x00")
	if !ok {
		f.short, f.rest = true, ""
		return "", false
	}
	f.rest = rest
	return field, true
}

func (f *fields) skip() { _, _ = f.next() }

// messages reads what git said and notes the kind of each conflict.
func (f *fields) messages(m *Merge) {
	for count, ok := f.next(); ok && count != ""; count, ok = f.next() {
		n, err := strconv.Atoi(count)
		if err != nil || n < 0 || n > len(f.rest) {
			f.short = true
			return
		}
		paths := make([]string, n)
		for i := range paths {
			paths[i], _ = f.next()
		}
		kind, _ := f.next()
		f.skip() // the sentence
		inner, isConflict := strings.CutPrefix(kind, "CONFLICT (")
		if !isConflict {
			continue
		}
		inner = strings.TrimSuffix(inner, ")")
		for _, p := range paths {
			m.note(p, inner)
		}
	}
}

// note adds a kind to a file. Some conflicts, such as of a folder that was
// renamed, name files that git could place all the same: they count, since
// git stopped for them.
func (m *Merge) note(path, kind string) {
	for i := range m.Conflicts {
		if m.Conflicts[i].Path == path {
			m.Conflicts[i].Kinds = append(m.Conflicts[i].Kinds, kind)
			return
		}
	}
}

// FindGit returns the repository that dir lies in, also one without a working
// tree, whose Root is then its git folder.
func FindGit(ctx context.Context, dir string) (*Repo, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	if r, ok := Find(dir); ok && r.plainJJ() {
		return r, nil
	}
	out, err := run(ctx, "rev-parse", bare(ctx, dir, "rev-parse", "--absolute-git-dir", "--path-format=absolute", "--git-common-dir"))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	if len(lines) != 2 {
		return nil, fmt.Errorf("unexpected output of git rev-parse: %.80q", out)
	}
	r := &Repo{Root: lines[0], GitDir: lines[0], CommonDir: lines[1]}
	if root, err := Root(ctx, dir); err == nil {
		r.Root = root
	}
	return r, nil
}

package backtest_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/gittest"
)

// A maker writes a history for git fast-import: one process a repository,
// however many commits.
type maker struct {
	stream strings.Builder
	mark   int
	clock  int
	by     string // the author of what follows
	trees  map[int]files
}

// files are contents by path; an empty one is no file.
type files map[string]string

func newMaker() *maker {
	return &maker{by: "Ana <ana@example.com>", clock: 1700000000, trees: map[int]files{}}
}

// commit adds a commit with changes to its first parent and returns its mark.
func (m *maker) commit(subject string, change files, parents ...int) int {
	m.mark++
	m.clock += 60
	tree := files{}
	if len(parents) > 0 {
		maps.Copy(tree, m.trees[parents[0]])
	}
	maps.Copy(tree, change)
	m.trees[m.mark] = tree
	w := &m.stream
	fmt.Fprintf(w, "commit refs/heads/work\nmark :%d\nauthor %s %d +0000\ncommitter %s %d +0000\n", m.mark, m.by, m.clock, m.by, m.clock)
	fmt.Fprintf(w, "data %d\n%s\n", len(subject), subject)
	for i, p := range parents {
		fmt.Fprintf(w, "%s :%d\n", []string{"from", "merge"}[min(i, 1)], p)
	}
	fmt.Fprintln(w, "deleteall")
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		if text := tree[path]; text != "" {
			fmt.Fprintf(w, "M 100644 inline %q\ndata %d\n%s\n", path, len(text), text)
		}
	}
	fmt.Fprintln(w)
	return m.mark
}

// fork makes two sides of one commit and merges them; what each side does is
// one commit. It returns the merge.
func (m *maker) fork(subject string, base int, a, b files) int {
	left := m.commit(subject+", left", a, base)
	right := m.commit(subject+", right", b, base)
	return m.commit(subject, nil, left, right)
}

func (m *maker) ref(name string, at int) { fmt.Fprintf(&m.stream, "reset %s\nfrom :%d\n\n", name, at) }

// build makes a repository whose HEAD is the given commit.
func (m *maker) build(t testing.TB, head int) *gitrepo.Repo {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop.git")
	gittest.Feed(t, ".", "", "init", "-q", "--bare", "-b", "main", dir)
	m.ref("refs/heads/main", head)
	gittest.Feed(t, dir, m.stream.String(), "fast-import", "--quiet")
	repo, err := gitrepo.FindGit(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return repo
}

const goBefore = `package shop

// Price is what a thing costs.
func Price(name string) int {
	return len(name)
}

// Discount lowers it.
func Discount(p int) int {
	return p - 1
}
`

// shop is a history with a merge of every sort.
func shop(t testing.TB) *gitrepo.Repo {
	m := newMaker()
	long := gittest.Numbered(30, nil)
	at := m.commit("start", files{
		"go.mod":            "module example.com/shop\n\ngo 1.24\n",
		"a.txt":             long,
		"b.txt":             long,
		"c.txt":             long,
		"old.txt":           long,
		"picture.bin":       "\x00one",
		"price.go":          goBefore,
		"till/till.go":      "package till\n",
		"package-lock.json": long,
	})
	at = m.fork("clean", at, files{
		"a.txt": gittest.Numbered(30, map[int]string{3: "three\n"}),
	}, files{"b.txt": gittest.Numbered(30, map[int]string{3: "three\n"})})
	at = m.fork("one file, far apart", at, files{
		"c.txt": gittest.Numbered(30, map[int]string{2: "x\n"}),
	}, files{"c.txt": gittest.Numbered(30, map[int]string{28: "y\n"})})
	at = m.fork("one line", at, files{
		"b.txt": gittest.Numbered(30, map[int]string{10: "ten\n"}),
	}, files{"b.txt": gittest.Numbered(30, map[int]string{10: "TEN\n"})})
	at = m.fork("modify and delete", at, files{"b.txt": ""}, files{"b.txt": gittest.Numbered(30, map[int]string{20: "twenty\n"})})
	at = m.fork("rename and modify", at, files{"old.txt": "", "new.txt": long}, files{
		"old.txt": gittest.Numbered(30, map[int]string{15: "fifteen\n"}),
	})
	at = m.fork("two renames", at, files{"new.txt": "", "this.txt": long}, files{"new.txt": "", "that.txt": long})
	at = m.fork("rename and modify the same line", at, files{
		"c.txt": "",
		"d.txt": gittest.Numbered(30, map[int]string{5: "five\n"}),
	}, files{"c.txt": gittest.Numbered(30, map[int]string{5: "FIVE\n"})})
	at = m.fork("binary", at, files{"picture.bin": "\x00two"}, files{"picture.bin": "\x00three"})
	at = m.fork("the same edit", at, files{
		"a.txt": gittest.Numbered(30, map[int]string{7: "seven\n"}),
	}, files{"a.txt": gittest.Numbered(30, map[int]string{7: "seven\n"})})
	at = m.fork("add and add", at, files{"<img src=x>.txt": "one\n"}, files{"<img src=x>.txt": "two\n"})
	at = m.fork("lock file", at, files{
		"package-lock.json": gittest.Numbered(30, map[int]string{4: "x\n"}),
	}, files{"package-lock.json": gittest.Numbered(30, map[int]string{4: "y\n"})})
	at = m.fork("break", at, files{"price.go": strings.Replace(goBefore, "Price(name string)", "Price(name string, amount int)", 1)},
		files{"till/till.go": "package till\n\nimport \"example.com/shop\"\n\nfunc total() int { return shop.Price(\"tea\") }\n"})
	m.by = "dependabot[bot] <49699333+dependabot[bot]@users.noreply.github.com>"
	bot := m.commit("bump", files{"go.mod": "module example.com/shop\n\ngo 1.25\n"}, at)
	m.by = "Ana <ana@example.com>"
	side := m.commit("work beside the bot", files{"e.txt": "e\n"}, at)
	at = m.commit("a bot's merge", nil, side, bot)
	at = m.commit("one-sided", nil, at, m.commit("alone", files{"f.txt": "f\n"}, at))
	at = m.fork("Rollup of 2 pull requests", at, files{"g.txt": "g\n"}, files{"h.txt": "h\n"})
	at = m.commit("octopus", nil, at, m.commit("o1", files{"o1": "1\n"}, at), m.commit("o2", files{"o2": "2\n"}, at))
	return m.build(t, at)
}

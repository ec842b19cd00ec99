package backtest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/gittest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func run(t *testing.T, repo *gitrepo.Repo, opts backtest.Options) *backtest.Result {
	t.Helper()
	r, err := backtest.Run(t.Context(), repo, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// told is what a case came to, in short: where git stopped and what svc said.
func told(o *backtest.Outcome) string {
	var parts []string
	for _, c := range o.Conflicts {
		mark := "caught"
		if !c.Caught {
			mark = "MISSED"
		}
		parts = append(parts, fmt.Sprintf("%s %s", c.Path, mark))
	}
	for _, w := range o.Warnings {
		if !w.Right {
			parts = append(parts, fmt.Sprintf("%s %s", w.Kind, w.Place))
		}
	}
	if len(parts) == 0 {
		return "quiet"
	}
	return strings.Join(parts, ", ")
}

func TestEverySortOfMergeIsJudgedAsGitDoes(t *testing.T) {
	repo := shop(t)
	before := gittest.Feed(t, repo.GitDir, "", "count-objects", "-v")
	r := run(t, repo, backtest.Options{})
	got := map[string]string{}
	for i := range r.Outcomes {
		got[r.Outcomes[i].Subject] = told(&r.Outcomes[i])
	}
	want := map[string]string{
		"clean":                           "quiet",
		"one file, far apart":             "quiet",
		"one line":                        "b.txt caught",
		"modify and delete":               "b.txt caught",
		"rename and modify":               "quiet",
		"two renames":                     "new.txt caught, that.txt caught, this.txt caught",
		"rename and modify the same line": "d.txt caught",
		"binary":                          "picture.bin caught",
		"the same edit":                   "quiet",
		"add and add":                     "<img src=x>.txt caught",
		"lock file":                       "package-lock.json caught",
		"break":                           "contract_break sym:go:price.go#Price",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	left := map[string]int{"a side is by bots alone": 1, "work on one side only": 1, "merge made by a tool": 1, "not two parents": 1}
	if d := cmp.Diff(left, r.Selection.LeftOut); d != "" {
		t.Error(d)
	}
	if after := gittest.Feed(t, repo.GitDir, "", "count-objects", "-v"); after != before {
		t.Errorf("the repository was changed:\n%s\n%s", before, after)
	}
}

func TestFigures(t *testing.T) {
	r := run(t, shop(t), backtest.Options{})
	sections := r.Sections()
	if len(sections) != 1 || sections[0].Cases != 12 || sections[0].Conflicted != 7 {
		t.Fatalf("sections = %+v", sections)
	}
	got := map[string][2]backtest.Rate{}
	for _, f := range sections[0].Figures {
		got[f.ID] = [2]backtest.Rate{f.Shown, f.All}
	}
	rate := func(hits, of int) backtest.Rate { return backtest.Rate{Hits: hits, Of: of} }
	want := map[string][2]backtest.Rate{
		"conflicted":             {rate(6, 12), rate(7, 12)},
		"recall":                 {rate(8, 8), rate(9, 9)},
		"recall_cases":           {rate(6, 6), rate(7, 7)},
		"precision_edit_overlap": {rate(6, 6), rate(7, 7)},
		"precision":              {rate(6, 7), rate(7, 8)},
		"precision_text":         {rate(6, 6), rate(7, 7)},
		"breaks":                 {rate(1, 5), rate(1, 5)},
		"blocks":                 {rate(0, 5), rate(0, 5)},
		"blocks_raised":          {rate(0, 5), rate(0, 5)},
		"lead_possible":          {rate(0, 6), rate(0, 7)},
		"lead":                   {},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestGoldenSummary(t *testing.T) {
	r := run(t, shop(t), backtest.Options{})
	var b bytes.Buffer
	r.Text(&b, "acme/shop")
	golden := filepath.Join("testdata", "summary.golden")
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Error(d)
	}
}

// The order of time decides whether a warning came while there was work to do.
func TestLead(t *testing.T) {
	for _, tt := range []struct {
		name              string
		left, right       []int // the line each commit of a side changes
		possible, alarmed bool
		steps             int
	}{
		{"the conflict comes with the last commit", []int{10}, []int{20, 10}, false, false, 0},
		{"work goes on after it", []int{10}, []int{10, 20, 25}, true, true, 2},
		{"the earlier side makes it", []int{5, 10}, []int{10, 25}, true, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMaker()
			base := m.commit("start", files{"a.txt": gittest.Numbered(30, nil)})
			heads := [2]int{base, base}
			lines := [2]map[int]string{{}, {}}
			for side, changes := range [][]int{tt.left, tt.right} {
				for _, n := range changes {
					lines[side][n] = fmt.Sprintf("side %d\n", side)
					heads[side] = m.commit("work", files{"a.txt": gittest.Numbered(30, lines[side])}, heads[side])
				}
			}
			r := run(t, m.build(t, m.commit("merge", nil, heads[0], heads[1])), backtest.Options{})
			if len(r.Outcomes) != 1 || r.Outcomes[0].Lead == nil {
				t.Fatalf("outcomes = %+v", r.Outcomes)
			}
			if l := r.Outcomes[0].Lead; l.Possible != tt.possible || l.Alarmed != tt.alarmed || l.Steps != tt.steps {
				t.Errorf("lead = %+v", l)
			}
		})
	}
}

// Two sides whose versions of a file differ already: the histories cross.
func TestCrossedHistoriesAreReplayed(t *testing.T) {
	m := newMaker()
	base := m.commit("start", files{"a.txt": gittest.Numbered(30, nil)})
	a := m.commit("a", files{"a.txt": gittest.Numbered(30, map[int]string{5: "a\n"})}, base)
	b := m.commit("b", files{"a.txt": gittest.Numbered(30, map[int]string{15: "b\n"})}, base)
	both := map[int]string{5: "a\n", 15: "b\n"}
	ab := m.commit("b into a", files{"a.txt": gittest.Numbered(30, both)}, a, b)
	ba := m.commit("a into b", files{"a.txt": gittest.Numbered(30, both)}, b, a)
	left, right := map[int]string{5: "a\n", 15: "b\n", 25: "left\n"}, map[int]string{5: "a\n", 15: "b\n", 25: "right\n"}
	ab = m.commit("left", files{"a.txt": gittest.Numbered(30, left)}, ab)
	ba = m.commit("right", files{"a.txt": gittest.Numbered(30, right)}, ba)
	r := run(t, m.build(t, m.commit("crossed", nil, ab, ba)), backtest.Options{})
	for i := range r.Outcomes {
		if o := &r.Outcomes[i]; o.Subject == "crossed" {
			if got := told(o); o.Bases != 2 || got != "a.txt caught" {
				t.Errorf("%d bases: %s", o.Bases, got)
			}
			return
		}
	}
	t.Errorf("outcomes = %+v", r.Outcomes)
}

// crowd is a repository with pull requests that fork from one commit. Each
// changes a line of its own, except the first two.
func crowd(t *testing.T, n int) *gitrepo.Repo {
	m := newMaker()
	base := m.commit("start", files{"a.txt": gittest.Numbered(100, nil)})
	for i := range n {
		line := 10 * max(1, i)
		at := m.commit("work", files{"a.txt": gittest.Numbered(100, map[int]string{line: fmt.Sprintf("worker %d\n", i)})}, base)
		m.ref(fmt.Sprintf("refs/pull/%d/head", i+1), at)
		if i == 2 { // built on the third: no work of its own to meet it
			m.ref("refs/pull/99/head", m.commit("stacked", files{"b.txt": "b\n"}, at))
		}
	}
	return m.build(t, base)
}

func TestPairsAndSwarms(t *testing.T) {
	repo := crowd(t, 5)
	r := run(t, repo, backtest.Options{Pairs: true, Swarm: 5, Refs: []string{"refs/pull/*/head"}})
	var pairs, bad int
	for i := range r.Outcomes {
		o := &r.Outcomes[i]
		switch {
		case o.Kind == backtest.Swarm:
			want := &backtest.Crowd{Workers: 5, Alarmed: 2, Conflicting: 2, SameFile: 5, Pairs: 10, BadPairs: 1}
			if slices.Contains(o.Names, "refs/pull/99/head") { // in place of the third
				want.SameFile = 5
			}
			if d := cmp.Diff(want, o.Crowd); d != "" {
				t.Error(d)
			}
		case o.Clean():
			pairs++
		default:
			pairs, bad = pairs+1, bad+1
			if got := o.Where([2]int{0, 1}); got != "pull/1/head with pull/2/head" || told(o) != "a.txt caught" {
				t.Errorf("%s: %s", got, told(o))
			}
		}
	}
	if pairs != 14 || bad != 1 || r.Selection.LeftOut["heads share commits"] != 1 {
		t.Errorf("%d pairs, %d bad, left out %v", pairs, bad, r.Selection.LeftOut)
	}
}

func TestTheSampleDependsOnTheSeedAlone(t *testing.T) {
	repo := crowd(t, 8)
	sample := func(seed uint64) string {
		r := run(t, repo, backtest.Options{Pairs: true, NoMerges: true, Max: 6, Seed: seed})
		if len(r.Outcomes) != 6 {
			t.Fatalf("%d cases", len(r.Outcomes))
		}
		var names []string
		for i := range r.Outcomes {
			names = append(names, r.Outcomes[i].Where([2]int{0, 1}))
		}
		return strings.Join(names, "; ")
	}
	if a, b := sample(1), sample(1); a != b {
		t.Errorf("the same seed drew\n%s\nand\n%s", a, b)
	}
	if a, b := sample(1), sample(2); a == b {
		t.Errorf("two seeds drew the same: %s", a)
	}
}

func TestAnInterruptedRunTellsWhatItHasAndGoesOnLater(t *testing.T) {
	repo, dir := shop(t), t.TempDir()
	whole := run(t, repo, backtest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	part, err := backtest.Run(ctx, repo, backtest.Options{CacheDir: dir, Jobs: 1, Progress: func(done, all int) {
		if done == 4 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !part.Interrupted || len(part.Outcomes) != 4 || part.Cases != 12 {
		t.Fatalf("interrupted %v with %d of %d outcomes", part.Interrupted, len(part.Outcomes), part.Cases)
	}
	var text bytes.Buffer
	part.Text(&text, "acme/shop")
	if !strings.Contains(text.String(), "Replayed 4 of 12 cases") || !strings.Contains(text.String(), "Interrupted") {
		t.Errorf("summary:\n%s", text.String())
	}
	rest := run(t, repo, backtest.Options{CacheDir: dir})
	if rest.Cached != 4 || rest.Interrupted {
		t.Errorf("%d were known, interrupted %v", rest.Cached, rest.Interrupted)
	}
	if d := cmp.Diff(asJSON(t, whole.Outcomes), asJSON(t, rest.Outcomes)); d != "" {
		t.Error(d)
	}
	if again := run(t, repo, backtest.Options{CacheDir: dir}); again.Cached != 12 {
		t.Errorf("%d were known, want all", again.Cached)
	}
	if fresh := run(t, repo, backtest.Options{CacheDir: dir, Forget: true}); fresh.Cached != 0 {
		t.Errorf("%d were known, want none", fresh.Cached)
	}
}

// A cache that was cut off, or is of another build, is not believed.
func TestADamagedCacheIsStartedAnew(t *testing.T) {
	if testing.Short() {
		return // make test replays a history again and again
	}
	repo := shop(t)
	for name, damage := range map[string]func([]byte) []byte{
		"cut off":           func(b []byte) []byte { return b[:len(b)-20] },
		"another build":     func(b []byte) []byte { return append([]byte("x"), b...) },
		"no cache at all":   func([]byte) []byte { return []byte("hello\nworld\n") },
		"an empty file":     func([]byte) []byte { return nil },
		"a line of garbage": func(b []byte) []byte { return append(b, "{}\n"...) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run(t, repo, backtest.Options{CacheDir: dir})
			all, err := filepath.Glob(filepath.Join(dir, "*"))
			if err != nil || len(all) != 1 {
				t.Fatalf("%v, %v", all, err)
			}
			text, err := os.ReadFile(all[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(all[0], damage(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := run(t, repo, backtest.Options{CacheDir: dir}); len(r.Outcomes) != 12 {
				t.Errorf("%d outcomes", len(r.Outcomes))
			}
			if r := run(t, repo, backtest.Options{CacheDir: dir}); r.Cached != 12 {
				t.Errorf("%d were known", r.Cached)
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheReportStandsAlone(t *testing.T) {
	r := run(t, shop(t), backtest.Options{})
	var b bytes.Buffer
	if err := r.HTML(&b, "acme/<shop>", "1.2.3", time.Unix(1800000000, 0)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "http://", "https://", "<img", "<shop>", "url(", "%!"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	for _, want := range []string{"<svg", "acme/&lt;shop&gt;", "prefers-color-scheme:dark", "sym:go:price.go#Price", "svc 1.2.3, 2027-01-15"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, tag := range []string{"section", "table", "figure", "svg", "details", "ol", "div", "p", "ul", "main"} {
		opened := strings.Count(page, "<"+tag+">") + strings.Count(page, "<"+tag+" ")
		if closed := strings.Count(page, "</"+tag+">"); opened != closed {
			t.Errorf("<%s> is opened %d times and closed %d times", tag, opened, closed)
		}
	}
}

func TestAnEmptyRepositoryHasNothingToReplay(t *testing.T) {
	m := newMaker()
	r := run(t, m.build(t, m.commit("start", files{"a": "a\n"})), backtest.Options{Pairs: true, Swarm: 3})
	var b bytes.Buffer
	r.Text(&b, "acme/shop")
	if len(r.Outcomes) != 0 || !strings.Contains(b.String(), "There is nothing to replay") {
		t.Errorf("%s", b.String())
	}
}

// Plans that name definitions of one file keep apart; those that name the file
// meet, also where both make one and the same change. What landed on the
// mainline had been made to fit and is not counted.
func TestPlansAreJudgedByMergesInFlight(t *testing.T) {
	m := newMaker()
	edit := func(old, new string) files { return files{"price.go": strings.Replace(goBefore, old, new, 1)} }
	base := m.commit("start", files{"go.mod": "module example.com/shop\n\ngo 1.24\n", "price.go": goBefore})
	inFlight := func(subject string, at int, branch, main files) int {
		work, moved := m.commit(subject+", branch", branch, at), m.commit(subject+", main", main, at)
		merged := m.commit("Merge main into "+subject, main, work, moved)
		return m.commit("land "+subject, nil, m.commit("more on main", files{subject + ".txt": "x\n"}, moved), merged)
	}
	at := inFlight("apart", base, edit("len(name)", "len(name) + 1"), edit("p - 1", "p - 2"))
	at = m.commit("start again", files{"price.go": goBefore}, at)
	at = inFlight("alike", at, edit("len(name)", "len(name) + 3"), edit("len(name)", "len(name) + 4"))
	at = m.commit("start once more", files{"price.go": goBefore}, at)
	at = inFlight("one", at, edit("len(name)", "len(name) + 5"), edit("len(name)", "len(name) + 5"))
	got := run(t, m.build(t, at), backtest.Options{})
	landed := 0
	for _, o := range got.Outcomes {
		if o.Landed {
			landed++
		}
	}
	if len(got.Outcomes) != 6 || landed != 3 {
		t.Fatalf("%d merges, %d of them landed", len(got.Outcomes), landed)
	}
	type rates struct{ Precision, Distinct, Recall, Files backtest.Rate }
	have := map[string]rates{}
	for _, p := range got.Sections()[0].Plans {
		have[p.Name] = rates{p.Precision.Shown, p.Distinct.Shown, p.Recall.Shown, p.FilePrecision.Shown}
	}
	one := backtest.Rate{Hits: 1, Of: 1}
	half := backtest.Rate{Hits: 1, Of: 2}
	third := backtest.Rate{Hits: 1, Of: 3}
	want := map[string]rates{
		backtest.PlanPaths:        {third, half, one, third},
		backtest.PlanSymbols:      {half, one, one, half},
		backtest.PlanOracle:       {third, half, one, third},
		backtest.PlanFirstPaths:   {third, half, one, third},
		backtest.PlanFirstSymbols: {half, one, one, half},
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
}

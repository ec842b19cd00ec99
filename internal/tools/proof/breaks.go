package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
)

// The samples: pieces of history in which one side changed or removed a
// definition and the other newly mentions its name, found by looking for equal
// names and nothing else, and judged by reading both sides. The rows of the
// first were looked at while the rules were made. Those of the second were
// judged before svc was run on them and held out once, for the figures that
// docs/lab/backtest.md tells first; the rules were then changed for what they
// showed, so they are held out no longer. Those of the third and the fourth were
// judged before svc was run on their repositories; docs/lab/backtest.md tells what
// was changed for the fourth after its first run.
var (
	//go:embed breaks.tsv
	seen string
	//go:embed heldout.tsv
	heldOut string
	//go:embed contact.tsv
	contact string
	//go:embed fresh.tsv
	fresh string
)

// A judged is a row of the sample.
type judged struct {
	repo          string
	base          string
	changer, user string // the head that changed the definition, and the one that uses it
	file, name    string // of the definition
	breaks        bool   // the use fails once both are merged
	why           string
}

// readSample reads tab-separated rows: repository, base, the head that changed,
// the head that uses, file#name, breaks or fits, why.
func readSample(text string) ([]judged, error) {
	var out []judged
	for n, line := range strings.Split(text, "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Split(line, "\t")
		if len(c) != 7 || c[5] != "breaks" && c[5] != "fits" {
			return nil, fmt.Errorf("line %d of the sample is no row: %q", n+1, line)
		}
		file, name, ok := strings.Cut(c[4], "#")
		if !ok {
			return nil, fmt.Errorf("line %d of the sample names no definition: %q", n+1, c[4])
		}
		out = append(out, judged{c[0], c[1], c[2], c[3], file, name, c[5] == "breaks", c[6]})
	}
	return out, nil
}

// A jury has replayed the cases of the samples.
type jury map[string]*backtest.Outcome

// judge replays the samples and prints how often svc and the reader agree. What
// svc tells of these cases beyond the samples is listed: nobody has judged it.
func judge(ctx context.Context, folder, only string) error {
	return judgeSamples(ctx, folder, only, []sample{
		{"a fixed sample", seen}, {"a sample of other repositories, held out once", heldOut},
		{"a sample of repositories at first contact", contact}, {"a fresh sample, with heads made for it", fresh},
	})
}

// judgeFile does so for the rows of a file.
func judgeFile(ctx context.Context, folder, file, only string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return judgeSamples(ctx, folder, only, []sample{{"the sample of " + filepath.Base(file), string(text)}})
}

// A sample is rows, with what they are called.
type sample struct{ title, text string }

func judgeSamples(ctx context.Context, folder, only string, samples []sample) error {
	rows := make([][]judged, len(samples))
	for i, s := range samples {
		var err error
		if rows[i], err = readSample(s.text); err != nil {
			return err
		}
		rows[i] = slices.DeleteFunc(rows[i], func(r judged) bool { return !strings.Contains(r.id()+" "+r.file+"#"+r.name, only) })
	}
	for i, s := range samples {
		if len(rows[i]) == 0 {
			continue
		}
		if err := makeHeads(ctx, folder, s.text); err != nil {
			return err
		}
	}
	j, err := replayed(ctx, folder, slices.Concat(rows...))
	if err != nil {
		return err
	}
	for i, s := range samples {
		fmt.Printf("\n### Breaks that git merges, %s\n\n| case | definition | read | told | why |\n|---|---|---|---|---|\n", s.title)
		j.sample(rows[i])
	}
	for _, id := range slices.Sorted(maps.Keys(j)) {
		for _, w := range j[id].Warnings {
			if w.Kind == coord.ContractBreak {
				fmt.Printf("\nnot judged: %s %s\n", id, w.Text)
			}
		}
	}
	return nil
}

// sample prints every row of a sample, and the figures of all.
func (j jury) sample(rows []judged) {
	var precision, recall backtest.Rate
	for i := range rows {
		r := &rows[i]
		told := take(j[r.id()], r)
		if told {
			precision.Of++
		}
		if r.breaks {
			recall.Of++
		}
		if told && r.breaks {
			precision.Hits++
			recall.Hits++
		}
		fmt.Printf("| %s %.10s, %.10s | %s#%s | %s | %s | %s |\n", r.repo, r.changer, r.user, path.Base(r.file), r.name,
			words[r.breaks], words[told], r.why)
	}
	fmt.Printf("\nOf %d rows: precision %s, recall %s\n", len(rows), rate(precision), rate(recall))
}

// id names the case of a row: several rows may share it.
func (r *judged) id() string { return r.repo + " " + r.changer + " " + r.user }

// replayed replays the case of every row once, on all cores.
func replayed(ctx context.Context, folder string, rows []judged) (jury, error) {
	repos := map[string]*gitrepo.Repo{}
	cases := map[string]*judged{}
	for i := range rows {
		r := &rows[i]
		cases[r.id()] = r
		if repos[r.repo] == nil {
			var err error
			if repos[r.repo], err = open(ctx, folder, r.repo); err != nil {
				return nil, err
			}
		}
	}
	j, failed := jury{}, []error{}
	var mu sync.Mutex
	var all sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for id, r := range cases {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			o, err := backtest.One(ctx, repos[r.repo], r.base, [2]string{r.changer, r.user})
			mu.Lock()
			defer mu.Unlock()
			if j[id] = o; err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", id, err))
			}
		})
	}
	all.Wait()
	return j, errors.Join(failed...)
}

var words = map[bool]string{true: "breaks", false: "fits"}

// take reports whether svc warns that a row's definition breaks the other side,
// and takes those warnings off the outcome. A warning by the name of a package
// names no file.
func take(o *backtest.Outcome, r *judged) bool {
	told := false
	var rest []backtest.Warning
	for _, w := range o.Warnings {
		if w.Kind == coord.ContractBreak && (strings.HasSuffix(w.Place, ":"+r.file+"#"+r.name) ||
			r.file == "*" && coord.LastName(w.Place) == r.name ||
			strings.HasPrefix(w.Place, "pkg:") && strings.HasSuffix(w.Place, "#"+r.name)) {
			told = true
			continue
		}
		rest = append(rest, w)
	}
	o.Warnings = rest
	return told
}

package main

import (
	"context"
	_ "embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
)

// The samples: pieces of history in which one side changed or removed a
// definition and the other newly mentions its name, found by looking for equal
// names and nothing else, and judged by reading both sides. The rows of the
// first were looked at while the rules were made. Those of the second were
// judged before svc was run on them, and nothing was changed for them since: a
// row for which something is changed moves to the first.
var (
	//go:embed breaks.tsv
	seen string
	//go:embed heldout.tsv
	heldOut string
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

// A jury replays the rows of both samples, each case once.
type jury struct {
	folder   string
	repos    map[string]*gitrepo.Repo
	outcomes map[string]*backtest.Outcome
}

// judge replays the samples and prints how often svc and the reader agree. What
// svc tells of these cases beyond the samples is listed: nobody has judged it.
func judge(ctx context.Context, folder string) error {
	j := &jury{folder, map[string]*gitrepo.Repo{}, map[string]*backtest.Outcome{}}
	for _, s := range []struct{ title, text string }{
		{"a fixed sample", seen}, {"a sample of other repositories, held out", heldOut},
	} {
		rows, err := readSample(s.text)
		if err != nil {
			return err
		}
		fmt.Printf("\n### Breaks that git merges, %s\n\n| case | definition | read | told | why |\n|---|---|---|---|---|\n", s.title)
		if err := j.sample(ctx, rows); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(j.outcomes)) {
		for _, w := range j.outcomes[id].Warnings {
			if w.Kind == coord.ContractBreak {
				fmt.Printf("\nnot judged: %s %s\n", id, w.Text)
			}
		}
	}
	return nil
}

// sample prints every row of a sample, and the figures of all.
func (j *jury) sample(ctx context.Context, rows []judged) error {
	var precision, recall backtest.Rate
	for i := range rows {
		r := &rows[i]
		o, err := j.outcome(ctx, r)
		if err != nil {
			return err
		}
		told := take(o, r.name)
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
	return nil
}

// outcome replays the case of a row, unless it was.
func (j *jury) outcome(ctx context.Context, r *judged) (*backtest.Outcome, error) {
	id := r.repo + " " + r.changer + " " + r.user
	if o := j.outcomes[id]; o != nil {
		return o, nil
	}
	var err error
	if j.repos[r.repo] == nil {
		if j.repos[r.repo], err = open(ctx, j.folder, r.repo); err != nil {
			return nil, err
		}
	}
	o, err := backtest.One(ctx, j.repos[r.repo], r.base, [2]string{r.changer, r.user})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", id, err)
	}
	j.outcomes[id] = o
	return o, nil
}

var words = map[bool]string{true: "breaks", false: "fits"}

// take reports whether svc warns that a definition breaks the other side, and
// takes those warnings off the outcome.
func take(o *backtest.Outcome, name string) bool {
	told := false
	var rest []backtest.Warning
	for _, w := range o.Warnings {
		if w.Kind == coord.ContractBreak && strings.HasSuffix(w.Place, "#"+name) {
			told = true
			continue
		}
		rest = append(rest, w)
	}
	o.Warnings = rest
	return told
}

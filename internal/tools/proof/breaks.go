package main

import (
	"context"
	_ "embed"
	"fmt"
	"path"
	"strings"

	"github.com/svc-hq/svc/internal/client/backtest"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/coord"
)

// The sample: pieces of history in which one side changed or removed a
// definition and the other newly mentions its name, found by looking for equal
// names and nothing else, and judged by reading both sides.
//
//go:embed breaks.tsv
var sample string

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

// judge replays the sample and prints how often svc and the reader agree. What
// svc tells of these cases beyond the sample is listed: nobody has judged it.
func judge(ctx context.Context, folder string) error {
	rows, err := readSample(sample)
	if err != nil {
		return err
	}
	repos := map[string]*gitrepo.Repo{}
	outcomes := map[string]*backtest.Outcome{}
	var precision, recall backtest.Rate
	fmt.Print("\n### Breaks that git merges, a fixed sample\n\n| case | definition | read | told | why |\n|---|---|---|---|---|\n")
	for i := range rows {
		r := &rows[i]
		if repos[r.repo] == nil {
			if repos[r.repo], err = open(ctx, folder, r.repo); err != nil {
				return err
			}
		}
		id := r.repo + " " + r.changer + " " + r.user
		if outcomes[id] == nil {
			if outcomes[id], err = backtest.One(ctx, repos[r.repo], r.base, [2]string{r.changer, r.user}); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
		}
		told := take(outcomes[id], r.name)
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
	for id, o := range outcomes {
		for _, w := range o.Warnings {
			if w.Kind == coord.ContractBreak {
				fmt.Printf("\nnot judged: %s %s\n", id, w.Text)
			}
		}
	}
	fmt.Printf("\nOf %d rows: precision %s, recall %s\n", len(rows), rate(precision), rate(recall))
	return nil
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

//go:build !lean

package cli

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// How far one run of svc index goes.
const (
	indexBudget = 10 * time.Minute
	indexBatch  = 100
)

// authors finds who changed lines last that use something of other programs:
// who is to be asked when it breaks. Git needs a process for each file and, in
// a long history, more time than reading all files does: so it gets a share of
// what reading took, and the files that call other programs come first.
type authors struct {
	root, commit string
	since        time.Time     // when reading went on
	read, spent  time.Duration // by reading, and by git
	left         int           // files for which there was no time
}

// What finding authors may take, beside reading.
const (
	authorsShare = 6 // one part of this many
	authorsLeast = 100 * time.Millisecond
	authorsMost  = 30 * time.Second
)

// of returns the authors of some files' uses.
func (w *authors) of(ctx context.Context, files []coord.FileFacts) map[string][]wire.LineAuthor {
	began := time.Now()
	w.read += began.Sub(w.since)
	budget := min(w.read/authorsShare+authorsLeast, authorsMost) - w.spent
	ctx, cancel := context.WithTimeout(ctx, max(0, budget))
	defer cancel()
	out := map[string][]wire.LineAuthor{}
	for _, packages := range []bool{false, true} {
		for _, f := range files {
			lines, calls := usesOf(f)
			if len(lines) == 0 || calls == packages {
				continue
			}
			by, err := map[int]string(nil), ctx.Err()
			if err == nil {
				by, err = gitrepo.Authors(ctx, w.root, w.commit, f.Path, lines)
			}
			if err != nil {
				w.left++
			}
			for _, line := range lines {
				if email := by[line]; email != "" {
					out[f.Path] = append(out[f.Path], wire.LineAuthor{Line: line, Author: coord.AuthorHash(email)})
				}
			}
		}
	}
	w.spent += time.Since(began)
	return out
}

// usesOf are the lines of a file that use something of other programs; calls
// is false when that is packages alone. Settings are nobody else's.
func usesOf(f coord.FileFacts) (lines []int, calls bool) {
	for _, c := range f.Contracts {
		if c.Role != coord.Uses || c.Line <= 0 || strings.HasPrefix(c.Key, "config:") {
			continue
		}
		calls = calls || !strings.HasPrefix(c.Key, "pkg:")
		if !slices.Contains(lines, c.Line) && len(lines) < maxIndexed {
			lines = append(lines, c.Line)
		}
	}
	return lines, calls
}

func (a *app) runIndex(ctx context.Context, quiet bool, after string) error {
	here, err := a.here()
	if err != nil {
		return err
	}
	c, l, err := a.client()
	if err != nil {
		return err
	}
	base, err := gitrepo.Base(ctx, here.Root, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, indexBudget)
	defer cancel()
	var total wire.Indexed
	left, unread := 0, 0
	opts := analysis.ScanOptions{
		Version:      base,
		After:        after,
		BatchFiles:   indexBatch,
		Budget:       indexBudget,
		MetadataOnly: l.DataMode == coord.DataMetadataOnly,
	}
	who := &authors{root: here.Root, commit: base, since: time.Now()}
	err = analysis.Scan(ctx, here.Root, opts, func(b analysis.Batch) error {
		after, left = b.After, b.Left
		for _, n := range b.Unread {
			unread += n
		}
		got, err := sendBatch(ctx, c, here.Fingerprint, b, who)
		who.since = time.Now()
		if err != nil {
			return err
		}
		total.Files, total.Contracts, total.IndexVersion = total.Files+got.Files, total.Contracts+got.Contracts, got.IndexVersion
		if !quiet && !a.json {
			fmt.Fprintf(a.Stderr, "\r%d files, %d contracts", total.Files, total.Contracts)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("%w; go on with: svc index --after %q", err, after)
	}
	if who.left > 0 && !quiet {
		fmt.Fprintf(a.Stderr, "\rsvc: who changed the uses in %d files last was not looked up, for time; those have no owner\n", who.left)
	}
	if left > 0 && !quiet {
		fmt.Fprintf(a.Stderr, "\rsvc: stopped at its limit with %d files left; go on with: svc index --after %q\n", left, after)
	}
	if a.json {
		return a.PrintJSON(total)
	}
	if !quiet {
		fmt.Fprintf(a.Stderr, "\r")
		fmt.Fprintf(a.Stdout, "indexed %d files with %d contracts\n", total.Files, total.Contracts)
		if unread > 0 {
			fmt.Fprintf(a.Stdout, "%d places look like routes or calls but could not be read; svc index --explain FILE shows them\n", unread)
		}
	}
	return nil
}

// explainFile shows what is known of one file. It needs no server.
func (a *app) explainFile(ctx context.Context, file string) error {
	repo, ok := gitrepo.Find(a.Dir)
	if !ok {
		return fmt.Errorf("%s is in no git repository", a.Dir)
	}
	path, err := a.inRepo(place{Root: repo.Root}, file)
	if err != nil {
		return err
	}
	x, err := analysis.Explain(ctx, repo.Root, path)
	if err != nil {
		return err
	}
	if a.json {
		return a.PrintJSON(x)
	}
	a.printExplanation(x)
	return nil
}

func (a *app) printExplanation(x *analysis.Explanation) {
	if !x.Read {
		fmt.Fprintf(a.Stdout, "%s: only its lines are known: %s\n", peertext.Path(x.Path), x.Why)
		return
	}
	fmt.Fprintf(a.Stdout, "%s (%s)\n", peertext.Path(x.Path), x.Language)
	for _, c := range x.Contracts {
		by := ""
		if c.Rule != "" {
			by = ", by " + c.Rule
		}
		fmt.Fprintf(a.Stdout, "  %-8s %s (line %d%s)\n", c.Role, peertext.Path(c.Key), c.Line, by)
	}
	for _, r := range x.Requests {
		fmt.Fprintf(a.Stdout, "  requests by %s\n", peertext.Path(r))
	}
	for _, m := range x.Missed {
		fmt.Fprintf(a.Stdout, "  unread   line %d: %s looks like a route that it %s (%s), but %s\n",
			m.Line, peertext.Path(m.What), m.Role, m.Rule, m.Why)
	}
	if len(x.Contracts)+len(x.Requests)+len(x.Missed) == 0 {
		fmt.Fprintln(a.Stdout, "  nothing that other programs could depend on was found; a rules file can teach svc what is missing")
	}
}

func sendBatch(ctx context.Context, c *remote.Client, repo string, b analysis.Batch, who *authors) (wire.Indexed, error) {
	in := wire.IndexFiles{Complete: b.Done, Files: []wire.IndexedFile{}, Removed: []string{}}
	by := who.of(ctx, b.Analysis.Files)
	for _, f := range b.Analysis.Files {
		contracts := contractsIn(f)
		sent := contracts[:min(len(contracts), maxIndexed)]
		in.Files = append(in.Files, wire.IndexedFile{Path: f.Path, Language: f.Language, Contracts: sent, Unread: b.Unread[f.Path],
			Cut: len(contracts) - len(sent), Authors: by[f.Path]})
	}
	return c.Index(ctx, url.PathEscape(repo), in)
}

// contractsIn returns everything a file provides and uses: its contracts, its
// visible definitions, and what it refers to.
func contractsIn(f coord.FileFacts) []coord.ContractFacts {
	out := f.Contracts
	if out == nil {
		out = []coord.ContractFacts{}
	}
	for _, s := range f.Symbols {
		if s.Exported {
			line := 0
			if s.Lines != nil {
				line = s.Lines.Start
			}
			out = append(out, coord.ContractFacts{
				Key:           s.Key,
				Role:          coord.Provides,
				Change:        coord.Same,
				Signature:     s.Signature,
				SignatureHash: s.SignatureHash,
				Compatibility: coord.Compatible,
				Line:          line,
			})
		}
	}
	told := map[string]bool{}
	for _, r := range f.References {
		if told[r.Key] || !strings.HasPrefix(r.Key, "sym:") { // contracts are told above, with what is used of them
			continue
		}
		told[r.Key] = true
		out = append(out, coord.ContractFacts{Key: r.Key, Role: coord.Uses, Change: coord.Same, Compatibility: coord.Compatible, Line: r.Line})
	}
	return out
}

// maxIndexed is how many contracts of one file the server takes.
const maxIndexed = 2000

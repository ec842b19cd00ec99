// Package index tells a server what a repository provides and uses. It
// prints nothing and decides of no repository that it may be told: the command does.
package index

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// How far one run goes.
const (
	budget = 10 * time.Minute
	batch  = 100
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
	share := min(w.read/authorsShare+authorsLeast, authorsMost) - w.spent
	ctx, cancel := context.WithTimeout(ctx, max(0, share))
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

// A Run is one scan of a repository.
type Run struct {
	Root    string
	Commit  string // the version that is scanned
	Repo    string // as the server knows it
	Client  *remote.Client
	After   string     // the path that an earlier run came to
	Private bool       // without the texts of definitions
	Rules   *rules.Set // of the repository
	// Progress is told what was sent so far.
	Progress func(wire.Indexed)
	// Journal is where it notes how far it is, if somebody watches it.
	Journal *Journal
}

// A Result is what came of a run, as far as it got.
type Result struct {
	Total   wire.Indexed
	After   string   // the last path that was sent
	Left    int      // files for which there was no time
	Unread  int      // places that look like contracts and could not be read
	Unowned int      // files whose authors there was no time to look up
	Died    []string // files that ended their reader, and were left out
}

// Send scans the repository and sends what is found.
func (r Run) Send(ctx context.Context) (out Result, err error) {
	j := r.Journal
	if j == nil {
		j = &Journal{}
	}
	out.After, out.Total = max(r.After, j.After), j.Total
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	opts := analysis.ScanOptions{Version: r.Commit, After: out.After, BatchFiles: batch, Budget: budget, MetadataOnly: r.Private,
		Skip: j.Died, Rules: r.Rules}
	if r.Journal != nil {
		opts.Begin = j.Begin
	}
	who := &authors{root: r.Root, commit: r.Commit, since: time.Now()}
	err = analysis.Scan(ctx, r.Root, opts, func(b analysis.Batch) error {
		out.After, out.Left = b.After, b.Left
		out.Died = append(out.Died, b.Died...)
		for _, n := range b.Unread {
			out.Unread += n
		}
		got, err := sendBatch(ctx, r.Client, r.Repo, b, who)
		who.since = time.Now()
		if err != nil {
			return err
		}
		t := &out.Total
		t.Files, t.Contracts, t.IndexVersion = t.Files+got.Files, t.Contracts+got.Contracts, got.IndexVersion
		r.Progress(*t)
		j.After, j.Total = b.After, *t
		return nil
	})
	out.Unowned = who.left
	return out, err
}

func sendBatch(ctx context.Context, c *remote.Client, repo string, b analysis.Batch, who *authors) (wire.Indexed, error) {
	in := wire.IndexFiles{Complete: b.Done, Files: []wire.IndexedFile{}, Removed: []string{}}
	by := who.of(ctx, b.Analysis.Files)
	for _, f := range b.Analysis.Files {
		contracts := contractsIn(f)
		sent := contracts[:min(len(contracts), maxIndexed)]
		in.Files = append(in.Files, wire.IndexedFile{Path: f.Path, Language: f.Language, Contracts: sent, Unread: b.Unread[f.Path],
			Cut: len(contracts) - len(sent), Candidates: f.Candidates, Names: b.Names[f.Path], Authors: by[f.Path]})
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

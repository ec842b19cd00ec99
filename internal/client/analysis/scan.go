package analysis

import (
	"context"
	"slices"
	"sort"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/pathlike"
	"github.com/svc-hq/svc/internal/client/references"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
)

// ScanOptions bound a scan of a whole repository.
type ScanOptions struct {
	Version      string            // commit or tree to read; empty is HEAD
	After        string            // resume after this path, as a Batch told
	MetadataOnly bool              // leave signature texts out
	BatchFiles   int               // files in a batch; 0 means 100
	MaxFiles     int               // files in all; 0 means 20,000
	Budget       time.Duration     // for the whole scan; 0 means a minute
	Rules        *rules.Set        // of the repository; nil for svc's alone
	Skip         []string          // files that ended a reader before
	Begin        func(path string) // is told of each file before it is read; may be nil
}

// A Batch is a part of a scan.
type Batch struct {
	Analysis *coord.Analysis     // every file is Unchanged, with the visible definitions and all contracts
	After    string              // give this as ScanOptions.After to go on
	Done     bool                // nothing is left
	Left     int                 // files that were left out when it stopped
	Unread   map[string]int      // places by file that look like routes or calls but could not be read
	Names    map[string][]string // of data, by file, as they are kept
	Died     []string            // files that ended their reader: nothing is known of them
}

// Scan reads every file of a version and hands its visible definitions,
// contracts and references to send, batch by batch in order of path, for the
// index of a repository that has none yet. It stops at the first error of
// send, when ctx ends or when its budget is used up; the last batch then is
// not Done, and a later scan can go on after it. Files without anything to
// tell are left out.
func Scan(ctx context.Context, root string, opts ScanOptions, send func(Batch) error) error {
	s, files, err := newScan(ctx, root, opts)
	if err != nil {
		return err
	}
	defer s.run.objects.Close()
	fresh := func(after string) Batch {
		s.names = map[string][]string{}
		return Batch{Analysis: &coord.Analysis{Files: []coord.FileFacts{}}, After: after, Unread: map[string]int{}, Names: s.names}
	}
	batch := fresh(opts.After)
	for i, e := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if time.Now().After(s.run.deadline) || i == s.opts.MaxFiles {
			batch.Analysis.Truncated, batch.Left = true, len(files)-i
			return send(batch)
		}
		if s.opts.Begin != nil {
			s.opts.Begin(e.Path)
		}
		f, unread, ok := s.alive(e)
		if f.Path == "" {
			batch.Died = append(batch.Died, e.Path)
		} else if ok {
			batch.Analysis.Files = append(batch.Analysis.Files, f)
			if unread > 0 {
				batch.Unread[e.Path] = unread
			}
		}
		batch.After = e.Path
		if len(batch.Analysis.Files) == s.opts.BatchFiles && i+1 < len(files) {
			if err := send(batch); err != nil {
				return err
			}
			batch = fresh(batch.After)
		}
	}
	batch.Done = true
	return send(batch)
}

type scan struct {
	opts  ScanOptions
	run   *run
	names map[string][]string // of the batch
}

// newScan lists the files that are worth reading, in order of path.
func newScan(ctx context.Context, root string, opts ScanOptions) (*scan, []odb.Entry, error) {
	if opts.Version == "" {
		opts.Version = "HEAD"
	}
	if opts.BatchFiles <= 0 || opts.BatchFiles > coord.MaxAnalysisFiles {
		opts.BatchFiles = 100
	}
	if opts.MaxFiles <= 0 {
		opts.MaxFiles = 20_000
	}
	if opts.Budget <= 0 {
		opts.Budget = time.Minute
	}
	all, err := gitrepo.Entries(ctx, root, opts.Version, nil)
	if err != nil {
		return nil, nil, err
	}
	var files []odb.Entry
	for _, e := range all {
		lang := rules.LanguageOf(e.Path)
		if e.Path > opts.After && len(e.Path) <= lines.MaxPath && e.Size <= locate.MaxSource && e.Mode != diff.ModeSymlink &&
			e.Mode != diff.ModeSubmodule &&
			!rules.GeneratedPath(e.Path) && (outline.CanRead(lang) || formats.Has(lang)) {
			files = append(files, e)
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].Path < files[j].Path })
	objects := gitrepo.NewObjects(ctx, root)
	r := &run{opts: Options{MetadataOnly: opts.MetadataOnly}, objects: objects, deadline: time.Now().Add(opts.Budget)}
	r.repo = references.Open(locate.InGit(ctx, root, opts.Version, objects), opts.MetadataOnly).Under(opts.Rules).Standing()
	return &scan{opts: opts, run: r}, files, nil
}

// alive reads one file. One that ends its reader costs that file alone: nothing
// is known of it then, not even its path.
func (s *scan) alive(e odb.Entry) (f coord.FileFacts, unread int, ok bool) {
	defer func() {
		if p := recover(); p != nil {
			f, unread, ok = coord.FileFacts{}, 0, false
		}
	}()
	if slices.Contains(s.opts.Skip, e.Path) {
		return f, 0, false
	}
	return s.file(e)
}

// file reads one file, and tells how much in it could not be; ok is false when
// it has nothing to tell.
func (s *scan) file(e odb.Entry) (f coord.FileFacts, unread int, ok bool) {
	d := diff.Delta{Path: e.Path, OldMode: e.Mode, NewMode: e.Mode, OldBlob: e.ID, NewBlob: e.ID}
	f = lines.Facts(&d)
	v, err := s.run.repo.Read(e.Path, func() ([]byte, error) { return s.run.objects.Blob(e.ID, locate.MaxSource) })
	if err != nil || v.Generated {
		return f, 0, false
	}
	s.run.repo.Complete(e.Path, v)
	lang := rules.LanguageOf(e.Path)
	empty := extract.Nothing(lang.Name)
	f.Parsed = outline.CanRead(lang) || len(v.Contracts) > 0
	for _, sym := range symbols.Facts(f.Path, empty.Outline, v.Outline, s.opts.MetadataOnly) {
		if sym.Exported && len(f.Symbols) < coord.MaxAnalysisSymbols {
			sym.Change = coord.Same
			f.Symbols = append(f.Symbols, sym)
		}
	}
	f.Contracts = contract.Facts(nil, v.Contracts, false, s.opts.MetadataOnly)
	f.Contracts = f.Contracts[:min(len(f.Contracts), contract.MaxPerFile)]
	f.References = s.run.repo.References(&f, empty, v)
	for i := range f.Contracts {
		f.Contracts[i].Change, f.Contracts[i].Compatibility, f.Contracts[i].Detail = coord.Same, coord.Compatible, nil
	}
	if !rules.TestPath(e.Path) {
		unread = len(v.Missed())
	}
	if src := cut(e.Path, v); src != nil {
		f.Candidates = candidates(nil, src, v)
		if names := pathlike.Names(src.Fields(), rules.ToolMade(v.Outline.Source)); len(names) > 0 {
			s.names[e.Path] = names
		}
	}
	return f, unread, len(f.Symbols)+len(f.Contracts)+len(f.References)+len(f.Candidates)+len(s.names[e.Path])+unread > 0
}

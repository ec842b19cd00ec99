// Package analysis tells what an edit means: which lines of which version it
// replaced, which definitions and contracts it touched and whether their users
// still work, and what it uses that was not used before. Facts leave the
// machine, code never does. What is found where is decided in the rooms below:
// outline, extract, symbols, references.
//
// Line facts are exact for every file. The rest is best effort: a file that
// does not parse, is too large or takes too long has line facts alone.
package analysis

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extinct"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/kept"
	"github.com/svc-hq/svc/internal/client/lines"
	"github.com/svc-hq/svc/internal/client/patience"
	"github.com/svc-hq/svc/internal/client/references"
	"github.com/svc-hq/svc/internal/client/references/locate"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Options say how far an analysis goes.
type Options struct {
	Base          string        // commit or tree to compare with; empty finds the merge base with the default branch
	DefaultBranch string        // empty asks the repository
	MetadataOnly  bool          // leave signature texts and details out: hashes only
	LinesOnly     bool          // line facts alone, without reading any file
	Unlimited     bool          // the limits of what is sent do not apply: for a replay, which sends nothing
	Budget        time.Duration // for all files together; 0 means DefaultBudget
	Deltas        []diff.Delta  // of the working tree, where they are known; nil to compare
	Along         []string      // other files that may differ from the base: what the paths meant, they meant without that
	Keep          string        // folder of the user's for what holds until the files change; empty keeps nothing
	Rules         *rules.Set    // of the repository; nil for svc's alone
	// Want tells which files are worth more than line facts; nil means all. It
	// may read the new content, which is nil for a file that is gone or large.
	Want func(f *coord.FileFacts, content func() []byte) bool
}

// DefaultBudget is how long one analysis may take before it is cut short.
const DefaultBudget = 2 * time.Second

// WorkingTree compares the files on disk under root, the top folder of a
// working tree, with the version they started from. Nil paths mean every file
// that differs; paths outside root are ignored.
func WorkingTree(ctx context.Context, root string, paths []string, opts Options) (*coord.Analysis, error) {
	start := time.Now()
	base := opts.Base
	if base == "" {
		var err error
		if base, err = gitrepo.Base(ctx, root, opts.DefaultBranch); err != nil {
			return nil, err
		}
	}
	deltas := opts.Deltas
	if deltas == nil {
		var err error
		if deltas, err = gitrepo.WorkingTree(ctx, root, base, paths); err != nil {
			return nil, err
		}
	}
	objects := gitrepo.NewObjects(ctx, root)
	defer objects.Close()
	book := opts.book(root)
	defer book.Close()
	r := &run{
		ctx:      ctx,
		opts:     opts,
		deadline: start.Add(opts.budget()),
		objects:  objects,
		repo:     references.Open(locate.OnDisk(ctx, root, book), opts.MetadataOnly).Under(opts.Rules),
		search: func(names []string) (map[string][]string, error) {
			ctx, cancel := context.WithTimeout(ctx, patience.Of(soleBudget))
			defer cancel()
			return gitrepo.Grep(ctx, root, "", names, nil)
		},
	}
	if !opts.LinesOnly && len(opts.Along) > 0 && len(opts.Along) <= maxAlong {
		var err error
		if r.along, err = gitrepo.WorkingTree(ctx, root, base, opts.Along); err != nil {
			return nil, err
		}
	}
	r.now = func(d *diff.Delta) ([]byte, error) {
		if d.New != nil {
			return bounded(d.New)
		}
		return locate.ReadFile(filepath.Join(root, d.Path))
	}
	a := r.analyze(deltas)
	if !opts.LinesOnly {
		markSole(ctx, root, a)
	}
	return a, nil
}

// book is what is known of the working copy at root from before.
func (o *Options) book(root string) *kept.Book {
	repo, ok := gitrepo.At(root)
	if !ok || o.Keep == "" || o.LinesOnly {
		return &kept.Book{}
	}
	return kept.Open(o.Keep, kept.Program(), root, repo.IndexFile())
}

// soleBudget is how long a search for names may take: in a repository where it
// takes longer, definitions are found by their imports alone.
const soleBudget = 500 * time.Millisecond

// markSole finds the definitions that went or changed and that nothing else in
// the working tree goes by. What cannot be found out in time stays unmarked.
func markSole(ctx context.Context, root string, a *coord.Analysis) {
	ctx, cancel := context.WithTimeout(ctx, patience.Of(soleBudget))
	defer cancel()
	_ = extinct.MarkSole(extinct.OnDisk(ctx, root), a.Files, nil)
}

// Between compares two versions of the repository at root, each a commit or a
// tree. Use History for many.
func Between(ctx context.Context, root, base, side string, opts Options) (*coord.Analysis, error) {
	h := NewHistory(ctx, root)
	defer h.Close()
	return h.Between(base, side, opts)
}

// A History compares versions of a repository with few processes, however
// many pairs are asked for. It is not safe for concurrent use.
type History struct {
	ctx     context.Context
	root    string
	objects *gitrepo.Objects
	trees   *gitrepo.Trees
	cache   *versionCache
	recent  []comparison // the newest last
}

// A comparison is what git found between two versions. A few are kept: a
// replay looks at the lines first, and at what they mean where it matters.
type comparison struct {
	base, side string
	deltas     []diff.Delta
}

const maxRecent = 8

func (h *History) deltas(base, side string) ([]diff.Delta, error) {
	for _, c := range h.recent {
		if c.base == base && c.side == side {
			return c.deltas, nil
		}
	}
	deltas, err := h.trees.Deltas(base, side)
	if err != nil {
		return nil, err
	}
	if len(h.recent) == maxRecent {
		h.recent = append(h.recent[:0], h.recent[1:]...)
	}
	h.recent = append(h.recent, comparison{base, side, deltas})
	return deltas, nil
}

// NewHistory prepares to compare versions of the repository at root.
func NewHistory(ctx context.Context, root string) *History {
	objects := gitrepo.NewObjects(ctx, root)
	return &History{ctx: ctx, root: root, objects: objects, trees: gitrepo.NewTrees(ctx, root, objects), cache: newVersionCache()}
}

// Between compares two versions, each a commit or a tree.
func (h *History) Between(base, side string, opts Options) (*coord.Analysis, error) {
	start := time.Now()
	deltas, err := h.deltas(base, side)
	if err != nil {
		return nil, err
	}
	tree := locate.InGit(h.ctx, h.root, side, h.objects)
	r := &run{
		ctx:      h.ctx,
		opts:     opts,
		deadline: start.Add(opts.budget()),
		objects:  h.objects,
		cache:    h.cache,
		repo:     references.Open(tree, opts.MetadataOnly).Under(opts.Rules),
		search: func(names []string) (map[string][]string, error) {
			return gitrepo.Grep(h.ctx, h.root, side, names, nil)
		},
	}
	r.now = func(d *diff.Delta) ([]byte, error) { return h.objects.Blob(d.NewBlob, locate.MaxSource) }
	return r.analyze(deltas), nil
}

// Names finds what each of several versions, that came apart from base, takes
// away or changes and others newly mention, and adds it to their facts. fresh
// are the words that the first side adds, by family, nil if nobody looked.
func (h *History) Names(heads []string, sides []*coord.Analysis, fresh []map[string]map[string]bool) error {
	watched := make([][]coord.WatchedName, len(sides))
	for i, side := range sides {
		var wanted func(family, name string) bool
		if fresh[i] != nil {
			wanted = func(family, name string) bool { return fresh[i][family][name] }
		}
		if err := extinct.MarkSole(extinct.InGit(h.ctx, h.root, heads[i], h.objects), side.Files, wanted); err != nil {
			return err
		}
		watched[i] = extinct.Watch(side.Files)
	}
	for i, side := range sides {
		var names []coord.WatchedName
		for k := range watched {
			if k != i {
				names = append(names, watched[k]...)
			}
		}
		extinct.Mentions(extinct.InGit(h.ctx, h.root, heads[i], h.objects), side.Files, names, h.Base)
	}
	return nil
}

// Content returns a file of any tree, such as tree:path, nil if there is none or
// it is too large.
func (h *History) Content(name string) []byte { return h.blob(&name) }

// Base returns the content that a file's facts count from, nil if there is none
// or it is too large.
func (h *History) Base(f *coord.FileFacts) []byte { return h.blob(f.BaseBlob) }

// Now returns a file's new content, nil if there is none or it is too large.
func (h *History) Now(f *coord.FileFacts) []byte { return h.blob(f.NewBlob) }

func (h *History) blob(id *string) []byte {
	if id == nil {
		return nil
	}
	data, err := h.objects.Blob(*id, locate.MaxSource)
	if err != nil {
		return nil
	}
	return data
}

// Close ends the processes.
func (h *History) Close() error { return errors.Join(h.trees.Close(), h.objects.Close()) }

func (o *Options) budget() time.Duration {
	if o.Budget == 0 {
		return patience.Of(DefaultBudget)
	}
	return o.Budget
}

// A run is one analysis.
type run struct {
	ctx      context.Context
	opts     Options
	deadline time.Time
	objects  *gitrepo.Objects
	now      func(*diff.Delta) ([]byte, error) // the new content
	cache    *versionCache
	repo     *references.Repo
	search   search                         // in the new version
	before   *references.Repo               // as it was before several files changed; nil for one that repo stands for
	along    []diff.Delta                   // of files that are not asked for
	sides    map[string][2]*extract.Version // of the changed files that were read
}

// analyze turns deltas into facts within the limits.
func (r *run) analyze(deltas []diff.Delta) *coord.Analysis {
	a := &coord.Analysis{Files: []coord.FileFacts{}}
	hunks, found := 0, 0
	if !r.opts.LinesOnly && r.cache == nil {
		r.before = r.together(append(slices.Clip(deltas), r.along...))
	}
	for i := range deltas {
		d := &deltas[i]
		if r.ctx != nil && r.ctx.Err() != nil {
			a.Truncated = true
			break
		}
		if len(a.Files) == coord.MaxAnalysisFiles && !r.opts.Unlimited {
			a.Truncated = true
			break
		}
		f := lines.Facts(d)
		if len(f.Path) > lines.MaxPath || f.OldPath != nil && len(*f.OldPath) > lines.MaxPath {
			a.Truncated = true // the service takes no such path
			continue
		}
		if hunks+len(f.Hunks) > coord.MaxAnalysisHunks && !r.opts.Unlimited {
			f.Hunks = []coord.Hunk{} // some of them would read as if the rest were untouched
			a.Truncated = true
		}
		hunks += len(f.Hunks)
		if !r.opts.LinesOnly && f.Status != coord.FileUnchanged && r.wanted(d, &f) && !r.describe(d, &f) {
			a.Truncated = true
		}
		if n := coord.MaxAnalysisSymbols - found; len(f.Symbols) > n && !r.opts.Unlimited {
			f.Symbols = f.Symbols[:n]
			a.Truncated = true
		}
		found += len(f.Symbols)
		if len(f.Contracts) > contract.MaxPerFile {
			f.Contracts = f.Contracts[:contract.MaxPerFile]
			a.Truncated = true
		}
		a.Files = append(a.Files, f)
	}
	symbols.SettleMoves(a.Files)
	symbols.SettleRenames(a.Files)
	if !r.opts.LinesOnly {
		a.Late = !r.chain(deltas, a.Files)
		r.keepTables(a.Files)
		r.repo.PackageChanges(a.Files)
	}
	return a
}

// was is the content that a file had.
func (r *run) was(d *diff.Delta) ([]byte, error) {
	if d.Old != nil {
		return bounded(d.Old)
	}
	return r.objects.Blob(d.OldBlob, locate.MaxSource)
}

func bounded(text []byte) ([]byte, error) {
	if len(text) > locate.MaxSource {
		return nil, odb.ErrTooLarge
	}
	return text, nil
}

func (r *run) wanted(d *diff.Delta, f *coord.FileFacts) bool {
	return r.opts.Want == nil || r.opts.Want(f, func() []byte {
		content, err := r.now(d)
		if err != nil {
			return nil
		}
		return content
	})
}

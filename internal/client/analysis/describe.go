package analysis

import (
	"errors"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/gitrepo/diff"
	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/client/symbols"
	"github.com/svc-hq/svc/internal/core/coord"
)

// describe adds symbols, contracts and references to a file's line facts. It
// reports false when time ran out.
func (r *run) describe(d *diff.Delta, f *coord.FileFacts) bool {
	lang := rules.LanguageOf(d.Path)
	if d.Binary || f.Generated || d.NewMode == diff.ModeSymlink || d.NewMode == diff.ModeSubmodule ||
		d.OldMode == diff.ModeSubmodule || !outline.CanRead(lang) && !formats.Has(lang) {
		return true
	}
	if time.Now().After(r.deadline) {
		return false
	}
	oldPath := d.Path
	if d.OldPath != "" {
		oldPath = d.OldPath
	}
	old, new, ok, err := r.readBoth(d, oldPath)
	if err != nil {
		return !errors.Is(err, grammar.ErrTimeout)
	}
	f.Generated = new.Generated
	if !ok || f.Generated {
		return true
	}
	f.Parsed = outline.CanRead(lang) || len(old.Contracts)+len(new.Contracts) > 0
	f.Symbols = symbols.Facts(f.Path, old.Outline, new.Outline, r.opts.MetadataOnly)
	if f.OldPath != nil && d.OldPath != d.Path {
		f.Symbols = symbols.AtOldPath(f.Symbols, symbols.LeftBehind(d.OldPath, d.Path, old.Outline, r.opts.MetadataOnly), d.OldPath,
			old.Outline.Lang)
	}
	f.Contracts = contract.Facts(old.Contracts, new.Contracts, new.Broken && !old.Broken, r.opts.MetadataOnly)
	f.References = r.repo.References(f, old, new)
	r.texts(f, old, new)
	return true
}

// readBoth reads both sides of a file; ok is false when one is too large or
// gone since.
func (r *run) readBoth(d *diff.Delta, oldPath string) (old, new *extract.Version, ok bool, err error) {
	a := &extract.Side{File: oldPath, Lang: rules.LanguageOf(oldPath), Rules: r.opts.Rules, Version: r.cache.get(d.OldBlob, oldPath)}
	b := &extract.Side{File: d.Path, Lang: rules.LanguageOf(d.Path), Rules: r.opts.Rules, Version: r.cache.get(d.NewBlob, d.Path)}
	ok = true
	if ok = a.Fetch(d.OldBlob, func() ([]byte, error) { return r.was(d) }) && ok; !ok {
		return extract.Nothing(a.Lang.Name), extract.Nothing(b.Lang.Name), false, nil
	}
	if ok = b.Fetch(d.NewBlob, func() ([]byte, error) { return r.now(d) }) && ok; !ok {
		return extract.Nothing(a.Lang.Name), extract.Nothing(b.Lang.Name), false, nil
	}
	if err := extract.ReadSides(a, b, time.Until(r.deadline)); err != nil {
		return nil, nil, false, err
	}
	was := r.repo
	if r.before != nil {
		was = r.before
	}
	if a.Source != nil {
		was.Complete(d.Path, a.Version)
	}
	if b.Source != nil {
		r.repo.Complete(d.Path, b.Version)
	}
	if r.sides == nil {
		r.sides = map[string][2]*extract.Version{}
	}
	r.sides[d.Path] = [2]*extract.Version{a.Version, b.Version}
	r.cache.put(d.OldBlob, oldPath, a.Version)
	r.cache.put(d.NewBlob, d.Path, b.Version)
	return a.Version, b.Version, true, nil
}

// maxCached bounds the versions that a History keeps: the base of a pair is
// mostly asked for twice.
const maxCached = 128

// A versionCache keeps versions by blob and path.
type versionCache struct {
	versions map[string]*extract.Version
	order    []string
}

func newVersionCache() *versionCache { return &versionCache{versions: map[string]*extract.Version{}} }

func (c *versionCache) get(blob, file string) *extract.Version {
	if c == nil || blob == "" {
		return nil
	}
	return c.versions[blob+" "+file]
}

func (c *versionCache) put(blob, file string, v *extract.Version) {
	if c == nil || blob == "" || c.versions[blob+" "+file] != nil {
		return
	}
	if len(c.order) == maxCached {
		delete(c.versions, c.order[0])
		c.order = c.order[1:]
	}
	c.versions[blob+" "+file] = v
	c.order = append(c.order, blob+" "+file)
}

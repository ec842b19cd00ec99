package analysis

import (
	"bytes"
	"errors"
	"path"
	"time"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/core/coord"
)

// describe adds symbols, contracts and references to a file's line facts. It
// reports false when time ran out.
func (r *run) describe(d *gitrepo.Delta, f *coord.FileFacts) bool {
	lang := languageOf(d.Path)
	if d.Binary || f.Generated || d.NewMode == gitrepo.ModeSymlink || d.NewMode == gitrepo.ModeSubmodule || d.OldMode == gitrepo.ModeSubmodule || !canRead(lang) && !hasFormat(lang, d.Path) {
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
	f.Generated = new.generated
	if !ok || f.Generated {
		return true
	}
	f.Parsed = canRead(lang) || len(old.contracts)+len(new.contracts) > 0
	f.Symbols = symbolFacts(f.Path, old.outline, new.outline, &r.opts)
	if f.OldPath != nil && d.OldPath != d.Path {
		f.Symbols = atOldPath(f.Symbols, leftBehind(d.OldPath, d.Path, old.outline, &r.opts), d.OldPath, old.outline.lang)
	}
	f.Contracts = contractFacts(old, new, &r.opts)
	f.References = r.references(f, old, new)
	return true
}

// A version is one side of a file, read.
type version struct {
	outline   *outline
	contracts []contract
	generated bool
	broken    bool // part of it does not parse
}

// nothing is the side of a file that does not exist.
func nothing(lang string) *version { return &version{outline: &outline{lang: lang, traits: &traits{}}} }

// readBoth reads both sides of a file; ok is false when one is too large or
// gone since.
func (r *run) readBoth(d *gitrepo.Delta, oldPath string) (old, new *version, ok bool, err error) {
	a := &side{file: oldPath, lang: languageOf(oldPath), version: r.cache.get(d.OldBlob, oldPath)}
	b := &side{file: d.Path, lang: languageOf(d.Path), version: r.cache.get(d.NewBlob, d.Path)}
	ok = true
	if ok = a.fetch(d.OldBlob, func() ([]byte, error) { return r.objects.Blob(d.OldBlob, MaxSource) }) && ok; !ok {
		return nothing(a.lang.name), nothing(b.lang.name), false, nil
	}
	if ok = b.fetch(d.NewBlob, func() ([]byte, error) { return r.now(d) }) && ok; !ok {
		return nothing(a.lang.name), nothing(b.lang.name), false, nil
	}
	if err := readSides(a, b, time.Until(r.deadline)); err != nil {
		return nil, nil, false, err
	}
	for _, s := range []*side{a, b} {
		if s.source != nil {
			r.mounted(d.Path, s.version)
			r.protoUses(s.version)
			r.packageUses(s.version)
		}
	}
	r.cache.put(d.OldBlob, oldPath, a.version)
	r.cache.put(d.NewBlob, d.Path, b.version)
	return a.version, b.version, true, nil
}

// A side is one version of a file while it is read.
type side struct {
	file    string
	lang    language
	source  []byte
	goFile  *goFile  // of Go, if it was parsed together with the other
	version *version // once it is read
}

// fetch gets the source, unless the side was read before or does not exist.
func (s *side) fetch(blob string, content func() ([]byte, error)) bool {
	if blob == "" {
		s.version = nothing(s.lang.name)
	}
	if s.version != nil {
		return true
	}
	var err error
	s.source, err = content()
	return err == nil
}

// readSides reads the two versions of a file, together where that is cheaper.
func readSides(a, b *side, limit time.Duration) error {
	if limit <= 0 {
		return grammar.ErrTimeout
	}
	var old, new *grammar.Tree
	if a.isGo() && b.isGo() {
		a.goFile, b.goFile = parseGoPair(a.source, b.source, b.file)
	}
	if a.needsTree() && b.needsTree() && a.lang == b.lang {
		var err error
		if old, new, err = grammar.ParsePair(a.lang.grammar, a.source, b.source, limit); err != nil {
			return err
		}
	}
	return errors.Join(a.read(old, limit), b.read(new, limit))
}

// needsTree tells whether a side has to be parsed with a grammar.
func (s *side) needsTree() bool {
	return s.version == nil && s.lang.grammar != "" && canRead(s.lang) && !generatedSource(s.source) && !isBinary(s.source)
}

// isGo tells whether a side has to be parsed as Go.
func (s *side) isGo() bool {
	return s.version == nil && s.lang.name == "go" && !generatedSource(s.source) && !isBinary(s.source)
}

func isBinary(source []byte) bool { return bytes.IndexByte(source[:min(len(source), 8000)], 0) >= 0 }

// read makes the version. The tree may be nil: then it is parsed here.
func (s *side) read(t *grammar.Tree, limit time.Duration) error {
	if s.version != nil {
		return nil
	}
	v := nothing(s.lang.name)
	if generatedSource(s.source) {
		v.generated = true
		s.version = v
		return nil
	}
	if hasFormat(s.lang, s.file) {
		found, ok := readFormat(s.source, s.file, s.lang)
		v.contracts, v.broken = found, !ok
	}
	if canRead(s.lang) && !isBinary(s.source) {
		m, err := loadMatcher(orName(s.lang))
		if err != nil {
			return err
		}
		if v.outline, err = s.outline(t, m, limit); err != nil {
			return err
		}
		v.contracts = append(v.contracts, m.contracts(v.outline)...)
		v.broken = v.broken || v.outline.broken
	}
	s.version = v
	return nil
}

func (s *side) outline(t *grammar.Tree, m *matcher, limit time.Duration) (*outline, error) {
	if s.lang.name == "go" {
		if s.goFile == nil {
			s.goFile = parseGo(s.source, s.file)
		}
		return outlineOfGo(s.goFile, s.source, s.file, m), nil
	}
	syn, err := loadSyntax(s.lang.grammar)
	if err != nil {
		return nil, err
	}
	if t == nil {
		if t, err = grammar.Parse(s.lang.grammar, s.source, limit); err != nil {
			return nil, err
		}
	}
	return outlineOf(t, syn, s.lang.name, path.Clean(s.file), m), nil
}

func orName(l language) string {
	if l.grammar != "" {
		return l.grammar
	}
	return l.name
}

// canRead tells whether this build can find definitions in a language.
func canRead(l language) bool {
	return l.name == "go" || l.grammar != "" && grammar.Supported(l.grammar)
}

// maxCached bounds the versions that a History keeps: the base of a pair is
// mostly asked for twice.
const maxCached = 128

// An outlineCache keeps versions by blob and path.
type outlineCache struct {
	versions map[string]*version
	order    []string
}

func newOutlineCache() *outlineCache { return &outlineCache{versions: map[string]*version{}} }

func (c *outlineCache) get(blob, file string) *version {
	if c == nil || blob == "" {
		return nil
	}
	return c.versions[blob+" "+file]
}

func (c *outlineCache) put(blob, file string, v *version) {
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

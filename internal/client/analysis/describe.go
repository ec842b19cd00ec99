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
	old, okOld, err1 := r.read(d.OldBlob, oldPath, func() ([]byte, error) { return r.objects.Blob(d.OldBlob, MaxSource) })
	new, okNew, err2 := r.read(d.NewBlob, d.Path, func() ([]byte, error) { return r.now(d) })
	if err := errors.Join(err1, err2); err != nil {
		return !errors.Is(err, grammar.ErrTimeout)
	}
	f.Generated = new.generated
	if !okOld || !okNew || f.Generated {
		return true
	}
	f.Parsed = canRead(lang) || len(old.contracts)+len(new.contracts) > 0
	f.Symbols = symbolFacts(f.Path, old.outline, new.outline, &r.opts)
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

// read reads one side of a file; ok is false when it is too large or gone.
func (r *run) read(blob, file string, content func() ([]byte, error)) (v *version, ok bool, err error) {
	lang := languageOf(file)
	if blob == "" {
		return nothing(lang.name), true, nil
	}
	if v := r.cache.get(blob, file); v != nil {
		return v, true, nil
	}
	source, err := content()
	if err != nil {
		return nothing(lang.name), false, nil
	}
	v, err = readVersion(source, file, lang, time.Until(r.deadline))
	if err != nil {
		return nothing(lang.name), false, err
	}
	r.cache.put(blob, file, v)
	return v, true, nil
}

// readVersion reads one version of a file.
func readVersion(source []byte, file string, lang language, limit time.Duration) (*version, error) {
	v := nothing(lang.name)
	if generatedSource(source) {
		v.generated = true
		return v, nil
	}
	if limit <= 0 {
		return nil, grammar.ErrTimeout
	}
	if hasFormat(lang, file) {
		found, ok := readFormat(source, file, lang)
		v.contracts, v.broken = found, !ok
	}
	if !canRead(lang) || bytes.IndexByte(source[:min(len(source), 8000)], 0) >= 0 {
		return v, nil
	}
	m, err := loadMatcher(orName(lang))
	if err != nil {
		return nil, err
	}
	if lang.name == "go" {
		v.outline = outlineOfGo(source, file, m)
	} else {
		s, err := loadSyntax(lang.grammar)
		if err != nil {
			return nil, err
		}
		t, err := grammar.Parse(lang.grammar, source, limit)
		if err != nil {
			return nil, err
		}
		v.outline = outlineOf(t, s, lang.name, path.Clean(file), m)
	}
	v.contracts = append(v.contracts, m.contracts(v.outline)...)
	v.broken = v.broken || v.outline.broken
	return v, nil
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
const maxCached = 512

// An outlineCache keeps versions by blob and path.
type outlineCache struct {
	versions map[string]*version
	order    []string
}

func newOutlineCache() *outlineCache { return &outlineCache{versions: map[string]*version{}} }

func (c *outlineCache) get(blob, file string) *version {
	if c == nil {
		return nil
	}
	return c.versions[blob+" "+file]
}

func (c *outlineCache) put(blob, file string, v *version) {
	if c == nil {
		return
	}
	if len(c.order) == maxCached {
		delete(c.versions, c.order[0])
		c.order = c.order[1:]
	}
	c.versions[blob+" "+file] = v
	c.order = append(c.order, blob+" "+file)
}

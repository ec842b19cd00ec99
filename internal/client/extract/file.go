package extract

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/formats"
	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// A Version is one side of a file, read.
type Version struct {
	Outline   *outline.File
	Contracts []contract.Contract
	Requests  []Request         // functions that are HTTP calls
	Clients   map[string]string // base addresses of HTTP clients, by variable
	Generated bool
	Broken    bool // part of it does not parse

	extractor *extractor
	declared  int // of the contracts, those that a format says
}

// Nothing is the side of a file that does not exist.
func Nothing(lang string) *Version {
	return &Version{Outline: &outline.File{Lang: lang, Traits: &outline.Traits{}}}
}

// Copy returns a version as this one was read, for who completes it in another
// way. What is only read is shared.
func (v *Version) Copy() *Version {
	c := *v
	c.Contracts, c.Requests = cloned(v.Contracts), slices.Clone(v.Requests)
	if v.extractor != nil {
		e := *v.extractor
		e.out, e.requests, e.missed = cloned(e.out), slices.Clone(e.requests), slices.Clone(e.missed)
		asking := *e.o
		asking.Elsewhere = e.elsewhere
		e.o, c.extractor = &asking, &e
	}
	return &c
}

func cloned(all []contract.Contract) []contract.Contract {
	out := slices.Clone(all)
	for i := range out {
		c := &out[i]
		c.Shape.In, c.Shape.Out, c.Fields = slices.Clip(c.Shape.In), slices.Clip(c.Shape.Out), slices.Clip(c.Fields)
	}
	return out
}

// A Side is one version of a file while it is read.
type Side struct {
	File    string
	Lang    rules.Language
	Source  []byte
	Rules   *rules.Set      // of its repository
	goFile  *outline.GoFile // of Go, if it was parsed together with the other
	bare    bool            // only the scripts are left of its source
	Version *Version        // once it is read
}

// Fetch gets the source, unless the side was read before or does not exist.
func (s *Side) Fetch(blob string, content func() ([]byte, error)) bool {
	if blob == "" {
		s.Version = Nothing(s.Lang.Name)
	}
	if s.Version != nil {
		return true
	}
	var err error
	s.Source, err = content()
	return err == nil
}

// ReadSides reads the two versions of a file, together where that is cheaper.
func ReadSides(a, b *Side, limit time.Duration) error {
	if limit <= 0 {
		return grammar.ErrTimeout
	}
	a.strip()
	b.strip()
	var old, new *grammar.Tree
	if a.isGo() && b.isGo() {
		a.goFile, b.goFile = outline.ParseGoPair(a.Source, b.Source, b.File)
	}
	if a.needsTree() && b.needsTree() && a.Lang == b.Lang {
		var err error
		if old, new, err = grammar.ParsePair(a.Lang.Grammar, a.Source, b.Source, limit); err != nil {
			return err
		}
	}
	return errors.Join(a.Read(old, limit), b.Read(new, limit))
}

// strip leaves of a file of markup what its scripts are.
func (s *Side) strip() {
	if s.Lang.Script && !s.bare && s.Version == nil && !isBinary(s.Source) {
		s.Source, s.bare = scripts(s.Source), true
	}
}

// needsTree tells whether a side has to be parsed with a grammar.
func (s *Side) needsTree() bool {
	return s.Version == nil && s.Lang.Grammar != "" && outline.CanRead(s.Lang) && !rules.GeneratedSource(s.Source) && !isBinary(s.Source)
}

// isGo tells whether a side has to be parsed as Go.
func (s *Side) isGo() bool {
	return s.Version == nil && s.Lang.Name == "go" && !rules.GeneratedSource(s.Source) && !isBinary(s.Source)
}

func isBinary(source []byte) bool { return bytes.IndexByte(source[:min(len(source), 8000)], 0) >= 0 }

// Read makes the version. The tree may be nil: then it is parsed here.
func (s *Side) Read(t *grammar.Tree, limit time.Duration) error {
	if s.Version != nil {
		return nil
	}
	s.strip()
	v := Nothing(s.Lang.Name)
	if rules.GeneratedSource(s.Source) {
		v.Generated = true
		s.Version = v
		return nil
	}
	if formats.Has(s.Lang) {
		found, ok := formats.Read(s.Source, s.File, s.Lang)
		v.Contracts, v.Broken, v.declared = found, !ok, len(found)
	}
	if outline.CanRead(s.Lang) && !isBinary(s.Source) {
		m, err := s.Rules.Load(rules.OrName(s.Lang))
		if err != nil {
			return err
		}
		if v.Outline, err = s.outline(t, m, limit); err != nil {
			return err
		}
		v.extractor = newExtractor(m, v.Outline)
		v.Contracts = append(v.Contracts, v.extractor.contracts()...)
		v.Requests, v.Clients = v.extractor.requests, v.extractor.clients
		v.Broken = v.Broken || v.Outline.Broken
	}
	s.Version = v
	return nil
}

func (s *Side) outline(t *grammar.Tree, m *rules.Matcher, limit time.Duration) (*outline.File, error) {
	if s.Lang.Name == "go" {
		if s.goFile == nil {
			s.goFile = outline.ParseGo(s.Source, s.File)
		}
		return outline.OfGo(s.goFile, s.Source, s.File, m), nil
	}
	if outline.ByLines(s.Lang.Name) {
		return outline.OfLines(s.Source, path.Clean(s.File), s.Lang.Name), nil
	}
	syn, err := outline.LoadSyntax(s.Lang.Grammar)
	if err != nil {
		return nil, err
	}
	if t == nil {
		if t, err = grammar.Parse(s.Lang.Grammar, s.Source, limit); err != nil {
			return nil, err
		}
	}
	return outline.Of(t, syn, s.Lang.Name, path.Clean(s.File), m), nil
}

package outline

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/client/grammar"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// An act is what the walk does at a node of some kind. Kinds that mean
// nothing to us, most of them, have none.
type act uint8

const (
	actNone act = iota
	actDef
	actCall
	actMark
	actText
	actIndex
	actMember
	actImport
	actConst
	actName
	actComment
	actLambda
	actSection
	actReturn
	actObject
	actAdd
)

// A syntax tells how a language writes the things that rules speak of.
type syntax struct {
	lang    string
	grammar *grammar.Language
	acts    []act            // by kind
	forms   []*form          // by kind, what the act needs to know
	class   []kind           // by kind, its role in values: part, hole, list, ...
	worded  [][]*form        // by kind, definitions that a word tells from other calls
	lists   []bool           // by kind, whether it can export what is defined elsewhere
	trails  map[string]trail // of the selectors in the forms
	traits  Traits
}

// A kind is the role of a node in a value.
type kind uint8

const (
	kindNone kind = iota
	kindText
	kindPart
	kindHole
	kindJoin
	kindList
	kindObject
	kindPair
	kindShort
	kindKeyword
	kindWrap
	kindLambda
	kindCall
	kindComment
	kindSymbol
	kindSpread
	kindChoice
	kindLoop
	kindBag // its children are those of the node around it
)

// A form holds where a construct keeps its parts.
type form struct {
	kind      string // of a definition
	container bool
	parts     rules.Options // name, body, callee, ... to selectors
}

// Traits are what a language's rules of compatibility and visibility are.
type Traits struct {
	exportedWhen   []string // words of the header that make a definition visible
	exportedUnless []string // words that hide it
	exportedName   string   // "upper", "!_"
	exportedUnder  string   // kind of node that exports what stands in it
	openIn         []string // definitions of these kinds hold only visible members
	NameFirst      bool     // parameters are "name: type"
	patterns       bool     // parameters are patterns that are matched
	NamesMatter    bool     // callers may name parameters, so renaming one breaks some
	keywords       bool     // callers name those that end in a colon
	Starred        bool     // callers name those that stand after a star
	labels         bool     // a parameter has a name for callers and one for itself
	Defaults       bool     // a parameter can be optional
	Typed          bool     // a change of a type breaks callers
	Awaited        bool     // becoming async changes what callers get
}

var (
	syntaxMu sync.Mutex
	syntaxes = map[string]*syntax{}
)

// LoadSyntax reads a language's syntax.rules, once.
func LoadSyntax(lang string) (*syntax, error) {
	syntaxMu.Lock()
	defer syntaxMu.Unlock()
	if s := syntaxes[lang]; s != nil {
		return s, nil
	}
	g, err := grammar.Load(lang)
	if err != nil {
		return nil, err
	}
	s := &syntax{lang: lang, grammar: g, acts: make([]act, g.Kinds()), forms: make([]*form, g.Kinds()),
		class: make([]kind, g.Kinds()), lists: make([]bool, g.Kinds()),
		worded: make([][]*form, g.Kinds()), trails: map[string]trail{}}
	if err := s.read("syntax.rules", rules.Folder(lang)); err != nil {
		return nil, err
	}
	for _, name := range []string{"export_specifier", "export_statement", "assignment_expression"} {
		for _, id := range g.KindIDs(name) {
			s.lists[id] = s.traits.exportedUnder == "export_statement"
		}
	}
	syntaxes[lang] = s
	return s, nil
}

// read adds the lines of a rules file. A line names a construct, the node
// kinds it is written as, and where its parts are.
func (s *syntax) read(file, folder string) error {
	lines, err := rules.Lines(path.Join(folder, file))
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := s.add(l); err != nil {
			return fmt.Errorf("rules/%s/%s:%d: %w", folder, file, l.Number, err)
		}
	}
	return nil
}

var acts = lazy.Table[map[string]act]{Make: func() map[string]act {
	return map[string]act{
		"def": actDef, "call": actCall, "mark": actMark, "index": actIndex, "member": actMember,
		"import": actImport, "const": actConst, "name": actName, "section": actSection, "return": actReturn, "add": actAdd,
	}
}}

var valueKinds = lazy.Table[map[string]kind]{Make: func() map[string]kind {
	return map[string]kind{
		"bag":     kindBag,
		"loop":    kindLoop,
		"choice":  kindChoice,
		"text":    kindText,
		"part":    kindPart,
		"hole":    kindHole,
		"join":    kindJoin,
		"list":    kindList,
		"object":  kindObject,
		"pair":    kindPair,
		"short":   kindShort,
		"keyword": kindKeyword,
		"wrap":    kindWrap,
		"lambda":  kindLambda,
		"symbol":  kindSymbol,
		"spread":  kindSpread,
	}
}}

func (s *syntax) add(l rules.Line) error {
	word, kinds := l.Words[0], l.Words[1:]
	if word == "traits" {
		return s.traits.read(l.Options)
	}
	f := &form{parts: l.Options}
	for _, o := range l.Options {
		selector := o.Value
		s.learn(selector)
		for one := range strings.SplitSeq(selector, ",") {
			s.learn(one)
		}
	}
	if word == "def" {
		if len(kinds) < 2 {
			return fmt.Errorf("def wants a node kind and a symbol kind")
		}
		f.kind = kinds[1]
		f.container = slices.Contains(kinds, "container")
		kinds = kinds[:1]
		if l.Options.Get("words") != "" {
			for _, id := range s.grammar.KindIDs(kinds[0]) {
				s.worded[id] = append(s.worded[id], f)
			}
			return nil
		}
	}
	a, isAct := acts.Get()[word]
	k, isValue := valueKinds.Get()[word]
	switch word {
	case "comment":
		a, isAct, k, isValue = actComment, true, kindComment, true
	case "text":
		a, isAct = actText, true
	case "call":
		k, isValue = kindCall, true
	case "lambda":
		a, isAct = actLambda, true
	case "object":
		a, isAct = actObject, true
	}
	if !isAct && !isValue {
		return fmt.Errorf("unknown construct %q", word)
	}
	for _, name := range kinds {
		for _, id := range s.grammar.KindIDs(name) {
			if isAct {
				s.acts[id] = a
				s.forms[id] = f
			}
			if isValue {
				s.class[id] = k
				if s.forms[id] == nil {
					s.forms[id] = f
				}
			}
		}
	}
	return nil
}

// read fills traits from options.
func (t *Traits) read(options rules.Options) error {
	for _, o := range options {
		key, value := o.Key, o.Value
		switch key {
		case "exported-when":
			t.exportedWhen = strings.Split(value, ",")
		case "exported-unless":
			t.exportedUnless = strings.Split(value, ",")
		case "exported-name":
			t.exportedName = value
		case "exported-under":
			t.exportedUnder = value
		case "open-in":
			t.openIn = strings.Split(value, ",")
		case "parameters":
			t.NameFirst, t.patterns = value == "name-first", value == "patterns"
		case "callers-use":
			t.NamesMatter = strings.Contains(value, "names")
			t.keywords = strings.Contains(value, "keywords")
			t.Starred = strings.Contains(value, "starred")
			t.labels = strings.Contains(value, "labels")
			t.Defaults = strings.Contains(value, "defaults")
			t.Typed = strings.Contains(value, "types")
			t.Awaited = strings.Contains(value, "async")
		default:
			return fmt.Errorf("unknown trait %q", key)
		}
	}
	return nil
}

// CanRead tells whether this build can find definitions in a language.
func CanRead(l rules.Language) bool {
	return l.Name == "go" || ByLines(l.Name) || l.Grammar != "" && grammar.Supported(l.Grammar)
}

package analysis

import (
	"bufio"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/client/grammar"
)

// rulesFS holds the rules, one folder per language; rules/README.md describes
// the format.
//
//go:embed rules
var rulesFS embed.FS

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
)

// A syntax tells how a language writes the things that rules speak of.
type syntax struct {
	lang    string
	grammar *grammar.Language
	acts    []act            // by kind
	forms   []*form          // by kind, what the act needs to know
	class   []kind           // by kind, its role in values: part, hole, list, ...
	lists   []bool           // by kind, whether it can export what is defined elsewhere
	trails  map[string]trail // of the selectors in the forms
	traits  traits
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
)

// A form holds where a construct keeps its parts.
type form struct {
	kind      string // of a definition
	container bool
	parts     map[string]string // name, body, callee, ... to selectors
}

// Traits are what a language's rules of compatibility and visibility are.
type traits struct {
	exportedWhen   []string // words of the header that make a definition visible
	exportedUnless []string // words that hide it
	exportedName   string   // "upper", "!_"
	exportedUnder  string   // kind of node that exports what stands in it
	openIn         []string // definitions of these kinds hold only visible members
	nameFirst      bool     // parameters are "name: type"
	namesMatter    bool     // callers may name parameters, so renaming one breaks some
	keywords       bool     // callers name those that end in a colon
	starred        bool     // callers name those that stand after a star
	labels         bool     // a parameter has a name for callers and one for itself
	defaults       bool     // a parameter can be optional
	typed          bool     // a change of a type breaks callers
	awaited        bool     // becoming async changes what callers get
}

var (
	syntaxMu sync.Mutex
	syntaxes = map[string]*syntax{}
)

// loadSyntax reads a language's syntax.rules, once.
func loadSyntax(lang string) (*syntax, error) {
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
		class: make([]kind, g.Kinds()), lists: make([]bool, g.Kinds()), trails: map[string]trail{}}
	if err := s.read("syntax.rules", ruleFolder(lang)); err != nil {
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

// ruleFolder is where a language's rules lie: dialects share one folder.
func ruleFolder(lang string) string {
	switch lang {
	case "tsx", "javascript":
		return "typescript"
	}
	return lang
}

// read adds the lines of a rules file. A line names a construct, the node
// kinds it is written as, and where its parts are.
func (s *syntax) read(file, folder string) error {
	lines, err := ruleLines(path.Join("rules", folder, file))
	if err != nil {
		return err
	}
	for _, l := range lines {
		if err := s.add(l); err != nil {
			return fmt.Errorf("rules/%s/%s:%d: %w", folder, file, l.number, err)
		}
	}
	return nil
}

// A ruleLine is a line of a rules file: words, and key=value options.
type ruleLine struct {
	number  int
	words   []string
	options map[string]string
}

// ruleLines reads a rules file. # starts a comment at a line's start or after
// a space.
func ruleLines(name string) ([]ruleLine, error) {
	f, err := rulesFS.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	defer f.Close()
	var out []ruleLine
	scan := bufio.NewScanner(f)
	for n := 1; scan.Scan(); n++ {
		text := scan.Text()
		if i := strings.Index(" "+text, " #"); i >= 0 {
			text = text[:i]
		}
		l := ruleLine{number: n, options: map[string]string{}}
		for _, w := range strings.Fields(text) {
			if key, value, ok := strings.Cut(w, "="); ok && key != "" {
				l.options[key] = value
			} else {
				l.words = append(l.words, w)
			}
		}
		if len(l.words) > 0 || len(l.options) > 0 {
			out = append(out, l)
		}
	}
	return out, scan.Err()
}

// frameworkFiles lists a language's rule files other than its syntax.
func frameworkFiles(lang string) ([]string, error) {
	dir := path.Join("rules", ruleFolder(lang))
	entries, err := fs.ReadDir(rulesFS, dir)
	if err != nil {
		return nil, fmt.Errorf("read rules: %w", err)
	}
	var out []string
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".rules") && name != "syntax.rules" {
			out = append(out, path.Join(dir, name))
		}
	}
	return out, nil
}

var acts = map[string]act{
	"def": actDef, "call": actCall, "mark": actMark, "index": actIndex, "member": actMember,
	"import": actImport, "const": actConst, "name": actName, "section": actSection, "return": actReturn,
}

var valueKinds = map[string]kind{
	"text": kindText, "part": kindPart, "hole": kindHole, "join": kindJoin, "list": kindList, "object": kindObject,
	"pair": kindPair, "short": kindShort, "keyword": kindKeyword, "wrap": kindWrap, "lambda": kindLambda, "symbol": kindSymbol, "spread": kindSpread,
}

func (s *syntax) add(l ruleLine) error {
	word, kinds := l.words[0], l.words[1:]
	if word == "traits" {
		return s.traits.read(l.options)
	}
	f := &form{parts: l.options}
	for _, selector := range l.options {
		s.trails[selector] = s.trail(selector)
		for one := range strings.SplitSeq(selector, ",") {
			s.trails[one] = s.trail(one)
		}
	}
	if word == "def" {
		if len(kinds) < 2 {
			return fmt.Errorf("def wants a node kind and a symbol kind")
		}
		f.kind = kinds[1]
		f.container = slices.Contains(kinds, "container")
		kinds = kinds[:1]
	}
	a, isAct := acts[word]
	k, isValue := valueKinds[word]
	switch word {
	case "comment":
		a, isAct, k, isValue = actComment, true, kindComment, true
	case "text":
		a, isAct = actText, true
	case "call":
		k, isValue = kindCall, true
	case "lambda":
		a, isAct = actLambda, true
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
func (t *traits) read(o map[string]string) error {
	for key, value := range o {
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
			t.nameFirst = value == "name-first"
		case "callers-use":
			t.namesMatter = strings.Contains(value, "names")
			t.keywords = strings.Contains(value, "keywords")
			t.starred = strings.Contains(value, "starred")
			t.labels = strings.Contains(value, "labels")
			t.defaults = strings.Contains(value, "defaults")
			t.typed = strings.Contains(value, "types")
			t.awaited = strings.Contains(value, "async")
		default:
			return fmt.Errorf("unknown trait %q", key)
		}
	}
	return nil
}

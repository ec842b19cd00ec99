package backtest

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/analysis"
	"github.com/svc-hq/svc/internal/client/extinct"
	"github.com/svc-hq/svc/internal/core/coord"
)

// replayBudget keeps one monstrous version from stopping a whole run. Within
// it, what a case shows does not depend on how fast the machine is.
const replayBudget = 5 * time.Minute

// sides analyses the work of each head. Of two, the smaller is read whole and
// of the larger only what can meet it: main moves by hundreds of files while a
// branch is out, and parsing them all would be most of the run. What is left
// out has its line facts, and could have raised nothing more.
func (r *replayer) sides(c *Case) ([]*coord.Analysis, error) {
	bases, err := r.bases(c)
	if err != nil {
		return nil, err
	}
	all := make([]*coord.Analysis, len(c.Heads))
	two := len(c.Heads) == 2 && !r.live // what a report leaves out depends on all that it has
	for i := range all {
		if all[i], err = r.analyse(bases[i], c.Heads[i], analysis.Options{LinesOnly: two}); err != nil {
			return nil, err
		}
	}
	if !two {
		return all, r.history.Names(c.Heads, all, make([]map[string]map[string]bool, len(all)))
	}
	small, large := 0, 1
	if len(all[1].Files) < len(all[0].Files) {
		small, large = 1, 0
	}
	if all[small], err = r.analyse(bases[small], c.Heads[small], analysis.Options{}); err != nil {
		return nil, err
	}
	want := concerns(all[small])
	want.fresh = r.fresh(all[small])
	want.base = r.history.Base
	if all[large], err = r.analyse(bases[large], c.Heads[large], analysis.Options{Want: want.wants}); err != nil {
		return nil, err
	}
	fresh := make([]map[string]map[string]bool, 2)
	fresh[large] = want.fresh
	return all, r.history.Names(c.Heads, all, fresh)
}

// bases are what each side is compared with: one for all, but for the heads of
// a flight.
func (r *replayer) bases(c *Case) ([]string, error) {
	if c.Kind == Flight {
		return c.Own, nil
	}
	base, err := r.base(c)
	return slices.Repeat([]string{base}, len(c.Heads)), err
}

// base returns what both sides are compared with: where histories cross, the
// tree that git makes of the bases, as its own merge does.
func (r *replayer) base(c *Case) (string, error) {
	if len(c.bases) < 2 {
		return c.Base, nil
	}
	tree, _, err := r.repo.MergedTree(r.ctx, r.scratch, c.bases[0], c.bases[1])
	return tree, err
}

// fresh are the words that a side adds, by family of languages: a name that the
// other side takes away must be among them to matter.
func (r *replayer) fresh(a *coord.Analysis) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for i := range a.Files {
		f := &a.Files[i]
		family := coord.NameFamily(f.Language)
		if family == "" || f.Status == coord.FileDeleted {
			continue
		}
		if out[family] == nil {
			out[family] = map[string]bool{}
		}
		maps.Copy(out[family], extinct.NewWords(f.Language, r.history.Base(f), r.history.Now(f)))
	}
	return out
}

func (r *replayer) analyse(base, head string, opts analysis.Options) (*coord.Analysis, error) {
	opts.Unlimited, opts.Budget = !r.live, replayBudget
	return r.history.Between(base, head, opts)
}

// A concern is what somebody's work can meet in the work of others.
type concern struct {
	paths map[string]bool // files it changed, or uses definitions of
	dirs  map[string]bool // of the files it uses definitions of: those may have moved to one beside
	words [][]byte        // names that code must mention to use what it changed
	all   bool            // something that cannot be found by its name

	fresh map[string]map[string]bool // words that it adds, by family of languages
	base  func(*coord.FileFacts) []byte
}

// concerns tells what a finished analysis can meet.
func concerns(a *coord.Analysis) *concern {
	c := &concern{paths: map[string]bool{}, dirs: map[string]bool{}}
	seen := map[string]bool{}
	word := func(w string) {
		if w != "" && !seen[w] {
			seen[w] = true
			c.words = append(c.words, []byte(w))
		}
	}
	for i := range a.Files {
		f := &a.Files[i]
		c.paths[f.Path] = true
		if f.OldPath != nil {
			c.paths[*f.OldPath] = true
		}
		for _, ref := range f.References {
			c.key(ref.Key, word)
		}
		for _, k := range f.Contracts {
			if k.Change != coord.Same || k.Role == coord.Uses {
				c.key(k.Key, word)
			}
		}
		for _, s := range f.Symbols {
			c.all = c.all || len(s.Needs) > 0 // who implements it need not name it
			if s.Compatibility == coord.Breaking || s.Exported && (s.Change == coord.Removed || s.Change == coord.Signature) {
				word(lastName(s.Key))
			}
		}
	}
	return c
}

// key notes a definition that is used, by its file, or a contract, by a word
// that every mention of it has.
func (c *concern) key(key string, word func(string)) {
	kind, rest, _ := strings.Cut(key, ":")
	switch kind {
	case "sym":
		_, rest, _ = strings.Cut(rest, ":")
		file, _, _ := strings.Cut(rest, "#")
		c.paths[file], c.dirs[path.Dir(file)] = true, true
	case "db": // models name tables by rules of their own
		c.all = true
	default:
		word(longestWord(rest))
	}
}

func lastName(key string) string {
	if at := strings.LastIndexAny(key, "#."); at >= 0 {
		return key[at+1:]
	}
	return key
}

// longestWord returns the longest run of letters, digits and underscores.
func longestWord(s string) string {
	best := ""
	for _, w := range strings.FieldsFunc(s, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		if len(w) > len(best) {
			best = w
		}
	}
	return best
}

func (c *concern) wants(f *coord.FileFacts, content func() []byte) bool {
	if c.all || c.paths[f.Path] || c.dirs[path.Dir(f.Path)] || f.OldPath != nil && c.paths[*f.OldPath] {
		return true
	}
	if words := c.fresh[coord.NameFamily(f.Language)]; len(words) > 0 && f.BaseBlob != nil && extinct.Took(f, c.base(f), words) {
		return true
	}
	if len(c.words) == 0 || f.Status == coord.FileDeleted {
		return false
	}
	text := content()
	for _, w := range c.words {
		if bytes.Contains(text, w) {
			return true
		}
	}
	return false
}

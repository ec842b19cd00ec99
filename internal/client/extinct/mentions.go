package extinct

import (
	"bytes"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Mentions adds to the facts of changed files which watched names they newly
// mention. before returns a file's content in the version that its facts count
// from, nil for none.
func Mentions(t *Tree, files []coord.FileFacts, watched []coord.WatchedName, before func(f *coord.FileFacts) []byte) {
	if len(watched) == 0 {
		return
	}
	worth := t.mentioning(files, watched)
	for i := range files {
		f := &files[i]
		family := coord.NameFamily(f.Language)
		if family == "" || f.Status == coord.FileDeleted || f.Status == coord.FileUnchanged || f.Binary || f.Generated ||
			worth != nil && !worth[f.Path] {
			continue
		}
		names := map[string]bool{}
		for _, w := range watched {
			if w.Family == family {
				names[w.Name] = true
			}
		}
		if len(names) == 0 {
			continue
		}
		now := t.read(f.Path)
		uses := find(f.Language, now, names)
		if len(uses) == 0 {
			continue
		}
		old := before(f)
		was := find(f.Language, old, names)
		for k := range watched {
			if w := &watched[k]; w.Family == family {
				f.References = append(f.References, t.newUses(w, f, now, of(uses, w.Name), of(was, w.Name))...)
			}
		}
	}
}

// fewFiles is how many files are read one by one rather than searched.
const fewFiles = 20

// mentioning returns the files of a tree that mention watched names at all; nil
// if they are too few to search for.
func (t *Tree) mentioning(files []coord.FileFacts, watched []coord.WatchedName) map[string]bool {
	if len(files) <= fewFiles {
		return nil
	}
	names := map[string][]string{}
	for _, w := range watched {
		names[w.Family] = append(names[w.Family], w.Name)
	}
	out := map[string]bool{}
	for family, list := range names {
		for part := range slices.Chunk(list, maxNames) {
			found, err := gitrepo.Grep(t.ctx, t.root, t.at, part, endings.Get()[family])
			if err != nil {
				return nil // read them all
			}
			for _, in := range found {
				for _, file := range in {
					out[file] = true
				}
			}
		}
	}
	return out
}

func of(uses []use, name string) (out []use) {
	for _, u := range uses {
		if u.name == name {
			out = append(out, u)
		}
	}
	return out
}

// newUses are the uses of a name that a file has more than before.
func (t *Tree) newUses(w *coord.WatchedName, f *coord.FileFacts, src []byte, now, was []use) (out []coord.Reference) {
	home := slices.Contains(w.Files, f.Path) || f.OldPath != nil && slices.Contains(w.Files, *f.OldPath)
	given := func(uses []use) (n int) {
		for _, u := range uses {
			if u.defines {
				n++
			}
		}
		return n
	}
	if n := given(now); n > given(was) || n > 0 && !home {
		return nil // it has one of its own by that name
	}
	means := func(uses []use) (out []use) {
		for _, u := range uses {
			if meant(w.Form, f.Language, src, u) {
				out = append(out, u)
			}
		}
		return out
	}
	now, was = means(now), means(was)
	had := map[string]int{}
	for _, u := range was {
		had[form(u)]++
	}
	seen := map[string]int{}
	for _, u := range was {
		seen[u.text]++
	}
	told := map[string]bool{}
	more := map[string]int{}
	for _, u := range now {
		more[form(u)]++
	}
	for _, u := range now {
		id := form(u)
		if more[id] <= had[id] || told[id] {
			continue
		}
		if seen[u.text]--; seen[u.text] >= 0 && more[id]-had[id] < len(now) {
			continue // it stood there before, as it is
		}
		told[id] = true
		ref := coord.Reference{Key: w.Key(), Line: u.line}
		if w.Form == coord.FormCall || w.Form == coord.FormMethod {
			ref.Call = u.call
		}
		out = append(out, ref)
	}
	if len(out) > 0 && t.definedElsewhere(w, f.Path) {
		return nil
	}
	return out
}

// form tells uses apart that one change may break and another not.
func form(u use) string {
	if u.call == nil {
		return ""
	}
	return u.call.String()
}

// meant tells whether a use can be one of the definition.
func meant(as coord.NameForm, lang string, src []byte, u use) bool {
	if u.defines {
		return false
	}
	bare := lexes.Get()[lang].bare
	switch as {
	case coord.FormMethod:
		return u.called && (u.member && !foreign(src, u) || bare && !u.member)
	case coord.FormMember:
		return u.member && !u.called && !foreign(src, u) || u.keyed && (lang == "go" || lang == "rust")
	case coord.FormCall:
		return u.called && (!u.member || imported(src, u.of) || lang == "rust")
	case coord.FormValue:
		return !u.member && !u.keyed && strings.ToLower(u.name) != u.name || u.member && imported(src, u.of)
	}
	if c := u.name[0]; (c >= 'a' && c <= 'z' || c == '_') && !u.typed {
		return false // a variable or parameter, as likely
	}
	// In Go a type that is embedded is a field of its name.
	return !u.keyed && (!u.member || imported(src, u.of) || lang == "rust" || lang == "cpp" || lang == "go")
}

// foreign tells whether a member is taken from a module, which methods are not.
func foreign(src []byte, u use) bool {
	return u.of != "" && imported(src, u.of) && strings.ToLower(u.of) == u.of
}

// definedElsewhere reports whether the tree defines a name in a file other than
// those that are known: then a mention may mean that one. The file with the
// mention was looked at before.
func (t *Tree) definedElsewhere(w *coord.WatchedName, mentioned string) bool {
	found, err := gitrepo.Grep(t.ctx, t.root, t.at, []string{w.Name}, endings.Get()[w.Family])
	if err != nil || len(found[w.Name]) > maxFiles*5 {
		return true
	}
	for _, file := range found[w.Name] {
		if slices.Contains(w.Files, file) || file == mentioned {
			continue
		}
		for _, u := range find(rules.LanguageOf(file).Name, t.read(file), map[string]bool{w.Name: true}) {
			if u.defines {
				return true
			}
		}
	}
	return false
}

// Watch lists the names that an analysis marks as one definition's alone.
func Watch(files []coord.FileFacts) (out []coord.WatchedName) {
	at := map[string]int{}
	for i := range files {
		for _, s := range files[i].Symbols {
			if !s.Sole {
				continue
			}
			w := coord.WatchedName{Family: coord.NameFamily(files[i].Language), Name: coord.LastName(s.Key), Form: coord.FormOf(s.Kind, s.Key)}
			n, known := at[w.Key()]
			if !known {
				n = len(out)
				at[w.Key()] = n
				out = append(out, w)
			}
			for _, p := range []*string{&files[i].Path, files[i].OldPath} {
				if p != nil && !slices.Contains(out[n].Files, *p) {
					out[n].Files = append(out[n].Files, *p)
				}
			}
		}
	}
	return out
}

// NewWords returns the words of code that a file has more often than before,
// as far as they could be the name of one definition.
func NewWords(lang string, old, now []byte) map[string]bool {
	count := map[string]int{}
	words(lang, now, func(start, end, _ int) { count[string(now[start:end])]++ })
	words(lang, old, func(start, end, _ int) { count[string(old[start:end])]-- })
	out := map[string]bool{}
	for w, n := range count {
		if n > 0 && telling(w) {
			out[w] = true
		}
	}
	return out
}

// Took reports whether the lines that a change replaced have one of the words,
// so that the change may have taken its definition away.
func Took(f *coord.FileFacts, base []byte, words map[string]bool) bool {
	lines := bytes.SplitAfter(base, []byte{'\n'})
	for _, h := range f.Hunks {
		for n := h.Start - 1; n < h.Start-1+h.Count && n >= 0 && n < len(lines); n++ {
			for w := range bytes.FieldsFuncSeq(lines[n], func(r rune) bool { return r < 128 && !isWord(byte(r)) }) {
				if words[string(w)] {
					return true
				}
			}
		}
	}
	return false
}

package references

import (
	"bytes"
	"strings"

	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/references/locate"
)

// ownModule stands for the file itself in a use.
const ownModule = "\x01"

// ownNames are the definitions of a file, there before and now, of which there
// may be more uses now: those whose names stand in the part that changed.
func ownNames(old, new *outline.File) map[string]bool {
	changed := namesIn(changedPart(old.Source, new.Source))
	if len(changed) == 0 {
		return nil
	}
	now := map[string]bool{}
	for i := range new.Defs {
		now[new.Defs[i].Name] = true
	}
	out := map[string]bool{}
	for i := range old.Defs {
		n := old.Defs[i].Name
		if strings.Count(n, ".") < 2 && now[n] && changed[n[strings.LastIndexByte(n, '.')+1:]] && atTop(old, i) {
			out[n] = true
		}
	}
	return out
}

// atTop reports whether a definition, or the one that it is a member of, begins
// a line without any indent: what tests define in functions without a name
// stands in no definition either, and has the same name in each of them.
func atTop(o *outline.File, i int) bool {
	for o.Defs[i].Parent >= 0 {
		i = o.Defs[i].Parent
	}
	at := int(o.Defs[i].Span.Start)
	begin := bytes.LastIndexByte(o.Source[:min(at, len(o.Source))], '\n') + 1
	return begin < len(o.Source) && o.Source[begin] != ' ' && o.Source[begin] != '\t'
}

// changedPart is what is left of a text without the beginning and the end that
// it shares with another, up to whole names.
func changedPart(old, new []byte) []byte {
	from := 0
	for from < min(len(old), len(new)) && old[from] == new[from] {
		from++
	}
	to := len(new)
	for back := len(old); to > from && back > from && old[back-1] == new[to-1]; back-- {
		to--
	}
	for from > 0 && outline.IsNameByte(new[from-1]) {
		from--
	}
	for to < len(new) && outline.IsNameByte(new[to]) {
		to++
	}
	return new[from:to]
}

// namesIn are the names in a text.
func namesIn(text []byte) map[string]bool {
	out := map[string]bool{}
	for at := 0; at < len(text); at++ {
		from := at
		for at < len(text) && outline.IsNameByte(text[at]) {
			at++
		}
		if at > from {
			out[string(text[from:at])] = true
		}
	}
	return out
}

// ownUses are the uses of a file's own definitions.
func ownUses(o *outline.File, wanted map[string]bool) (out []usedAt) {
	for _, n := range o.Own(wanted) {
		u := usedAt{Use: locate.Use{Module: ownModule, Name: n.Local, Member: n.Member}, line: n.Line, call: n.Call, mark: n.Mark}
		if n.Member != "" && !wanted[n.Local+"."+n.Member] {
			u.Member, u.call = "", nil // of what is not defined here only the holder counts
		}
		out = append(out, u)
	}
	return out
}

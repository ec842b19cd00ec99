package engine

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// use names the places of the side that depends, one of each file: three of
// them, and how many there are besides.
func (v *voice) use() string {
	var all []string
	files := map[string]bool{}
	for i := range v.f.Evidence {
		if e := &v.f.Evidence[i]; e.Party == coord.Holder && e.Path != nil && !files[*e.Path] {
			files[*e.Path] = true
			if len(all) < shownUses {
				all = append(all, strings.TrimSpace(place(*e.Path)+" "+rangeText(e.Lines))+toolMade(e))
			}
		}
	}
	if len(all) == 0 {
		return "some place"
	}
	more := len(files) - len(all)
	for _, key := range v.f.Keys { // the evidence shows only some
		use, ok := strings.CutPrefix(key, string(coord.Holder)+" use ")
		if ok && !v.shows(use) {
			more++
		}
	}
	switch {
	case more == 1:
		return strings.Join(all, ", ") + " and one more place"
	case more > 1:
		return strings.Join(all, ", ") + " and " + coord.InWords(more) + " more places"
	}
	return listing(all)
}

// shows reports whether the evidence has a place in the file of a use.
func (v *voice) shows(use string) bool {
	return slices.ContainsFunc(v.f.Evidence, func(e coord.Evidence) bool {
		return e.Party == coord.Holder && e.Path != nil && strings.HasPrefix(use, *e.Path+" ")
	})
}

// shownUses is how many places one sentence names.
const shownUses = 3

// toolMade tells that a place is nothing to edit.
func toolMade(e *coord.Evidence) string {
	if e.Detail != nil && strings.HasSuffix(*e.Detail, regenerate) {
		return " (" + regenerate + ")"
	}
	return ""
}

// lost tells what became of the names that a file lost.
func (v *voice) lost() string {
	if e := v.evidence(coord.Challenger); e != nil && e.Detail != nil && strings.HasPrefix(*e.Detail, goneDetail) {
		return "took " + v.fieldNames() + " out of"
	}
	return "changed " + v.fieldNames() + " in"
}

// fieldNames are the names that the challenger's file lost.
func (v *voice) fieldNames() string {
	var all []string
	for _, e := range v.f.Evidence {
		if e.Party == coord.Challenger && e.Symbol != nil {
			all = append(all, code(shortName(*e.Symbol)))
		}
	}
	return listing(all)
}

// named is what the dependent side has of it.
func (v *voice) named() string {
	n := 0
	for _, e := range v.f.Evidence {
		if e.Party == coord.Challenger && e.Symbol != nil {
			n++
		}
	}
	if n == 1 {
		return "that name"
	}
	return "those names"
}

// instead tells what stands in place of a name that was lost. The record has it
// as evidence.
func (v *voice) instead() string {
	e := v.evidence(coord.Challenger)
	if e == nil || e.Detail == nil || v.viewer == "" {
		return ""
	}
	if _, now, ok := strings.Cut(*e.Detail, "; "); ok {
		return " (" + form(&now) + ")"
	}
	return ""
}

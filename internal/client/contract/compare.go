package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
)

// compareShapes judges a change of what both sides agree on.
func compareShapes(old, new *Contract) verdict.Verdict {
	var vs []verdict.Verdict
	for _, o := range old.Shape.In {
		n, ok := find(new.Shape.In, o)
		switch {
		case !ok:
			vs = append(vs, verdict.Verdict{Compat: coord.Unknown, Detail: "no longer takes " + o.Name})
		case n.Required && !o.Required:
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: o.Name + " is now required"})
		case n.Typ != o.Typ:
			vs = append(vs, compareWireTypes(o, n, true))
		case n.Name != o.Name:
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: fmt.Sprintf("%s is now called %s", o.Name, n.Name)})
		}
		if ok {
			vs = append(vs, compareEnums(o, n, true)...)
		}
	}
	for _, n := range new.Shape.In {
		if _, ok := find(old.Shape.In, n); ok {
			continue
		}
		if n.Required && inKnown(n.Name, old.Shape.In) {
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: "now requires " + n.Name})
		} else {
			vs = append(vs, verdict.Verdict{Compat: coord.Compatible, Detail: "may take " + n.Name})
		}
	}
	for _, o := range old.Shape.Out {
		n, ok := find(new.Shape.Out, o)
		switch {
		case !ok:
			if v := vanished(o, old, new); v.Compat != "" {
				vs = append(vs, v)
			}
		case n.Typ != o.Typ:
			vs = append(vs, compareWireTypes(o, n, false))
		case o.Required && !n.Required:
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: o.Name + " may now be missing"})
		case n.Name != o.Name:
			vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: fmt.Sprintf("%s is now called %s", o.Name, n.Name)})
		}
		if ok {
			vs = append(vs, compareEnums(o, n, false)...)
		}
	}
	for _, n := range new.Shape.Out {
		if _, ok := find(old.Shape.Out, n); !ok {
			vs = append(vs, addedColumn(new.Key, n))
		}
	}
	if old.Shape.Note != new.Shape.Note {
		vs = append(vs, verdict.Verdict{
			Compat: coord.Unknown,
			Detail: fmt.Sprintf("was %q, is %q", verdict.Clip(old.Shape.Note), verdict.Clip(new.Shape.Note)),
		})
	}
	return verdict.Worst(vs)
}

// inKnown tells whether the part of a request that a field stands in was
// known before: else the field may have been there.
func inKnown(name string, was []Prop) bool {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return true
	}
	return slices.ContainsFunc(was, func(p Prop) bool { return strings.HasPrefix(p.Name, name[:at+1]) }) ||
		!slices.ContainsFunc(was, func(p Prop) bool { return p.Name == strings.TrimSuffix(name[:at], "[]") })
}

// vanished judges a field of a reply that is no longer seen. It is gone only
// if what it stood in is still known; if that is gone itself, it says so.
func vanished(o Prop, old, new *Contract) verdict.Verdict {
	unknown := verdict.Verdict{Compat: coord.Unknown, Detail: "it is no longer known whether it has " + o.Name}
	answered := new.Answer.To > 0 || len(new.Answer.Names) > 0 // its fields were worked out from code, which may not be understood
	if new.Shape.Open || len(new.Shape.Out) == 0 && answered {
		return unknown
	}
	for at := strings.LastIndexByte(o.Name, '.'); at > 0; at = strings.LastIndexByte(o.Name[:at], '.') {
		around := strings.TrimSuffix(o.Name[:at], "[]")
		whole, _, isOneWay := strings.Cut(around, "<") // to be of it
		if _, was := find(old.Shape.Out, Prop{Name: whole}); !was {
			continue
		}
		n, ok := find(new.Shape.Out, Prop{Name: whole})
		switch {
		case n.Cut:
			return unknown
		case isOneWay:
		case !ok:
			return verdict.Verdict{}
		case n.Typ == "":
			return unknown
		}
	}
	return verdict.Verdict{Compat: coord.Breaking, Detail: "no longer has " + o.Name}
}

// compareEnums: an input must still take every value, and a reader of an
// output may not know a new one.
func compareEnums(o, n Prop, input bool) []verdict.Verdict {
	var vs []verdict.Verdict
	for _, v := range o.Enum {
		if len(n.Enum) > 0 && !slices.Contains(n.Enum, v) {
			c := coord.Compatible
			if input {
				c = coord.Breaking
			}
			vs = append(vs, verdict.Verdict{Compat: c, Detail: fmt.Sprintf("%s no longer has the value %s", o.Name, v)})
		}
	}
	for _, v := range n.Enum {
		if len(o.Enum) > 0 && !slices.Contains(o.Enum, v) {
			c := coord.Unknown
			if input {
				c = coord.Compatible
			}
			vs = append(vs, verdict.Verdict{Compat: c, Detail: fmt.Sprintf("%s may now be %s", o.Name, v)})
		}
	}
	if len(o.Enum) == 0 && len(n.Enum) > 0 && input {
		vs = append(vs, verdict.Verdict{Compat: coord.Breaking, Detail: o.Name + " now takes only some values"})
	}
	if len(o.Enum) > 0 && len(n.Enum) == 0 && !input {
		vs = append(vs, verdict.Verdict{Compat: coord.Unknown, Detail: o.Name + " may now be any value"})
	}
	return vs
}

// addedColumn: a column that every insert must name breaks the inserts that
// do not know it.
func addedColumn(key string, p Prop) verdict.Verdict {
	if strings.HasPrefix(key, "db:") && p.Required && strings.HasSuffix(p.Typ, "!") {
		return verdict.Verdict{Compat: coord.Breaking, Detail: "column " + p.Name + " must now be given"}
	}
	return verdict.Verdict{Compat: coord.Compatible, Detail: "now has " + p.Name}
}

// find looks a prop up by its number when it has one, else by name.
func find(ps []Prop, p Prop) (Prop, bool) {
	for _, q := range ps {
		if p.Number != 0 && q.Number == p.Number || p.Number == 0 && q.Name == p.Name {
			return q, true
		}
	}
	return Prop{}, false
}

func compareWireTypes(o, n Prop, input bool) verdict.Verdict {
	said := fmt.Sprintf("%s was %s, is %s", o.Name, verdict.OrNone(o.Typ), verdict.OrNone(n.Typ))
	wide := [][2]string{
		{"integer", "number"},
		{"int", "bigint"},
		{"int", "long"},
		{"integer", "bigint"},
		{"varchar", "text"},
		{"smallint", "integer"},
	}
	for _, w := range wide {
		if input && o.Typ == w[0] && n.Typ == w[1] || !input && o.Typ == w[1] && n.Typ == w[0] {
			return verdict.Verdict{Compat: coord.Compatible, Detail: said}
		}
	}
	oldType, wasNull := strings.CutSuffix(o.Typ, "|null")
	newType, isNull := strings.CutSuffix(n.Typ, "|null")
	if oldType == newType && wasNull != isNull { // nothing where there was something, or the other way round
		if input == isNull {
			return verdict.Verdict{Compat: coord.Compatible, Detail: said}
		}
		return verdict.Verdict{Compat: coord.Breaking, Detail: said}
	}
	was, wasFormat, _ := strings.Cut(o.Typ, ":")
	is, isFormat, _ := strings.Cut(n.Typ, ":")
	switch {
	case o.Typ == "" || n.Typ == "":
		return verdict.Verdict{Compat: coord.Unknown, Detail: said}
	case was == is && (input && isFormat == "" || !input && wasFormat == ""): // a format more or less
		return verdict.Verdict{Compat: coord.Compatible, Detail: said}
	case input && n.Typ == "string" && (strings.HasPrefix(o.Name, "query ") || strings.HasPrefix(o.Name, "header ")):
		return verdict.Verdict{Compat: coord.Compatible, Detail: said} // it is sent as text anyway
	}
	return verdict.Verdict{Compat: coord.Breaking, Detail: said}
}

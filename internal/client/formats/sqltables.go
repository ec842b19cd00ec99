package formats

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/verdict"
	"github.com/svc-hq/svc/internal/core/coord"
)

// What statements make of tables: made, dropped, altered.

// constraints begin a part of a table's definition that is no column.
var constraints = []string{"primary", "foreign", "unique", "constraint", "check", "key", "index", "exclude", "like", "fulltext"}

func (r *sqlReader) createTable() {
	r.skip("if", "not", "exists")
	name, line := r.name()
	c := r.add(name, coord.Provides, line)
	if r.peek(0) != "(" || c == nil {
		r.toEnd()
		return
	}
	r.at++
	for r.at < len(r.toks) && r.toks[r.at].text != ")" && r.toks[r.at].text != ";" {
		part := r.definition()
		if len(part) > 0 && part[0].word && !slices.Contains(constraints, strings.ToLower(part[0].text)) {
			c.Shape.Out = append(c.Shape.Out, columnProp(part))
		}
		if r.peek(0) == "," {
			r.at++
		}
	}
	r.toEnd()
}

// definition takes the tokens up to the next comma or the closing bracket.
func (r *sqlReader) definition() []sqlToken {
	depth, start := 0, r.at
	for r.at < len(r.toks) {
		switch r.toks[r.at].text {
		case "(":
			depth++
		case ")":
			if depth == 0 {
				return r.toks[start:r.at]
			}
			depth--
		case ",", ";":
			if depth == 0 {
				return r.toks[start:r.at]
			}
		}
		r.at++
	}
	return r.toks[start:r.at]
}

// columnProp reads "name type ...".
func columnProp(part []sqlToken) contract.Prop {
	p := contract.Prop{Name: strings.ToLower(part[0].text)}
	var typ, rest []string
	for i, t := range part[1:] {
		word := strings.ToLower(t.text)
		if slices.Contains([]string{
			"not", "null", "default", "primary", "unique", "references", "check", "constraint", "generated", "auto_increment",
			"autoincrement", "collate", "comment", "identity", "on", "as",
		}, word) && i > 0 || len(rest) > 0 {
			rest = append(rest, word)
			continue
		}
		typ = append(typ, word)
	}
	p.Typ = strings.NewReplacer(" ( ", "(", " )", ")", " , ", ",").Replace(strings.Join(typ, " "))
	tail := " " + strings.Join(rest, " ") + " "
	p.Required = strings.Contains(tail, " not null ") || strings.Contains(tail, " primary key ")
	filled := strings.Contains(tail, " default ") || strings.Contains(tail, " generated ") || strings.Contains(tail, " identity ") ||
		strings.Contains(tail, "increment") || strings.Contains(p.Typ, "serial") || strings.Contains(tail, " primary key ")
	if p.Required && !filled {
		p.Typ += "!"
	}
	return p
}

func (r *sqlReader) dropTable() {
	r.skip("if", "exists")
	for {
		name, line := r.name()
		if c := r.add(name, coord.Provides, line); c != nil {
			c.Ops = []contract.Operation{{
				Text:    "drops the table",
				Verdict: verdict.Verdict{Compat: coord.Breaking, Detail: "the table is dropped"},
				Removes: true,
			}}
		}
		if r.peek(0) != "," {
			break
		}
		r.at++
	}
	r.toEnd()
}

func (r *sqlReader) alterTable() {
	r.skip("if", "exists", "only")
	name, line := r.name()
	c := r.add(name, coord.Provides, line)
	if c == nil {
		r.toEnd()
		return
	}
	for r.at < len(r.toks) && r.peek(0) != ";" {
		part := r.definition()
		if op, ok := alteration(part); ok {
			c.Ops = append(c.Ops, op)
		}
		if r.peek(0) == "," || r.peek(0) == ")" {
			r.at++
		}
	}
	if c.Ops == nil {
		r.out = r.out[:len(r.out)-1]
	}
	r.at++
}

// alteration reads one step of an ALTER TABLE.
func alteration(part []sqlToken) (contract.Operation, bool) {
	var words []string
	for _, t := range part {
		words = append(words, strings.ToLower(t.text))
	}
	drop := func(n int) { words, part = words[n:], part[n:] }
	at := func(i int) string {
		if i < len(words) {
			return words[i]
		}
		return ""
	}
	if len(words) < 2 {
		return contract.Operation{}, false
	}
	verb := words[0]
	drop(1)
	if at(0) == "column" {
		drop(1)
	}
	for at(0) == "if" || at(0) == "not" || at(0) == "exists" {
		drop(1)
	}
	switch {
	case slices.Contains(constraints, at(0)) || at(0) == "":
		return contract.Operation{}, false
	case verb == "drop":
		return contract.ColumnOperation("drop-column", at(0), "", false), true
	case verb == "rename" && at(0) == "to":
		return contract.ColumnOperation("rename", "", at(1), false), true
	case verb == "rename":
		return contract.ColumnOperation("rename-column", at(0), at(2), false), true
	case verb == "change":
		return contract.ColumnOperation("rename-column", at(0), at(1), false), true
	case verb == "add":
		return contract.ColumnOperation("add-column", at(0), "", strings.HasSuffix(columnProp(part).Typ, "!")), true
	case verb == "alter" || verb == "modify":
		tail := strings.Join(words[1:], " ")
		switch {
		case strings.HasPrefix(tail, "set default"), strings.HasPrefix(tail, "drop default"), strings.HasPrefix(tail, "drop not null"):
			return contract.Operation{
				Text:    "alters " + at(0),
				Verdict: verdict.Verdict{Compat: coord.Compatible, Detail: "column " + at(0) + " changes its default or takes null"},
			}, true
		case strings.HasPrefix(tail, "set not null"):
			return contract.Operation{
				Text:    "alters " + at(0) + " not null",
				Verdict: verdict.Verdict{Compat: coord.Breaking, Detail: "column " + at(0) + " no longer takes null"},
			}, true
		}
		return contract.ColumnOperation("change-column", at(0), "", false), true
	}
	return contract.Operation{}, false
}

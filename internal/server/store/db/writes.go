package db

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Write is what a statement writes to: a table, and the columns where only
// some of rows that are there change. Of one that names no table nobody knows.
type Write struct {
	Table   string
	Columns []string
}

// Concerns reports whether a question may be about what is written: it names
// the table, and one of the columns.
func (w Write) Concerns(query string) bool {
	if !strings.Contains(query, w.Table) {
		return false
	}
	return w.Columns == nil || slices.ContainsFunc(w.Columns, func(c string) bool { return strings.Contains(query, c) })
}

var (
	writesTo = regexp.MustCompile(`\b(?:INSERT\s+INTO|UPDATE|DELETE\s+FROM)\s+([a-z_]+)`)
	update   = regexp.MustCompile(`^\s*UPDATE\s+([a-z_]+)\s+SET\s+([^()]+?)\s+(?:WHERE|FROM)\b`)
	column   = regexp.MustCompile(`([a-z_]+)\s*=`)
	known    sync.Map // statement to its writes: there are few hundred
)

// WritesOf returns what a statement writes to, by its text.
func WritesOf(statement string) []Write {
	if ws, ok := known.Load(statement); ok {
		return ws.([]Write)
	}
	var ws []Write
	if m := update.FindStringSubmatch(statement); m != nil {
		w := Write{Table: m[1]}
		for _, c := range column.FindAllStringSubmatch(m[2], -1) {
			w.Columns = append(w.Columns, c[1])
		}
		ws = append(ws, w)
	} else {
		for _, m := range writesTo.FindAllStringSubmatch(statement, -1) {
			ws = append(ws, Write{Table: m[1]})
		}
	}
	if len(ws) == 0 {
		ws = []Write{{}}
	}
	known.Store(statement, ws)
	return ws
}

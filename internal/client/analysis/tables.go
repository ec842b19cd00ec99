package analysis

import (
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
)

// A search finds the files of a tree in which names stand as whole words.
type search func(names []string) (map[string][]string, error)

const (
	maxTables     = 20 // that are looked for at a time
	maxTableFiles = 40 // that are read to find one
)

// keepTables leaves out that a table went where another file of the tree still
// defines it: one that is created by a statement and described by a model, or
// by two migrations, is gone only with the last of them. What drops a table is
// no such file, and stays told.
func (r *run) keepTables(files []coord.FileFacts) {
	var keys []string
	for i := range files {
		for k := range files[i].Contracts {
			if c := &files[i].Contracts[k]; tableWent(c) && !slices.Contains(keys, c.Key) && len(keys) < maxTables {
				keys = append(keys, c.Key)
			}
		}
	}
	if len(keys) == 0 || r.search == nil {
		return
	}
	var names []string
	for _, key := range keys {
		names = append(names, tableNames(key)...)
	}
	found, err := r.search(names)
	if err != nil {
		return // nobody knows: it is told, as before
	}
	kept := map[string]bool{}
	for _, key := range keys {
		var in []string
		for _, n := range tableNames(key) {
			in = append(in, found[n]...)
		}
		slices.Sort(in)
		in = slices.Compact(in)
		kept[key] = slices.ContainsFunc(in[:min(len(in), maxTableFiles)], func(file string) bool { return r.repo.DefinesTable(file, key) })
	}
	for i := range files {
		f := &files[i]
		f.Contracts = slices.DeleteFunc(f.Contracts, func(c coord.ContractFacts) bool { return tableWent(&c) && kept[c.Key] })
	}
}

// tableWent reports whether the definition of a table was taken away; a
// statement that drops it is there, with a signature.
func tableWent(c *coord.ContractFacts) bool {
	return c.Change == coord.Removed && c.Role == coord.Provides && strings.HasPrefix(c.Key, "db:") && c.SignatureHash == nil
}

// tableNames are the words that a file which defines a table has: its name, or
// that of a model of it.
func tableNames(key string) []string {
	name := key[strings.LastIndexAny(key, ".:")+1:]
	one := strings.TrimSuffix(name, "s")
	if stem, ok := strings.CutSuffix(name, "ies"); ok {
		one = stem + "y"
	}
	out := []string{name, one, camel(name), camel(one)}
	slices.Sort(out)
	return slices.Compact(out)
}

// camel writes order_items as OrderItems.
func camel(name string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(name, "_") {
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

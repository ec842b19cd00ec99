package main

import (
	"maps"
	"path"
	"slices"
	"sort"
	"strings"
)

// maxLooked is how many words of a commit, and files that have one, are looked at.
const maxLooked = 12

// definitions are those of the base that go by one of the words.
func (s *served) definitions(server *session, base string, words map[string]bool) (out []symbol, err error) {
	var all []string
	for w := range words {
		if len(w) > 2 && (w[0] < '0' || w[0] > '9') {
			all = append(all, w)
		}
	}
	sort.Strings(all)
	s.chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if err := s.openAll(server); err != nil {
		return nil, err
	}
	looked := map[string]bool{}
	for _, w := range all[:min(len(all), maxLooked)] {
		list, err := s.git("", "grep", "-lE", "-e", `(def|class|function|interface|type|enum|const|let|struct|define) +`+w+`\b|`+
			`(^|[ *])`+w+` ?[:=(<?]`, base, "--", "*"+s.ending)
		if err != nil {
			continue // nobody defines it
		}
		for i, line := range strings.Fields(list) {
			file := strings.TrimPrefix(line, base+":")
			if i == maxLooked || looked[file] || isTest(file) {
				continue
			}
			looked[file] = true
			if err := server.open(file, s.id); err != nil {
				return nil, err
			}
			syms, err := server.symbols(file)
			if err != nil {
				return nil, err
			}
			for _, sym := range syms {
				if words[sym.Name] && len(sym.Name) > 2 && sym.Kind != kindModule {
					out = append(out, sym)
				}
			}
		}
	}
	return out, nil
}

// openAll has a server read all files that finds uses only in those it has open,
// as clangd does without a database of how each is compiled.
func (s *served) openAll(server *session) error {
	if s.id != "c" {
		return nil
	}
	for _, file := range slices.Sorted(maps.Keys(s.there[s.base])) {
		if ext := path.Ext(file); ext != ".c" && ext != ".h" {
			continue
		}
		if err := server.open(file, s.id); err != nil {
			return err
		}
		if _, err := server.symbols(file); err != nil { // it has read it when it answers
			return err
		}
	}
	return nil
}

func isTest(file string) bool {
	return strings.Contains(file, "test") || strings.Contains(path.Base(file), "spec")
}

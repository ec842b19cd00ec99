package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// pairs plays the servers and clients of a table of calls, one pair after the
// other. What is told of routes is found by the calls; of fields nobody wrote
// down who reads which, so those are drawn that a server writes into a reply
// and a client has as a key.
func (p *play) pairs(list string) error {
	rows, err := table(list)
	if err != nil {
		return err
	}
	words := map[[2]string]map[string]bool{}
	for _, r := range rows {
		pair := [2]string{r["provider"], r["user"]}
		if words[pair] == nil {
			words[pair] = map[string]bool{}
		}
		if w := lastWord(r["path"]); w != "" {
			words[pair][w] = true
		}
	}
	st, err := newStage()
	if err != nil {
		return err
	}
	defer st.close()
	var all tally
	all.head("server and client")
	order := slices.SortedFunc(maps.Keys(words), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, pair := range order {
		name := pair[0] + " and " + pair[1]
		if !strings.Contains(name, p.only) {
			continue
		}
		one, err := p.pair(st, pair, words[pair])
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all.add(name, one)
	}
	all.end()
	return nil
}

// lastWord is the last word of a path that is no parameter.
func lastWord(path string) string {
	all := strings.FieldsFunc(path, func(c rune) bool { return c == '/' || c == '.' })
	for _, w := range slices.Backward(all) {
		if !strings.Contains(w, "{") {
			return w
		}
	}
	return ""
}

func (p *play) pair(s *stage, pair [2]string, words map[string]bool) (tally, error) {
	at := func(repo string) map[string]string { return map[string]string{"repo": repo, "commit": "HEAD"} }
	api, web, err := p.beside(s, at(pair[0]), at(pair[1]))
	if err != nil {
		return tally{}, err
	}
	all, err := sources(api.dir)
	if err != nil {
		return tally{}, err
	}
	theirs, err := sources(web.dir)
	if err != nil {
		return tally{}, err
	}
	var quoted []string
	for _, w := range slices.Sorted(maps.Keys(words)) {
		quoted = append(quoted, regexp.QuoteMeta(w))
	}
	p.pathWord, p.every = regexp.MustCompile(`(["'/: ])(`+strings.Join(quoted, "|")+`)(["'/?:{ ,.()]|$)`), true
	p.words, p.fields = words, shared(all, theirs)
	for _, f := range p.fields {
		p.words[strings.ToLower(f)] = true
	}
	if len(p.fields) == 0 {
		p.fields = []string{"none"} // too short to be drawn
	}
	return p.trials(s, api, all)
}

// written are the names that a program writes into replies; keys are those that
// one has for what it reads.
var (
	written = regexp.MustCompile(`json:"([a-z]\w{4,})|["']([a-z]\w{4,})["']\s*=>|\b(?:api|json)\.([a-z]\w{4,})\b|` +
		`#\[Serializer\\SerializedName\(name: '(\w{5,})'`)
	keys = regexp.MustCompile(`["']([a-z]\w{4,})["']|json:"([a-z]\w{4,})|` +
		`(?m)^\s*(?:va[lr] |public |private |readonly )*\$?([a-z]\w{4,})\??\s*:\s`)
)

// shared are the names that a server writes and a client has as keys.
func shared(server, client map[string]string) []string {
	has := map[string]bool{}
	each(client, keys, func(name string) { has[name] = true })
	out := map[string]bool{}
	each(server, written, func(name string) {
		if has[name] {
			out[name] = true
		}
	})
	return slices.Sorted(maps.Keys(out))
}

func each(files map[string]string, of *regexp.Regexp, visit func(string)) {
	for _, text := range files {
		for _, m := range of.FindAllStringSubmatch(text, -1) {
			for _, name := range m[1:] {
				if name != "" {
					visit(name)
				}
			}
		}
	}
}

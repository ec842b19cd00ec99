package host

// A Reading is a part of a file that a tool shows the model.
type Reading struct {
	Path     string // as the host wrote it
	From, To int    // lines, from 1
}

// maxShown is how many lines of a file hosts show at a time where the model does
// not say.
const maxShown = 2000

// Keys of what reads hold, over all hosts.
var (
	fromKeys  = []string{"offset", "start_line", "startLine", "StartLine", "start_line_one_indexed", "line_start"}
	toKeys    = []string{"end_line", "endLine", "EndLine", "end_line_one_indexed_inclusive", "line_end"}
	limitKeys = []string{"limit", "num_lines", "line_count"}
)

// readings returns what a tool that reads is about to show.
func readings(input any) []Reading {
	switch in := input.(type) {
	case string:
		return []Reading{{in, 1, maxShown}}
	case map[string]any:
		var out []Reading
		readKeys := append([]string{"AbsolutePath", "absolute_path", "absolutePath", "file"}, pathKeys...)
		for _, p := range editPathsOf(in, readKeys) {
			out = append(out, shown(payload(in), p))
		}
		for _, k := range append([]string{"operations", "ranges"}, listKeys...) {
			list, _ := in[k].([]any)
			for _, e := range list {
				if m, ok := e.(map[string]any); ok {
					for _, p := range editPathsOf(m, readKeys) {
						out = append(out, shown(payload(m), p))
					}
				}
			}
		}
		return out
	}
	return nil
}

func editPathsOf(in map[string]any, keys []string) (out []string) {
	for _, k := range keys {
		out = appendNew(out, texts(in[k])...)
	}
	return out
}

// shown reads which lines are meant.
func shown(p payload, path string) Reading {
	r := Reading{path, 1, maxShown}
	if list, ok := p["view_range"].([]any); ok && len(list) == 2 {
		from, ok1 := list[0].(float64)
		to, ok2 := list[1].(float64)
		if ok1 && ok2 {
			r.From, r.To = int(from), int(to)
			if to < 0 {
				r.To = r.From + maxShown
			}
		}
		return r
	}
	if n, ok := p.first(fromKeys).(float64); ok {
		r.From, r.To = max(int(n), 1), int(n)+maxShown-1
	}
	if n, ok := p.first(toKeys).(float64); ok {
		r.To = int(n)
	} else if n, ok := p.first(limitKeys).(float64); ok {
		r.To = r.From + int(n) - 1
	}
	return r
}

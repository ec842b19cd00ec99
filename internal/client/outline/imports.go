package outline

import (
	"strings"
)

// readImport reads an import of any language into the names it binds. The
// statements differ little enough for their text to be read.
func (w *walker) readImport(i int) {
	line := w.t.Nodes[i].Row
	s := oneLine(w.t.Text(i))
	switch w.Lang {
	case "typescript", "javascript":
		w.importECMA(s, line)
	case "python":
		w.importPython(s, line)
	case "java", "kotlin", "scala", "swift", "csharp", "php":
		w.importDotted(s, line)
	case "c", "cpp":
		if _, file, ok := strings.Cut(s, "\""); ok {
			w.Imports = append(w.Imports, Imported{Module: strings.TrimSuffix(file, "\""), Name: "*", Line: line})
		}
	case "rust":
		for _, p := range expandUse(strings.TrimSuffix(strings.TrimSpace(cutWord(s, "use")), ";")) {
			path, local, _ := strings.Cut(p, " as ")
			w.bind(path, local, "::", line)
		}
	}
}

func cutWord(s, word string) string {
	_, after, _ := strings.Cut(s, word+" ")
	return after
}

// bind adds an import of a whole path: its last part is the name.
func (w *walker) bind(path, local, sep string, line uint32) {
	path = strings.TrimSpace(path)
	at := strings.LastIndex(path, sep)
	module, nm := "", path
	if at >= 0 {
		module, nm = path[:at], path[at+len(sep):]
	}
	if local == "" {
		local = nm
	}
	if nm == "" || nm == "self" {
		return
	}
	w.Imports = append(w.Imports, Imported{Module: module, Name: nm, Local: strings.TrimSpace(local), Line: line})
}

// importECMA reads import a, {b as c}, * as d from 'module'.
func (w *walker) importECMA(s string, line uint32) {
	at := strings.LastIndexAny(s, "'\"")
	if at <= 0 {
		return
	}
	open := strings.LastIndexAny(s[:at], "'\"")
	if open < 0 {
		return
	}
	module := s[open+1 : at]
	clause := strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s[:open]), "from"))
	clause = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(clause, "import"), " type "))
	w.bindECMA(clause, module, line)
}

func (w *walker) bindECMA(clause, module string, line uint32) {
	head, list, _ := strings.Cut(clause, "{")
	for part := range strings.SplitSeq(strings.Trim(head, " ,"), ",") {
		switch part = strings.TrimSpace(part); {
		case part == "":
		case strings.HasPrefix(part, "* as "):
			w.Imports = append(w.Imports, Imported{module, "", strings.TrimPrefix(part, "* as "), line})
		default:
			w.Imports = append(w.Imports, Imported{module, "default", part, line})
		}
	}
	for part := range strings.SplitSeq(strings.TrimRight(list, " }"), ",") {
		part = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(part), "type "))
		if part == "" {
			continue
		}
		from, local, ok := strings.Cut(part, " as ")
		if !ok {
			if from, local, ok = strings.Cut(part, ":"); !ok {
				local = from
			}
		}
		w.Imports = append(w.Imports, Imported{module, strings.TrimSpace(from), strings.TrimSpace(local), line})
	}
	if strings.TrimSpace(clause) == "" {
		w.Imports = append(w.Imports, Imported{module, "", "", line})
	}
}

// requireCall reads const x = require('module').
func (w *walker) requireCall(i int, c *Call) {
	if len(c.Args) == 0 || c.Inner != nil {
		return
	}
	module, ok := c.Args[0].Literal()
	if !ok {
		return
	}
	p := w.parent(i)
	name := ""
	if p >= 0 && w.t.Kind(p) == "member_expression" { // require("x").y
		if n := w.t.Child(p, "property"); n >= 0 {
			name, p = w.t.Text(n), w.parent(p)
		}
	}
	if p >= 0 && w.t.Kind(p) == "variable_declarator" {
		if n := w.t.Child(p, "name"); n >= 0 {
			left := oneLine(w.t.Text(n))
			if strings.HasPrefix(left, "{") {
				w.bindECMA(left, module, w.t.Nodes[i].Row)
			} else {
				w.Imports = append(w.Imports, Imported{module, name, left, w.t.Nodes[i].Row})
			}
			return
		}
	}
	w.Imports = append(w.Imports, Imported{module, "", "", w.t.Nodes[i].Row})
}

// importPython reads import a.b as c and from a.b import c as d, e.
func (w *walker) importPython(s string, line uint32) {
	if rest, ok := strings.CutPrefix(s, "from "); ok {
		module, list, _ := strings.Cut(rest, " import ")
		for part := range strings.SplitSeq(strings.Trim(list, "() "), ",") {
			from, local, ok := strings.Cut(strings.TrimSpace(part), " as ")
			if !ok {
				local = from
			}
			if from != "" {
				w.Imports = append(w.Imports, Imported{strings.TrimSpace(module), from, local, line})
			}
		}
		return
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(s, "import "), ",") {
		from, local, ok := strings.Cut(strings.TrimSpace(part), " as ")
		if !ok {
			local = from
		}
		w.Imports = append(w.Imports, Imported{from, "", local, line})
	}
}

// importDotted reads import a.b.C, using A.B, use A\B as C.
func (w *walker) importDotted(s string, line uint32) {
	for _, word := range []string{"import static ", "import ", "using ", "use "} {
		s = strings.TrimPrefix(s, word)
	}
	s = strings.NewReplacer("\\", ".", ";", "", "=>", " as ").Replace(s)
	if head, list, ok := strings.Cut(s, "{"); ok {
		for part := range strings.SplitSeq(strings.TrimRight(list, "} "), ",") {
			from, local, _ := strings.Cut(strings.TrimSpace(part), " as ")
			w.bind(strings.TrimSpace(head)+strings.TrimSpace(from), strings.TrimSpace(local), ".", line)
		}
		return
	}
	from, local, _ := strings.Cut(strings.TrimSpace(s), " as ")
	w.bind(from, local, ".", line)
}

// expandUse turns a::{b, c::d} into a::b and a::c::d.
func expandUse(s string) []string {
	open := strings.IndexByte(s, '{')
	if open < 0 {
		return []string{strings.TrimSpace(s)}
	}
	var out []string
	inner := s[open+1 : max(open+1, closing(s, open)-1)]
	for _, part := range SplitTop(inner, ',') {
		for _, p := range expandUse(strings.TrimSpace(part)) {
			if p != "" && len(out) < 200 {
				out = append(out, s[:open]+p)
			}
		}
	}
	return out
}

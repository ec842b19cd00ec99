package shellscan

import (
	"regexp"
	"strconv"
	"strings"
)

// A short script in Python is read without its texts: these are taken out first,
// so that what stands in them is not taken for words of the script.

// pyStrings are the texts of a script, with the letters before their quotes.
var pyStrings = lazily(`(?s)([rRbBuUfF]{0,2})(?:'''(.*?)'''|"""(.*?)"""|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")`)

// A pyText is a text of a script, and whether it is known as it is.
type pyText struct {
	text  string
	known bool
}

// A pyScript is a script in whose place of texts stand "0", "1" and so on.
type pyScript struct {
	text  string
	texts []pyText
}

func readPython(text string) (p pyScript) {
	re := pyStrings.get()[0]
	p.text = re.ReplaceAllStringFunc(text, func(m string) string {
		g := re.FindStringSubmatch(m)
		kind := strings.ToLower(g[1])
		t := pyText{g[2] + g[3] + g[4] + g[5], !strings.ContainsAny(kind, "fb")}
		if !strings.Contains(kind, "r") {
			t.text, t.known = unescaped(t.text, t.known)
		}
		p.texts = append(p.texts, t)
		return `"` + strconv.Itoa(len(p.texts)-1) + `"`
	})
	return p
}

// unescaped undoes the backslashes of a text, as far as they are the common ones.
func unescaped(s string, known bool) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		plain, ok := map[byte]string{'n': "\n", 't': "\t", '\\': `\`, '\'': "'", '"': `"`, '\n': ""}[s[i]]
		known = known && ok
		b.WriteString(plain)
	}
	return b.String(), known
}

// What a script does, without its texts.
var pyShapes = lazily(
	`\.replace\(\s*("\d+"|\w+)\s*,\s*("\d+"|\w+)\s*\)`,
	`\.write(?:_text)?\(\s*("\d+"|\w+)\s*[,)]`,
	`\bre\.|\.(?:join|format|splitlines|readlines|writelines|insert|append|strip|sub|upper|lower)\(|\bjson\b|\byaml\b|["\w)]\s*[%+]\s*["\w(]`,
	`\bopen\(\s*(?:"\d+"|\w+)\s*,\s*(?:mode\s*=\s*)?("\d+")`,
	`\.read(?:_text|line|lines|_bytes)?\(|\bin\s+open\(|\bload\(`,
	`\.write(?:_text|_bytes|lines)?\(|\bdump\(`,
)

const (
	pyReplace = iota
	pyWrite
	pyMore // than can be read
	pyOpen
	pyReads
	pyWritesAny
)

func (p pyScript) has(shape int) bool { return pyShapes.get()[shape].MatchString(p.text) }

// value is the text that an argument stands for.
func (p pyScript) value(arg string) (string, bool) {
	if quoted, ok := strings.CutPrefix(arg, `"`); ok {
		i, err := strconv.Atoi(strings.TrimSuffix(quoted, `"`))
		if err != nil || i >= len(p.texts) {
			return "", false
		}
		return p.texts[i].text, p.texts[i].known
	}
	set := regexp.MustCompile(`\b`+regexp.QuoteMeta(arg)+`\s*[-+*/|]?=(?:\s*("\d+")\s*(?:[;\n]|$))?`).FindAllStringSubmatch(p.text, 2)
	if len(set) != 1 || set[0][1] == "" {
		return "", false
	}
	return p.value(set[0][1])
}

// appends reports whether the script adds to a file.
func (p pyScript) appends() bool {
	for _, m := range pyShapes.get()[pyOpen].FindAllStringSubmatch(p.text, 10) {
		if mode, _ := p.value(m[1]); strings.ContainsAny(mode, "a+") {
			return true
		}
	}
	return false
}

// pythonEdit reads what a short script does to the one file it writes: texts
// that it replaces, or the text it writes. A script that writes what cannot be
// told and has read nothing replaces its files blindly.
func (s *scanner) pythonEdit(text string, files []value) {
	if len(files) == 0 {
		return
	}
	p := readPython(text)
	if e, ok := p.edit(files); ok {
		s.edit(files[0], e)
	} else if !p.has(pyReads) && p.has(pyWritesAny) && !p.appends() {
		for _, f := range files {
			s.edit(f, Edit{Blind: true})
		}
	}
}

func (p pyScript) edit(files []value) (Edit, bool) {
	for _, f := range files[1:] {
		if f.s != files[0].s {
			return Edit{}, false
		}
	}
	if p.has(pyMore) {
		return Edit{}, false
	}
	var replace [][2]string
	for _, m := range pyShapes.get()[pyReplace].FindAllStringSubmatch(p.text, 50) {
		old, ok := p.value(m[1])
		with, ok2 := p.value(m[2])
		if !ok || !ok2 {
			return Edit{}, false
		}
		replace = append(replace, [2]string{old, with})
	}
	if len(replace) > 0 {
		return Edit{Replace: replace}, true
	}
	written := pyShapes.get()[pyWrite].FindAllStringSubmatch(p.text, 2)
	if len(written) != 1 {
		return Edit{}, false
	}
	whole, ok := p.value(written[0][1])
	return Edit{Whole: !p.appends(), Append: p.appends(), Text: whole}, ok
}

package shellscan

import (
	"path"
	"regexp"
	"strings"
	"sync"
)

// An interpreter runs a script given as an argument or on standard input.
type interpreter struct {
	flags []string // that precede a script
	scan  func(*scanner, string)
}

// interpreterTable returns the interpreters by name.
func interpreterTable() map[string]interpreter {
	shell := interpreter{[]string{"-c"}, (*scanner).script}
	js := interpreter{[]string{"-e", "--eval", "-p", "--print"}, scriptWrites(jsWrites)}
	py := interpreter{[]string{"-c"}, python}
	rb := interpreter{[]string{"-e", "-E"}, scriptWrites(rbWrites)}
	ps := interpreter{[]string{"-c", "-command", "-Command", "-C"}, (*scanner).powershell}
	return map[string]interpreter{
		"bash": shell, "sh": shell, "zsh": shell, "dash": shell, "ksh": shell, "fish": shell,
		"python": py, "python3": py, "python2": py, "pypy": py, "pypy3": py,
		"node": js, "nodejs": js, "bun": js, "deno": js, "tsx": js,
		"ruby": rb, "perl": rb, "php": {[]string{"-r"}, scriptWrites(phpWrites)},
		"lua":  {[]string{"-e"}, scriptWrites(luaWrites)},
		"pwsh": ps, "powershell": ps, "pwsh.exe": ps, "powershell.exe": ps,
	}
}

// interpreter scans the script that c gives to an interpreter.
func (s *scanner) interpreter(name string, c call) bool {
	if v, ok := strings.CutPrefix(name, "python3."); ok && v != "" {
		name = "python3"
	}
	in, ok := s.interpreters[name]
	if !ok {
		return false
	}
	if name == "deno" && len(c.args) > 1 && c.args[0].s == "eval" {
		in.scan(s, c.args[1].s)
		return true
	}
	if (name == "perl" || name == "ruby") && s.inPlace(c) {
		return true
	}
	if hasAny(c.args, "--version", "-V", "--help") {
		return true
	}
	known := s.readOnly
	for i, a := range c.args {
		if i+1 < len(c.args) && isScriptFlag(a.s, in.flags) {
			if !c.args[i+1].ok && c.args[i+1].s == "" {
				s.readOnly = false
				return true
			}
			s.sub(func() {
				s.positional(c.args[min(i+3, len(c.args)):])
				in.scan(s, c.args[i+1].s)
			})
			s.readOnly = s.readOnly && known
			return true
		}
	}
	if c.in.text != "" && !hasOperand(c.args) {
		s.sub(func() { in.scan(s, c.in.text) })
		return true
	}
	s.readOnly = false
	for _, a := range c.args { // the first operand is the script
		if !strings.HasPrefix(a.s, "-") {
			s.runsFile(a)
			return true
		}
	}
	if c.in.file.ok {
		s.runsFile(c.in.file)
	}
	return true
}

// isScriptFlag reports whether a is one of flags, alone or at the end of a
// cluster such as -lc.
func isScriptFlag(a string, flags []string) bool {
	for _, f := range flags {
		if a == f || len(f) == 2 && len(a) > 2 && a[0] == '-' && a[1] != '-' && strings.HasSuffix(a, f[1:]) {
			return true
		}
	}
	return false
}

func hasOperand(args []value) bool {
	for _, a := range args {
		if !strings.HasPrefix(a.s, "-") {
			return true
		}
	}
	return false
}

// inPlace handles perl -pi -e and ruby -i, which rewrite their operands.
func (s *scanner) inPlace(c call) bool {
	found := false
	var args []value
	for i := 0; i < len(c.args); i++ {
		a := c.args[i].s
		if len(a) > 1 && a[0] == '-' && a[1] != '-' {
			// In a cluster i takes the rest as a suffix: -i.bak, -pi, -0pi, -pi.orig.
			if j := strings.IndexByte(a, 'i'); j > 0 && strings.Trim(a[1:j], "pnlaw0123456789") == "" {
				found = true
				if strings.HasSuffix(a, "e") && len(a) > j+1 {
					i++
				}
				continue
			}
			if a == "-e" || a == "-E" || a == "-F" || isScriptFlag(a, []string{"-e"}) {
				i++
			}
			continue
		}
		args = append(args, c.args[i])
	}
	if found {
		s.writeAll(args, File)
	}
	return found
}

// scriptWrites returns a scan that looks for calls which write a literal path.
func scriptWrites(patterns *expressions) func(*scanner, string) {
	return func(s *scanner, text string) {
		s.readOnly = false // a script can do anything; only its literals are visible
		s.spawned(text)
		text = inlineNames(text)
		blind := !scriptReads.get()[0].MatchString(text)
		for i, re := range patterns.get() {
			files := matches(re, text)
			s.writeAll(files, File)
			for _, f := range files {
				if blind && i == 0 {
					s.edit(f, Edit{Blind: true})
				}
			}
		}
	}
}

// python looks for the files that a script writes, and for what it does to
// them where it is short enough to be read.
func python(s *scanner, text string) {
	s.readOnly = false
	s.spawned(text)
	script := text
	text = inlineNames(unrolled(text))
	var files []value
	for _, re := range pyWrites.get() {
		files = append(files, matches(re, text)...)
	}
	s.writeAll(files, File)
	s.pythonEdit(script, files)
}

var (
	pyLoops = lazily(`\bfor\s+(\w+)\s+in\s+[\[(]((?:\s*r?["'][^"'\n$\{]+["']\s*,?)+)[\])]\s*:`)
	pyNames = lazily(`r?["']([^"'\n$\{]+)["']`)
	pyJoins = lazily(`\bos\.path\.join\(((?:\s*r?["'][^"'\n$\{]+["']\s*,?)+)\)`,
		`\b(?:pathlib\.)?Path\(\s*((?:r?["'][^"'\n$\{]+["']\s*,?\s*){2,})\)`,
		`\(\s*Path\(\s*STR\s*\)\s*/\s*STR\s*\)`, `\bPath\(\s*STR\s*\)\s*/\s*STR`)
	pyFields = lazily(`\bf(["'])([^"'\n]*\{(\w+)\}[^"'\n]*)["']`)
)

// unrolled repeats the body of a loop over names for each of them, and writes
// names that are put together as one: os.path.join, Path of several parts,
// f-strings with a name in them.
func unrolled(text string) string {
	for i, re := range pyJoins.get() {
		text = re.ReplaceAllStringFunc(text, func(m string) string {
			var parts []string
			for _, n := range pyNames.get()[0].FindAllStringSubmatch(m, 20) {
				parts = append(parts, n[1])
			}
			joined := `"` + path.Join(parts...) + `"`
			if i > 0 {
				joined = "Path(" + joined + ")"
			}
			return joined
		})
	}
	for _, m := range assignments.get()[0].FindAllStringSubmatch(text, 20) {
		text = fillIn(text, m[1], m[2])
	}
	for range 3 {
		at := pyLoops.get()[0].FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		name, body := text[at[2]:at[3]], text[at[1]:]
		var b strings.Builder
		b.WriteString(text[:at[0]])
		for _, n := range pyNames.get()[0].FindAllStringSubmatch(text[at[4]:at[5]], 100) {
			b.WriteString("\n" + name + ` = "` + n[1] + "\"\n" + inlineNames(name+` = "`+n[1]+"\"\n"+fillIn(body, name, n[1])))
		}
		text = b.String()
	}
	return text
}

// fillIn puts a name into the f-strings that mention it.
func fillIn(text, name, with string) string {
	return pyFields.get()[0].ReplaceAllStringFunc(text, func(m string) string {
		if !strings.Contains(m, "{"+name+"}") {
			return m
		}
		if m = strings.ReplaceAll(m, "{"+name+"}", with); strings.Contains(m, "{") {
			return m
		}
		return m[1:]
	})
}

// matches returns the groups of every match that are not empty.
func matches(re *regexp.Regexp, text string) []value {
	var out []value
	for _, m := range re.FindAllStringSubmatch(text, 200) {
		for _, g := range m[1:] {
			if g != "" && !strings.Contains(g, "\n") {
				out = append(out, literal(g))
			}
		}
	}
	return out
}

// str is a literal string between quotes, as one group.
const str = `["'\x60]([^"'\x60\n$\{]+)["'\x60]`

// Expressions of one kind. Compiling costs more than all else in this package,
// so it waits until a command holds such a script.
type expressions struct {
	once sync.Once
	from []string
	made []*regexp.Regexp
}

func lazily(exprs ...string) *expressions { return &expressions{from: exprs} }

func (e *expressions) get() []*regexp.Regexp {
	e.once.Do(func() {
		for _, expr := range e.from {
			e.made = append(e.made, regexp.MustCompile(strings.ReplaceAll(expr, "STR", str)))
		}
	})
	return e.made
}

// scriptReads is in scripts that read files before they write them, or only add
// to them or remove them.
var scriptReads = lazily(`(?i)read|append|unlink|delete|rmSync|["']a["']|<`)

var (
	pyWrites = lazily(
		`\bopen\(\s*r?STR\s*,\s*(?:mode\s*=\s*)?["'][rb]*[wax+][^"']*["']`,
		`\bPath\(\s*STR\s*\)\.(?:write_text|write_bytes|unlink|touch|rename|replace)\(`,
		`\b(?:os\.(?:remove|unlink|truncate)|shutil\.rmtree)\(\s*STR`,
		`\b(?:os\.(?:rename|replace)|shutil\.move)\(\s*STR\s*,\s*STR`,
		`\bshutil\.(?:copy|copy2|copyfile|copytree)\(\s*["'][^"'\n]+["']\s*,\s*STR`,
	)
	jsWrites = lazily(
		`\b(?:writeFileSync|writeFile|appendFileSync|appendFile|createWriteStream|unlinkSync|unlink|rmSync|truncateSync|`+
			`Bun\.write|writeTextFileSync|writeTextFile)\(\s*STR`,
		`\b(?:renameSync|rename)\(\s*STR\s*,\s*STR`,
		`\b(?:copyFileSync|copyFile|cpSync)\(\s*["'][^"'\n]+["']\s*,\s*STR`,
	)
	rbWrites = lazily(
		`\bFile\.(?:write|delete|unlink)\(?\s*STR`,
		`\bFile\.open\(?\s*STR\s*,\s*["'][wa]`,
		`\bopen\(?\s*(?:my\s+)?\$?\w*\s*,?\s*["']\s*\+?>{1,2}["']\s*,\s*STR`,
		`\b(?:FileUtils\.(?:rm|rm_f|rm_rf|touch)|unlink)\s*\(?\s*STR`,
		`\b(?:FileUtils\.mv|File\.rename|rename)\s*\(?\s*STR\s*,\s*STR`,
	)
	phpWrites    = lazily(`\b(?:file_put_contents|unlink)\(\s*STR`, `\bfopen\(\s*STR\s*,\s*["'][wax]`)
	awkPatterns  = lazily(`>{1,2}\s*"([^"]+)"`, `(?:\bsystem\(|\|&?)\s*"((?:[^"\\]|\\.)+)"`)
	editorWrites = lazily(`(?:^|[|\s+:])(?:w|wq|write|saveas|sav)!?\s+([^\s|!>][^\s|]*)`)
	luaWrites    = lazily(`\bio\.open\(\s*STR\s*,\s*["'][wa]`, `\bos\.(?:remove|rename)\(\s*STR`)
	sedPatterns  = lazily(`(?:^|[;/}$|#0-9gpI])w\s+([^\s;]+)`)
	assignments  = lazily(`(?m)(?:^|[;{\s])(?:const |let |var |my )?[$]?(\w+)\s*=\s*(?:Path\(\s*|pathlib\.Path\(\s*)?r?STR\)?\s*(?:[;\n]|$)`)
)

func awkRedirect() *regexp.Regexp { return awkPatterns.get()[0] }
func sedWrite() *regexp.Regexp    { return sedPatterns.get()[0] }

// inlineNames puts literal strings in the place of the variables they were
// assigned to, where those are arguments or receivers of a call.
func inlineNames(text string) string {
	for _, m := range assignments.get()[0].FindAllStringSubmatch(text, 20) {
		name, lit := m[1], `"`+m[2]+`"`
		re := regexp.MustCompile(`([(,]\s*)[$]?` + name + `(\s*[,)])`)
		text = re.ReplaceAllString(text, "${1}"+lit+"${2}")
		re = regexp.MustCompile(`\b` + name + `\.(write_text|write_bytes|unlink|touch|rename|replace)\(`)
		text = re.ReplaceAllString(text, "Path("+lit+").${1}(")
	}
	return text
}

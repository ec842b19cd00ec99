package shellscan

import (
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A cmdletRule says which parameters of a PowerShell command name files that
// it writes; positions count the operands without a name.
type cmdletRule struct {
	params    []string
	positions []int
	reads     bool
}

var (
	writesPath = cmdletRule{params: []string{"-path", "-literalpath", "-filepath", "-lp"}, positions: []int{0}}
	writesDest = cmdletRule{params: []string{"-destination"}, positions: []int{1}}
	movesPath  = cmdletRule{params: []string{"-path", "-literalpath", "-destination"}, positions: []int{0, 1}}
	readsOnly  = cmdletRule{reads: true}
)

// cmdlets are PowerShell commands, in lower case.
var cmdlets = lazy.Table[map[string]cmdletRule]{Make: func() map[string]cmdletRule {
	return map[string]cmdletRule{
		"set-content": writesPath, "add-content": writesPath, "clear-content": writesPath, "out-file": writesPath,
		"new-item": writesPath, "remove-item": writesPath, "tee-object": writesPath, "export-csv": writesPath,
		"export-clixml": writesPath, "sc": writesPath, "ac": writesPath, "ni": writesPath, "ri": writesPath, "del": writesPath,
		"erase": writesPath, "move-item": movesPath, "mi": movesPath, "rename-item": movesPath, "ren": movesPath,
		"copy-item": writesDest, "copy": writesDest, "invoke-webrequest": {params: []string{"-outfile"}}, "iwr": {params: []string{"-outfile"}},
		"get-content": readsOnly, "gc": readsOnly, "get-childitem": readsOnly, "gci": readsOnly, "dir": readsOnly, "select-string": readsOnly,
		"write-output": readsOnly, "write-host": readsOnly, "test-path": readsOnly, "get-location": readsOnly, "where-object": readsOnly,
		"select-object": readsOnly, "sort-object": readsOnly, "measure-object": readsOnly, "get-item": readsOnly, "get-process": readsOnly,
	}
}}

// aliases of PowerShell that mean something else in other shells.
var psAliases = lazy.Table[map[string]string]{Make: func() map[string]string {
	return map[string]string{"rm": "remove-item", "mv": "move-item", "cp": "copy-item", "tee": "tee-object",
		"echo": "write-output", "cat": "get-content", "ls": "get-childitem", "pwd": "get-location", "rd": "remove-item"}
}}

// psSwitches are parameters without a value; all others take one.
var psSwitches = lazy.Words(`-force -recurse -nonewline -append -passthru -noclobber -whatif -confirm -verbose -usebasicparsing
	-notypeinformation -asbytestream -raw`)

func (s *scanner) cmdlet(r cmdletRule, c call) {
	if r.reads || hasFold(c.args, "-whatif") {
		return
	}
	var positional []value
	named := map[string]bool{}
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		flag := strings.ToLower(a.s)
		if !strings.HasPrefix(a.s, "-") || len(a.s) < 2 {
			positional = append(positional, a)
			continue
		}
		flag, attached, has := strings.Cut(flag, ":")
		if psSwitches.Has(flag) {
			continue
		}
		v := value{s: attached, ok: has}
		if !has {
			if i++; i >= len(c.args) {
				break
			}
			v = c.args[i]
		}
		for _, p := range r.params {
			if p == flag {
				named[p] = true
				s.psWrite(v)
			}
		}
	}
	for _, at := range r.positions {
		if len(named) > 0 && at == 0 && named["-path"] || len(named) > 0 && len(r.positions) == 1 {
			continue
		}
		if len(named) > 0 {
			at--
		}
		if at >= 0 && at < len(positional) {
			s.psWrite(positional[at])
		}
	}
}

// psWrite notes a write, with separators as git has them; a list of names is
// separated by commas.
func (s *scanner) psWrite(v value) {
	for name := range strings.SplitSeq(v.s, ",") {
		name = strings.ReplaceAll(strings.TrimSpace(name), `\`, "/")
		s.write(value{name, v.glob || strings.ContainsAny(name, "*?"), v.ok && !strings.Contains(name, "$")}, Write{Kind: File})
	}
}

func hasFold(args []value, word string) bool {
	for _, a := range args {
		if strings.EqualFold(a.s, word) {
			return true
		}
	}
	return false
}

var psFiles = lazily(
	`(?i)\[(?:System\.)?IO\.File\]::(?:WriteAllText|WriteAllLines|WriteAllBytes|AppendAllText|Delete|Create)\(\s*STR`,
	`(?i)\[(?:System\.)?IO\.File\]::Move\(\s*STR\s*,\s*STR`,
	`(?i)\[(?:System\.)?IO\.File\]::Copy\(\s*["'][^"'\n]+["']\s*,\s*STR`,
)

// powershell scans a text in PowerShell syntax, command by command.
func (s *scanner) powershell(text string) {
	if s.depth >= maxDepth || len(text) > maxLength {
		s.readOnly = false
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	if strings.Contains(strings.ToLower(text), "io.file]::") {
		for _, re := range psFiles.get() {
			s.psFileCalls(re, text)
		}
	}
	for _, words := range psCommands(text) {
		s.psCommand(words)
	}
}

func (s *scanner) psFileCalls(re *regexp.Regexp, text string) {
	for _, v := range matches(re, text) {
		s.psWrite(v)
	}
}

func (s *scanner) psCommand(words []value) {
	// $x = 'literal' sets a variable.
	if len(words) == 3 && words[1].s == "=" && strings.HasPrefix(words[0].s, "$") {
		s.vars[words[0].s[1:]] = words[2]
		return
	}
	if len(words) > 2 && words[1].s == "=" {
		words = words[2:]
	}
	for i, w := range words {
		if name, ok := strings.CutPrefix(w.s, "$"); ok && w.glob {
			if v, ok := s.vars[name]; ok {
				words[i] = v
			}
		}
	}
	for i := 0; i+1 < len(words); i++ {
		if op := words[i].s; (op == ">" || op == ">>" || op == "*>" || op == "2>") && words[i].glob {
			s.psWrite(value{words[i+1].s, false, words[i+1].ok})
			words = append(append([]value{}, words[:i]...), words[i+2:]...)
			i--
		}
	}
	if len(words) == 0 {
		return
	}
	name := strings.ToLower(words[0].s)
	if name == "cd" || name == "set-location" || name == "sl" || name == "push-location" {
		if len(words) > 1 {
			s.chdir(value{strings.ReplaceAll(words[len(words)-1].s, `\`, "/"), false, words[len(words)-1].ok})
		}
		return
	}
	if alias, ok := psAliases.Get()[name]; ok {
		name = alias
	}
	for i := range words {
		words[i].glob = false
	}
	if r, ok := cmdlets.Get()[name]; ok {
		s.cmdlet(r, call{name: name, args: words[1:]})
		return
	}
	s.command(call{name: words[0].s, args: words[1:]})
}

// psCommands splits a PowerShell text into commands and words. Words that
// stood bare (not between quotes) carry glob, so that operators and variables
// can be told from text.
func psCommands(text string) [][]value {
	var out [][]value
	var words []value
	var b strings.Builder
	bare, open := true, false
	word := func() {
		if n := len(words); open && n > 0 && words[n-1].glob && strings.HasSuffix(words[n-1].s, ",") {
			words[n-1].s += b.String() // a list: a.txt, b.txt
		} else if open {
			words = append(words, value{b.String(), bare, true})
		}
		b.Reset()
		bare, open = true, false
	}
	end := func() {
		word()
		if len(words) > 0 {
			out = append(out, words)
		}
		words = nil
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'' || c == '"':
			closing := strings.IndexByte(text[i+1:], c)
			if closing < 0 {
				closing = len(text) - i - 1
			}
			b.WriteString(text[i+1 : i+1+closing])
			bare, open = false, true
			i += closing + 1
		case c == '`' && i+1 < len(text):
			i++
			if text[i] != '\n' {
				b.WriteByte(text[i])
				open = true
			}
		case c == ' ' || c == '\t' || c == '\r':
			word()
		case c == ';' || c == '|' || c == '\n' || c == '{' || c == '}' || c == '&' || c == '(' || c == ')':
			end()
		case c == '>' && (!open || b.String() == "2" || b.String() == "*" || b.String() == ">"):
			b.WriteByte(c)
			open = true
			if i+1 >= len(text) || text[i+1] != '>' {
				word()
			}
		case c == '=' && !open && bare:
			b.WriteByte(c)
			open = true
			word()
		default:
			b.WriteByte(c)
			open = true
		}
	}
	end()
	return out
}

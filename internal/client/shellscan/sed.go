package shellscan

import (
	"regexp"
	"strconv"
	"strings"
)

// A sedCommand is one command of sed with the lines it is for.
type sedCommand struct {
	from, to sedAddress
	ranged   bool
	verb     byte // s, d, c, a, i
	re       *regexp.Regexp
	text     string // what s puts in, as Go's regexp expands it, or what c, a and i write
	all      bool
}

// A sedAddress is a line: a number, the last one, or one that matches.
type sedAddress struct {
	line int
	last bool
	re   *regexp.Regexp
}

func (a sedAddress) given() bool { return a.line > 0 || a.last || a.re != nil }

// runSed returns what sed -i makes of a content with scripts of substitutions,
// deletions and texts for lines. It is false for anything else that sed knows.
func runSed(scripts []string, extended bool, content string) (string, bool) {
	var commands []sedCommand
	for _, script := range scripts {
		more, ok := parseSed(script, extended)
		if !ok {
			return "", false
		}
		commands = append(commands, more...)
	}
	lines := strings.SplitAfter(content, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	open := make([]bool, len(commands)) // ranges that have begun
	for n, line := range lines {
		text, end := strings.CutSuffix(line, "\n")
		var after []string
		gone := false
		for i, c := range commands {
			if gone || !c.hits(n+1, n == len(lines)-1, text, &open[i]) {
				continue
			}
			switch c.verb {
			case 's':
				text = c.substitute(text)
			case 'd':
				gone = true
			case 'c':
				out.WriteString(c.text + "\n")
				gone = true
			case 'i':
				out.WriteString(c.text + "\n")
			case 'a':
				after = append(after, c.text+"\n")
			}
		}
		if !gone {
			out.WriteString(text)
			if end || len(after) > 0 {
				out.WriteByte('\n')
			}
		}
		out.WriteString(strings.Join(after, ""))
	}
	return out.String(), true
}

// hits reports whether a command is for a line.
func (c *sedCommand) hits(n int, last bool, text string, open *bool) bool {
	at := func(a sedAddress) bool {
		return a.line == n && n > 0 || a.last && last || a.re != nil && a.re.MatchString(text)
	}
	switch {
	case !c.from.given():
		return true
	case !c.ranged:
		return at(c.from)
	case *open:
		*open = !at(c.to) && !(c.to.line > 0 && n >= c.to.line)
		return c.to.line == 0 || n <= c.to.line
	case at(c.from):
		*open = !(c.to.line > 0 && n >= c.to.line) && !(c.to.last && last)
		return true
	}
	return false
}

func (c *sedCommand) substitute(text string) string {
	if c.all {
		return c.re.ReplaceAllString(text, c.text)
	}
	m := c.re.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}
	return text[:m[0]] + string(c.re.ExpandString(nil, c.text, text, m)) + text[m[1]:]
}

// parseSed reads a script.
func parseSed(script string, extended bool) (out []sedCommand, ok bool) {
	p := sedParser{rest: script, extended: extended}
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\n;")
		if p.rest == "" {
			return out, true
		}
		c, ok := p.command()
		if !ok || len(out) > 100 {
			return nil, false
		}
		out = append(out, c)
	}
}

type sedParser struct {
	rest     string
	extended bool
}

func (p *sedParser) command() (c sedCommand, ok bool) {
	if c.from, ok = p.address(); !ok {
		return c, false
	}
	if strings.HasPrefix(p.rest, ",") {
		p.rest, c.ranged = strings.TrimLeft(p.rest[1:], " "), true
		if c.to, ok = p.address(); !ok || !c.to.given() {
			return c, false
		}
	}
	p.rest = strings.TrimLeft(p.rest, " ")
	if p.rest == "" {
		return c, false
	}
	c.verb, p.rest = p.rest[0], p.rest[1:]
	switch c.verb {
	case 'd':
		return c, p.ends()
	case 'a', 'i', 'c':
		text := strings.TrimPrefix(strings.TrimLeft(p.rest, " "), `\`)
		text = strings.TrimPrefix(text, "\n")
		p.rest = ""
		if c.text = strings.TrimLeft(text, " "); c.ranged && c.verb == 'c' || strings.Contains(c.text, `\`) {
			return c, false
		}
		return c, true
	case 's':
		return c, p.substitution(&c)
	}
	return c, false
}

// ends reports whether the command is over.
func (p *sedParser) ends() bool {
	p.rest = strings.TrimLeft(p.rest, " ")
	return p.rest == "" || p.rest[0] == ';' || p.rest[0] == '\n'
}

func (p *sedParser) address() (a sedAddress, ok bool) {
	digits := len(p.rest) - len(strings.TrimLeft(p.rest, "0123456789"))
	switch {
	case digits > 0:
		n, err := strconv.Atoi(p.rest[:digits])
		p.rest = p.rest[digits:]
		return sedAddress{line: n}, err == nil && n > 0 && !strings.HasPrefix(p.rest, "~")
	case strings.HasPrefix(p.rest, "$"):
		p.rest = p.rest[1:]
		return sedAddress{last: true}, true
	case strings.HasPrefix(p.rest, "/"):
		text, ok := p.until('/')
		if !ok {
			return a, false
		}
		p.rest = p.rest[1:]
		a.re, ok = sedPattern(text, p.extended)
		return a, ok
	}
	return a, true
}

// until takes the text between two marks; a mark after a backslash is part of
// it.
func (p *sedParser) until(mark byte) (string, bool) {
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '\\' && i+1 < len(p.rest):
			if i++; p.rest[i] != mark {
				b.WriteByte('\\')
			}
			b.WriteByte(p.rest[i])
		case c == mark:
			p.rest = p.rest[i:]
			return b.String(), true
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func (p *sedParser) substitution(c *sedCommand) bool {
	if p.rest == "" || p.rest[0] == '\\' || p.rest[0] == '\n' {
		return false
	}
	mark := p.rest[0]
	pattern, ok := p.until(mark)
	if !ok {
		return false
	}
	with, ok := p.until(mark)
	if !ok {
		return false
	}
	p.rest = p.rest[1:]
	flags := p.rest[:len(p.rest)-len(strings.TrimLeft(p.rest, "gI"))]
	p.rest = p.rest[len(flags):]
	if !p.ends() {
		return false
	}
	c.all = strings.Contains(flags, "g")
	if strings.Contains(flags, "I") {
		pattern = "(?i)" + pattern
	}
	if c.re, ok = sedPattern(pattern, p.extended); !ok {
		return false
	}
	c.text, ok = sedReplacement(with)
	return ok
}

// sedPattern turns a regular expression of sed into one of Go.
func sedPattern(text string, extended bool) (*regexp.Regexp, bool) {
	if text == "" {
		return nil, false
	}
	prefix := ""
	if rest, ok := strings.CutPrefix(text, "(?i)"); ok {
		prefix, text = "(?i)", rest
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '[':
			end := strings.IndexByte(text[min(i+2, len(text)):], ']')
			if end < 0 || strings.Contains(text[i:i+2+end], "[:") {
				return nil, false
			}
			b.WriteString(text[i : i+3+end])
			i += 2 + end
		case c == '\\' && i+1 < len(text):
			i++
			switch e := text[i]; {
			case e >= '1' && e <= '9':
				return nil, false
			case e == '<' || e == '>':
				b.WriteString(`\b`)
			case strings.IndexByte("(){}+?|", e) >= 0 && !extended:
				b.WriteByte(e)
			case strings.IndexByte("bBwWsSnt", e) >= 0:
				b.WriteString(text[i-1 : i+1])
			default:
				b.WriteString(regexp.QuoteMeta(string(e)))
			}
		case strings.IndexByte("(){}+?|", c) >= 0 && !extended, c == '*' && b.Len() == 0,
			c == '^' && b.Len() > 0 && !extended, c == '$' && i+1 < len(text) && !extended:
			b.WriteString(regexp.QuoteMeta(string(c)))
		default:
			b.WriteByte(c)
		}
	}
	re, err := regexp.Compile(prefix + b.String())
	if err != nil {
		return nil, false
	}
	re.Longest()
	return re, true
}

// sedReplacement turns what s puts in into what Go's regexp expands.
func sedReplacement(text string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '&':
			b.WriteString("${0}")
		case c == '$':
			b.WriteString("$$")
		case c == '\\' && i+1 < len(text):
			i++
			switch e := text[i]; {
			case e >= '1' && e <= '9':
				b.WriteString("${" + string(e) + "}")
			case e == 'n':
				b.WriteByte('\n')
			case e == 't':
				b.WriteByte('\t')
			case strings.IndexByte("LUlEu", e) >= 0:
				return "", false
			case e == '$':
				b.WriteString("$$")
			default:
				b.WriteByte(e)
			}
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

func sed(s *scanner, c call) {
	// -i takes an optional suffix: attached for GNU, the next word ('') for BSD.
	args := c.args
	for i, a := range args {
		if a.s == "-i" && i+1 < len(args) && args[i+1].ok && (args[i+1].s == "" || strings.HasPrefix(args[i+1].s, ".") && len(args[i+1].s) <= 5) {
			args = append(append([]value{}, args[:i+1]...), args[i+2:]...)
			break
		}
	}
	opts, ops := call{args: args}.parse("-e -f -l --expression --file --line-length")
	inPlace := opts.has("-i", "--in-place")
	if !opts.has("-e", "-f", "--expression", "--file") && len(ops) > 0 {
		ops = ops[1:]
	}
	if inPlace {
		s.writeAll(ops, File)
		s.sedEdit(c, opts, ops)
	}
	for _, a := range c.args {
		if strings.Contains(a.s, "w ") { // s/x/y/w file, and the w command
			s.writeAll(matches(sedWrite(), a.s), File)
		}
	}
}

// sedEdit notes the commands that sed runs on its files.
func (s *scanner) sedEdit(c call, opts options, files []value) {
	if opts.has("-f", "--file", "-n", "--quiet", "--silent", "-z", "-s") {
		return
	}
	var scripts []string
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		text, attached := strings.CutPrefix(a.s, "--expression=")
		switch {
		case (a.s == "-e" || a.s == "--expression" || len(a.s) > 2 && a.s[1] != '-' && a.s[0] == '-' && strings.HasSuffix(a.s, "e")) &&
			i+1 < len(c.args):
			i++
			a = c.args[i]
		case attached:
			a.s = text
		case strings.HasPrefix(a.s, "-") || a.s == "" || opts.has("-e", "--expression") || len(scripts) > 0:
			continue
		}
		if !a.ok {
			return
		}
		scripts = append(scripts, a.s)
	}
	for _, v := range files {
		s.edit(v, Edit{Sed: scripts, Regexps: opts.has("-E", "-r", "--regexp-extended")})
	}
}

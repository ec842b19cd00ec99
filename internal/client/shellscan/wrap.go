package shellscan

import (
	"strconv"
	"strings"
)

// wrapped is the rule of commands that run another one: skip operands come
// before it, and valued flags take a value.
func wrapped(skip int, valued ...string) rule {
	return func(s *scanner, c call) {
		args := c.args
		for len(args) > 0 && strings.HasPrefix(args[0].s, "-") && args[0].ok {
			n := 1
			for _, v := range valued {
				if args[0].s == v {
					n = 2
				}
			}
			if args[0].s == "--" {
				args = args[1:]
				break
			}
			args = args[min(n, len(args)):]
		}
		s.run(args[min(skip, len(args)):], c.in)
	}
}

// run scans words as a command.
func (s *scanner) run(words []value, in input) {
	if len(words) == 0 || !words[0].ok {
		s.readOnly = false
		return
	}
	s.depth++
	defer func() { s.depth-- }()
	s.command(call{words[0].s, words[1:], in})
}

func env(s *scanner, c call) {
	args := c.args
	for len(args) > 0 {
		a := args[0]
		switch {
		case a.s == "-u" || a.s == "--unset":
			args = args[min(2, len(args)):]
		case a.s == "-C" || a.s == "--chdir":
			if len(args) > 2 {
				s.in(args[1], func() { s.run(args[2:], c.in) })
			}
			return
		case strings.HasPrefix(a.s, "-S"), strings.HasPrefix(a.s, "--split-string"):
			s.script(strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(joined(args), "--split-string"), "-S"), "="))
			return
		case strings.HasPrefix(a.s, "-"), strings.Contains(a.s, "="):
			if name, v, ok := strings.Cut(a.s, "="); ok {
				s.sets(name)
				s.setsProgram(name, value{v, a.glob, a.ok})
			}
			args = args[1:]
		default:
			s.run(args, c.in)
			return
		}
	}
}

// xargs runs its command with the names that come through the pipe.
func xargs(s *scanner, c call) {
	args := c.args
	replace := ""
	for len(args) > 0 && strings.HasPrefix(args[0].s, "-") {
		a := args[0].s
		args = args[1:]
		switch {
		case a == "-I" || a == "-i" || a == "--replace":
			replace = "{}"
			if a == "-I" && len(args) > 0 {
				replace, args = args[0].s, args[1:]
			}
		case strings.HasPrefix(a, "-I"):
			replace = a[2:]
		case a == "-n" || a == "-P" || a == "-L" || a == "-d" || a == "-s" || a == "-E" || a == "-a":
			args = args[min(1, len(args)):]
		}
	}
	names := c.in.names
	if len(names) == 0 {
		names = []value{{}} // something, but nobody knows what
	}
	if replace == "" {
		s.run(append(append([]value{}, args...), names...), input{})
		return
	}
	for _, n := range names {
		s.run(substitute(args, replace, n), input{})
	}
}

// substitute puts v in the place of every mark.
func substitute(args []value, mark string, v value) []value {
	out := make([]value, len(args))
	for i, a := range args {
		out[i] = a
		if strings.Contains(a.s, mark) {
			out[i] = value{strings.ReplaceAll(a.s, mark, v.s), a.glob || v.glob, a.ok && v.ok}
		}
	}
	return out
}

// find handles -delete and -exec; plain find only reads.
func find(s *scanner, c call) {
	names := findTargets(c.args)
	for i, a := range c.args {
		switch a.s {
		case "-delete":
			for _, n := range names {
				s.write(n, Write{Kind: File})
			}
			if len(names) == 0 {
				s.readOnly = false
			}
		case "-exec", "-execdir", "-ok":
			s.findExec(c.args[i+1:], names)
		case "-fprint", "-fprintf", "-fls":
			if i+1 < len(c.args) {
				s.write(c.args[i+1], Write{Kind: File})
			}
		}
	}
}

func (s *scanner) findExec(args, names []value) {
	for i, a := range args {
		if a.s == ";" || a.s == "+" {
			args = args[:i]
			break
		}
	}
	if len(names) == 0 {
		names = []value{{}}
	}
	for _, n := range names {
		s.run(substitute(args, "{}", n), input{})
	}
}

// findTargets returns the files that find's tests select, leaving out the
// actions.
func findTargets(args []value) []value {
	var tests []value
	for i := 0; i < len(args); i++ {
		switch args[i].s {
		case "-delete", "-print", "-print0", "-depth":
		case "-exec", "-execdir", "-ok":
			for i < len(args) && args[i].s != ";" && args[i].s != "+" {
				i++
			}
		default:
			tests = append(tests, args[i])
		}
	}
	return findNames(tests)
}

func applyPatch(s *scanner, c call) {
	opts, ops := c.parse("-p -i -d -o --strip --input --directory --output")
	if opts.has("--dry-run") {
		return
	}
	strip := 0
	if v, ok := opts.get("-p", "--strip"); ok {
		strip, _ = strconv.Atoi(v.s)
	}
	apply := func() {
		if len(ops) > 0 && c.name == "patch" {
			s.write(ops[0], Write{Kind: File})
			return
		}
		text := c.in.text
		if len(ops) > 0 { // apply_patch takes the patch as its argument
			text = ops[0].s
		}
		if v, ok := opts.get("-i", "--input"); ok {
			s.write(v, Write{Kind: Patch, Strip: strip})
			return
		}
		if c.in.file.ok {
			s.write(c.in.file, Write{Kind: Patch, Strip: strip})
			return
		}
		s.patchText(text, strip)
	}
	if d, ok := opts.get("-d", "--directory"); ok {
		s.in(d, apply)
		return
	}
	apply()
}

package shellscan

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Programs that other programs run for somebody: git by its settings and by the
// environment, and the small ones that take a command as an argument.

// programVariables name commands that git and others run.
var programVariables = lazy.Words(`GIT_EDITOR GIT_SEQUENCE_EDITOR EDITOR VISUAL GIT_PAGER PAGER GIT_EXTERNAL_DIFF GIT_SSH_COMMAND
	GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS`)

// setsProgram scans the command that a variable names.
func (s *scanner) setsProgram(name string, v value) {
	if programVariables.Has(name) && v.ok {
		s.aside(v.s)
	}
}

// aside scans a command that something else runs, with arguments of its own.
func (s *scanner) aside(text string) { s.sub(func() { s.script(text) }) }

// gitProgram returns the command that a setting of git's has it run, or "".
func gitProgram(key, v string) string {
	key = strings.ToLower(key)
	section, name := key, ""
	if at := strings.LastIndexByte(key, '.'); at >= 0 {
		section, name = key[:at], key[at+1:]
	}
	first, _, _ := strings.Cut(section, ".")
	switch {
	case first == "alias", first == "credential":
		command, shell := strings.CutPrefix(v, "!")
		if !shell {
			return ""
		}
		return command
	case key == "core.fsmonitor" && (v == "true" || v == "false"):
		return ""
	case isOneOf(key, "core.editor", "core.pager", "core.fsmonitor", "core.sshcommand", "core.askpass", "sequence.editor", "diff.external",
		"interactive.difffilter", "gpg.program"),
		first == "pager",
		isOneOf(first, "diff", "difftool", "mergetool") && isOneOf(name, "textconv", "command", "cmd"),
		first == "merge" && name == "driver",
		first == "filter" && isOneOf(name, "clean", "smudge", "process"):
		return v
	}
	return ""
}

// gitConfig scans what a setting will have git run.
func gitConfig(s *scanner, c call) {
	_, ops := c.parse("-f --file --type --default --blob --comment")
	if len(ops) > 0 && isOneOf(ops[0].s, "set", "add") {
		ops = ops[1:]
	}
	if len(ops) > 1 && ops[1].ok {
		if command := gitProgram(ops[0].s, ops[1].s); command != "" {
			s.aside(command)
		}
	}
}

// gitBundle writes the file that it makes.
func gitBundle(s *scanner, c call) {
	_, ops := c.parse("--version")
	if len(ops) > 1 && ops[0].s == "create" {
		s.write(ops[1], Write{Kind: File})
	}
}

// archived are the paths that git archive prints, for who unpacks them.
func archived(args []value) []value {
	_, ops := call{args: args}.parse("--format --prefix -o --output --remote --exec --mtime")
	if len(ops) < 2 {
		return []value{literal(".")}
	}
	return ops[1:]
}

// optionRuns is the rule of commands whose options name one to run.
func optionRuns(valued, more string) rule {
	return func(s *scanner, c call) {
		s.readOnly = false
		opts, _ := c.parse(valued + " " + more)
		for name := range strings.FieldsSeq(valued) {
			if v, ok := opts[name]; ok && v.ok {
				s.aside(v.s)
			}
		}
	}
}

// flock runs a command, or the text after -c, behind a lock.
func flock(s *scanner, c call) {
	args := c.args
	for len(args) > 0 && strings.HasPrefix(args[0].s, "-") {
		n := 1
		if isOneOf(args[0].s, "-w", "-E", "--timeout", "--wait", "--conflict-exit-code") {
			n = 2
		}
		args = args[min(n, len(args)):]
	}
	if args = args[min(1, len(args)):]; len(args) > 1 && isOneOf(args[0].s, "-c", "--command") {
		s.aside(args[1].s)
		return
	}
	s.run(args, c.in)
}

// parallel runs its command for each of the words after :::.
func parallel(s *scanner, c call) {
	var template []string
	s.readOnly = false
	for i, a := range c.args {
		if a.s == ":::" {
			for _, v := range c.args[i+1:][:min(len(c.args)-i-1, 50)] {
				text := strings.Join(template, " ")
				if strings.Contains(text, "{}") {
					text = strings.ReplaceAll(text, "{}", v.s)
				} else {
					text += " " + quoted([]value{v})
				}
				s.aside(text)
			}
			return
		}
		if len(template) > 0 || !strings.HasPrefix(a.s, "-") {
			template = append(template, a.s)
		}
	}
}

// editor is the rule of editors: they write the files that they are given, and
// those that a command of theirs names.
func editor(valued string, reading ...string) rule {
	return func(s *scanner, c call) {
		s.readOnly = false
		var files []value
		for _, a := range c.args {
			s.writeAll(matches(editorWrites.get()[0], a.s), File)
			if !strings.HasPrefix(a.s, "+") { // a command, or a line
				files = append(files, a)
			}
		}
		c.args = files
		if opts, ops := c.parse(valued); !opts.has(reading...) {
			s.writeAll(ops, File)
		}
	}
}

// outputs is the rule of commands that write the file of an option.
func outputs(flags, valued string) rule {
	return func(s *scanner, c call) {
		s.readOnly = false
		opts, _ := c.parse(flags + " " + valued)
		for name := range strings.FieldsSeq(flags) {
			if v, ok := opts[name]; ok {
				s.write(v, Write{Kind: File})
			}
		}
	}
}

// scp copies to the last of its operands, unless that is on another machine.
func scp(s *scanner, c call) {
	s.readOnly = false
	_, ops := c.parse("-P -i -o -c -F -J -l -S")
	if len(ops) > 1 && !strings.Contains(ops[len(ops)-1].s, ":") {
		for i := range ops[:len(ops)-1] {
			if _, file, far := strings.Cut(ops[i].s, ":"); far {
				ops[i].s = file
			}
		}
		copyFiles(s, call{"cp", ops, c.in})
	}
}

// afterSecond is the rule of commands that write all but their first two
// operands.
func afterSecond(s *scanner, c call) {
	if opts, ops := c.parse("-f -n --flags --max-replacements"); len(ops) > 2 && !opts.has("-p", "--preview") {
		s.writeAll(ops[2:], File)
	}
}

package shellscan

import (
	"math"
	"strconv"

	"mvdan.cc/sh/v3/syntax"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A Read is a part of a file that a command prints for whoever runs it.
type Read struct {
	Path string // relative to the folder the command starts in, or absolute
	From int    // first line, from 1; less than 1 counts from the end: 0 is the last
	To   int    // last line
}

// A part is which lines of its input a command prints.
type part struct{ from, to int }

var whole = part{1, math.MaxInt}

// printers print their files, or a part of them. Those that search print too
// little to know a file by.
func printers(name string) (valued string, ok bool) {
	switch name {
	case "cat", "tac", "less", "more":
		return "", true
	case "bat", "batcat":
		return "-r --line-range -l --language --style --theme", true
	case "nl":
		return "-b -d -f -h -i -l -n -s -v -w", true
	case "head", "tail":
		return "-n -c --lines --bytes", true
	}
	return "", false
}

// reading notes what a command prints of its files.
func (s *scanner) reading(name string, c call) {
	p, files, ok := printedPart(name, c)
	if s.hidden > 0 || !ok {
		return
	}
	for _, f := range files {
		if path, ok := s.resolve(f); ok && !f.glob && len(s.reads) < maxWrites {
			s.reads = append(s.reads, Read{path, p.from, p.to})
		}
	}
}

// printedPart returns which lines of which files a command prints; without
// files, those of its input.
func printedPart(name string, c call) (p part, files []value, ok bool) {
	if name == "sed" || name == "gsed" {
		return sedPart(c)
	}
	valued, ok := printers(name)
	if !ok {
		return p, nil, false
	}
	opts, files := c.parse(valued)
	if opts.has("-c", "--bytes") {
		return p, nil, false
	}
	n := "10"
	if v, given := opts.get("-n", "--lines"); given {
		n = v.s
	} else if m := shortCount.Get().FindStringSubmatch(firstOf(c.args)); m != nil {
		n = m[1]
	}
	count, err := strconv.Atoi(n)
	switch {
	case name != "head" && name != "tail":
		return whole, files, true
	case err != nil:
		return p, nil, false
	case name == "head":
		return part{1, count}, files, count > 0
	case n[0] == '+':
		return part{count, math.MaxInt}, files, true
	}
	return part{1 - max(count, -count), math.MaxInt}, files, true
}

// shortCount is the count of head -20.
var shortCount = lazy.Regexp(`^-(\d+)$`)

func firstOf(args []value) string {
	if len(args) == 0 {
		return ""
	}
	return args[0].s
}

// sedLines is what prints lines by their numbers: sed -n '40,80p'.
var sedLines = lazy.Regexp(`^(\d+)(?:,(\d+|\$))?p$`)

func sedPart(c call) (p part, files []value, ok bool) {
	opts, ops := c.parse("-e --expression")
	script, given := opts.get("-e", "--expression")
	if !given && len(ops) > 0 {
		script, ops = ops[0], ops[1:]
	}
	m := sedLines.Get().FindStringSubmatch(script.s)
	if m == nil || !opts.has("-n", "--quiet", "--silent") || opts.has("-i", "--in-place") {
		return p, nil, false
	}
	p.from, _ = strconv.Atoi(m[1])
	switch m[2] {
	case "":
		p.to = p.from
	case "$":
		p.to = math.MaxInt
	default:
		p.to, _ = strconv.Atoi(m[2])
	}
	return p, ops, true
}

// unseen scans what prints for another command or into a file, not for whoever
// runs the script.
func (s *scanner) unseen(f func()) {
	s.hidden++
	f()
	s.hidden--
}

// piped scans the first part of a pipe. What it prints is seen only if the
// second prints that, or some lines of it: nl -ba a.go | sed -n '40,80p'.
func (s *scanner) piped(c *syntax.BinaryCmd, scan func()) {
	next, ok := c.Y.Cmd.(*syntax.CallExpr)
	if !ok || len(next.Args) == 0 || len(c.Y.Redirs) > 0 {
		s.unseen(scan)
		return
	}
	words := s.fields(next.Args)
	p, files, ok := printedPart(words[0].s, call{args: words[1:]})
	if !ok || len(files) > 0 {
		s.unseen(scan)
		return
	}
	before := len(s.reads)
	scan()
	for i := before; i < len(s.reads); i++ {
		r := &s.reads[i]
		if p != whole && r.From == whole.from && r.To == whole.to {
			r.From, r.To = p.from, p.to
		}
	}
}

// printsElsewhere reports whether what a command prints goes into a file.
func printsElsewhere(list []*syntax.Redirect) bool {
	for _, r := range list {
		switch r.Op {
		case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.AppClob, syntax.RdrAll, syntax.AppAll, syntax.RdrAllClob, syntax.AppAllClob:
			if r.N == nil || r.N.Value == "1" {
				return true
			}
		}
	}
	return false
}

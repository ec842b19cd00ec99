package shellscan

import (
	"path"
	"strings"
)

// Commands that take files away, move, copy, link and change them.

func remove(s *scanner, c call) {
	opts, ops := c.parse("")
	kind := File
	if opts.has("-r", "-R", "--recursive") {
		kind = Tree
	}
	s.writeAll(ops, kind)
	for _, v := range ops {
		s.edit(v, Edit{Delete: true})
	}
}

// tee writes what it reads.
func tee(s *scanner, c call) {
	opts, ops := c.parse("")
	s.writeAll(ops, File)
	if appends := opts.has("-a", "--append"); c.in.whole {
		for _, v := range ops {
			s.edit(v, Edit{Whole: !appends, Append: appends, Text: c.in.text})
		}
	}
}

// destination splits the operands of cp, mv and the like into sources and
// target; folder tells that the target is a folder for sure.
func destination(opts options, ops []value) (sources []value, target value, folder bool) {
	if t, ok := opts.get("-t", "--target-directory"); ok {
		return ops, t, true
	}
	if len(ops) < 2 {
		return nil, value{}, false
	}
	sources, target = ops[:len(ops)-1], ops[len(ops)-1]
	folder = len(sources) > 1 || strings.HasSuffix(target.s, "/") || target.s == "." || target.s == ".." || sources[0].glob && !target.glob
	return sources, target, folder && !opts.has("-T", "--no-target-directory")
}

// place notes that each source gets to target.
func (s *scanner) place(sources []value, target value, folder, tree bool) {
	for _, src := range sources {
		if folder && !src.ok {
			s.readOnly = false
			continue
		}
		w := Write{Kind: File, Base: path.Base(src.s)}
		if !src.ok {
			w.Base = ""
		}
		dst := target
		if folder && src.ok && w.Base != "." && w.Base != ".." {
			dst = value{path.Join(target.s, w.Base), target.glob || src.glob, target.ok}
			w.Base = ""
		}
		if tree {
			w.Kind = Tree
			if from, ok := s.resolve(src); ok && !src.glob {
				w.From = from
			}
		}
		s.write(dst, w)
	}
}

func move(s *scanner, c call) {
	opts, ops := c.parse("-t --target-directory -S --suffix")
	sources, target, folder := destination(opts, ops)
	s.writeAll(sources, File)
	s.place(sources, target, folder, false)
	s.copied(sources, target, folder)
	for _, v := range sources {
		s.edit(v, Edit{Delete: true})
	}
}

// copied notes that a file becomes what another one is.
func (s *scanner) copied(sources []value, target value, folder bool) {
	if len(sources) != 1 || folder || sources[0].glob {
		return
	}
	if from, ok := s.resolve(sources[0]); ok {
		s.edit(target, Edit{From: from})
	}
}

func copyFiles(s *scanner, c call) {
	opts, ops := c.parse("-t --target-directory -S --suffix")
	sources, target, folder := destination(opts, ops)
	if !opts.has("-r", "-R", "-a", "--recursive", "--archive") {
		s.copied(sources, target, folder)
	}
	s.place(sources, target, folder, opts.has("-r", "-R", "-a", "--recursive", "--archive"))
	if opts.has("-l", "--link") && len(sources) == 1 && !folder {
		s.linked(sources[0], target, false)
	}
}

func install(s *scanner, c call) {
	opts, ops := c.parse("-m -o -g -t --mode --owner --group --target-directory")
	if opts.has("-d", "--directory") {
		return
	}
	sources, target, folder := destination(opts, ops)
	s.place(sources, target, folder, false)
}

func link(s *scanner, c call) {
	opts, ops := c.parse("-t --target-directory -S --suffix")
	if len(ops) == 1 && !opts.has("-t", "--target-directory") {
		s.write(value{path.Base(ops[0].s), false, ops[0].ok}, Write{Kind: File})
		return
	}
	sources, target, folder := destination(opts, ops)
	s.place(sources, target, folder, false)
	if len(sources) == 1 && !folder {
		s.linked(sources[0], target, opts.has("-s", "--symbolic"))
	}
}

// linked notes a link: what is written there later in the line goes where it
// leads. A second name of a file is as good as a link.
func (s *scanner) linked(source, target value, symbolic bool) {
	at, ok := s.resolve(target)
	if !ok || !source.ok || source.glob {
		return
	}
	to, ok := s.resolve(source)
	if symbolic {
		if to = source.s; !isAbsolute(to) {
			to = path.Join(path.Dir(at), to)
		}
	}
	if ok {
		s.links[at] = to
	}
}

func rsync(s *scanner, c call) {
	opts, ops := c.parse("-e -f --exclude --include --filter --rsh --exclude-from --files-from")
	if len(ops) < 2 || opts.has("-n", "--dry-run") {
		return
	}
	target := ops[len(ops)-1]
	if host, _, ok := strings.Cut(target.s, ":"); ok && !strings.Contains(host, "/") {
		return // another machine
	}
	if opts.has("--delete") {
		s.write(target, Write{Kind: Tree})
		return
	}
	for _, src := range ops[:len(ops)-1] {
		w := Write{Kind: Tree}
		dst := target
		if from, ok := s.resolve(src); ok && !strings.Contains(src.s, ":") {
			w.From = from
		}
		if !strings.HasSuffix(src.s, "/") && src.ok {
			dst.s = path.Join(target.s, path.Base(src.s))
		}
		s.write(dst, w)
	}
}

func dd(s *scanner, c call) {
	for _, a := range c.args {
		if name, ok := strings.CutPrefix(a.s, "of="); ok {
			s.write(value{name, a.glob, a.ok}, Write{Kind: File})
		}
	}
}

func chmod(s *scanner, c call) {
	opts, ops := c.parse("--reference")
	// A mode such as -x looks like a flag.
	if !opts.has("--reference", "-x", "-w", "-r") && len(ops) > 0 {
		ops = ops[1:]
	}
	kind := File
	if opts.has("-R", "--recursive") {
		kind = Tree
	}
	s.writeAll(ops, kind)
}

package shellscan

import "strings"

// An Effect is what a git command does to uncommitted work.
type Effect string

const (
	Discards Effect = "discards" // it is gone from the files
	Sweeps   Effect = "sweeps"   // it goes into a commit
	Moves    Effect = "moves"    // it stays, on top of another commit
)

// A Sweep is a git command that takes hold of uncommitted work as a whole,
// whoever wrote it.
type Sweep struct {
	Verb   string
	Effect Effect
	Paths  []string // files and folders that it is limited to, "" for the whole working copy
}

// sweep notes a git command if it is one.
func (s *scanner) sweep(c call) {
	effect, under := sweeps(c)
	if effect == "" || len(s.sweeps) >= 20 {
		return
	}
	w := Sweep{Verb: c.name, Effect: effect}
	if under == nil {
		under = []value{literal(":/")}
	}
	for _, v := range under {
		if rest, ok := strings.CutPrefix(v.s, ":/"); ok { // from the top, wherever we are
			w.Paths = append(w.Paths, strings.TrimSuffix(rest, "."))
			continue
		}
		p, ok := s.resolve(v)
		if !ok {
			p = ""
		}
		if p == "" && v.s == "." {
			p = "."
		}
		w.Paths = append(w.Paths, p)
	}
	s.sweeps = append(s.sweeps, w)
}

// sweeps tells what a git command does to uncommitted work, and where: nil for
// the whole working copy.
func sweeps(c call) (Effect, []value) {
	paths, dashed := afterDashes(c.args)
	switch c.name {
	case "stash":
		return stashes(c, paths, dashed)
	case "reset":
		if opts, _ := c.parse(""); opts.has("--hard", "--merge") {
			return Discards, nil
		}
	case "checkout":
		return checksOut(c, paths, dashed)
	case "restore":
		opts, ops := c.parse("-s --source --conflict")
		if dashed {
			ops = paths
		}
		if (!opts.has("--staged", "-S") || opts.has("--worktree", "-W")) && len(ops) > 0 {
			return Discards, ops
		}
	case "clean":
		opts, ops := c.parse("-e --exclude")
		if opts.has("-f", "--force") && !opts.has("-n", "--dry-run") {
			if len(ops) == 0 {
				ops = []value{literal(".")}
			}
			return Discards, ops
		}
	case "add":
		opts, ops := c.parse("--chmod --pathspec-from-file")
		if opts.has("-A", "--all", "-u", "--update") && len(ops) == 0 {
			return Sweeps, nil
		}
		if wide(ops) {
			return Sweeps, ops
		}
	case "commit":
		if opts, _ := c.parse("-m --message -F --file -C -c --author --date --fixup --squash"); opts.has("-a", "--all") {
			return Sweeps, nil
		}
	case "switch":
		opts, _ := c.parse("-c -C")
		if opts.has("-f", "--force", "--discard-changes") {
			return Discards, nil
		}
		return Moves, nil
	case "rebase":
		if opts, _ := c.parse("--onto -x"); !opts.has("--continue", "--abort", "--skip", "--quit") {
			return Moves, nil
		}
	case "pull", "merge":
		return Moves, nil
	}
	return "", nil
}

func stashes(c call, paths []value, dashed bool) (Effect, []value) {
	verb, args := "push", c.args
	if len(args) > 0 && !strings.HasPrefix(args[0].s, "-") {
		verb, args = args[0].s, args[1:]
	}
	if verb != "push" && verb != "save" {
		return "", nil
	}
	if dashed {
		return Discards, paths
	}
	if _, ops := (call{args: args}).parse("-m --message"); len(ops) > 0 && verb == "push" {
		return Discards, ops
	}
	return Discards, nil
}

func checksOut(c call, paths []value, dashed bool) (Effect, []value) {
	opts, ops := c.parse("-b -B --orphan --conflict")
	switch {
	case dashed:
		return Discards, paths
	case opts.has("-f", "--force"):
		return Discards, nil
	case opts.has("-b", "-B", "--orphan"):
		return "", nil // the files stay, and so does what is below them
	case len(ops) == 1 && looksLikeFile(ops[0].s):
		return Discards, ops
	case len(ops) > 1 && looksLikeFile(ops[0].s):
		return Discards, ops
	case len(ops) > 1:
		return Discards, ops[1:]
	case len(ops) == 1:
		return Moves, nil
	}
	return "", nil
}

// wide reports whether names of files are folders or patterns, so that they
// may hold what somebody else wrote.
func wide(ops []value) bool {
	for _, v := range ops {
		if v.s == "." || strings.HasSuffix(v.s, "/") || v.glob || strings.ContainsAny(v.s, "*?[") || strings.HasPrefix(v.s, ":/") {
			return true
		}
	}
	return false
}

package shellscan

import "strings"

// An Effect is what a git command does to uncommitted work.
type Effect string

const (
	Discards Effect = "discards" // it is gone from the files
	Sweeps   Effect = "sweeps"   // it goes into a commit
	Moves    Effect = "moves"    // it stays, on top of something else than it was made on
)

// A Part is which of the uncommitted work a git command takes hold of.
type Part string

const (
	Whole   Part = ""        // all of it, also what is new
	Staged  Part = "staged"  // what is in the index
	Stashed Part = "stashed" // the files that a stash holds, too, and the stash
	Stack   Part = "stack"   // a stash alone, or all of them
)

// Modules tells whether a git command reaches into submodules.
type Modules string

const (
	NoModules   Modules = ""
	WithModules Modules = "with"
	OnlyModules Modules = "only"
)

// A Sweep is a git command that takes hold of uncommitted work as a whole,
// whoever wrote it.
type Sweep struct {
	Verb    string // as one would say it: stash, stash pop, rebase --abort
	Effect  Effect
	Of      Part
	Stash   string // which one, if it is of a stash; "" is the latest, AllStashes all
	Modules Modules
	Dir     string   // the folder it runs in, like the paths of a Write; "" also where nobody knows
	Paths   []string // files and folders that it is limited to, "" for the whole working copy, :/ before those from its top
	Patches []string // the same for what patches stored there name
	Strip   int      // of a patch, as in a Write
}

const maxSweeps = 20

// AllStashes stands for every stash.
const AllStashes = "*"

// A reach is what a git command does to uncommitted work, and where: under is
// nil for the whole working copy.
type reach struct {
	effect  Effect
	of      Part
	verb    string // if it is not the command's name
	stash   string
	modules Modules
	in      *value // the folder, if not the one it is run in
	under   []value
}

// sweep notes a git command if it is one.
func (s *scanner) sweep(c call) {
	if c.name == "submodule" && len(c.args) > 1 && c.args[0].s == "foreach" {
		s.sweepEach(c.args[1:])
		return
	}
	r := sweeps(c)
	if r.effect == "" || len(s.sweeps) >= maxSweeps {
		return
	}
	w := Sweep{Verb: c.name, Effect: r.effect, Of: r.of, Stash: r.stash, Modules: r.modules}
	if r.verb != "" {
		w.Verb = r.verb
	}
	at := literal(".")
	if r.in != nil {
		at = *r.in
	}
	if dir, ok := s.resolve(at); ok && dir != "." {
		w.Dir = dir
	}
	w.Paths = s.limits(r.under)
	s.sweeps = append(s.sweeps, w)
}

// limits returns what pathspecs limit a command to, "" for everything. Those
// that leave something out limit nothing by themselves.
func (s *scanner) limits(under []value) (paths []string) {
	for _, v := range under {
		if strings.HasPrefix(v.s, ":!") || strings.HasPrefix(v.s, ":^") {
			continue
		}
		p, ok := s.resolve(v)
		switch {
		case strings.HasPrefix(v.s, ":/") && v.ok:
			p = ":/" + strings.TrimSuffix(v.s[2:], ".")
		case !ok, strings.HasPrefix(v.s, ":"):
			p = ""
		case p == "" && v.s == ".":
			p = "."
		}
		paths = append(paths, p)
	}
	if len(paths) == 0 {
		return []string{""}
	}
	return paths
}

// sweepEach notes what a command does in every submodule.
func (s *scanner) sweepEach(args []value) {
	var words []string
	for _, a := range args {
		if len(words) > 0 || !strings.HasPrefix(a.s, "-") {
			words = append(words, a.s)
		}
	}
	if s.depth >= maxDepth {
		return
	}
	inner := newScanner(nil)
	inner.depth = s.depth
	inner.script(strings.Join(words, " "))
	dir, _ := s.resolve(literal("."))
	for _, w := range inner.sweeps[:min(len(inner.sweeps), maxSweeps-len(s.sweeps))] {
		w.Modules, w.Dir, w.Paths = OnlyModules, strings.TrimPrefix(dir, "."), []string{""}
		s.sweeps = append(s.sweeps, w)
	}
}

// sweepPatch notes that git applies a patch to files as they are.
func (s *scanner) sweepPatch(c call, files, names []value, strip int) {
	w := Sweep{Verb: c.name, Effect: Moves, Strip: strip}
	if dir, ok := s.resolve(literal(".")); ok && dir != "." {
		w.Dir = dir
	}
	for _, v := range files {
		if p, ok := s.resolve(v); ok {
			w.Patches = append(w.Patches, p)
		}
	}
	for _, v := range names {
		if p, ok := s.resolve(v); ok {
			w.Paths = append(w.Paths, p)
		}
	}
	if len(w.Patches)+len(w.Paths) > 0 && len(s.sweeps) < maxSweeps {
		s.sweeps = append(s.sweeps, w)
	}
}

// sweeps tells what a git command does to uncommitted work.
func sweeps(c call) reach {
	switch c.name {
	case "stash":
		return stashes(c)
	case "reset":
		opts, _ := c.parse("")
		switch {
		case opts.has("--hard"):
			return reach{effect: Discards, modules: recursing(opts)}
		case opts.has("--merge"):
			return reach{effect: Discards, of: Staged}
		case opts.has("--keep"):
			return reach{effect: Moves}
		}
	case "checkout":
		return checksOut(c)
	case "restore":
		opts, ops := c.parse("-s --source --conflict")
		if (!opts.has("--staged", "-S") || opts.has("--worktree", "-W")) && len(ops) > 0 {
			return reach{effect: Discards, modules: recursing(opts), under: ops}
		}
	case "clean":
		opts, ops := c.parse("-e --exclude")
		if opts.has("-f", "--force") && !opts.has("-n", "--dry-run") {
			if len(ops) == 0 {
				ops = []value{literal(".")}
			}
			return reach{effect: Discards, under: ops}
		}
	case "rm":
		if opts, ops := c.parse("--pathspec-from-file"); opts.has("-f", "--force") && !opts.has("--cached", "-n", "--dry-run") {
			return reach{effect: Discards, under: ops}
		}
	case "add", "stage":
		opts, ops := c.parse("--chmod --pathspec-from-file")
		if opts.has("-A", "--all", "-u", "--update") && len(ops) == 0 {
			return reach{effect: Sweeps}
		}
		if wide(ops) {
			return reach{effect: Sweeps, under: ops}
		}
	case "commit":
		return commits(c)
	case "switch":
		return switches(c)
	}
	return replays(c)
}

// replays tells what commands do that put commits on others, or go back to one.
func replays(c call) reach {
	opts, ops := c.parse("--onto -x -s -X -m -S --strategy --strategy-option")
	verb := ""
	for _, how := range []string{"--abort", "--skip", "--continue"} {
		if opts.has(how) || how == "--continue" && opts.has("--resolved", "-r") && c.name == "am" {
			verb = c.name + " " + how
		}
	}
	ends := opts.has("--abort", "--skip")
	switch c.name {
	case "rebase":
		switch {
		case ends: // as reset --hard does
			return reach{effect: Discards, verb: verb}
		case verb != "":
			return reach{effect: Sweeps, of: Staged, verb: verb}
		case !opts.has("--quit", "--edit-todo", "--show-current-patch"):
			return reach{effect: Moves}
		}
	case "pull", "merge", "cherry-pick", "revert", "am":
		switch {
		case ends: // as reset --merge does
			return reach{effect: Discards, of: Staged, verb: verb}
		case verb != "":
			return reach{effect: Sweeps, of: Staged, verb: verb}
		case !opts.has("--quit", "--show-current-patch"):
			return reach{effect: Moves}
		}
	case "bisect":
		if len(ops) > 0 && strings.Contains(" start good bad new old skip reset run replay ", " "+ops[0].s+" ") {
			return reach{effect: Moves, verb: "bisect " + ops[0].s}
		}
	case "checkout-index":
		if opts.has("-f", "--force") {
			return reach{effect: Discards, under: ops}
		}
	case "read-tree":
		if opts.has("--reset") && opts.has("-u") {
			return reach{effect: Discards}
		}
		if opts.has("-m") && opts.has("-u") {
			return reach{effect: Moves}
		}
	case "worktree":
		if len(ops) > 1 && ops[0].s == "remove" && opts.has("-f", "--force") {
			return reach{effect: Discards, verb: "worktree remove", in: &ops[1]}
		}
	case "submodule":
		return submodules(c)
	}
	return reach{}
}

// recursing tells whether a command was told to reach into submodules.
func recursing(opts options) Modules {
	if opts.has("--recurse-submodules") {
		return WithModules
	}
	return NoModules
}

func submodules(c call) reach {
	opts, ops := c.parse("--reference --depth -j --jobs -b --branch")
	if len(ops) == 0 {
		return reach{}
	}
	r := reach{verb: "submodule " + ops[0].s, modules: OnlyModules, under: ops[1:]}
	switch {
	case ops[0].s == "update" && opts.has("-f", "--force"), ops[0].s == "deinit" && opts.has("-f", "--force"):
		r.effect = Discards
	case ops[0].s == "update":
		r.effect = Moves
	default:
		return reach{}
	}
	return r
}

func stashes(c call) reach {
	verb, args := "push", c.args
	if len(args) > 0 && !strings.HasPrefix(args[0].s, "-") {
		verb, args = args[0].s, args[1:]
	}
	opts, ops := (call{args: args}).parse("-m --message --pathspec-from-file")
	switch verb {
	case "push", "save":
		r := reach{effect: Discards}
		if opts.has("-S", "--staged") {
			r.of = Staged
		}
		if verb == "push" && len(ops) > 0 {
			r.under = ops
		}
		return r
	case "pop", "apply":
		r := reach{effect: Moves, of: Stashed, verb: "stash " + verb}
		if len(ops) > 0 {
			r.stash = ops[0].s
		}
		return r
	case "branch":
		r := reach{effect: Moves, verb: "stash branch"}
		if len(ops) > 1 {
			r.stash = ops[1].s
		}
		return r
	case "drop":
		r := reach{effect: Discards, of: Stack, verb: "stash drop"}
		if len(ops) > 0 {
			r.stash = ops[0].s
		}
		return r
	case "clear":
		return reach{effect: Discards, of: Stack, verb: "stash clear", stash: AllStashes}
	}
	return reach{}
}

func commits(c call) reach {
	opts, ops := c.parse("-m --message -F --file -C -c --author --date --fixup --squash -t --template --cleanup --trailer")
	switch {
	case opts.has("--dry-run"):
	case opts.has("-a", "--all"):
		return reach{effect: Sweeps}
	case len(ops) == 0:
		return reach{effect: Sweeps, of: Staged}
	case opts.has("-i", "--include"):
		return reach{effect: Sweeps, of: Staged}
	case wide(ops):
		return reach{effect: Sweeps, under: ops}
	}
	return reach{}
}

func switches(c call) reach {
	opts, ops := c.parse("-c -C --create --force-create --orphan --conflict")
	switch {
	case opts.has("-f", "--force", "--discard-changes"):
		return reach{effect: Discards, modules: recursing(opts)}
	case opts.has("-c", "-C", "--create", "--force-create") && len(ops) == 0:
		return reach{} // the files stay, and so does what is below them
	}
	return reach{effect: Moves, modules: recursing(opts)}
}

func checksOut(c call) reach {
	paths, dashed := afterDashes(c.args)
	opts, ops := c.parse("-b -B --orphan --conflict")
	deep := recursing(opts)
	switch {
	case dashed && len(paths) > 0:
		return reach{effect: Discards, modules: deep, under: paths}
	case opts.has("-f", "--force"):
		return reach{effect: Discards, modules: deep}
	case opts.has("-b", "-B", "--orphan"):
		if len(ops) == 1 {
			return reach{effect: Moves, modules: deep}
		}
		return reach{} // the files stay, and so does what is below them
	case len(ops) > 0 && looksLikeFile(ops[0].s):
		return reach{effect: Discards, modules: deep, under: ops}
	case len(ops) > 1:
		return reach{effect: Discards, modules: deep, under: ops[1:]}
	case len(ops) == 1:
		return reach{effect: Moves, modules: deep}
	}
	return reach{}
}

// wide reports whether names of files are folders or patterns, so that they
// may hold what somebody else wrote.
func wide(ops []value) bool {
	for _, v := range ops {
		if v.s == "." || strings.HasSuffix(v.s, "/") || v.glob || strings.ContainsAny(v.s, "*?[") || strings.HasPrefix(v.s, ":") {
			return true
		}
	}
	return false
}

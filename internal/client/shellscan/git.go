package shellscan

import (
	"cmp"
	"path"
	"strconv"
	"strings"
	"unicode"

	"github.com/svc-hq/svc/internal/client/patch"
	"github.com/svc-hq/svc/internal/core/lazy"
)

// gitReads are subcommands that leave the working tree alone. Some move
// references; that is no edit.
var gitReads = lazy.Words(`status log diff show blame branch rev-parse rev-list ls-files ls-tree ls-remote grep describe
	cat-file remote shortlog reflog tag fetch add commit push notes bisect-log merge-base diff-tree diff-index
	diff-files for-each-ref show-ref symbolic-ref var version help whatchanged cherry name-rev check-ignore
	check-attr count-objects fsck gc init hash-object update-index update-ref write-tree`)

var gitRules = lazy.Table[map[string]rule]{Make: func() map[string]rule {
	return map[string]rule{
		"checkout": gitCheckout, "restore": gitRestore, "switch": gitSwitch, "reset": gitReset, "stash": gitStash,
		"clean": gitClean, "rm": gitRm, "mv": move, "apply": gitApply, "am": gitApply,
		"worktree": gitWorktree, "archive": gitOutput, "format-patch": unknown, "bundle": gitBundle, "config": gitConfig,
		"checkout-index": gitCheckoutIndex, "read-tree": gitReadTree, "merge-file": gitMergeFile, "rebase": gitRuns("-x --exec"),
		"bisect": gitBisect, "difftool": gitRuns("-x --extcmd"), "filter-branch": gitFilter,
	}
}}

// git handles the options before the subcommand, of which -C moves and -c may
// name a command.
func git(s *scanner, c call) {
	args := c.args
	aliases := map[string]string{}
	cwd, lost := s.cwd, s.lost
	defer func() { s.cwd, s.lost = cwd, lost }()
	for len(args) > 0 && strings.HasPrefix(args[0].s, "-") {
		name, attached, joined := strings.Cut(args[0].s, "=")
		switch {
		case name == "-C" && len(args) > 1:
			s.chdir(args[1]) // each from where the one before led
			args = args[2:]
		case name == "--work-tree" && joined:
			s.chdir(value{attached, args[0].glob, args[0].ok})
			args = args[1:]
		case name == "--work-tree" && len(args) > 1:
			s.chdir(args[1])
			args = args[2:]
		case args[0].s == "-c" && len(args) > 1:
			if key, meant, ok := strings.Cut(args[1].s, "="); ok && strings.HasPrefix(key, "alias.") {
				aliases[key[len("alias."):]] = meant
			} else if command := gitProgram(key, meant); command != "" {
				s.aside(command)
			}
			args = args[2:]
		case !joined && (name == "-c" || name == "--git-dir" || name == "--namespace" || name == "--config-env"):
			args = args[min(2, len(args)):]
		default:
			args = args[1:]
		}
	}
	if len(args) == 0 {
		return
	}
	sub := call{args[0].s, args[1:], c.in}
	if meant, ok := aliases[sub.name]; ok {
		if command, shell := strings.CutPrefix(meant, "!"); shell {
			s.script(command + " " + quoted(sub.args))
		} else {
			s.script("git " + meant + " " + quoted(sub.args))
		}
		return
	}
	s.sweep(sub)
	s.detachGit(sub)
	r, ok := gitRules.Get()[sub.name]
	switch {
	case !ok && gitReads.Has(sub.name):
		gitOutput(s, sub)
	case !ok:
		s.readOnly = false
	default:
		r(s, sub)
	}
}

// gitOutput handles --output, the one way in which reading commands write.
func gitOutput(s *scanner, c call) {
	opts, _ := c.parse("-o --output")
	if v, ok := opts["--output"]; ok {
		s.write(v, Write{Kind: File})
	} else if v, ok := opts["-o"]; ok && c.name == "archive" {
		s.write(v, Write{Kind: File})
	}
}

// quoted are words as a script has them.
func quoted(args []value) string {
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = "'" + strings.ReplaceAll(a.s, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// gitCheckoutIndex handles the command below checkout, which writes what the
// index holds.
func gitCheckoutIndex(s *scanner, c call) {
	opts, ops := c.parse("--prefix --stage")
	prefix, elsewhere := opts["--prefix"]
	switch {
	case opts.has("--temp", "--stdin"):
		s.readOnly = false
	case opts.has("-a", "--all") && !elsewhere:
		s.discard(".")
	case elsewhere:
		for i := range ops {
			ops[i].s = prefix.s + ops[i].s
		}
		fallthrough
	default:
		s.writeAll(ops, File)
	}
}

func gitReadTree(s *scanner, c call) {
	if opts, _ := c.parse("--prefix --index-output --exclude-per-directory"); opts.has("-u") {
		s.discard(".")
	}
}

// gitMergeFile writes the first of three files, unless it is to print.
func gitMergeFile(s *scanner, c call) {
	opts, ops := c.parse("-L --marker-size --diff-algorithm")
	if len(ops) > 0 && !opts.has("-p", "--stdout", "--object-id") {
		s.write(ops[0], Write{Kind: File})
	}
}

// gitRuns is the rule of commands that run another, which an option names.
func gitRuns(valued string) rule {
	return func(s *scanner, c call) {
		s.readOnly = false
		opts, _ := c.parse(valued + " --onto -s --strategy -X --strategy-option -t --tool")
		for name := range strings.FieldsSeq(valued) {
			if command, ok := opts[name]; ok {
				s.script(command.s)
			}
		}
	}
}

func gitBisect(s *scanner, c call) {
	s.readOnly = false
	if len(c.args) > 1 && c.args[0].s == "run" {
		s.script(quoted(c.args[1:]))
	}
}

// gitFilter runs its filters on every commit, and leaves the working copy as the
// last is.
func gitFilter(s *scanner, c call) {
	gitRuns("--tree-filter --index-filter --env-filter --msg-filter --commit-filter --setup")(s, c)
	s.discard(".")
}

// listed reports whether a file names what a command is about: it may be
// anything.
func (s *scanner) listed(opts options) bool {
	if opts.has("--pathspec-from-file") {
		s.write(literal("."), Write{Kind: Tree})
		return true
	}
	return false
}

// afterDashes returns the operands after --.
func afterDashes(args []value) ([]value, bool) {
	for i, a := range args {
		if a.s == "--" {
			return args[i+1:], true
		}
	}
	return nil, false
}

// gitCheckout tells checkout of files from checkout of a branch. Without --
// only the shape of the word can tell.
func gitCheckout(s *scanner, c call) {
	if paths, ok := afterDashes(c.args); ok {
		s.pathspecs(paths)
		return
	}
	opts, ops := c.parse("-b -B --orphan --conflict --pathspec-from-file")
	switch {
	case s.listed(opts):
	case opts.has("-b", "-B", "--orphan", "--detach"):
		if opts.has("-f", "--force") {
			s.discard(".")
		}
	case opts.has("-f", "--force"):
		s.discard(".")
	case opts.has("--ours", "--theirs", "-p", "--patch"):
		s.pathspecs(ops)
	case len(ops) == 1 && looksLikeFile(ops[0].s):
		s.pathspecs(ops)
	case len(ops) > 1: // a commit and then files
		if looksLikeFile(ops[0].s) {
			s.pathspecs(ops)
		} else {
			s.pathspecs(ops[1:])
		}
	default:
		s.readOnly = false
	}
}

// looksLikeFile tells names of files from names of branches: ".", names with
// an extension, and paths that end in a slash.
func looksLikeFile(p string) bool {
	if p == "." || strings.HasPrefix(p, "./") || strings.HasPrefix(p, "../") || strings.HasPrefix(p, ":/") || strings.HasSuffix(p, "/") {
		return true
	}
	ext := path.Ext(p)
	return len(ext) > 1 && len(ext) <= 6 && strings.Trim(ext[1:], "0123456789.") != ""
}

func gitRestore(s *scanner, c call) {
	opts, ops := c.parse("-s --source --conflict --pathspec-from-file")
	if opts.has("--staged", "-S") && !opts.has("--worktree", "-W") || s.listed(opts) {
		return
	}
	if paths, ok := afterDashes(c.args); ok {
		ops = paths
	}
	s.pathspecs(ops)
}

func gitSwitch(s *scanner, c call) {
	if opts, _ := c.parse("-c -C"); opts.has("-f", "--force", "--discard-changes") {
		s.discard(".")
		return
	}
	s.readOnly = false
}

func gitReset(s *scanner, c call) {
	if opts, _ := c.parse(""); opts.has("--hard", "--merge", "--keep") {
		s.discard(".")
	}
}

func gitStash(s *scanner, c call) {
	verb := "push"
	args := c.args
	if len(args) > 0 && !strings.HasPrefix(args[0].s, "-") {
		verb, args = args[0].s, args[1:]
	}
	switch verb {
	case "list", "show", "drop", "clear", "create", "store":
	case "push", "save":
		if paths, ok := afterDashes(args); ok {
			s.pathspecs(paths)
			return
		}
		opts, ops := (call{args: args}).parse("-m --message --pathspec-from-file")
		if s.listed(opts) {
			return
		}
		if len(ops) > 0 && verb == "push" {
			s.pathspecs(ops)
			return
		}
		s.discard(".")
	default: // pop and apply bring back files that only the stash knows
		s.write(literal("."), Write{Kind: Under})
	}
}

func gitClean(s *scanner, c call) {
	opts, ops := c.parse("-e --exclude")
	if opts.has("-n", "--dry-run") || !opts.has("-f", "--force") {
		return
	}
	if len(ops) == 0 {
		ops = []value{literal(".")}
	}
	s.pathspecs(ops)
}

func gitRm(s *scanner, c call) {
	opts, ops := c.parse("--pathspec-from-file")
	if opts.has("--cached", "-n", "--dry-run") || s.listed(opts) {
		return
	}
	kind := File
	if opts.has("-r") {
		kind = Tree
	}
	s.writeAll(ops, kind)
}

func gitApply(s *scanner, c call) {
	opts, ops := c.parse("-p --exclude --include --directory -C")
	if opts.has("--check", "--stat", "--numstat", "--summary", "--cached", "--abort", "--continue", "--skip") {
		s.readOnly = s.readOnly && !opts.has("--abort", "--continue", "--skip")
		return
	}
	strip := -1
	if v, ok := opts["-p"]; ok {
		if n, err := strconv.Atoi(v.s); err == nil && n != 1 {
			strip = n
		}
	}
	var files []value
	for _, v := range ops {
		if v.s != "-" {
			files = append(files, v)
		}
	}
	if c.in.file.ok {
		files = append(files, c.in.file)
	}
	var names []value
	if below, ok := opts["--directory"]; ok { // the patch names files from there
		cwd, lost := s.cwd, s.lost
		defer func() { s.cwd, s.lost = cwd, lost }()
		s.chdir(below)
		if len(files) > 0 { // and may name any of them
			files, names = nil, []value{literal(".")}
			s.writeAll(names, Tree)
		}
	}
	for _, v := range files {
		s.write(v, Write{Kind: Patch, Strip: strip})
	}
	if !c.in.file.ok && (len(ops) == 0 || c.in.text != "") {
		names = append(names, s.patchText(c.in.text, strip)...)
	}
	if c.name == "apply" {
		s.sweepPatch(c, files, names, strip)
	}
}

// pathspecs notes that uncommitted changes to the given files are discarded.
func (s *scanner) pathspecs(vs []value) {
	for _, v := range vs {
		top := false
		if strings.HasPrefix(v.s, ":") {
			if v, top = magic(v); v.s == "" {
				continue
			}
		}
		kind := File
		if v.s == "." || v.s == "./" || v.s == ".." || strings.HasSuffix(v.s, "/") {
			kind = Dirty
		} else if !v.glob && strings.ContainsAny(v.s, "*?[") {
			v = asGlobs([]value{v})[0] // git expands quoted wildcards itself
		}
		in, ok := s.resolve(literal("."))
		if !top || !ok || !v.ok {
			s.write(v, Write{Kind: kind})
			continue
		}
		s.note(Write{Path: ":/" + strings.TrimPrefix(v.s, "./"), In: in, Kind: kind, Glob: v.glob})
	}
}

// magic reads what git has pathspecs begin with: :/ and (top) are from the top,
// (icase) is whatever the case of letters. Of what is left out nothing remains.
func magic(v value) (_ value, top bool) {
	words, rest, long := strings.Cut(strings.TrimPrefix(v.s, ":("), ")")
	switch {
	case strings.HasPrefix(v.s, ":!"), strings.HasPrefix(v.s, ":^"):
		v.s = ""
	case strings.HasPrefix(v.s, ":/"):
		v.s, top = "./"+v.s[2:], true
	case strings.HasPrefix(v.s, ":(") && long:
		v.s = cmp.Or(rest, ".")
		for word := range strings.SplitSeq(words, ",") {
			switch {
			case word == "top":
				top = true
			case word == "exclude":
				v.s = ""
			case word == "icase":
				v.s, v.glob = eitherCase(v.s), true
			case strings.HasPrefix(word, "attr"):
				v.s = "./" // those that have it
			}
		}
	}
	return v, top
}

// eitherCase is a wildcard for a name, whatever the case of its letters.
func eitherCase(name string) string {
	var out strings.Builder
	for _, r := range name {
		if low, high := unicode.ToLower(r), unicode.ToUpper(r); low != high {
			out.WriteString("[" + string(low) + string(high) + "]")
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// gitWorktree notes the folder in which further writes are writes to this
// repository.
func gitWorktree(s *scanner, c call) {
	_, ops := c.parse("-b -B --reason --orphan")
	if len(ops) < 2 || ops[0].s != "add" {
		return
	}
	dir, known := s.resolve(ops[1])
	in, ok := s.resolve(literal("."))
	if known && ok {
		s.worktrees[dir] = in
	}
}

// discard notes that all uncommitted changes under dir are discarded.
func (s *scanner) discard(dir string) { s.write(literal(dir), Write{Kind: Dirty}) }

// patchText notes the files of a patch given in the command itself, and
// returns them.
func (s *scanner) patchText(text string, strip int) (out []value) {
	if text == "" {
		s.readOnly = false
		return nil
	}
	names := patch.Envelope(text)
	if len(names) == 0 {
		names = patch.Diff(text, strip)
	}
	for _, n := range names {
		out = append(out, literal(n))
		s.write(literal(n), Write{Kind: File})
	}
	return out
}

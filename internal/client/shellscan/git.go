package shellscan

import (
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/client/patch"
)

// gitReads are subcommands that leave the working tree alone. Some move
// references; that is no edit.
var gitReads = words(`status log diff show blame branch rev-parse rev-list ls-files ls-tree ls-remote grep describe
	cat-file remote config shortlog reflog tag fetch add commit push notes bisect-log merge-base diff-tree diff-index
	diff-files for-each-ref show-ref symbolic-ref var version help whatchanged cherry name-rev check-ignore
	check-attr count-objects fsck gc init hash-object update-index update-ref write-tree`)

var gitRules = sync.OnceValue(func() map[string]rule {
	return map[string]rule{
		"checkout": gitCheckout, "restore": gitRestore, "switch": gitSwitch, "reset": gitReset, "stash": gitStash,
		"clean": gitClean, "rm": gitRm, "mv": move, "apply": gitApply, "am": gitApply,
		"worktree": reads, "archive": gitOutput, "format-patch": unknown, "bundle": unknown,
	}
})

// git handles the options before the subcommand, of which -C moves.
func git(s *scanner, c call) {
	args := c.args
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
	s.sweep(sub)
	s.detachGit(sub)
	r, ok := gitRules()[sub.name]
	switch {
	case !ok && gitReads()[sub.name]:
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
	opts, ops := c.parse("-b -B --orphan --conflict")
	switch {
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
	opts, ops := c.parse("-s --source --conflict")
	if opts.has("--staged", "-S") && !opts.has("--worktree", "-W") {
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
		if _, ops := (call{args: args}).parse("-m --message"); len(ops) > 0 && verb == "push" {
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
	opts, ops := c.parse("")
	if opts.has("--cached", "-n", "--dry-run") {
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
	for _, v := range files {
		s.write(v, Write{Kind: Patch, Strip: strip})
	}
	var names []value
	if !c.in.file.ok && (len(ops) == 0 || c.in.text != "") {
		names = s.patchText(c.in.text, strip)
	}
	if c.name == "apply" {
		s.sweepPatch(c, files, names, strip)
	}
}

// pathspecs notes that uncommitted changes to the given files are discarded.
func (s *scanner) pathspecs(vs []value) {
	for _, v := range vs {
		if rest, ok := strings.CutPrefix(v.s, ":/"); ok {
			v.s = "./" + rest
		}
		kind := File
		if v.s == "." || v.s == "./" || v.s == ".." || strings.HasSuffix(v.s, "/") {
			kind = Dirty
		} else if !v.glob && strings.ContainsAny(v.s, "*?[") {
			v = asGlobs([]value{v})[0] // git expands quoted wildcards itself
		}
		s.write(v, Write{Kind: kind})
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

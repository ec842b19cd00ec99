package shellscan

import (
	"path"
	"regexp"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A DetachKind is how a command would take a working copy from svc's sight.
type DetachKind string

const (
	Renames DetachKind = "renames" // it would be another repository, or none
	Leaves  DetachKind = "leaves"  // svc would be logged out, stopped, or ask elsewhere
	Blinds  DetachKind = "blinds"  // what svc reads would say something else
)

// A Detach is a command that would have svc lose sight of a working copy, or
// take it for something else.
type Detach struct {
	What string // as one would say it: git remote set-url
	Kind DetachKind
	Dir  string // the folder it is about, like the paths of a Write; "" also where nobody knows
	User bool   // it is about all working copies of the user
}

const maxDetaches = 20

func (s *scanner) detaches(d Detach) {
	if d.Dir == "" && !d.User {
		d.Dir, _ = s.resolve(literal("."))
	}
	if len(s.away) < maxDetaches {
		s.away = append(s.away, d)
	}
}

// variables are those by which svc finds its server, its login and its files.
var variables = lazy.Words(`SVC_SERVER SVC_TOKEN SVC_CONFIG_DIR SVC_LOCAL_DIR SVC_EDGE`)

// elsewhere are variables by which svc and the hosts find their files and the
// network: an agent that is started with another one runs other hooks, or none.
var elsewhere = lazy.Words(`HOME XDG_CONFIG_HOME XDG_DATA_HOME CLAUDE_CONFIG_DIR CODEX_HOME GEMINI_CLI_HOME PATH TMPDIR
	HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy NO_PROXY SVC_WEB_URL
	SVC_CLIENT_CERT SVC_CLIENT_KEY`)

// agents are programs that run hooks.
var agents = lazy.Words(`claude codex gemini droid cursor-agent opencode copilot qwen goose kiro kiro-cli amp crush auggie`)

// sets notes a variable that is set for a command, or for those that follow.
func (s *scanner) sets(name string) {
	if variables.Has(name) {
		s.detaches(Detach{What: name + "=", Kind: Leaves, User: true})
	}
	s.moved = s.moved || elsewhere.Has(name)
}

// startsAgent notes an agent that is started with other settings than the
// person's.
func (s *scanner) startsAgent(name string, args []value) {
	if !agents.Has(name) {
		return
	}
	changed := s.moved
	for _, a := range args {
		flag, _, _ := strings.Cut(a.s, "=")
		changed = changed || isOneOf(flag, "--settings", "--setting-sources", "--bare", "-c", "--config", "--profile", "--disable")
	}
	if changed {
		s.detaches(Detach{What: name + " with other settings", Kind: Blinds, User: true})
	}
}

// svc notes commands of svc's own that end what it does here.
func svc(s *scanner, c call) {
	s.readOnly = false
	opts, ops := c.parse("--server --token --repos --tools --config")
	if len(ops) == 0 {
		return
	}
	verb := ops[0].s
	away := false
	switch verb {
	case "logout", "down", "login":
		away = true
	case "share":
		away = opts.has("--stop")
		if !away && !opts.has("--refresh") { // it would say which repository this is
			s.detaches(Detach{What: "svc share", Kind: Renames})
			return
		}
	case "init":
		away = opts.has("--remove", "--uninstall", "--server")
	case "watch-tree", "trust":
		return
	}
	if away {
		what := "svc " + verb
		if verb == "share" {
			what += " --stop"
		}
		s.detaches(Detach{What: what, Kind: Leaves, User: true})
	}
}

// endsProgram is the rule of commands that end programs by name.
func endsProgram(s *scanner, c call) {
	_, ops := c.parse("-s -u -U -g -G -P -t --signal")
	for _, v := range ops {
		if name := strings.Trim(path.Base(v.s), "^$"); strings.HasPrefix(name, "svc") || len(name) > 1 && strings.HasPrefix("svcd", name) {
			s.detaches(Detach{What: path.Base(c.name) + " " + name, Kind: Leaves, User: true})
		}
	}
}

// jujutsu notes commands of jj that would make a working copy another repository,
// and tells those that leave its files alone.
func jujutsu(s *scanner, c call) {
	_, ops := c.parse("-R --repository --at-operation --at-op --config --config-file --color -r --revision --revisions -T --template")
	word := func(i int) string {
		if i < len(ops) {
			return ops[i].s
		}
		return ""
	}
	if word(0) == "git" && word(1) == "remote" && isOneOf(word(2), "set-url", "remove", "rename") {
		s.detaches(Detach{What: "jj git remote " + word(2), Kind: Renames})
	}
	s.readOnly = s.readOnly && isOneOf(word(0), "log", "status", "st", "diff", "show", "evolog", "interdiff", "help", "version", "root")
}

// detachGit notes git commands that would make a working copy another
// repository, or hide what changes in it.
func (s *scanner) detachGit(c call) {
	opts, ops := c.parse("-C -c --template --separate-git-dir -b --initial-branch --branch -o --origin --depth -f --file " +
		"--reference --upload-pack --config --filter --type --default")
	verb := ""
	if len(ops) > 0 {
		verb = ops[0].s
	}
	switch c.name {
	case "remote":
		if isOneOf(verb, "set-url", "remove", "rm", "rename") {
			s.detaches(Detach{What: "git remote " + verb, Kind: Renames})
		}
	case "config":
		s.detachConfig(opts, ops)
	case "init", "clone":
		into := literal(".")
		switch {
		case c.name == "init" && len(ops) > 0:
			into = ops[0]
		case c.name == "clone" && len(ops) > 1:
			into = ops[1]
		case c.name == "clone" && len(ops) == 1:
			into = literal(strings.TrimSuffix(path.Base(ops[0].s), ".git"))
		}
		if dir, ok := s.resolve(into); ok {
			s.detaches(Detach{What: "git " + c.name, Kind: Renames, Dir: dir})
		}
	case "update-index":
		for _, flag := range []string{"--assume-unchanged", "--skip-worktree"} {
			if opts.has(flag) {
				s.detaches(Detach{What: "git update-index " + flag, Kind: Blinds})
			}
		}
	}
}

// detachConfig notes settings that say which repository a working copy is.
func (s *scanner) detachConfig(opts options, ops []value) {
	edits := opts.has("-e", "--edit", "--remove-section", "--rename-section", "--unset", "--unset-all", "--add", "--replace-all")
	if len(ops) > 0 && isOneOf(ops[0].s, "set", "unset", "edit", "remove-section", "rename-section", "get", "list") {
		edits = edits || !isOneOf(ops[0].s, "get", "list")
		ops = ops[1:]
	}
	if opts.has("--get", "--get-all", "--get-regexp", "--list", "-l") {
		return
	}
	if opts.has("-e", "--edit") {
		s.detaches(Detach{What: "git config --edit", Kind: Renames})
		return
	}
	if len(ops) == 0 || !edits && len(ops) < 2 {
		return
	}
	section, _, _ := strings.Cut(strings.ToLower(ops[0].s), ".")
	key := strings.ToLower(ops[0].s)
	if isOneOf(section, "remote", "url", "include", "includeif", "extensions") || isOneOf(key, "core.worktree", "core.bare") || !ops[0].ok {
		s.detaches(Detach{What: "git config " + section, Kind: Renames})
	}
}

func isOneOf(s string, words ...string) bool {
	for _, w := range words {
		if s == w {
			return true
		}
	}
	return false
}

var (
	quotedTexts = lazily(`"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|\x60([^\x60\n]*)\x60`)
	wordLists   = lazily(`[\[(]\s*((?:["'][^"'\n]*["']\s*,\s*)+["'][^"'\n]*["'])`)
)

// spawned looks in a script of another language for commands that it may run,
// and notes of them only what would take a working copy from svc's sight.
func (s *scanner) spawned(text string) {
	if s.depth >= maxDepth-2 || len(text) > maxLength {
		return
	}
	var lines []string
	for _, m := range wordLists.get()[0].FindAllStringSubmatch(text, 50) {
		var list []string
		for _, v := range matches(quotedTexts.get()[0], m[1]) {
			list = append(list, v.s)
		}
		lines = append(lines, strings.Join(list, " "))
	}
	for _, v := range matches(quotedTexts.get()[0], text) {
		if strings.Contains(v.s, " ") {
			lines = append(lines, v.s)
		}
	}
	for _, line := range lines {
		if !mayDetach().MatchString(line) {
			continue
		}
		inner := newScanner(nil)
		inner.vars, inner.cwd, inner.lost, inner.depth = s.vars, s.cwd, s.lost, s.depth+1
		inner.script(line)
		for _, d := range inner.away {
			s.detaches(d)
		}
	}
}

var detachWords = lazily(`\b(git|svc|pkill|killall|SVC_[A-Z_]+)\b`)

func mayDetach() *regexp.Regexp { return detachWords.get()[0] }

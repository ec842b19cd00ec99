package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// A Part is how one part of a host's set-up stands.
type Part struct {
	File    string   // where it is, or would be; ~/ for the home folder
	Present bool     // something of ours is there
	Missing []string // what is lacking or outdated, one phrase each
	Err     error    // the file cannot be read
}

// OK reports whether the part is there and up to date.
func (p Part) OK() bool { return p.Present && len(p.Missing) == 0 && p.Err == nil }

// Trust is what can be read of a host's consent to run our hooks.
type Trust string

// The values of Trust.
const (
	TrustUnknown Trust = ""        // the host does not say
	Trusted      Trust = "trusted" // the user has accepted the project and every hook
	Untrusted    Trust = "untrusted"
)

// A Report is how a host's set-up stands in a repository.
type Report struct {
	Host         string
	Hooks        Part
	Server       Part
	Instructions Part
	Trust        Trust
}

// Status inspects a host's set-up. Home is the user's home folder, in which
// some hosts keep tool servers and consent; nothing is written.
func Status(root, home, host string, plugin func(string) (string, []byte, bool)) (Report, error) {
	p, hosts, err := newPlanner(Options{Root: root, Hosts: []string{host}, Plugin: plugin})
	if err != nil {
		return Report{}, err
	}
	if t, err := openTree(home); home != "" && err == nil {
		p.home = t
	}
	h := hosts[0]
	r := Report{Host: host, Instructions: p.instructionPart(h)}
	for i := range h.Files {
		f := &h.Files[i]
		t := p.tree(f)
		if t == nil || f.Use != nil && !f.Use(p.repo.reader()) {
			continue
		}
		part := f.inspect(h, t)
		if f.Plugin && part.Present && !p.pluginCurrent(h, f) {
			part.Missing = append(part.Missing, "the plugin is of another version")
		}
		if f.Hooks != nil && f.Entry != nil {
			r.Hooks, r.Server = f.inspectBoth(h, t)
			continue
		}
		if f.hooks() {
			r.Hooks = part
		}
		if f.server() {
			r.Server = part
		}
	}
	if host == "codex" && p.home != nil && r.Hooks.Present {
		r.Trust = codexTrust(p.repo.dir, p.home.dir)
	}
	return r, nil
}

func (p *planner) pluginCurrent(h *Host, f *File) bool {
	if p.opts.Plugin == nil {
		return true
	}
	_, content, ok := p.opts.Plugin(h.ID)
	data, _, err := p.repo.read(f.pick(p.repo))
	return !ok || err == nil && string(data) == string(content)
}

// inspect reports on a file with one part in it; of two, on both together.
func (f *File) inspect(h *Host, t *tree) Part {
	hooks, server := f.inspectBoth(h, t)
	if !f.hooks() {
		return server
	}
	hooks.Present = hooks.Present || server.Present
	return hooks
}

func (f *File) inspectBoth(h *Host, t *tree) (hooks, server Part) {
	name := f.pick(t)
	part := Part{File: name}
	if f.Home {
		part.File = "~/" + name
	}
	data, _, err := t.read(name)
	if err != nil || data == nil {
		part.Err = err
		return part, part
	}
	text := trimBOM(data)
	simple := func(present, current bool) Part {
		p := part
		p.Present = present
		if present && !current {
			p.Missing = []string{"it is of another version"}
		}
		return p
	}
	switch {
	case f.Table != nil:
		return part, simple(f.Table.present(text))
	case f.YAML != nil:
		return part, simple(f.YAML.present(text))
	case f.Plugin || f.Text != "":
		p := simple(ourFile.Match(text), true)
		return p, p
	}
	doc, err := parseJSON(text)
	if err != nil {
		part.Err = err
		return part, part
	}
	hooks, server = part, part
	if f.Hooks != nil {
		hooks.Present, hooks.Missing = f.Hooks.lacks(doc, h.ID)
	}
	if f.Entry != nil {
		server = simple(f.Entry.present(doc))
		if f.Hooks == nil {
			hooks = server
		}
	}
	return hooks, server
}

// instructionPart reports on the instruction block.
func (p *planner) instructionPart(h *Host) Part {
	names := h.instructionFiles(p.repo.reader())
	part := Part{File: names[0]}
	for _, name := range names {
		data, _, err := p.repo.read(name)
		if err != nil {
			part.Err = err
			continue
		}
		text := trimBOM(data)
		if blocks, err := findBlocks(text); err != nil || len(blocks) == 0 {
			continue
		}
		part = Part{File: name, Present: true}
		if out, err := applyBlock(text, false); err != nil || string(out) != string(text) {
			part.Missing = []string{"it is of another version"}
		}
		return part
	}
	return part
}

// codexTrust reads the user's Codex settings: the project must be trusted, and
// each of our hooks. The hash that Codex keeps of a hook is its own affair, so
// a hook that was trusted and changed since looks trusted here.
func codexTrust(repo, home string) Trust {
	dir := os.Getenv("CODEX_HOME")
	if dir == "" {
		dir = filepath.Join(home, ".codex")
	}
	data, err := os.ReadFile(filepath.Join(dir, "config.toml"))
	if err != nil {
		return Untrusted
	}
	var all map[string]any
	if toml.Unmarshal(data, &all) != nil {
		return TrustUnknown
	}
	if lookup(all, []string{"projects", repo, "trust_level"}) != "trusted" {
		return Untrusted
	}
	state, _ := lookup(all, []string{"hooks", "state"}).(map[string]any)
	for _, e := range codexEvents() {
		prefix := filepath.Join(repo, ".codex", "hooks.json") + ":" + snake(e.name) + ":"
		trusted := false
		for key, v := range state {
			m, _ := v.(map[string]any)
			if strings.HasPrefix(key, prefix) && m["trusted_hash"] != nil && m["enabled"] != false {
				trusted = true
			}
		}
		if !trusted {
			return Untrusted
		}
	}
	return Trusted
}

// snake turns PreToolUse into pre_tool_use.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if r >= 'A' && r <= 'Z' {
			if i > 0 {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Detect returns the ids of the hosts that somebody uses on this machine or in
// this repository. LookPath finds a binary, as exec.LookPath does.
func Detect(root, home string, lookPath func(string) (string, error)) []string {
	there := func(dir string) func(string) bool {
		return func(name string) bool {
			_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
			return dir != "" && err == nil
		}
	}
	onPath := func(name string) bool {
		_, err := lookPath(name)
		return err == nil
	}
	var ids []string
	for _, h := range Hosts {
		if !h.HomeOnly && slices.ContainsFunc(h.Binaries, onPath) ||
			slices.ContainsFunc(h.Homes, there(home)) || slices.ContainsFunc(h.Marks, there(root)) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// Notes says in one line what a host still wants from the user.
func Notes(host string) string {
	h, ok := ByID(host)
	if !ok {
		return ""
	}
	return h.Title + ": " + h.Note
}

// FindRoot returns the top folder of the git repository or worktree that holds
// dir. Outside of one it returns dir and false.
func FindRoot(dir string) (root string, ok bool) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return dir, false
		}
	}
}

// isLinkedWorktree reports whether dir is the top of a linked git worktree,
// whose .git is a file that points into the main one's worktrees.
func isLinkedWorktree(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, ".git"))
	return err == nil && strings.Contains(filepath.ToSlash(string(data)), "/worktrees/")
}

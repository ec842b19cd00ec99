package setup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo"
)

// A Part is how one part of a host's set-up stands.
type Part struct {
	File    string   // where it is, or would be; ~/ for the home folder
	Present bool     // something of ours is there
	Missing []string // what is lacking or outdated, one phrase each
	Err     error    // the file cannot be read
	Taken   bool     // something that is not ours has our name there
}

// OK reports whether the part is there and up to date.
func (p Part) OK() bool { return p.Present && len(p.Missing) == 0 && p.Err == nil }

// Trust is what can be read of a host's consent to run our hooks.
type Trust string

// The values of Trust.
const (
	TrustUnknown Trust = ""        // the host does not say
	Trusted      Trust = "trusted" // the user has accepted the project and every hook
	Stale        Trust = "stale"   // accepted, but the hooks have changed since
	Untrusted    Trust = "untrusted"
	Damaged      Trust = "damaged" // the host's settings cannot be read, by the host either
)

// A Report is how a host's set-up stands in a repository. Server is empty where
// the host keeps tool servers in the home folder and none was given.
type Report struct {
	Host         string
	Hooks        Part
	Server       Part
	Instructions Part
	Trust        Trust
}

// Status inspects the set-up of one host. In the home folder, if given, it
// looks for tool servers and consent; it writes nothing.
func Status(opts Options, host string) (Report, error) {
	opts.Hosts = []string{host}
	if _, err := os.Stat(opts.Home); err != nil {
		opts.Home = ""
	}
	p, hosts, err := newPlanner(opts)
	if err != nil {
		return Report{}, err
	}
	if len(hosts) == 0 {
		return Report{Host: host}, nil
	}
	h := hosts[0]
	r := Report{Host: host, Instructions: p.instructionPart(h)}
	for i := range h.files {
		f := &h.files[i]
		t := p.tree(f)
		if t == nil || f.use != nil && !f.use(p.repo.reader()) {
			continue
		}
		part := f.inspect(h, t)
		if f.plugin && part.Present && !p.pluginCurrent(h, f) {
			part.Missing = append(part.Missing, "the plugin is of another version")
		}
		if f.hooks != nil && f.entry != nil {
			r.Hooks, r.Server = f.inspectBoth(h, t)
			continue
		}
		if f.hasHooks() {
			r.Hooks = part
		}
		if f.hasServer() {
			r.Server = part
		}
	}
	if h.trust != nil && r.Hooks.Present {
		r.Trust = h.trust(p)
	}
	return r, nil
}

func (p *planner) pluginCurrent(h *Host, f *hostFile) bool {
	if p.opts.Plugin == nil {
		return true
	}
	_, content, ok := p.opts.Plugin(h.ID)
	data, _, err := p.repo.read(f.pick(p.repo))
	return !ok || err == nil && string(data) == string(f.placed(content))
}

// inspect reports on a file with one part in it; of two, on both together.
func (f *hostFile) inspect(h *Host, t *tree) Part {
	hooks, server := f.inspectBoth(h, t)
	if !f.hasHooks() {
		return server
	}
	hooks.Present = hooks.Present || server.Present
	return hooks
}

func (f *hostFile) inspectBoth(h *Host, t *tree) (hooks, server Part) {
	name := f.pick(t)
	part := Part{File: name}
	if f.home {
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
	case f.table != nil:
		return part, simple(f.table.present(text))
	case f.yaml != nil:
		return part, simple(f.yaml.present(text))
	case f.plugin || f.text != "":
		p := simple(ourFile.Get().Match(text), true)
		return p, p
	}
	doc, err := parseJSON(text)
	if err != nil {
		part.Err = err
		return part, part
	}
	hooks, server = part, part
	if f.hooks != nil {
		hooks.Present, hooks.Missing = f.hooks.lacks(doc, h.ID)
	}
	if f.entry != nil {
		server = simple(f.entry.present(doc))
		server.Taken = !server.Present && f.entry.taken(doc)
		if f.hooks == nil {
			hooks = server
		}
	}
	return hooks, server
}

// instructionPart reports on the instruction block.
func (p *planner) instructionPart(h *Host) Part {
	names := h.instructionFiles(p.repo.reader())
	if len(names) == 0 {
		return Part{}
	}
	shown := func(name string) string {
		if p.opts.User {
			return "~/" + name
		}
		return name
	}
	part := Part{File: shown(names[0])}
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
		part = Part{File: shown(name), Present: true}
		if out, err := applyBlock(text, false); err != nil || string(out) != string(text) {
			part.Missing = []string{"it is of another version"}
		}
		return part
	}
	return part
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
	for _, h := range table() {
		if !h.homeOnly && slices.ContainsFunc(h.binaries, onPath) ||
			slices.ContainsFunc(h.homes, there(home)) || slices.ContainsFunc(h.marks, there(root)) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// Installed reports whether somebody has the host on this machine: its program,
// or the folder that it keeps in theirs.
func Installed(id, home string, lookPath func(string) (string, error)) bool {
	h, ok := ByID(id)
	return ok && (slices.ContainsFunc(h.binaries, func(name string) bool { _, err := lookPath(name); return err == nil }) ||
		home != "" && slices.ContainsFunc(h.homes, func(name string) bool {
			_, err := os.Stat(filepath.Join(home, filepath.FromSlash(name)))
			return err == nil
		}))
}

// Programs are the names of all hosts' programs.
func Programs() (names []string) {
	for _, h := range table() {
		if !h.homeOnly { // another program has the same name
			names = append(names, h.binaries...)
		}
	}
	return names
}

// Program returns where a host is on the PATH, or "".
func Program(id string, lookPath func(string) (string, error)) string {
	h, _ := ByID(id)
	for _, name := range h.binaries {
		if path, err := lookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Notes says in one line what a host still wants from the user, after a set-up
// with or without leave to edit the home folder.
func Notes(host string, home bool) string {
	h, ok := ByID(host)
	if !ok {
		return ""
	}
	if home && h.noteHome != "" {
		return h.Title + ": " + h.noteHome
	}
	return h.Title + ": " + h.Note
}

// UserNotes is Notes after svc init --user.
func UserNotes(host string) string {
	if h, ok := ByID(host); ok && userNotes[host] != "" {
		return h.Title + ": " + userNotes[host]
	}
	return ""
}

// HomeFiles lists what Plan would edit in the home folder, given leave.
func HomeFiles(hosts []string) []string {
	var names []string
	for _, id := range hosts {
		h, ok := ByID(id)
		if !ok {
			continue
		}
		for _, f := range h.files {
			if f.home {
				names = append(names, "~/"+f.paths[len(f.paths)-1])
			}
		}
	}
	return names
}

// FindRoot returns the top folder of the repository or worktree that holds
// dir. Outside of one it returns dir and false.
func FindRoot(dir string) (root string, ok bool) {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		if gitrepo.Is(at) {
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

// Package setup is svc init: it merges our hooks, our tool server and our
// instructions into the files of other tools, and takes them out again. What
// is not ours keeps its bytes. It never writes a secret, never leaves the
// repository unless asked to, asks nothing and prints nothing.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// Options says what to set up.
type Options struct {
	Root  string   // the repository's top folder
	Hosts []string // ids; empty means all for Remove
	// Home, if set, allows editing the home folder for hosts that keep their
	// tool servers only there.
	Home string
	// User sets up the user's home folder, Home, instead of a repository: hooks
	// that hosts run in whatever folder they are started.
	User bool
	// Program is the path of svc, which the files in the home folder name when
	// User is set; without it they name svc and leave the rest to the PATH.
	Program string
	// System is the folder above /etc; "" for the machine's own.
	System string
	// StatusLine puts svc prompt where a host of the user shows it, or takes it
	// out there.
	StatusLine bool
	// CodexHome is the folder of the user's Codex settings, where it is not
	// .codex under Home.
	CodexHome string
	// Plugin returns the plugin file of a host that has plugins instead of hooks.
	Plugin func(host string) (name string, content []byte, ok bool)
}

// Changes is what a plan would do. Nothing is written before Apply.
type Changes struct {
	Files    []Change
	Warnings []string
}

// A Change is the new content of one file.
type Change struct {
	Path     string // from the repository's top, or ~/ for the home folder
	Old, New []byte // nil where there is no file

	tree *tree
	real string // Path without symlinks
	mode fs.FileMode
}

// Kind is create, update or delete.
func (c Change) Kind() string {
	switch {
	case c.Old == nil:
		return "create"
	case c.New == nil:
		return "delete"
	default:
		return "update"
	}
}

// A draft is a file that a plan works on.
type draft struct {
	Change
	text  []byte // without byte order mark
	bom   bool
	gone  bool
	fresh bool // there was no file
}

// A planner collects the drafts of a plan.
type planner struct {
	opts     Options
	all      []*Host // every host there is
	repo     *tree
	home     *tree // nil without leave
	drafts   map[string]*draft
	order    []string
	warnings []string
}

// Plan works out the changes that set up the hosts. If one file cannot be
// edited safely the plan fails, so that a repository is never half set up.
func Plan(opts Options) (*Changes, error) {
	p, hosts, err := newPlanner(opts)
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		for i := range h.files {
			if err := p.applyFile(h, &h.files[i]); err != nil {
				return nil, err
			}
		}
	}
	if err := p.instruct(hosts); err != nil {
		return nil, err
	}
	if opts.StatusLine {
		if err := p.applyFile(&Host{ID: "claude_code"}, statusLine()); err != nil {
			return nil, err
		}
	}
	p.warn(hosts)
	return p.changes()
}

// Remove works out the changes that take our entries out again. Files that
// another host, still set up, shares with the given ones stay.
func Remove(opts Options) (*Changes, error) {
	if len(opts.Hosts) == 0 {
		opts.Hosts = IDs()
		if opts.User {
			opts.Hosts = UserHosts()
		}
	}
	p, hosts, err := newPlanner(opts)
	if err != nil {
		return nil, err
	}
	kept := p.keptByOthers(hosts)
	for _, h := range hosts {
		for i := range h.files {
			if err := p.removeFile(&h.files[i], kept); err != nil {
				return nil, err
			}
		}
		for _, name := range h.instructionFiles(p.repo.reader()) {
			if err := p.removeInstructions(name, kept); err != nil {
				return nil, err
			}
		}
	}
	if opts.StatusLine || opts.User {
		if err := p.removeFile(statusLine(), nil); err != nil {
			return nil, err
		}
	}
	return p.changes()
}

func newPlanner(opts Options) (*planner, []*Host, error) {
	if opts.User {
		opts.Root = opts.Home
	}
	p := &planner{opts: opts, all: opts.all(), drafts: map[string]*draft{}}
	var hosts []*Host
	for _, id := range opts.Hosts {
		if _, ok := ByID(id); !ok {
			return nil, nil, fmt.Errorf("unknown agent %q; svc knows %s", id, strings.Join(IDs(), ", "))
		}
		i := slices.IndexFunc(p.all, func(h *Host) bool { return h.ID == id })
		if i < 0 {
			p.warnings = append(p.warnings, id+" has no hooks for all folders of a user; run svc init in each repository")
		} else if !slices.Contains(hosts, p.all[i]) {
			hosts = append(hosts, p.all[i])
		}
	}
	var err error
	if p.repo, err = openTree(opts.Root); err != nil {
		return nil, nil, err
	}
	if opts.User {
		p.home = p.repo
	} else if opts.Home != "" {
		if p.home, err = openTree(opts.Home); err != nil {
			return nil, nil, err
		}
	}
	return p, hosts, nil
}

// tree returns the tree that f lies in, or nil if we have no leave.
func (p *planner) tree(f *hostFile) *tree {
	if f.home {
		return p.home
	}
	return p.repo
}

// pick returns the path of f in this repository.
func (f *hostFile) pick(t *tree) string {
	for _, name := range f.paths {
		if t.exists(name) {
			return name
		}
	}
	return f.paths[len(f.paths)-1]
}

// open returns the draft of a file. Paths that lead to one file share it.
func (p *planner) open(t *tree, name string) (*draft, error) {
	real, err := t.resolve(name)
	if err != nil {
		return nil, err
	}
	key := filepath.Join(t.dir, real)
	if d := p.drafts[key]; d != nil {
		return d, nil
	}
	data, mode, err := t.read(name)
	if err != nil {
		return nil, err
	}
	if data != nil && mode&0o200 == 0 {
		return nil, fmt.Errorf("%s is read-only; make it writable and run this again", name)
	}
	shown := name
	if t == p.home {
		shown = "~/" + name
	}
	d := &draft{Change: Change{Path: shown, Old: data, tree: t, real: real, mode: mode},
		text: trimBOM(data), bom: bytes.HasPrefix(data, utf8BOM), fresh: data == nil}
	p.drafts[key] = d
	p.order = append(p.order, key)
	return d, nil
}

// edit runs one edit on a draft and says in which file it failed.
func (p *planner) edit(t *tree, name string, fn func(*draft) error) error {
	d, err := p.open(t, name)
	if err != nil {
		return err
	}
	if err := fn(d); err != nil {
		var le *lineError
		if errors.As(err, &le) {
			return fmt.Errorf("%s, %w", d.Path, err)
		}
		return fmt.Errorf("%s: %w", d.Path, err)
	}
	return nil
}

func (p *planner) applyFile(h *Host, f *hostFile) error {
	t := p.tree(f)
	if t == nil || f.use != nil && !f.use(p.repo.reader()) {
		return nil
	}
	return p.edit(t, f.pick(t), func(d *draft) (err error) {
		fresh := d.fresh && len(d.text) == 0
		switch {
		case f.table != nil:
			d.text, err = f.table.apply(d.text, fresh)
		case f.yaml != nil:
			d.text, err = f.yaml.apply(d.text, fresh)
		case f.plugin:
			return p.applyPlugin(h, f, d)
		case f.text != "":
			return d.own([]byte(f.text))
		default:
			return p.applyJSON(h, f, d)
		}
		return err
	})
}

func (p *planner) applyJSON(h *Host, f *hostFile, d *draft) error {
	doc := newJSON()
	if !d.fresh || len(d.text) > 0 {
		var err error
		if doc, err = parseJSON(d.text); err != nil {
			return err
		}
	}
	if f.hooks != nil {
		warning, err := f.hooks.apply(doc, h.ID)
		if err != nil {
			return err
		}
		if warning != "" {
			p.warnings = append(p.warnings, d.Path+" "+warning)
		}
	}
	if f.entry != nil {
		if err := f.entry.apply(doc); err != nil {
			return err
		}
	}
	d.text = doc.text
	return nil
}

func (p *planner) applyPlugin(h *Host, f *hostFile, d *draft) error {
	if p.opts.Plugin == nil {
		return fmt.Errorf("no plugin for %s in this build", h.ID)
	}
	name, content, ok := p.opts.Plugin(h.ID)
	if !ok || path.Base(name) != path.Base(f.paths[0]) {
		return fmt.Errorf("no plugin %s for %s in this build", path.Base(f.paths[0]), h.ID)
	}
	return d.own(f.placed(content))
}

// ourFile matches files that are ours as a whole.
var ourFile = lazy.Regexp(`\bsvc(\.exe)?\b\W{1,12}hook\b|"name"\s*:\s*"svc"`)

// own makes the whole file ours.
func (d *draft) own(content []byte) error {
	if !d.fresh && !bytes.Equal(d.text, content) && !ourFile.Get().Match(d.text) {
		return errors.New("there is a file of this name that is not ours; rename it")
	}
	d.text = content
	return nil
}

func (p *planner) removeFile(f *hostFile, kept map[string]bool) error {
	t := p.tree(f)
	if t == nil {
		return nil
	}
	for _, name := range f.paths {
		if kept[name] || !t.exists(name) {
			continue
		}
		if err := p.edit(t, name, func(d *draft) error { return f.removeFrom(d) }); err != nil {
			return err
		}
	}
	return nil
}

func (f *hostFile) removeFrom(d *draft) (err error) {
	if d.gone || !bytes.Contains(d.text, []byte("svc")) {
		return nil // nothing of ours: not even a broken file is our concern
	}
	switch {
	case f.table != nil:
		d.text, d.gone, err = f.table.remove(d.text)
	case f.yaml != nil:
		d.text, d.gone, err = f.yaml.remove(d.text)
	case f.plugin || f.text != "":
		d.gone = ourFile.Get().Match(d.text)
	default:
		doc, err := parseJSON(d.text)
		if err != nil {
			return err
		}
		if f.entry != nil {
			f.entry.remove(doc)
		}
		if f.hooks != nil && !doc.gone {
			f.hooks.remove(doc)
		}
		d.text, d.gone = doc.text, doc.gone
	}
	return err
}

// changes lists the drafts that differ from what is on disk.
func (p *planner) changes() (*Changes, error) {
	c := &Changes{Warnings: p.warnings}
	for _, key := range p.order {
		d := p.drafts[key]
		if d.gone && d.Old != nil {
			c.Files = append(c.Files, d.Change)
			continue
		}
		d.New = d.text
		if d.bom {
			d.New = append(bytes.Clone(utf8BOM), d.text...)
		}
		if d.Old == nil && len(d.New) == 0 || d.Old != nil && bytes.Equal(d.Old, d.New) {
			continue
		}
		c.Files = append(c.Files, d.Change)
	}
	return c, nil
}

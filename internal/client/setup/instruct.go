package setup

import (
	"slices"
)

// instructionFiles lists the files in which the host's block may be.
func (h *Host) instructionFiles(read reader) []string {
	names := h.instructions
	if h.redirect != nil {
		if name := h.redirect(read); name != "" && !slices.Contains(names, name) {
			names = append([]string{name}, names...)
		}
	}
	return names
}

// instruct writes the instruction block. Hosts share files, and some read
// several: each must find the block at least once, and should not find it
// twice.
func (p *planner) instruct(hosts []*Host) error {
	var flexible []*Host
	for _, h := range hosts {
		names := h.instructions
		if h.redirect != nil {
			if name := h.redirect(p.repo.reader()); name != "" {
				names = []string{name}
			}
		}
		if len(names) == 0 { // none for all folders of a user
			continue
		}
		if len(names) > 1 {
			flexible = append(flexible, h)
			continue
		}
		if err := p.writeBlock(names[0]); err != nil {
			return err
		}
	}
	for _, h := range flexible {
		if !h.readsFirst && slices.ContainsFunc(h.instructions, p.hasBlock) {
			continue
		}
		name := h.instructions[0]
		if i := slices.IndexFunc(h.instructions, p.willExist); i >= 0 {
			name = h.instructions[i]
		}
		if err := p.writeBlock(name); err != nil {
			return err
		}
	}
	return nil
}

func (p *planner) writeBlock(name string) error {
	return p.edit(p.repo, name, func(d *draft) (err error) {
		d.text, err = applyBlock(d.text, d.fresh && len(d.text) == 0)
		return err
	})
}

func (p *planner) hasBlock(name string) bool {
	if !p.willExist(name) {
		return false
	}
	d, err := p.open(p.repo, name)
	if err != nil {
		return false
	}
	blocks, err := findBlocks(d.text)
	return err == nil && len(blocks) > 0
}

// willExist reports whether the file is there, or this plan makes it.
func (p *planner) willExist(name string) bool {
	if p.repo.exists(name) {
		return true
	}
	d, err := p.open(p.repo, name)
	return err == nil && len(d.text) > 0
}

func (p *planner) removeInstructions(name string, kept map[string]bool) error {
	if kept[name] || !p.repo.exists(name) {
		return nil
	}
	return p.edit(p.repo, name, func(d *draft) (err error) {
		if !d.gone {
			d.text, d.gone, err = removeBlock(d.text)
		}
		return err
	})
}

// keptByOthers names the files that hosts outside the selection need, as far
// as those are set up here: one whose own files, shared with nobody, hold
// entries of ours.
func (p *planner) keptByOthers(selected []*Host) map[string]bool {
	users := map[string]int{}
	for _, h := range p.all {
		for _, f := range h.files {
			for _, name := range f.paths {
				users[name]++
			}
		}
	}
	kept := map[string]bool{}
	for _, h := range p.all {
		alone := func(f hostFile) bool {
			return users[f.paths[0]] == 1 && (!f.home || p.opts.User) && p.holdsOurs(h, &f)
		}
		if slices.Contains(selected, h) || !slices.ContainsFunc(h.files, alone) {
			continue
		}
		for _, f := range h.files {
			for _, name := range f.paths {
				kept[name] = true
			}
		}
		for _, name := range h.instructionFiles(p.repo.reader()) {
			kept[name] = true
		}
	}
	return kept
}

func (p *planner) holdsOurs(h *Host, f *hostFile) bool {
	t := p.tree(f)
	return t != nil && f.inspect(h, t).Present
}

// warn says what the user should know about the combination of hosts.
func (p *planner) warn(hosts []*Host) {
	has := func(id string) bool {
		return slices.ContainsFunc(hosts, func(h *Host) bool { return h.ID == id })
	}
	if p.opts.User {
		if dir := p.opts.elsewhere(); dir != "" && has("codex") {
			p.warnings = append(p.warnings, "CODEX_HOME is "+dir+", so Codex does not read ~/.codex; copy hooks.json there")
		}
		return
	}
	if (has("opencode") || has("omp")) && p.repo.exists("CLAUDE.md") && !p.repo.exists("AGENTS.md") && p.willExist("AGENTS.md") {
		p.warnings = append(p.warnings, "AGENTS.md is new: opencode and omp read CLAUDE.md only where there is no AGENTS.md; add what they need")
	}
	if has("codex") && isLinkedWorktree(p.repo.dir) {
		p.warnings = append(p.warnings, "this is a linked git worktree: Codex takes its hooks from the main checkout, so run svc init there too")
	}
}

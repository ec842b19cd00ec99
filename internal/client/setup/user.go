package setup

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Hosts also read hooks from the user's home folder, in whatever folder they
// are started. These are the places, by the file in a repository that holds
// the same. A file that is not here has no such place, or none that is safe
// to edit: Claude Code rewrites .claude.json, with its tool servers, all the
// time.
var userPlaces = map[string]map[string]string{
	"claude_code": {".claude/settings.json": ".claude/settings.json", "CLAUDE.md": ".claude/CLAUDE.md"},
	"codex":       {".codex/hooks.json": ".codex/hooks.json", ".codex/config.toml": ".codex/config.toml", "AGENTS.md": ".codex/AGENTS.md"},
	"cursor":      {".cursor/hooks.json": ".cursor/hooks.json", ".cursor/mcp.json": ".cursor/mcp.json"},
	"copilot_cli": {".github/hooks/svc.json": ".copilot/hooks/svc.json", ".github/mcp.json": ".copilot/mcp-config.json"},
	"vscode":      {".github/hooks/svc.json": ".copilot/hooks/svc.json"},
	"gemini_cli":  {".gemini/settings.json": ".gemini/settings.json", "GEMINI.md": ".gemini/GEMINI.md"},
	"windsurf": {".windsurf/hooks.json": ".codeium/windsurf/hooks.json",
		".codeium/windsurf/mcp_config.json": ".codeium/windsurf/mcp_config.json"},
	"opencode": {".opencode/plugin/svc.js": ".config/opencode/plugin/svc.js", "opencode.json": ".config/opencode/opencode.json",
		"AGENTS.md": ".config/opencode/AGENTS.md"},
	"omp":         {".omp/extensions/svc.ts": ".omp/agent/extensions/svc.ts"},
	"kiro":        {".kiro/hooks/svc.json": ".kiro/hooks/svc.json", ".kiro/settings/mcp.json": ".kiro/settings/mcp.json"},
	"antigravity": {".agents/hooks.json": ".gemini/config/hooks.json", ".agents/mcp_config.json": ".gemini/config/mcp_config.json"},
	"qwen_code":   {".qwen/settings.json": ".qwen/settings.json"},
	"factory_droid": {".factory/hooks.json": ".factory/hooks.json", ".factory/settings.json": ".factory/settings.json",
		".factory/mcp.json": ".factory/mcp.json"},
	"crush":   {"crush.json": ".config/crush/crush.json"},
	"augment": {".augment/settings.json": ".augment/settings.json"},
}

// userNotes say what a host still wants after svc init --user.
var userNotes = map[string]string{
	"codex":  "start codex once and accept the new hooks in its review screen; until then codex exec skips them",
	"vscode": "its tool servers stay in each workspace: run svc init there",
	"omp":    "its tool servers stay in each repository: run svc init there",
}

// addServer is how a host that rewrites its file of tool servers all the time
// is asked to write ours into it: two writers would lose each other's work.
var addServer = map[string][]string{"claude_code": {"claude", "mcp", "add", "--scope", "user", "svc", "--"}}

// UserServer returns how the tool server of a host stands whose file in the
// home folder only the host itself writes, and the command that adds it; no
// command for other hosts. Program is where svc is.
func UserServer(home, host, program string) (p Part, add []string) {
	if addServer[host] == nil || home == "" {
		return Part{}, nil
	}
	p.File = "~/.claude.json"
	var kept struct {
		Servers map[string]json.RawMessage `json:"mcpServers"`
	}
	data, err := os.ReadFile(filepath.Join(home, ".claude.json"))
	if err == nil {
		err = json.Unmarshal(data, &kept)
	}
	if err == nil {
		_, p.Present = kept.Servers["svc"]
	} else if !os.IsNotExist(err) {
		p.Err = err
	}
	return p, append(slices.Clone(addServer[host]), orName(program), "mcp")
}

// DropServer is the command that takes the tool server out again, where
// UserServer finds it.
func DropServer(host string) []string {
	if add := addServer[host]; add != nil {
		return []string{add[0], "mcp", "remove", "--scope", "user", "svc"}
	}
	return nil
}

// hereOnly are the hosts that read a repository's hooks only in the folder in
// which they are started, not in those above it: in a folder of a repository
// they run none of them.
var hereOnly = []string{"claude_code", "copilot_cli", "gemini_cli", "qwen_code"}

// HereOnly reports whether a host reads hooks only in the folder in which it
// is started.
func HereOnly(id string) bool { return slices.Contains(hereOnly, id) }

// UserHosts returns the ids of the hosts that have hooks for all folders of a
// user.
func UserHosts() []string {
	return slices.DeleteFunc(IDs(), func(id string) bool { return userPlaces[id] == nil })
}

// forUser returns the host as it is set up in the home folder, or nil. There
// it starts the svc of this machine by its path: a host that a desktop starts
// has another PATH than the shell in which svc up was typed.
func (h *Host) forUser(program string) *Host {
	places := userPlaces[h.ID]
	if places == nil {
		return nil
	}
	u := *h
	u.files, u.instructions, u.redirect, u.readsFirst = nil, nil, nil, false
	if h.ID != "codex" { // which wants its hooks accepted one by one; the others ask about folders
		u.trust = nil
	}
	if note := userNotes[h.ID]; note != "" {
		u.Note, u.noteHome = note, note
	}
	for _, f := range h.files {
		var there []string
		for _, p := range f.paths {
			if to := places[p]; to != "" {
				there = append(there, to)
			}
		}
		if len(there) > 0 {
			f.paths, f.home = there, true
			u.files = append(u.files, f.startedFrom(program))
		}
	}
	for _, name := range h.instructions {
		if to := places[name]; to != "" {
			u.instructions = append(u.instructions, to)
		}
	}
	return &u
}

// all returns the hosts as these options mean them.
func (o *Options) all() []*Host {
	list := table()
	out := make([]*Host, 0, len(list))
	for i := range list {
		h := &list[i]
		if o.User {
			h = h.forUser(o.Program)
		}
		if h != nil {
			out = append(out, h)
		}
	}
	return out
}

// elsewhere says where Codex looks instead of the home folder, if it does.
func (o *Options) elsewhere() string {
	if o.CodexHome == "" || o.Home == "" {
		return ""
	}
	dir, err := filepath.Abs(o.CodexHome)
	if err != nil || strings.TrimSuffix(dir, string(os.PathSeparator)) == filepath.Join(o.Home, ".codex") {
		return ""
	}
	return dir
}

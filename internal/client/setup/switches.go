package setup

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2"
)

// A Switch is a setting of a host's beside which what we wrote does nothing,
// and nobody notices.
type Switch struct {
	Host string
	File string // where it is, absolute
	Says string // the setting, as the file has it
	Does string // what that means
	// Undo takes it out of the file; nil where only a person can.
	Undo func() error
	// Managed means that the person's organization set it.
	Managed bool
	// Hooks means that it keeps the host from running our hooks.
	Hooks bool
}

// A toggle is a place where a host may have such a setting.
type toggle struct {
	hosts []string
	files []string // from the repository's root, with ~/ from the home folder, with / of the system
	keys  []string
	off   any    // the value that switches off; in a list, any of its elements
	does  string // what it then does
}

const (
	noHooks = "it runs no hooks, so nothing is checked"
	others  = "it runs only the hooks that your organization manages, so nothing is checked"
	noTools = "it does not start our tool server"
)

func toggles() []toggle {
	claude := []string{".claude/settings.json", ".claude/settings.local.json", "~/.claude/settings.json"}
	// What an organization manages: files of the system, and what Claude Code keeps
	// of the settings that its server sent.
	claudeManaged := []string{claudeSent, "/etc/claude-code/managed-settings.json",
		"/Library/Application Support/ClaudeCode/managed-settings.json", "/Program Files/ClaudeCode/managed-settings.json"}
	codexManaged := []string{"/etc/codex/requirements.toml"}
	gemini := []string{".gemini/settings.json", "~/.gemini/settings.json"}
	qwen := []string{".qwen/settings.json", "~/.qwen/settings.json"}
	return []toggle{
		{[]string{"claude_code"}, claudeManaged, []string{"allowManagedHooksOnly"}, true, others},
		{[]string{"claude_code"}, claudeManaged, []string{"disableAllHooks"}, true, noHooks},
		{[]string{"codex"}, codexManaged, []string{"allow_managed_hooks_only"}, true, others},
		{[]string{"codex"}, codexManaged, []string{"features", "hooks"}, false, noHooks},
		{[]string{"gemini_cli"}, []string{"/etc/gemini-cli/settings.json"}, []string{"hooksConfig", "enabled"}, false, noHooks},
		{[]string{"claude_code"}, claude, []string{"disableAllHooks"}, true, noHooks},
		{[]string{"claude_code"}, claude, []string{"disabledMcpjsonServers"}, "svc", noTools},
		{[]string{"qwen_code"}, qwen, []string{"disableAllHooks"}, true, noHooks},
		{[]string{"gemini_cli"}, gemini, []string{"hooksConfig", "enabled"}, false, noHooks},
		{[]string{"gemini_cli"}, gemini, []string{"hooksConfig", "disabled"}, "svc", noHooks},
		{[]string{"kiro"}, []string{".kiro/settings/mcp.json"}, []string{"mcpServers", "svc", "disabled"}, true, noTools},
		{[]string{"opencode"}, []string{"opencode.jsonc", "opencode.json"}, []string{"mcp", "svc", "enabled"}, false, noTools},
		{[]string{"codex"}, []string{"~/.codex/config.toml", ".codex/config.toml"}, []string{"features", "hooks"}, false, noHooks},
		{[]string{"codex"}, []string{"~/.codex/config.toml", ".codex/config.toml"}, []string{"mcp_servers", "svc", "enabled"}, false, noTools},
	}
}

const claudeSent = "~/.claude/remote-settings.json"

// Switches returns the settings that switch what we wrote for a host off.
func Switches(opts Options, host string) (out []Switch) {
	for _, t := range toggles() {
		if !slices.Contains(t.hosts, host) {
			continue
		}
		for _, name := range t.files {
			file := opts.place(name)
			if file == "" {
				continue
			}
			if s, off := t.in(file); off {
				s.Host, s.Hooks = host, t.does != noTools
				if s.Managed = name[0] == '/' || name == claudeSent; s.Managed {
					s.Undo = nil // it would be back, or is not the person's to change
				}
				out = append(out, s)
			}
		}
	}
	return out
}

// place returns where a file of a toggle is, or "" where there is no home folder.
func (o *Options) place(name string) string {
	name = filepath.FromSlash(name)
	switch {
	case name[0] != '~' && name[0] != filepath.Separator:
		return filepath.Join(o.Root, name)
	case name[0] == filepath.Separator:
		return filepath.Join(cmp.Or(o.System, string(filepath.Separator)), name)
	case o.Home == "":
		return ""
	}
	return filepath.Join(o.Home, name[2:])
}

// in looks for the setting in a file.
func (t toggle) in(file string) (Switch, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Switch{}, false
	}
	s := Switch{File: file, Says: fmt.Sprintf("%s = %v", t.keys[len(t.keys)-1], t.off), Does: t.does}
	if filepath.Ext(file) == ".toml" {
		var all map[string]any
		return s, toml.Unmarshal(data, &all) == nil && lookup(all, t.keys) == t.off
	}
	path := t.path(data)
	s.Undo = func() error { return t.takeOut(file) }
	return s, path != nil
}

// path leads to what is to be taken out of the file, or is nil.
func (t toggle) path(data []byte) []int {
	d, err := parseJSON(trimBOM(data))
	if err != nil {
		return nil
	}
	above, box := d.indexPath(t.keys[:len(t.keys)-1]...)
	if box == nil || !box.object {
		return nil
	}
	n, err := d.member(*box, t.keys[len(t.keys)-1])
	if err != nil || n < 0 {
		return nil
	}
	above = append(above, n)
	if list, ok := d.box(box.items[n].val); ok && !list.object {
		for i, it := range list.items {
			if decode(it.val) == t.off {
				return append(above, i)
			}
		}
		return nil
	}
	if decode(box.items[n].val) != t.off {
		return nil
	}
	return above
}

// takeOut removes the setting, and leaves the rest of the file as it is.
func (t toggle) takeOut(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	path := t.path(data)
	if path == nil {
		return errors.New("the setting is no longer in " + file)
	}
	d, err := parseJSON(trimBOM(data))
	if err != nil {
		return err
	}
	d.remove(path...)
	return os.WriteFile(file, d.text, info.Mode().Perm())
}

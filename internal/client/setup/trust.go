package setup

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// claudeTrust reads whether the user accepted the folder in Claude Code.
func claudeTrust(p *planner) Trust {
	if p.opts.Home == "" {
		return TrustUnknown
	}
	accepted, err := readUserJSON(p.opts.Home, ".claude.json", "projects", p.repo.dir, "hasTrustDialogAccepted")
	if err != nil {
		return TrustUnknown // that it cannot be read is told of its tool servers
	}
	return trustIf(accepted == true)
}

// geminiTrust reads whether the user accepted the folder, or one above it, in
// Gemini CLI.
func geminiTrust(p *planner) Trust {
	if p.opts.Home == "" {
		return TrustUnknown
	}
	for dir := p.repo.dir; ; dir = filepath.Dir(dir) {
		switch said, _ := readUserJSON(p.opts.Home, ".gemini/trustedFolders.json", dir); said {
		case "TRUST_FOLDER", "TRUST_PARENT":
			return Trusted
		case "DO_NOT_TRUST":
			return Untrusted
		}
		if dir == filepath.Dir(dir) {
			return Untrusted
		}
	}
}

// readUserJSON returns a value of a file under the home folder, nil where there is
// none, or why the file cannot be read.
func readUserJSON(home, name string, keys ...string) (any, error) {
	data, err := os.ReadFile(filepath.Join(home, filepath.FromSlash(name)))
	if err != nil {
		return nil, nil
	}
	d, err := parseJSON(trimBOM(data))
	if err != nil {
		return nil, err
	}
	v, err := d.find(keys...)
	if err != nil || v == nil {
		return nil, nil
	}
	return decode(v), nil
}

func trustIf(yes bool) Trust {
	if yes {
		return Trusted
	}
	return Untrusted
}

// codexTrust reads the user's Codex settings: the project must be trusted,
// unless the hooks are the user's own, and each of our hooks, which Codex names
// by their place in the file and knows by a hash of their content.
func codexTrust(p *planner) Trust {
	dir := p.opts.CodexHome
	if dir == "" && p.opts.Home != "" {
		dir = filepath.Join(p.opts.Home, ".codex")
	}
	if dir == "" {
		return TrustUnknown
	}
	data, err := os.ReadFile(filepath.Join(dir, "config.toml"))
	if err != nil {
		return Untrusted
	}
	var all map[string]any
	if toml.Unmarshal(data, &all) != nil {
		return Damaged
	}
	if !p.opts.User && lookup(all, []string{"projects", p.repo.dir, "trust_level"}) != "trusted" {
		return Untrusted
	}
	trust := Trusted
	for key, hash := range codexHashes(p.repo) {
		m, _ := lookup(all, []string{"hooks", "state", key}).(map[string]any)
		switch {
		case m["trusted_hash"] == nil || m["enabled"] == false:
			return Untrusted
		case m["trusted_hash"] != hash:
			trust = Stale
		}
	}
	return trust
}

// codexHashes returns Codex's hashes of our hooks by its names for them.
func codexHashes(repo *tree) map[string]string {
	const file = ".codex/hooks.json"
	data, _, _ := repo.read(file)
	d, err := parseJSON(trimBOM(data))
	if err != nil {
		return nil
	}
	hashes, hooks := map[string]string{}, codexHooks()
	for _, e := range hooks.events {
		list, err := d.findBox(false, hooks.at[0], e.name)
		if err != nil || list == nil {
			continue
		}
		for i, it := range list.items {
			_, some := hooks.ours(it.val, e.name)
			group, _ := decode(it.val).(map[string]any)
			handlers, _ := group["hooks"].([]any)
			for _, n := range some {
				key := fmt.Sprintf("%s:%s:%d:%d", filepath.Join(repo.dir, file), snake(e.name), i, n)
				hashes[key] = codexHash(snake(e.name), group["matcher"], handlers[n].(map[string]any))
			}
		}
	}
	return hashes
}

// codexHash is SHA-256 over the hook as Codex normalises it: one object with
// sorted keys and no defaults left out but the matcher.
func codexHash(event string, matcher any, handler map[string]any) string {
	h := map[string]any{"type": "command", "async": false, "timeout": 600}
	for _, key := range []string{"command", "async", "timeout", "statusMessage"} {
		if handler[key] != nil {
			h[key] = handler[key]
		}
	}
	if windows := handler["commandWindows"]; windows != nil && runtime.GOOS == "windows" {
		h["command"] = windows
	}
	hook := map[string]any{"event_name": event, "hooks": []any{h}}
	if matcher != nil {
		hook["matcher"] = matcher
	}
	return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(compact("", hook))))
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

//go:build unix

package hosttest

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestHostsInstallPlugins has real hosts install what the repository offers them,
// from a folder and without a network, and list it.
func TestHostsInstallPlugins(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	steps := map[string][][]string{
		"claude_code": {
			{"claude", "plugin", "marketplace", "add", root}, {"claude", "plugin", "install", "svc@svc"}, {"claude", "plugin", "list"},
			{"claude", "mcp", "list"},
		},
		"codex": {{"codex", "plugin", "marketplace", "add", root}, {"codex", "plugin", "add", "svc@svc"}, {"codex", "plugin", "list"}},
		"gemini_cli": {
			{"sh", "-c", `yes | gemini extensions install "$0" --consent`, filepath.Join(root, "packaging/plugins/gemini-cli")},
			{"gemini", "extensions", "list"},
		},
	}
	shows := map[string][]string{
		"claude_code": {"svc@svc", "enabled", "plugin:svc:svc: svc mcp"},
		"codex":       {"svc@svc", "installed, enabled"},
		"gemini_cli":  {"svc (0.0.0)", "MCP servers:\n  svc"},
	}
	for _, h := range wanted(t) {
		if steps[h.id] == nil {
			continue
		}
		t.Run(h.id, func(t *testing.T) {
			w := newWorld(t, append([]string{buildClient(t)}, install(t, h)...))
			w.must("svc", "login", "--server", w.team.URL, "--token", w.bob.Token)
			var said strings.Builder
			for _, words := range steps[h.id] {
				said.WriteString(w.must(words[0], words[1:]...) + "\n")
			}
			for _, want := range shows[h.id] {
				if !strings.Contains(said.String(), want) {
					t.Errorf("%s does not show %q:\n%s", slices.Concat(steps[h.id]...)[0], want, said.String())
				}
			}
			if h.id == "claude_code" {
				w.playWithPlugin(h)
			}
		})
	}
}

// playWithPlugin plays the story where nothing but the plugin runs svc: no
// svc init, no entry of ours in the host's own files.
func (w *world) playWithPlugin(h row) {
	w.t.Helper()
	h.files, h.mcp = nil, "mcp__plugin_svc_$S__$T"
	h.args = append(slices.Clone(h.args), "--allowedTools", "Bash,mcp__plugin_svc_svc")
	var checked string
	var s script
	s.tool(h, "svc", "scope_check", object{"paths": []string{claimed}}, func(fresh string) { checked = fresh })
	w.drive(h, s.ends("Somebody holds it."), "")
	if !strings.Contains(checked, "BLOCK") || !strings.Contains(checked, w.claim.Ref) {
		w.t.Errorf("the plugin's tool says %q", checked)
	}
	seen := w.play(h, nil)
	for _, b := range behaviours {
		if b != bridged && b != direct && !seen[b] {
			w.t.Errorf("with the plugin alone: %s: no", b)
		}
	}
}

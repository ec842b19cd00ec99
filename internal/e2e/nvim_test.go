//go:build editors

package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
)

// A real Neovim with the plugin: another person's agent edits, the signs stand at
// the right lines of a buffer that is not saved, move with what is typed above
// them, and go when the edit is undone.
func TestNeovim(t *testing.T) {
	x := newScenes(t)
	plugin, err := filepath.Abs("../../editors/nvim")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "nvim")
	cmd := exec.Command("nvim", "--clean", "--headless", "--listen", socket, "--cmd", "set rtp+="+plugin, "-c", "lua require('svc').setup({})",
		"notes.txt")
	cmd.Dir, cmd.Env = x.clone.dir, x.clone.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eval := func(expression string) string {
		out, _ := exec.Command("nvim", "--headless", "--server", socket, "--remote-expr", expression).CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	lua := func(code string) string { return eval(`luaeval("` + strings.ReplaceAll(code, `"`, `\"`) + `")`) }
	await.True(t, "Neovim listens", func() bool { return eval("1+1") == "2" })
	await.True(t, "svc lsp is there", func() bool { return lua("#vim.lsp.buf_get_clients(0)") == "1" })
	marks := func() (rows []int, text string) {
		var all []json.RawMessage
		said := lua("vim.fn.json_encode(vim.api.nvim_buf_get_extmarks(0, vim.api.nvim_create_namespace('svc'), 0, -1, {details=true}))")
		if json.Unmarshal([]byte(said), &all) != nil {
			return nil, said
		}
		for _, raw := range all {
			var one []any
			if json.Unmarshal(raw, &one) == nil && len(one) == 4 {
				rows = append(rows, int(one[1].(float64)))
			}
		}
		return rows, said
	}
	at := func(want ...int) {
		t.Helper()
		await.True(t, "the marks are in their rows", func() bool {
			rows, _ := marks()
			if len(rows) != len(want) {
				return false
			}
			for i, r := range rows {
				if r != want[i] {
					return false
				}
			}
			return true
		})
	}
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	at(5)
	_, said := marks()
	x.want("the mark", said, "virt_text", "Bob Birch", "INT-")
	lua("vim.api.nvim_buf_set_lines(0, 0, 0, true, {'typed', 'and typed'})")
	at(7)
	x.edit(x.bob, "notes.txt", "line 2", "two\nnew")
	at(4, 7)
	x.want(":SvcWho", eval("execute('SvcWho')"), "is changing this file")
	x.edit(x.bob, "notes.txt", "bob 5", "line 5")
	x.edit(x.bob, "notes.txt", "two\nnew", "line 2")
	at()
}

//go:build editors

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
)

// A real Emacs with eglot and the snippet of docs/editors.md: what flymake shows
// stands at the right lines of a buffer that is not saved, moves with what is
// typed above it and goes when the edit is undone.
func TestEmacs(t *testing.T) {
	x := newScenes(t)
	page, err := os.ReadFile("../../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, snippet, found := strings.Cut(string(page), "```elisp\n;; eglot\n")
	if snippet, _, _ = strings.Cut(snippet, "```"); !found {
		t.Fatal("docs/editors.md has no snippet for eglot")
	}
	dir := t.TempDir()
	socket, init := filepath.Join(dir, "emacs"), filepath.Join(dir, "init.el")
	if err := os.WriteFile(init, []byte(snippet), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("emacs", "--no-init-file", "--fg-daemon="+socket, "--load", init)
	cmd.Dir, cmd.Env = x.clone.dir, x.clone.env
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eval := func(code string) string {
		code = `(with-current-buffer (or (get-buffer "notes.txt") (current-buffer)) ` + code + ")"
		c := exec.Command("emacsclient", "--socket-name="+socket, "--eval", code)
		c.Env = x.clone.env
		out, _ := c.CombinedOutput()
		return strings.TrimSpace(string(out))
	}
	await.True(t, "Emacs listens", func() bool { return eval("(+ 1 1)") == "2" })
	eval(`(find-file-noselect "` + filepath.Join(x.clone.dir, "notes.txt") + `")`)
	await.True(t, "svc lsp is there", func() bool {
		return eval("(progn (unless (eglot-current-server) (apply #'eglot--connect (eglot--guess-contact))) (eglot-managed-p))") == "t"
	})
	lines := func(want string) {
		t.Helper()
		last := ""
		t.Cleanup(func() {
			if t.Failed() {
				t.Log("last: ", last)
			}
		})
		await.True(t, "flymake shows lines "+want, func() bool {
			eval("(flymake-start)")
			last = eval("(sort (mapcar (lambda (d) (line-number-at-pos (flymake-diagnostic-beg d))) (flymake-diagnostics)) #'<)")
			return last == want
		})
	}
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	lines("(6)")
	x.want("the mark", eval("(mapcar #'flymake-diagnostic-text (flymake-diagnostics))"), "Bob Birch's agent", "is changing line 6")
	eval(`(progn (goto-char (point-min)) (insert "typed\nand typed\n") (eglot--signal-textDocument/didChange))`)
	lines("(8)")
	x.edit(x.bob, "notes.txt", "line 2 of", "two\nnew of")
	lines("(5 8)")
	x.edit(x.bob, "notes.txt", "bob 5", "line 5")
	x.edit(x.bob, "notes.txt", "two\nnew of", "line 2 of")
	lines("nil")
}

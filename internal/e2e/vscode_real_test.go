//go:build editors

package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/gittest"
)

// The packaged extension in a real VS Code (code-server of npm) and a real
// browser: gutter, badge, list, status and a question that is answered in place.
func TestVSCodeItself(t *testing.T) {
	extension(t)
	cache, err := filepath.Abs("../../.cache/code-server")
	if err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("../../.ci/code-server", cache).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	node, err := filepath.Glob(filepath.Join(cache, "node_modules/node-linux-*/bin/node"))
	if err != nil || len(node) != 1 {
		t.Fatal(node, err)
	}
	x, dir := newScenes(t), t.TempDir()
	code := func(args ...string) *exec.Cmd {
		c := exec.Command(node[0], append([]string{filepath.Join(cache, "node_modules/code-server/out/node/entry.js"), "--user-data-dir", dir,
			"--extensions-dir", filepath.Join(dir, "extensions"), "--config", filepath.Join(dir, "config.yaml"), "--auth", "none"}, args...)...)
		c.Dir, c.Env = x.clone.dir, append(x.clone.env, "VSCODE_CLI=") // as svc lsp is started by it
		return c
	}
	program, err := exec.LookPath("svc")
	if err != nil {
		t.Fatal(err)
	}
	// VS Code takes its PATH from a login shell.
	const settings = `{"svc.program": %q, "workbench.startupEditor": "none", "chat.disableAIFeatures": true}`
	gittest.Write(t, dir, "User/settings.json", fmt.Sprintf(settings, program))
	vsix := filepath.Join(dir, "svc.vsix")
	if said, err := exec.Command("../../.ci/vsix", vsix, "0.0.1", "1700000000").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if said, err := code("--install-extension", vsix).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	server := code("--bind-addr", addr, "--disable-telemetry", "--disable-update-check", "--disable-workspace-trust", x.clone.dir)
	server.Stderr = os.Stderr
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(os.Interrupt)
		_ = server.Wait()
	})
	await.True(t, "VS Code answers", func() bool {
		res, err := http.Get("http://" + addr + "/healthz")
		if err == nil {
			res.Body.Close()
		}
		return err == nil
	})
	h := startCodeHost(t, exec.Command("node", "../../editors/vscode/tests/real.mjs", fmt.Sprintf("http://%s/?folder=%s", addr, x.clone.dir)))
	h.do("open", "notes.txt")
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	h.shows("gutter, status and badge", `"gutter":[6]`, `1 agent here`, `BB`)
	h.do("click", "Live Work")
	h.shows("the list", `"work":["Bob Birch · `)
	h.do("type", "typed\nand typed\n")
	h.shows("it moves", `"gutter":[8]`)
	x.s.as(x.s.own("bob@example.com"), "POST", "/v1/questions", `{"to":"user:olga@example.com","question":"May I rename F?"}`)
	h.shows("the question", "May I rename F?")
	if to := os.Getenv("SVC_TEST_PICTURE"); to != "" {
		h.do("picture", to)
	}
	h.do("click", "Answer")
	h.shows("where it is answered", "It goes to the agent that asked.")
	h.do("words", "Please do.")
	h.do("press", "Enter")
	h.shows("it is sent", "svc: Answered.")
	x.edit(x.bob, "notes.txt", "bob 5", "line 5")
	h.shows("all is gone", `"gutter":[]`, `!agent here`)
}

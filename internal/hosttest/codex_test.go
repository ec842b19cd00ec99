//go:build unix

package hosttest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// acceptCodexHooks does what a person does in Codex's review screen: Codex
// itself says which hooks it found and their hashes, and its settings note them
// as trusted.
func acceptCodexHooks(w *world, bin string) {
	w.t.Helper()
	file := filepath.Join(w.home, ".codex/config.toml")
	settings, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	hooks := codexHooks(w, bin)
	if len(hooks) == 0 {
		w.t.Fatal("Codex found none of the hooks that svc init wrote")
	}
	for _, h := range hooks {
		settings = fmt.Appendf(settings, "[hooks.state.%q]\ntrusted_hash = %q\n", h.Key, h.CurrentHash)
	}
	w.write(file, string(settings))
	w.trusted("codex")
}

// A codexHook is one that Codex found.
type codexHook struct{ Key, CurrentHash string }

// codexHooks asks Codex which hooks it finds in the repository.
func codexHooks(w *world, bin string) (hooks []codexHook) {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), bin, "app-server")
	cmd.Dir, cmd.Env = w.place(), w.env
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	fmt.Fprintf(in, "%s\n%s\n%s\n", `{"id":0,"method":"initialize","params":{"clientInfo":{"name":"svc","version":"1"}}}`,
		`{"method":"initialized"}`,
		encode(object{"id": 1, "method": "hooks/list", "params": object{"cwds": []string{w.place()}}}))
	for dec := json.NewDecoder(out); ; {
		var reply struct {
			ID     int
			Result struct{ Data []struct{ Hooks []codexHook } }
		}
		if err := dec.Decode(&reply); err != nil {
			w.t.Errorf("codex app-server: %v", err)
			break
		}
		if reply.ID != 1 {
			continue
		}
		for _, d := range reply.Result.Data {
			hooks = append(hooks, d.Hooks...)
		}
		break
	}
	in.Close() // it ends with its input
	if err := cmd.Wait(); err != nil {
		w.t.Logf("codex app-server: %v", err)
	}
	return hooks
}

// trusted checks that svc doctor, too, sees a host's hooks accepted.
func (w *world) trusted(id string) {
	w.t.Helper()
	out, _ := w.run("svc", "doctor", "--json") // it may have other things to say
	var report struct {
		Checks []struct{ Name, Level, Detail string }
	}
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		w.t.Fatalf("svc doctor: %v\n%s", err, out)
	}
	for _, c := range report.Checks {
		if c.Name == id+" trust" && c.Level == "ok" {
			return
		}
	}
	w.t.Errorf("svc doctor does not see the hooks of %s accepted:\n%s", id, out)
}

package e2e

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/client/lsp"
)

// extension compiles editors/vscode and returns the folder it is in.
func extension(t *testing.T) string {
	t.Helper()
	tsc, err := filepath.Abs("../../web/node_modules/typescript/bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(tsc); err != nil && os.Getenv("CI") == "" {
		t.Skip("make test installs the compiler and tests with it")
	}
	out := t.TempDir()
	if said, err := exec.Command("node", tsc, "-p", "../../editors/vscode", "--outDir", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return out
}

// The package is what editors install: its manifest, the extension's own with
// the same version, and all that these name.
func TestVSCodePackage(t *testing.T) {
	extension(t) // or there is no compiler
	file := filepath.Join(t.TempDir(), "svc.vsix")
	if said, err := exec.Command("../../.ci/vsix", file, "1.2.3", "1700000000").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	holds := map[string][]byte{}
	for _, f := range z.File {
		if r, err := f.Open(); err == nil {
			holds[f.Name], _ = io.ReadAll(r)
		}
	}
	var outer struct {
		Metadata struct {
			Identity struct {
				ID        string `xml:"Id,attr"`
				Version   string `xml:",attr"`
				Publisher string `xml:",attr"`
			}
			License string
		}
		Assets struct {
			Asset []struct {
				Path string `xml:",attr"`
			}
		}
	}
	var inner struct {
		Name, Version, Publisher, Main string
		Contributes                    struct {
			Views         map[string][]struct{ Icon string }
			Configuration struct{ Properties map[string]any }
		}
	}
	if err := errors.Join(xml.Unmarshal(holds["extension.vsixmanifest"], &outer), json.Unmarshal(holds["extension/package.json"], &inner),
		xml.Unmarshal(holds["[Content_Types].xml"], new(any))); err != nil {
		t.Fatal(err)
	}
	is := outer.Metadata.Identity
	if is.ID != inner.Name || is.Version != "1.2.3" || inner.Version != "1.2.3" || is.Publisher != inner.Publisher {
		t.Errorf("the manifests disagree: %+v, %+v", outer, inner)
	}
	named := []string{outer.Metadata.License, path.Join("extension", inner.Main), "extension/" + inner.Contributes.Views["explorer"][0].Icon}
	for _, a := range outer.Assets.Asset {
		named = append(named, a.Path)
	}
	for _, f := range []string{"attention", "marks", "rpc", "server", "work"} { // what main requires
		named = append(named, "extension/out/"+f+".js")
	}
	for _, n := range named {
		if len(holds[n]) == 0 {
			t.Errorf("%s is named and not there", n)
		}
	}
	// Every kind that svc lsp knows has a setting, and is on until it is switched off.
	for kind := range reflect.TypeFor[lsp.Settings]().Fields() {
		name := "svc." + kind.Tag.Get("json")
		if p, _ := inner.Contributes.Configuration.Properties[name].(map[string]any); p["default"] != true {
			t.Errorf("%s is no setting of the extension that is on", name)
		}
	}
}

// A codeHost runs the extension with the editor's API in memory.
type codeHost struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

func newCodeHost(t *testing.T, c *clone) *codeHost {
	t.Helper()
	host, err := filepath.Abs("../../editors/vscode/tests/host.cjs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", host, extension(t))
	cmd.Dir, cmd.Env = c.dir, c.env
	return startCodeHost(t, cmd)
}

func startCodeHost(t *testing.T, cmd *exec.Cmd) *codeHost {
	t.Helper()
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	h := &codeHost{t, in, bufio.NewScanner(out)}
	h.out.Buffer(nil, 4<<20)
	return h
}

// do gives an order, and returns what the host answers.
func (h *codeHost) do(order ...any) string {
	h.t.Helper()
	line, err := json.Marshal(order)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(h.in, "%s\n", line); err != nil {
		h.t.Fatal(err)
	}
	if !h.out.Scan() {
		h.t.Fatal("the host of the extension is gone")
	}
	return h.out.Text()
}

// shows waits until the editor shows all parts, as they are written in JSON.
func (h *codeHost) shows(what string, parts ...string) {
	h.t.Helper()
	last := ""
	defer func() {
		if h.t.Failed() {
			h.t.Log(last)
		}
	}()
	await.True(h.t, what, func() bool {
		last = h.do("look")
		for _, p := range parts {
			if strings.HasPrefix(p, "!") == strings.Contains(last, strings.TrimPrefix(p, "!")) {
				return false
			}
		}
		return true
	})
}

// The extension for VS Code with the real svc lsp and a real service; the API of
// the editor, which is no package, is in memory. make test-editors has the real one.
func TestVSCodeExtension(t *testing.T) {
	x := newScenes(t)
	h := newCodeHost(t, x.clone)
	h.do("open", "ledger.txt")
	h.do("open", "notes.txt")
	x.edit(x.bob, "notes.txt", "line 5", "bob 5")
	h.shows("marks, gutter and status", `"from":6,"to":6,"severity":2`, `[[6,6]]`, `1 agent here`, `"warns":false`)
	h.shows("badge and list", `"badge":"BB"`, `Bob Birch is at work here`, `"label":"Bob Birch · `, `/notes.txt"]`)
	h.do("edit", "notes.txt", 0, 0, "typed\nand typed\n")
	h.shows("they move", `"from":8,"to":8`, `[[8,8]]`)
	h.do("edit", "notes.txt", 7, 1, "mine 5\n")
	h.shows("a warning", `"severity":1`, `"warns":true`, "git will not merge the two")
	x.want("hover", h.do("offer", "hover", "notes.txt", 7), "is changing this file", "Open the page")
	var offered []struct {
		Command struct {
			Command   string
			Arguments []any
		}
	}
	if err := json.Unmarshal([]byte(h.do("offer", "action", "notes.txt", 7)), &offered); err != nil {
		t.Fatal(err)
	}
	h.do("choose", "", "I am at line 5")
	for _, o := range offered {
		if o.Command.Command == "svc.message" || o.Command.Command == "svc.open" {
			h.do(append([]any{"run", o.Command.Command}, o.Command.Arguments...)...)
		}
	}
	h.shows("message and page", `"svc: Sent."`, `"opened":["`+x.s.URL)
	h.do("run", "svc.who")
	h.shows("who is here", `"picks":["Bob Birch's agent`)
	// What waits for the person is told once, and answered in place.
	h.do("choose", "Answer", "Please do.")
	x.s.as(x.s.own("bob@example.com"), "POST", "/v1/questions", `{"to":"user:olga@example.com","question":"May I rename F?"}`)
	h.shows("the answer is sent", `May I rename F?`, `svc: Answered.`)
	await.True(t, "Bob reads it", func() bool {
		return strings.Contains(fmt.Sprint(get[map[string]any](t, x.s, x.s.own("bob@example.com"), "/v1/messages")), "Please do.")
	})
	// Each kind can be switched off.
	h.do("set", "gutter", false)
	h.do("set", "status", false)
	h.do("set", "badges", false)
	h.do("set", "diagnostics", false)
	h.shows("all is quiet", `"status":null`, `![[8,8]]`, `!"badge":"BB"`, `!"from":8`)
	// It starts svc lsp again, and shows all anew.
	for _, kind := range []string{"gutter", "status", "badges", "diagnostics"} {
		h.do("set", kind, true)
	}
	h.do("run", "svc.restart")
	h.shows("after a restart", `"from":8,"to":8`, `[[8,8]]`, `1 agent here`, `"badge":"BB"`)
	x.edit(x.bob, "notes.txt", "bob 5", "line 5")
	h.shows("they go", `"status":null`, `!"from":8`, `![[8,8]]`)
	h.do("set", "program", "/nowhere/svc")
	h.shows("what is missing", "there is no program svc on the PATH")
	h.do("end")
}

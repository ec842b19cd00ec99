//go:build unix

package hosttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// crowdHosts are the three of the crowd, as they edit.
func crowdHosts() []row {
	var out []row
	for _, h := range append(slices.Clone(rows), droid) {
		switch h.id {
		case "claude_code", "codex", "factory_droid":
			out = append(out, h)
		}
	}
	return out
}

// droid is a host that only the crowd runs. Its package for a system has no
// npm program of its own.
var droid = row{
	id: "factory_droid", name: "Factory Droid", pkg: "@factory/cli-linux-x64", version: "0.225.2", bin: "droid",
	args: []string{"exec", "--auto", "high", "--model", "custom:fake-$SESSION", prompt}, env: []string{"DO_NOT_TRACK=1"},
	read: func(path string) call { return call{tool: "Read", args: object{"file_path": path}} },
	edit: named("Edit", "file_path", "old_str", "new_str"),
	shell: func(text string) call {
		return call{tool: "Execute", args: object{"command": text, "summary": "change a file", "timeout": 60, "riskLevel": "low",
			"riskLevelReason": "safe"}}
	},
}

// asks is the call of a deed's tool.
func (h row) asks(dir string, d deed) call {
	file := filepath.Join(dir, d.file)
	switch {
	case d.kind == reads && h.read != nil:
		return h.read(file)
	case d.kind == reads:
		return h.shell("cat " + d.file)
	case d.kind == edits && h.id == "codex":
		patch := "*** Begin Patch\n*** Update File: " + d.file + "\n@@\n"
		for l := range strings.Lines(d.old) {
			patch += "-" + strings.TrimSuffix(l, "\n") + "\n"
		}
		for l := range strings.Lines(d.new) {
			patch += "+" + strings.TrimSuffix(l, "\n") + "\n"
		}
		return call{tool: "apply_patch", text: patch + "*** End Patch\n"}
	case d.kind == edits:
		return h.edit(file, d.old, d.new)
	case d.kind == runs:
		return h.shell(d.command)
	}
	switch h.id {
	case "codex":
		patch := "*** Begin Patch\n*** Add File: " + d.file + "\n"
		for l := range strings.Lines(d.text) {
			patch += "+" + strings.TrimSuffix(l, "\n") + "\n"
		}
		return call{tool: "apply_patch", text: patch + "*** End Patch\n"}
	case "factory_droid":
		return call{tool: "Create", args: object{"file_path": file, "content": d.text}}
	}
	return call{tool: "Write", args: object{"file_path": file, "content": d.text}}
}

// said is what an answer of svc hook tells the model.
func said(event, stdout string) (h heard) {
	var out struct {
		Reason   string `json:"reason"`
		Specific struct {
			Decision string `json:"permissionDecision"`
			Reason   string `json:"permissionDecisionReason"`
			Context  string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	_ = json.Unmarshal([]byte(stdout), &out) // nothing is said
	h.event, h.refused = event, out.Specific.Decision == "deny"
	h.text = strings.TrimSpace(out.Specific.Reason + "\n" + out.Specific.Context + "\n" + out.Reason)
	return h
}

// A hookSeat is a session without a host: its tools are run here, with the hooks
// of the host before and after them.
type hookSeat struct {
	w     *world
	h     row
	id    string
	calls int
}

func (s *hookSeat) host() row { return s.h }

func (s *hookSeat) hook(event string, input object) heard {
	s.w.t.Helper()
	in := object{"session_id": s.id, "cwd": s.w.repo, "hook_event_name": event}
	for k, v := range input {
		in[k] = v
	}
	cmd := exec.CommandContext(s.w.t.Context(), lookPath(s.w.t, s.w.path(), "svc"), "hook", "--tool", s.h.id, "--event", event)
	cmd.Dir, cmd.Env, cmd.Stdin = s.w.repo, s.w.env, strings.NewReader(encode(in))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		s.w.t.Fatalf("svc hook %s: %v\n%s", event, err, out.String())
	}
	return said(event, out.String())
}

func (s *hookSeat) do(d deed) (all []heard) {
	if s.calls == 0 {
		all = append(all, s.hook("SessionStart", object{"source": "startup"}))
		if s.h.id != "factory_droid" {
			all = append(all, s.hook("UserPromptSubmit", object{"prompt": prompt}))
		}
	}
	s.calls++
	c := s.h.asks(s.w.repo, d)
	args, tool := c.args, c.tool
	switch {
	case c.args == nil:
		args = object{"command": c.text}
	case tool == "exec_command":
		tool, args = "Bash", object{"command": c.args["cmd"]}
	}
	input := object{"tool_name": tool, "tool_input": args}
	if s.h.id != "factory_droid" {
		input["tool_use_id"] = fmt.Sprintf("%s-%d", s.id, s.calls)
	}
	reading := d.kind == reads && tool == "Read"
	before := s.hook("PreToolUse", input)
	if all = append(all, before); before.refused {
		return all
	}
	name := filepath.Join(s.w.repo, d.file)
	data, err := os.ReadFile(name)
	if err != nil {
		s.w.t.Fatal(err)
	}
	switch d.kind {
	case edits:
		if strings.Count(string(data), d.old) != 1 {
			return all // the tool fails, and no hook hears of that
		}
		s.w.write(name, strings.Replace(string(data), d.old, d.new, 1))
	case writes:
		s.w.write(name, d.text)
	case runs:
		cmd := exec.Command("sh", "-c", d.command)
		cmd.Dir = s.w.repo
		if out, err := cmd.CombinedOutput(); err != nil {
			s.w.t.Logf("%s: %v\n%s", d, err, out)
		}
	}
	if reading {
		return all
	}
	input["tool_response"] = "ok"
	return append(all, s.hook("PostToolUse", input))
}

func (s *hookSeat) ends() []heard {
	return []heard{s.hook("Stop", object{"stop_hook_active": false}), s.hook("SessionEnd", object{"reason": "other"})}
}

// A hostSeat is a session of a real host, whose model asks the crowd what to do.
type hostSeat struct {
	w     *world
	h     row
	ready chan string // what the host sent its model anew
	act   chan call
	over  chan string // what the host printed
	hooks string      // the folder in which its hooks are noted
	began []heard     // before its first turn
}

func (s *hostSeat) host() row { return s.h }

// sit starts a host and waits for its first question.
func sit(w *world, h row, n int, hooks string) *hostSeat {
	w.t.Helper()
	s := &hostSeat{w: w, h: h, ready: make(chan string), act: make(chan call), over: make(chan string, 1), hooks: hooks}
	turns := make([]turn, crowdTurns+2)
	for i := range turns {
		turns[i].next = func(fresh string) call {
			s.ready <- fresh
			return <-s.act
		}
	}
	m := startModel(w.t, h.editTool(), turns)
	words := strings.NewReplacer("$MODEL", m.URL, "$SESSION", fmt.Sprint(n), "$REPO", w.repo, "$DIRECT", "")
	env := slices.Clone(w.env)
	for _, v := range h.env {
		env = append(env, words.Replace(v))
	}
	var args []string
	for _, a := range h.args {
		args = append(args, words.Replace(a))
	}
	if h.id == "codex" {
		args = append(args[:1:1], append([]string{"-c", words.Replace(`model_providers.fake.base_url="$MODEL/v1"`)}, args[1:]...)...)
	}
	if h.id == "factory_droid" {
		droidModels(w, n, m.URL)
	}
	bin := lookPath(w.t, w.path(), h.bin)
	go func() {
		ctx, cancel := context.WithTimeout(w.t.Context(), 4*patience)
		defer cancel()
		out, err := w.runs(ctx, w.repo, env, bin, args...)
		s.over <- fmt.Sprintf("%v\n%s", err, tail(out))
	}()
	s.wait()
	s.began = s.notes()
	return s
}

// droidModels adds a model to those that Droid may choose from.
func droidModels(w *world, n int, url string) {
	name := filepath.Join(w.home, ".factory", "settings.json")
	var settings struct {
		Models []object `json:"customModels"`
		Sync   bool     `json:"cloudSessionSync"`
	}
	if data, err := os.ReadFile(name); err == nil {
		if err := json.Unmarshal(data, &settings); err != nil {
			w.t.Fatal(err)
		}
	}
	settings.Models = append(settings.Models, object{"model": fmt.Sprintf("fake-%d", n), "displayName": "Fake", "baseUrl": url + "/v1",
		"apiKey": "test", "provider": "generic-chat-completion-api", "maxOutputTokens": 4096})
	w.write(name, encode(settings))
}

// wait returns what the host sent its model.
func (s *hostSeat) wait() string {
	s.w.t.Helper()
	select {
	case fresh := <-s.ready:
		return fresh
	case out := <-s.over:
		s.w.t.Fatalf("%s ended: %s\nhook.log:\n%s", s.h.id, out, s.w.hookLog())
	case <-time.After(patience):
		s.w.t.Fatalf("%s asks its model nothing", s.h.id)
	}
	return ""
}

func (s *hostSeat) do(d deed) []heard {
	began := s.began
	s.began = nil
	s.act <- s.h.asks(s.w.repo, d)
	fresh := s.wait()
	all := append(began, s.notes()...)
	for _, h := range all {
		if h.refused && !strings.Contains(fresh, h.text) {
			s.w.t.Errorf("the model of %s did not read why it was refused: %s\n%s", s.h.id, h.text, tail(fresh))
		}
	}
	return all
}

func (s *hostSeat) ends() []heard {
	s.act <- call{text: "Done."}
	select {
	case <-s.over:
	case <-time.After(patience):
		s.w.t.Errorf("%s does not end", s.h.id)
	}
	return s.notes()
}

// notes are the answers of the hooks that have run since it was last asked. One
// session is at work at a time.
func (s *hostSeat) notes() (all []heard) {
	list, err := filepath.Glob(filepath.Join(s.hooks, "*.out"))
	if err != nil {
		s.w.t.Fatal(err)
	}
	slices.Sort(list)
	for _, name := range list {
		out, err := os.ReadFile(name)
		args, err2 := os.ReadFile(strings.TrimSuffix(name, ".out") + ".args")
		if err != nil || err2 != nil {
			s.w.t.Fatal(err, err2)
		}
		_ = os.Rename(name, name+".read")
		words := strings.Fields(string(args))
		if at := slices.Index(words, "--event"); at >= 0 && at+1 < len(words) {
			all = append(all, said(words[at+1], string(out)))
		}
	}
	return all
}

// listening returns a folder with an svc that keeps what its hooks answer.
func listening(t *testing.T, bin string) (notes, folder string) {
	t.Helper()
	folder, notes = t.TempDir(), t.TempDir()
	script := fmt.Sprintf(`#!/bin/bash
real='%s'
[ "$1" = hook ] || exec "$real" "$@"
f='%s'/$(date +%%s%%N)-$$
echo "$*" > "$f.args"
exec "$real" "$@" > >(tee "$f.out")
`, filepath.Join(bin, "svc"), notes)
	if err := os.WriteFile(filepath.Join(folder, "svc"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return notes, folder
}

//go:build unix

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// everywhere sets Claude Code up as svc up does: in the person's own files, for
// every folder, and not in the repository.
func (m *machine) everywhere() {
	m.t.Helper()
	m.svc("init", "--tools", "claude_code", "--remove")
	m.claude(`"svc": {"type": "stdio", "command": "svc", "args": ["mcp"]}`)
	m.svc("init", "--user", "--tools", "claude_code")
}

// claude writes Claude Code's own file, with these tool servers.
func (m *machine) claude(servers string) {
	m.t.Helper()
	real, err := filepath.EvalSymlinks(m.repo)
	m.check(err)
	m.own(".claude.json", fmt.Sprintf(`{"projects": {%q: {"hasTrustDialogAccepted": true}}, "mcpServers": {%s}}`, real, servers))
}

// own writes a file in the home folder.
func (m *machine) own(name, text string) { m.write(filepath.Join(m.home, name), text) }

// swap changes a file in the home folder.
func (m *machine) swap(name, old, new string) {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.home, name))
	m.check(err)
	if !strings.Contains(string(data), old) {
		m.t.Fatalf("%s has no %q", name, old)
	}
	m.own(name, strings.ReplaceAll(string(data), old, new))
}

// brokenEverywhere are set-ups of a person's own files, as svc up writes them.
func brokenEverywhere() []setUp {
	const settings, instructions, managed = ".claude/settings.json", ".claude/CLAUDE.md", ".claude/remote-settings.json"
	set := func(breaks func(*machine)) func(*machine) {
		return func(m *machine) {
			m.everywhere()
			breaks(m)
		}
	}
	gone := func(name string) func(*machine) {
		return set(func(m *machine) { m.check(os.Remove(filepath.Join(m.home, name))) })
	}
	return []setUp{
		{"only managed hooks are allowed", set(func(m *machine) { m.own(managed, `{"allowManagedHooksOnly": true}`) }),
			`claude_code switch +.*allowManagedHooksOnly = true: it runs only the hooks that your organization manages(.|\n)*fix: ask`, false},
		{"the organization switched hooks off", set(func(m *machine) { m.own(managed, `{"disableAllHooks": true}`) }),
			`claude_code switch +.*remote-settings\.json has disableAllHooks = true: it runs no hooks(.|\n)*fix: ask the administrator`, false},
		{"the folder for temporary files is gone", func(m *machine) {
			m.env = append(m.env, "TMPDIR="+filepath.Join(m.home, "gone", "tmp"))
		}, `memory +TMPDIR names .*/gone/tmp, which is not there(.|\n)*fix: mkdir -p .*, or unset TMPDIR`, true},
		{"a token was left over in the environment", func(m *machine) {
			m.env = append(m.env, "SVC_TOKEN=svc_"+strings.Repeat("x", 43))
		}, `token +.*rejected the token .*; run unset SVC_TOKEN\n.*fix: unset SVC_TOKEN\n`, false},
		{"the person's settings are not JSON", set(func(m *machine) { m.swap(settings, `"hooks": {`, `"hooks": {{`) }),
			`claude_code hooks +~/\.claude/settings\.json cannot be read.*not valid JSON`, false},
		{"the person's settings are a folder", set(func(m *machine) {
			m.check(os.Remove(filepath.Join(m.home, settings)))
			m.check(os.Mkdir(filepath.Join(m.home, settings), 0o700))
		}), `claude_code hooks +~/\.claude/settings\.json cannot be read`, false},
		{"the person's settings are empty", set(func(m *machine) { m.own(settings, "") }),
			`claude_code hooks +~/\.claude/settings\.json.*the file is empty`, false},
		{"the person's hooks name a svc that is gone", set(func(m *machine) { m.swap(settings, m.bin+"/svc", "/opt/svc-0.3/bin/svc") }),
			`claude_code hooks +.*hooks start /opt/svc-0\.3/bin/svc, which is not there`, true},
		{"the person's hooks end after a millisecond", set(func(m *machine) { m.swap(settings, `"timeout": 5`, `"timeout": 0.001`) }),
			`claude_code hooks +.*hooks have a time limit of 0\.001, and svc writes 5`, true},
		{"the person's hooks were taken out", set(func(m *machine) { m.own(settings, `{"model": "opus"}`) }),
			`claude_code hooks +missing in ~/`, true},
		{"one of the person's hooks was taken out", set(func(m *machine) { m.swap(settings, `"PreToolUse"`, `"Elsewhere"`) }),
			`claude_code hooks +.*no hook on PreToolUse`, true},
		{"the person's hooks are switched off", set(func(m *machine) { m.swap(settings, `"hooks": {`, `"disableAllHooks": true, "hooks": {`) }),
			`claude_code switch +.*disableAllHooks = true: it runs no hooks`, true},
		{"the repository switches the person's hooks off", set(func(m *machine) {
			m.write(filepath.Join(m.repo, ".claude/settings.json"), `{"disableAllHooks": true}`)
		}), `claude_code switch +.*disableAllHooks = true: it runs no hooks`, true},
		{"the person's instructions are gone", gone(instructions),
			`instructions +~/\.claude/CLAUDE\.md has no instructions of svc's(.|\n)*fix: svc init --user --tools claude_code`, true},
		{"the person's instructions are old", set(func(m *machine) { m.swap(instructions, "intent_declare", "declare_work") }),
			`instructions +~/\.claude/CLAUDE\.md has instructions of another version`, true},
		{"the repository's instructions are gone", func(m *machine) { m.check(os.Remove(filepath.Join(m.repo, "CLAUDE.md"))) },
			`instructions +CLAUDE\.md has no instructions of svc's(.|\n)*fix: svc init --tools claude_code`, true},
		{"three hosts lost one file of instructions", func(m *machine) {
			m.svc("init", "--tools", "cursor,kiro,windsurf", "--home", "--yes")
			m.check(os.Remove(filepath.Join(m.repo, "AGENTS.md")))
		}, `instructions +AGENTS\.md has no instructions of svc's(.|\n)*fix: svc init --tools cursor,windsurf,kiro`, true},
		{"Claude Code does not know the tools", set(func(m *machine) { m.claude("") }),
			`claude_code tools +missing in ~/\.claude\.json(.|\n)*fix: svc init --user --tools claude_code`, false},
		{"Claude Code's own file is not JSON", set(func(m *machine) { m.own(".claude.json", "{") }),
			`claude_code tools +~/\.claude\.json cannot be read`, false},
		{"Codex's settings are not TOML", func(m *machine) {
			m.script(filepath.Join(m.hosts, "codex"), "exit 0")
			m.svc("init", "--tools", "codex", "--yes")
			m.own(".codex/config.toml", "[features\nhooks = true")
		}, `codex trust +.*config\.toml cannot be read`, false},
		{"Gemini was told not to trust the folder", func(m *machine) {
			m.gemini()
			m.own(".gemini/trustedFolders.json", `{"`+m.repo+`": "DO_NOT_TRUST"}`)
		}, `gemini_cli trust +the host does not run our hooks until you accept them`, false},
		{"a server was left over in the environment", func(m *machine) { m.env = append(m.env, "SVC_SERVER=localhost:7780") },
			`config +"localhost:7780" is not a server address.*\(from env\)\n.*fix: unset SVC_SERVER`, false},
		{"the file of tool servers is not JSON", func(m *machine) { m.write(filepath.Join(m.repo, ".mcp.json"), "{") },
			`claude_code tools +\.mcp\.json cannot be read`, false},
	}
}

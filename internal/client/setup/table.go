package setup

import "slices"

// Default is what svc init sets up where nobody can be asked.
var Default = []string{"claude_code", "codex"}

// Hosts is every host that svc init knows, in the order in which it offers
// them.
var Hosts = []Host{
	{
		ID: "claude_code", Title: "Claude Code",
		Binaries: []string{"claude"}, Homes: []string{".claude", ".claude.json"}, Marks: []string{".claude", "CLAUDE.md"},
		Files: []File{
			{Paths: []string{".claude/settings.json"}, Hooks: &hookTable{at: []string{"hooks"}, render: grouped(seconds),
				events: claudeEvents("Edit|Write|MultiEdit|NotebookEdit|Bash|ExitPlanMode", "Edit|Write|MultiEdit|NotebookEdit|Bash")}},
			{Paths: []string{".mcp.json"}, Entry: mcp("mcpServers")},
		},
		Instructions: []string{"CLAUDE.md"}, Redirect: claudeInstructions, Trust: claudeTrust,
		Note: "start claude here once, accept the workspace trust prompt and approve the svc tool server",
	},
	{
		ID: "codex", Title: "OpenAI Codex",
		Binaries: []string{"codex"}, Homes: []string{".codex"}, Marks: []string{".codex"},
		Files: []File{
			{Paths: []string{".codex/hooks.json"}, Hooks: codexHooks},
			{Paths: []string{".codex/config.toml"}, Table: &tomlTable{path: []string{"mcp_servers", "svc"}, ours: isOurServer,
				lines: []field{{"command", `"svc"`}, {"args", `["mcp"]`}}}},
		},
		Instructions: []string{"AGENTS.md"},
		Trust:        codexTrust,
		Note:         "start codex here once, trust the project and accept the new hooks in its review screen; codex exec skips hooks that are not trusted and says nothing",
	},
	{
		ID: "cursor", Title: "Cursor",
		Binaries: []string{"cursor", "cursor-agent"}, Homes: []string{".cursor"}, Marks: []string{".cursor", ".cursorrules"},
		Files: []File{
			{Paths: []string{".cursor/hooks.json"}, Hooks: &hookTable{at: []string{"hooks"}, render: cursorEntry, with: &field{"version", 1},
				events: events("sessionStart", "beforeSubmitPrompt", "preToolUse", "^(Write|Delete|Shell)$", "postToolUse", "^(Write|Delete|Shell)$", "stop", "sessionEnd")}},
			{Paths: []string{".cursor/mcp.json"}, Entry: mcp("mcpServers")},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "restart Cursor and switch the svc tool server on in Settings, Tools & MCP",
	},
	{
		ID: "copilot_cli", Title: "GitHub Copilot CLI",
		Binaries: []string{"copilot"}, Homes: []string{".copilot"}, Marks: []string{".github/copilot", ".github/mcp.json"},
		Files: []File{
			copilotHooks,
			{Paths: []string{".github/mcp.json"}, Entry: mcp("mcpServers", field{"type", "local"}, field{"tools", []string{"*"}})},
		},
		Instructions: []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"},
		Note:         "start copilot here once and trust the folder; in an untrusted folder it runs neither hooks nor tool servers",
	},
	{
		ID: "vscode", Title: "VS Code (Copilot agent)",
		Binaries: []string{"code"}, Homes: []string{".vscode"}, Marks: []string{".vscode"},
		Files: []File{
			copilotHooks,
			{Paths: []string{".vscode/mcp.json"}, Entry: mcp("servers", stdio)},
		},
		Instructions: []string{"AGENTS.md", ".github/copilot-instructions.md"},
		Note:         "trust the workspace and start the svc server from .vscode/mcp.json when VS Code offers it; hooks need agent hooks to be allowed by your organization",
	},
	{
		ID: "gemini_cli", Title: "Gemini CLI",
		Binaries: []string{"gemini"}, Homes: []string{".gemini/settings.json"}, Marks: []string{".gemini", "GEMINI.md"},
		Files: []File{{Paths: []string{".gemini/settings.json"}, Entry: mcp("mcpServers"),
			Hooks: &hookTable{at: []string{"hooks"}, render: grouped(namedMillis),
				events: events("SessionStart", "BeforeAgent", "BeforeTool", "^(write_file|replace|run_shell_command|exit_plan_mode)$",
					"AfterTool", "^(write_file|replace|run_shell_command)$", "AfterAgent", "SessionEnd")}}},
		Instructions: []string{"GEMINI.md"}, Redirect: geminiInstructions, Trust: geminiTrust,
		Note: "start gemini here once and trust the folder; in an untrusted folder it loads neither hooks nor tool servers",
	},
	{
		ID: "windsurf", Title: "Windsurf",
		Binaries: []string{"windsurf"}, Homes: []string{".codeium/windsurf"}, Marks: []string{".windsurf", ".windsurfrules"},
		Files: []File{
			{Paths: []string{".windsurf/hooks.json"}, Hooks: &hookTable{at: []string{"hooks"}, render: windsurfEntry, events: windsurfEvents}},
			{Paths: []string{".codeium/windsurf/mcp_config.json"}, Home: true, Entry: mcp("mcpServers")},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "add the tool server (command svc, argument mcp) to ~/.codeium/windsurf/mcp_config.json: Windsurf has no file for it in the repository",
	},
	{
		ID: "opencode", Title: "opencode",
		Binaries: []string{"opencode"}, Homes: []string{".config/opencode"}, Marks: []string{".opencode", "opencode.json", "opencode.jsonc"},
		Files: []File{
			{Paths: []string{".opencode/plugin/svc.js"}, Plugin: true},
			{Paths: []string{"opencode.jsonc", "opencode.json"}, Entry: mcpList("mcp")},
		},
		Instructions: []string{"AGENTS.md", "CLAUDE.md"}, ReadsFirst: true,
		Note: "restart opencode; it loads the plugin without asking",
	},
	{
		ID: "omp", Title: "oh-my-pi",
		Binaries: []string{"omp"}, Homes: []string{".omp"}, Marks: []string{".omp"},
		Files: []File{
			{Paths: []string{".omp/extensions/svc.ts"}, Plugin: true},
			{Paths: []string{".omp/mcp.json"}, Entry: mcp("mcpServers", stdio)},
		},
		Instructions: []string{"AGENTS.md", "CLAUDE.md"}, ReadsFirst: true,
		Note: "restart omp; it loads the extension without asking",
	},
	{
		ID: "cline", Title: "Cline",
		Binaries: []string{"cline"}, Homes: []string{".cline"}, Marks: []string{".cline", ".clinerules"},
		Files: []File{
			{Paths: []string{".cline/plugins/svc.js"}, Plugin: true},
			{Paths: []string{".cline/data/settings/cline_mcp_settings.json"}, Home: true, Entry: mcp("mcpServers")},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "add the tool server (command svc, argument mcp) with cline mcp: Cline has no file for it in the repository",
	},
	{
		ID: "kiro", Title: "Kiro",
		Binaries: []string{"kiro-cli", "kiro"}, Homes: []string{".kiro"}, Marks: []string{".kiro"},
		Files: []File{
			{Paths: []string{".kiro/hooks/svc.json"}, Hooks: &hookTable{at: []string{"hooks"}, list: true, render: kiroEntry,
				with: &field{"version", "v1"}, events: kiroEvents()}},
			{Paths: []string{".kiro/settings/mcp.json"}, Entry: mcp("mcpServers")},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "trust the workspace in the IDE; Kiro CLI runs these hooks only with its v3 engine (kiro-cli --v3)",
	},
	{
		ID: "antigravity", Title: "Google Antigravity",
		Binaries: []string{"agy", "antigravity"}, Homes: []string{".gemini/antigravity-cli", ".gemini/config"}, Marks: []string{".agents/hooks.json", ".agents/mcp_config.json"},
		Files: []File{
			{Paths: []string{".agents/hooks.json"}, Entry: antigravityHooks()},
			{Paths: []string{".agents/mcp_config.json"}, Entry: mcp("mcpServers")},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "restart Antigravity; if the IDE does not list the svc tool server, add it to ~/.gemini/config/mcp_config.json too",
	},
	{
		ID: "goose", Title: "goose",
		Binaries: []string{"goose"}, HomeOnly: true, Homes: []string{".config/goose"}, Marks: []string{".goosehints", ".agents/plugins"},
		Files: []File{
			{Paths: []string{".agents/plugins/svc/plugin.json"}, Text: goosePlugin},
			{Paths: []string{".agents/plugins/svc/hooks/hooks.json"}, Hooks: &hookTable{at: []string{"hooks"}, render: grouped(seconds),
				events: claudeEvents("developer__(edit|write|shell)", "developer__(edit|write|shell)")}},
			{Paths: []string{".config/goose/config.yaml"}, Home: true, YAML: &yamlEntry{at: "extensions", name: "svc", ours: isOurServer, soft: []string{"enabled", "name"},
				lines: []field{{"enabled", "true"}, {"type", "stdio"}, {"name", "svc"}, {"cmd", "svc"}, {"args", "[mcp]"}}}},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "add the tool server with goose configure (stdio extension svc, command svc mcp): goose has no file for it in the repository",
	},
	{
		ID: "qwen_code", Title: "Qwen Code",
		Binaries: []string{"qwen"}, Homes: []string{".qwen"}, Marks: []string{".qwen", "QWEN.md"},
		Files: []File{{Paths: []string{".qwen/settings.json"}, Entry: mcp("mcpServers"),
			Hooks: &hookTable{at: []string{"hooks"}, render: grouped(namedMillis),
				events: claudeEvents("^(edit|write_file|notebook_edit|run_shell_command|exit_plan_mode)$", "^(edit|write_file|notebook_edit|run_shell_command)$")}}},
		Instructions: []string{"AGENTS.md", "QWEN.md"},
		Note:         "start qwen here once and approve the svc tool server",
	},
	{
		ID: "kilo_code", Title: "Kilo Code",
		Binaries: []string{"kilo", "kilocode"}, Homes: []string{".config/kilo"}, Marks: []string{".kilo", ".kilocode", "kilo.json"},
		Files: []File{
			{Paths: []string{".kilo/plugin/svc.js"}, Plugin: true},
			{Paths: []string{".kilo/kilo.json", "kilo.json"}, Entry: mcpList("mcp")},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "restart Kilo Code; it loads the plugin without asking",
	},
	{
		ID: "factory_droid", Title: "Factory Droid",
		Binaries: []string{"droid"}, Homes: []string{".factory"}, Marks: []string{".factory"},
		Files: []File{
			{Paths: []string{".factory/hooks.json"}, Use: droidHooksFile,
				Hooks: &hookTable{render: grouped(seconds), events: claudeEvents(droidTools, droidTools)}},
			{Paths: []string{".factory/settings.json"}, Use: func(read reader) bool { return !droidHooksFile(read) },
				Hooks: &hookTable{at: []string{"hooks"}, render: grouped(seconds), events: claudeEvents(droidTools, droidTools)}},
			{Paths: []string{".factory/mcp.json"}, Entry: mcp("mcpServers", stdio)},
		},
		Instructions: []string{"AGENTS.md"},
		Note:         "restart droid: it reads hooks only at its start",
	},
	{
		ID: "crush", Title: "Crush",
		Binaries: []string{"crush"}, Homes: []string{".config/crush", ".local/share/crush"}, Marks: []string{"crush.json", ".crush.json", ".crush", "CRUSH.md"},
		Files: []File{{Paths: []string{".crush.json", "crush.json"}, Entry: mcp("mcp", stdio),
			Hooks: &hookTable{at: []string{"hooks"}, render: crushEntry, events: []hookEvent{{"PreToolUse", "^(edit|write|multiedit|bash)$", short}}}}},
		Instructions: []string{"AGENTS.md", "CRUSH.md"},
		Note:         "restart Crush; it has hooks before tool calls only, so briefings reach it through the tool server",
	},
	{
		ID: "augment", Title: "Augment",
		Binaries: []string{"auggie"}, Homes: []string{".augment"}, Marks: []string{".augment", ".augment-guidelines"},
		Files: []File{{Paths: []string{".augment/settings.json"}, Entry: mcp("mcpServers", stdio),
			Hooks: &hookTable{at: []string{"hooks"}, render: grouped(millis),
				events: events("SessionStart", "PromptSubmit", "PreToolUse", augmentTools, "PostToolUse", augmentTools, "Stop", "SessionEnd")}}},
		Instructions: []string{"AGENTS.md", "CLAUDE.md"},
		Note:         "restart auggie or reload the IDE window",
	},
}

const droidTools = "Edit|Create|ApplyPatch|Execute"

const augmentTools = "str-replace-editor|save-file|remove-files|apply_patch|launch-process"

// copilotHooks is in the rows of two hosts: VS Code reads the file as Copilot
// CLI does, because of its version number.
var copilotHooks = File{Paths: []string{".github/hooks/svc.json"}, Hooks: &hookTable{at: []string{"hooks"}, render: copilotEntry, with: &field{"version", 1},
	events: events("sessionStart", "userPromptSubmitted", "preToolUse", copilotTools, "postToolUse", copilotTools, "agentStop", "sessionEnd")}}

const copilotTools = "create|edit|write|str_replace_editor|apply_patch|bash|powershell"

const goosePlugin = `{
  "name": "svc",
  "version": "1.0.0",
  "description": "Tells svc before goose edits, and passes on what it answers."
}
`

// windsurfEvents has neither session start nor end: the host has no such
// hooks, and svc makes them up from the first prompt.
var windsurfEvents = []hookEvent{
	{"pre_user_prompt", "", short}, {"pre_write_code", "", short}, {"pre_run_command", "", short},
	{"post_write_code", "", long}, {"post_run_command", "", long}, {"post_cascade_response", "", long},
}

var codexHooks = &hookTable{at: []string{"hooks"}, render: grouped(codexHandler), events: codexEvents()}

// codexEvents gives SessionEnd the three seconds that Codex allows at most.
func codexEvents() []hookEvent {
	all := claudeEvents("apply_patch|Edit|Write|Bash", "apply_patch|Edit|Write|Bash")
	all[len(all)-1].seconds = 3
	return all
}

// kiroEvents names the session's start twice: SessionStart is the IDE's,
// AgentSpawn the command line's. Neither has an end.
func kiroEvents() []hookEvent {
	const tools = "^(fs_write|create_file|str_replace|fs_append|delete_file|apply_patch|edit_file|execute_bash|execute_pwsh|shell)$"
	all := events("SessionStart", "UserPromptSubmit", "PreToolUse", tools, "PostToolUse", tools, "Stop", "")
	return slices.Insert(all, 1, hookEvent{"AgentSpawn", "", short})
}

// ByID returns the host with the given id.
func ByID(id string) (*Host, bool) {
	i := slices.IndexFunc(Hosts, func(h Host) bool { return h.ID == id })
	if i < 0 {
		return nil, false
	}
	return &Hosts[i], true
}

// IDs returns the ids of all hosts.
func IDs() []string {
	ids := make([]string, len(Hosts))
	for i, h := range Hosts {
		ids[i] = h.ID
	}
	return ids
}

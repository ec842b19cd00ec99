package setup

import (
	"slices"
	"strings"
	"sync"
)

// Default is what svc init sets up where nobody can be asked.
var Default = []string{"claude_code", "codex"}

// Hosts returns every host that svc init knows, in the order in which it
// offers them.
func Hosts() []Host { return table() }

// table is built when it is first asked for: svc hook, which runs at every
// edit, lives in the same program and never does.
var table = sync.OnceValue(func() []Host {
	return []Host{
		{
			ID: "claude_code", Title: "Claude Code",
			binaries: []string{"claude"}, homes: []string{".claude", ".claude.json"}, marks: []string{".claude", "CLAUDE.md"},
			files: []hostFile{
				{paths: []string{".claude/settings.json"}, hooks: &hookTable{at: []string{"hooks"}, render: grouped(seconds),
					events: claudeCodeEvents()}},
				{paths: []string{".mcp.json"}, entry: mcp("mcpServers")},
			},
			instructions: []string{"CLAUDE.md"}, redirect: claudeInstructions, trust: claudeTrust,
			Note: "start claude here once, accept the workspace trust prompt and approve the svc tool server",
		},
		{
			ID: "codex", Title: "OpenAI Codex",
			binaries: []string{"codex"}, homes: []string{".codex"}, marks: []string{".codex"},
			files: []hostFile{
				{paths: []string{".codex/hooks.json"}, hooks: codexHooks()},
				{paths: []string{".codex/config.toml"}, table: &tomlTable{path: []string{"mcp_servers", "svc"}, ours: isOurServer,
					lines: []field{{"command", `"svc"`}, {"args", `["mcp"]`}}}},
			},
			instructions: []string{"AGENTS.md"},
			trust:        codexTrust,
			Note: "start codex here once, trust the project and accept the new hooks in its review screen; codex exec skips hooks " +
				"that are not trusted and says nothing",
		},
		{
			ID: "cursor", Title: "Cursor",
			binaries: []string{"cursor", "cursor-agent"}, homes: []string{".cursor"}, marks: []string{".cursor", ".cursorrules"},
			files: []hostFile{
				{paths: []string{".cursor/hooks.json"}, hooks: &hookTable{at: []string{"hooks"}, render: cursorEntry, with: &field{"version", 1},
					events: cursorEvents()}},
				{paths: []string{".cursor/mcp.json"}, entry: mcp("mcpServers")},
			},
			instructions: []string{"AGENTS.md"},
			Note:         "restart Cursor and switch the svc tool server on in Settings, Tools & MCP",
		},
		{
			ID: "copilot_cli", Title: "GitHub Copilot CLI",
			binaries: []string{"copilot"}, homes: []string{".copilot"}, marks: []string{".github/copilot", ".github/mcp.json"},
			files: []hostFile{
				copilotHooks(),
				{paths: []string{".github/mcp.json"}, entry: mcp("mcpServers", field{"type", "local"}, field{"tools", []string{"*"}})},
			},
			instructions: []string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".github/copilot-instructions.md"},
			Note:         "start copilot here once and trust the folder; in an untrusted folder it runs neither hooks nor tool servers",
		},
		{
			ID: "vscode", Title: "VS Code (Copilot agent)",
			binaries: []string{"code"}, homes: []string{".vscode"}, marks: []string{".vscode"},
			files: []hostFile{
				copilotHooks(),
				{paths: []string{".vscode/mcp.json"}, entry: mcp("servers", stdio)},
			},
			instructions: []string{"AGENTS.md", ".github/copilot-instructions.md"},
			Note: "trust the workspace and start the svc server from .vscode/mcp.json when VS Code offers it; hooks need agent " +
				"hooks to be allowed by your organization",
		},
		{
			ID: "gemini_cli", Title: "Gemini CLI",
			binaries: []string{"gemini"}, homes: []string{".gemini/settings.json"}, marks: []string{".gemini", "GEMINI.md"},
			files: []hostFile{{paths: []string{".gemini/settings.json"}, entry: mcp("mcpServers"),
				hooks: &hookTable{at: []string{"hooks"}, render: grouped(namedMillis),
					events: append(events("SessionStart", "BeforeAgent", "BeforeTool",
						"^(write_file|replace|run_shell_command|exit_plan_mode|read_file|read_many_files)$",
						"AfterTool", "^(write_file|replace|run_shell_command|mcp_.*)$", "AfterAgent", "SessionEnd"),
						hookEvent{"Notification", "", short})}}},
			instructions: []string{"GEMINI.md"}, redirect: geminiInstructions, trust: geminiTrust,
			Note: "start gemini here once and trust the folder; in an untrusted folder it loads neither hooks nor tool servers",
		},
		{
			ID: "windsurf", Title: "Windsurf",
			binaries: []string{"windsurf"}, homes: []string{".codeium/windsurf"}, marks: []string{".windsurf", ".windsurfrules"},
			files: []hostFile{
				{paths: []string{".windsurf/hooks.json"}, hooks: &hookTable{at: []string{"hooks"}, render: windsurfEntry, events: windsurfEvents()}},
				{paths: []string{".codeium/windsurf/mcp_config.json"}, home: true, entry: mcp("mcpServers")},
			},
			instructions: []string{"AGENTS.md"},
			Note: "add the tool server (command svc, argument mcp) to ~/.codeium/windsurf/mcp_config.json: Windsurf has no file " +
				"for it in the repository",
			noteHome: "refresh the tool servers in Windsurf's Cascade settings",
		},
		{
			ID: "opencode", Title: "opencode",
			binaries: []string{"opencode"}, homes: []string{".config/opencode"}, marks: []string{".opencode", "opencode.json", "opencode.jsonc"},
			files: []hostFile{
				{paths: []string{".opencode/plugin/svc.js"}, plugin: true},
				{paths: []string{"opencode.jsonc", "opencode.json"}, entry: mcpList("mcp")},
			},
			instructions: []string{"AGENTS.md", "CLAUDE.md"}, readsFirst: true,
			Note: "restart opencode; it loads the plugin without asking",
		},
		{
			ID: "omp", Title: "oh-my-pi",
			binaries: []string{"omp"}, homes: []string{".omp"}, marks: []string{".omp"},
			files: []hostFile{
				{paths: []string{".omp/extensions/svc.ts"}, plugin: true},
				{paths: []string{".omp/mcp.json"}, entry: mcp("mcpServers", stdio)},
			},
			instructions: []string{"AGENTS.md", "CLAUDE.md"}, readsFirst: true,
			Note: "restart omp; it loads the extension without asking",
		},
		{
			ID: "cline", Title: "Cline",
			binaries: []string{"cline"}, homes: []string{".cline"}, marks: []string{".cline", ".clinerules"},
			files: []hostFile{
				{paths: []string{".cline/plugins/svc.js"}, plugin: true},
				{paths: []string{".cline/data/settings/cline_mcp_settings.json"}, home: true, entry: mcp("mcpServers")},
			},
			instructions: []string{"AGENTS.md"},
			Note:         "add the tool server (command svc, argument mcp) with cline mcp: Cline has no file for it in the repository",
			noteHome:     "restart Cline",
		},
		{
			ID: "kiro", Title: "Kiro",
			binaries: []string{"kiro-cli", "kiro"}, homes: []string{".kiro"}, marks: []string{".kiro"},
			files: []hostFile{
				{paths: []string{".kiro/hooks/svc.json"}, hooks: &hookTable{at: []string{"hooks"}, list: true, render: kiroEntry,
					with: &field{"version", "v1"}, events: kiroEvents()}},
				{paths: []string{".kiro/settings/mcp.json"}, entry: mcp("mcpServers")},
			},
			instructions: []string{"AGENTS.md"},
			Note:         "trust the workspace in the IDE; Kiro CLI runs these hooks only with its v3 engine (kiro-cli --v3)",
		},
		{
			ID:       "antigravity",
			Title:    "Google Antigravity",
			binaries: []string{"agy", "antigravity"},
			homes:    []string{".gemini/antigravity-cli", ".gemini/config"},
			marks:    []string{".agents/hooks.json", ".agents/mcp_config.json"},
			files: []hostFile{
				{paths: []string{".agents/hooks.json"}, entry: antigravityHooks()},
				{paths: []string{".agents/mcp_config.json"}, entry: mcp("mcpServers")},
			},
			instructions: []string{"AGENTS.md"},
			Note:         "restart Antigravity; if the IDE does not list the svc tool server, add it to ~/.gemini/config/mcp_config.json too",
		},
		{
			ID: "goose", Title: "goose",
			binaries: []string{"goose"}, homeOnly: true, homes: []string{".config/goose"}, marks: []string{".goosehints", ".agents/plugins"},
			files: []hostFile{
				{paths: []string{".agents/plugins/svc/plugin.json"}, text: goosePlugin},
				{paths: []string{".agents/plugins/svc/hooks/hooks.json"}, hooks: &hookTable{at: []string{"hooks"}, render: grouped(seconds),
					events: failing("PostToolUseFailure", "developer__shell",
						claudeEvents("developer__(edit|write|shell)", "developer__(edit|write|shell)"))}},
				{
					paths: []string{".config/goose/config.yaml"},
					home:  true,
					yaml: &yamlEntry{at: "extensions", name: "svc", ours: isOurServer, soft: []string{"enabled", "name"},
						lines: []field{{"enabled", "true"}, {"type", "stdio"}, {"name", "svc"}, {"cmd", "svc"}, {"args", "[mcp]"}}},
				},
			},
			instructions: []string{"AGENTS.md"},
			Note: "add the tool server with goose configure (stdio extension svc, command svc mcp): goose has no file for it in " +
				"the repository",
			noteHome: "start a new goose session",
		},
		{
			ID: "qwen_code", Title: "Qwen Code",
			binaries: []string{"qwen"}, homes: []string{".qwen"}, marks: []string{".qwen", "QWEN.md"},
			files: []hostFile{{paths: []string{".qwen/settings.json"}, entry: mcp("mcpServers"),
				hooks: &hookTable{at: []string{"hooks"}, render: grouped(namedMillis),
					events: append(failing("PostToolUseFailure", "^(run_shell_command)$",
						claudeEvents("^(edit|write_file|notebook_edit|run_shell_command|exit_plan_mode|read_file)$",
							"^(edit|write_file|notebook_edit|run_shell_command|"+foreignTools+")$")),
						hookEvent{"Notification", "permission_prompt", short})}}},
			instructions: []string{"AGENTS.md", "QWEN.md"},
			Note:         "start qwen here once and approve the svc tool server",
		},
		{
			ID: "kilo_code", Title: "Kilo Code",
			binaries: []string{"kilo", "kilocode"}, homes: []string{".config/kilo"}, marks: []string{".kilo", ".kilocode", "kilo.json"},
			files: []hostFile{
				{paths: []string{".kilo/plugin/svc.js"}, plugin: true},
				{paths: []string{".kilo/kilo.json", "kilo.json"}, entry: mcpList("mcp")},
			},
			instructions: []string{"AGENTS.md"},
			Note:         "restart Kilo Code; it loads the plugin without asking",
		},
		{
			ID: "factory_droid", Title: "Factory Droid",
			binaries: []string{"droid"}, homes: []string{".factory"}, marks: []string{".factory"},
			files: []hostFile{
				{paths: []string{".factory/hooks.json"}, use: droidHooksFile,
					hooks: &hookTable{render: grouped(seconds), events: droidEvents()}},
				{paths: []string{".factory/settings.json"}, use: func(read reader) bool { return !droidHooksFile(read) },
					hooks: &hookTable{at: []string{"hooks"}, render: grouped(seconds), events: droidEvents()}},
				{paths: []string{".factory/mcp.json"}, entry: mcp("mcpServers", stdio)},
			},
			instructions: []string{"AGENTS.md"},
			Note:         "restart droid: it reads hooks only at its start",
		},
		{
			ID:       "crush",
			Title:    "Crush",
			binaries: []string{"crush"},
			homes:    []string{".config/crush", ".local/share/crush"},
			marks:    []string{"crush.json", ".crush.json", ".crush", "CRUSH.md"},
			files: []hostFile{{paths: []string{".crush.json", "crush.json"}, entry: mcp("mcp", stdio),
				hooks: &hookTable{
					at:     []string{"hooks"},
					render: crushEntry,
					events: []hookEvent{{"PreToolUse", "^(edit|write|multiedit|bash|view)$", short}},
				}}},
			instructions: []string{"AGENTS.md", "CRUSH.md"},
			Note:         "restart Crush; it has hooks before tool calls only, so briefings reach it through the tool server",
		},
		{
			ID: "augment", Title: "Augment",
			binaries: []string{"auggie"}, homes: []string{".augment"}, marks: []string{".augment", ".augment-guidelines"},
			files: []hostFile{{paths: []string{".augment/settings.json"}, entry: mcp("mcpServers", stdio),
				hooks: &hookTable{at: []string{"hooks"}, render: grouped(millis),
					events: events("SessionStart", "PromptSubmit", "PreToolUse", augmentTools+"|view", "PostToolUse", augmentTools,
						"Stop", "SessionEnd")}}},
			instructions: []string{"AGENTS.md", "CLAUDE.md"},
			Note:         "restart auggie or reload the IDE window",
		},
	}
})

// foreignTools are the tools of other tool servers, which may write files.
const foreignTools = "mcp__.*"

func droidEvents() []hookEvent {
	const tools = "Edit|Create|ApplyPatch|Execute"
	return claudeEvents(tools+"|ExitPlanMode|Read", tools+"|"+foreignTools)
}

const augmentTools = "str-replace-editor|save-file|remove-files|apply_patch|launch-process"

// copilotHooks is in the rows of two hosts: VS Code reads the file as Copilot
// CLI does, because of its version number.
func copilotHooks() hostFile {
	return hostFile{
		paths: []string{".github/hooks/svc.json"},
		hooks: &hookTable{at: []string{"hooks"}, render: copilotEntry, with: &field{"version", 1},
			events: failing("postToolUseFailure", "bash|powershell",
				events("sessionStart", "userPromptSubmitted", "preToolUse", copilotTools+"|view", "postToolUse", copilotTools+"|.+-.+",
					"agentStop", "sessionEnd"))},
	}
}

// claudeCodeEvents has the matchers of the interface, and entries of their own
// for the tool that Claude Code has for commands on Windows.
func claudeCodeEvents() []hookEvent {
	const tools = "Edit|Write|MultiEdit|NotebookEdit|Bash"
	return failing("PostToolUseFailure", "Bash|PowerShell",
		append(claudeEvents(tools+"|ExitPlanMode", tools), hookEvent{"PreToolUse", "PowerShell", short},
			hookEvent{"PostToolUse", "PowerShell", long}, hookEvent{"PreToolUse", "Read", short}, hookEvent{"PostToolUse", foreignTools, long},
			permissionPrompts, hookEvent{"TaskCreated", "", long}, hookEvent{"TaskCompleted", "", long},
			hookEvent{"TeammateIdle", "", short}))
}

// permissionPrompts are the notifications that a dialog waits for somebody: of others nothing is to be told.
var permissionPrompts = hookEvent{"Notification", "permission_prompt|elicitation_dialog", short}

const copilotTools = "create|edit|write|str_replace_editor|apply_patch|bash|powershell"

const goosePlugin = `{
  "name": "svc",
  "version": "1.0.0",
  "description": "Tells svc before goose edits, and passes on what it answers."
}
`

// cursorEvents adds what the agent said, because the end of its turn does not
// tell. One event that Cursor does not know would make it reject the file.
func cursorEvents() []hookEvent {
	const tools = "^(Write|Delete|Shell|MCP:.+)$"
	return failing("postToolUseFailure", "^(Shell)$",
		append(events("sessionStart", "beforeSubmitPrompt", "preToolUse", "^(Write|Delete|Shell|Read)$", "postToolUse", tools, "stop",
			"sessionEnd"),
			hookEvent{"afterAgentResponse", "", short}))
}

// windsurfEvents has neither session start nor end: the host has no such
// hooks, and svc makes them up from the first prompt.
func windsurfEvents() []hookEvent {
	return []hookEvent{
		{"pre_user_prompt", "", short}, {"pre_write_code", "", short}, {"pre_run_command", "", short},
		{"post_write_code", "", long}, {"post_run_command", "", long}, {"post_cascade_response", "", long},
	}
}

func codexHooks() *hookTable {
	return &hookTable{at: []string{"hooks"}, render: grouped(codexHandler), events: codexEvents()}
}

// codexEvents gives SessionEnd the three seconds that Codex allows at most.
func codexEvents() []hookEvent {
	all := claudeEvents("apply_patch|Edit|Write|Bash", "apply_patch|Edit|Write|Bash")
	all[len(all)-1].seconds = 3
	return append(all, hookEvent{"PostToolUse", foreignTools, long})
}

// kiroEvents names the session's start twice: SessionStart is the IDE's,
// AgentSpawn the command line's. Neither has an end.
func kiroEvents() []hookEvent {
	const tools = "^(fs_write|create_file|str_replace|fs_append|delete_file|apply_patch|edit_file|execute_bash|execute_pwsh|shell)$"
	reading := strings.TrimSuffix(tools, ")$") + "|read_file|fs_read)$"
	all := events("SessionStart", "UserPromptSubmit", "PreToolUse", reading, "PostToolUse", tools, "Stop", "")
	return slices.Insert(all, 1, hookEvent{"AgentSpawn", "", short})
}

// ByID returns the host with the given id.
func ByID(id string) (*Host, bool) {
	all := table()
	i := slices.IndexFunc(all, func(h Host) bool { return h.ID == id })
	if i < 0 {
		return nil, false
	}
	return &all[i], true
}

// Titles names hosts for people.
func Titles(ids ...string) string {
	var names []string
	for _, id := range ids {
		if h, ok := ByID(id); ok {
			id = h.Title
		}
		names = append(names, id)
	}
	return strings.Join(names, ", ")
}

// IDs returns the ids of all hosts.
func IDs() []string {
	var ids []string
	for _, h := range table() {
		ids = append(ids, h.ID)
	}
	return ids
}

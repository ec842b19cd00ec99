package host

import (
	"sync"
	"time"
)

// A row makes a host when it is first asked for: a hook is of one host, and
// starts at every edit.
type row struct {
	id   string
	make func() *Host
	// betrays tells by its payload a host that runs the hooks of another. It is
	// asked of hosts that do not run, which need not be made for it.
	betrays func(p payload, getenv func(string) string) bool
	once    sync.Once
	host    *Host
}

func (r *row) get() *Host {
	r.once.Do(func() {
		r.host = r.make()
		r.host.ID = r.id
	})
	return r.host
}

// rows yields the rows of all hosts, in order.
func rows(yield func(*row) bool) {
	for _, part := range [][]row{firstNine, secondNine} {
		for i := range part {
			if !yield(&part[i]) {
				return
			}
		}
	}
}

// claudeShape is the payload of the first host; others have borrowed most of
// its names.
var claudeShape = shape{
	event:   []string{"hook_event_name"},
	session: []string{"session_id"},
	agent:   []string{"agent_id"},
	cwd:     []string{"cwd"},
	model:   []string{"model"},
	prompt:  []string{"prompt"},
	tool:    []string{"tool_name"},
	input:   []string{"tool_input"},
	call:    []string{"tool_use_id"},
	turn:    []string{"prompt_id", "turn_id"},
	stamp:   []string{"timestamp"},
	said:    []string{"last_assistant_message"},
	record:  []string{"transcript_path"},
	kind:    []string{"notification_type"},
	message: []string{"message"},
}

// permissionPrompts are the kinds of notification by which Claude Code, and who
// took its events over, tell that a dialog waits for somebody.
var permissionPrompts = []string{"permission_prompt", "elicitation_dialog"}

// claudeEvents are the event names of the first host.
func claudeEvents(more map[string]Event) map[string]Event {
	events := map[string]Event{
		"SessionStart": {At: SessionStart}, "UserPromptSubmit": {At: Prompt}, "PreToolUse": {At: BeforeTool},
		"PostToolUse": {At: AfterTool}, "PostToolUseFailure": {At: AfterFailure}, "Stop": {At: Stop}, "SessionEnd": {At: SessionEnd},
	}
	for name, e := range more {
		events[name] = e
	}
	return events
}

// only keeps the named events: what a host never fires has no place in a row.
func only(events map[string]Event, names ...string) map[string]Event {
	out := map[string]Event{}
	for _, n := range names {
		out[n] = events[n]
	}
	return out
}

var firstNine = []row{
	{id: "claude_code", make: func() *Host {
		return &Host{
			Name:        "Claude Code",
			Surface:     "cli",
			Configs:     []string{".claude/settings.json", ".claude/settings.local.json"},
			UserConfigs: []string{".claude/settings.json"},
			AlsoReadBy:  []string{"cursor", "codex", "copilot_cli", "vscode"},
			Events: claudeEvents(map[string]Event{
				"Notification": {At: Asks}, "TaskCreated": {At: TaskMade}, "TaskCompleted": {At: TaskDone}, "TeammateIdle": {At: Idle},
			}),
			asking:      permissionPrompts,
			Edits:       []string{"Edit", "Write", "MultiEdit", "NotebookEdit"},
			Shells:      []string{"Bash", "PowerShell"},
			Plans:       []string{"ExitPlanMode"},
			Takes:       []Moment{SessionStart, Prompt, BeforeTool, AfterTool},
			shape:       claudeShape,
			deny:        denyEnvelope,
			inject:      injectEnvelope,
			denyCarries: true,
			adjust:      adjustClaude,
		}
	}},
	{id: "codex", betrays: func(p payload, _ func(string) string) bool { return p.has("turn_id") }, make: func() *Host {
		return &Host{
			Name: "Codex", Surface: "cli",
			Configs:     []string{".codex/hooks.json", ".codex/config.toml"},
			UserConfigs: []string{".codex/hooks.json", ".codex/config.toml"},
			Events:      only(claudeEvents(nil), "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"),
			Edits:       []string{"apply_patch"}, Shells: []string{"Bash"},
			Takes: []Moment{SessionStart, Prompt, BeforeTool, AfterTool},
			shape: claudeShape, deny: denyEnvelope, inject: injectEnvelope,
		}
	}},
	{id: "cursor", betrays: betraysCursor, make: func() *Host {
		return &Host{
			Name: "Cursor", Surface: "ide",
			Configs: []string{".cursor/hooks.json"}, UserConfigs: []string{".cursor/hooks.json"},
			Events: map[string]Event{
				"sessionStart": {At: SessionStart}, "beforeSubmitPrompt": {At: Prompt}, "preToolUse": {At: BeforeTool},
				"beforeShellExecution": {BeforeTool, Bash}, "postToolUse": {At: AfterTool}, "postToolUseFailure": {At: AfterFailure},
				"afterFileEdit": {AfterTool, Edit}, "afterAgentResponse": {At: Said}, "stop": {At: Stop}, "sessionEnd": {At: SessionEnd},
			},
			Edits: []string{"Write", "Delete"}, Shells: []string{"Shell"},
			Takes: []Moment{SessionStart, Prompt, BeforeTool, AfterTool},
			shape: cursorShape(), deny: denyCursor, inject: injectCursor, adjust: adjustCursor,
		}
	}},
	{id: "copilot_cli", betrays: betraysCopilot, make: func() *Host {
		return &Host{
			Name: "Copilot CLI", Surface: "cli", VersionEnv: "COPILOT_CLI_BINARY_VERSION",
			Configs:     []string{".github/hooks/*.json", ".github/copilot/settings.json", ".github/copilot/settings.local.json"},
			UserConfigs: []string{".copilot/hooks/*.json", ".copilot/settings.json"},
			AlsoReadBy:  []string{"vscode"},
			Events: claudeEvents(map[string]Event{
				"sessionStart": {At: SessionStart}, "userPromptSubmitted": {At: Prompt}, "preToolUse": {At: BeforeTool},
				"postToolUse": {At: AfterTool}, "postToolUseFailure": {At: AfterFailure}, "agentStop": {At: Stop}, "sessionEnd": {At: SessionEnd},
			}),
			Edits: []string{"create", "edit", "apply_patch"}, Shells: []string{"bash", "powershell"}, Joint: "-",
			Takes: []Moment{SessionStart, Prompt, BeforeTool, AfterTool},
			shape: copilotShape(), deny: denyFlat, inject: injectFlat,
		}
	}},
	{id: "vscode", betrays: func(p payload, _ func(string) string) bool { return p.isoTime() }, make: func() *Host {
		return &Host{
			Name:        "VS Code",
			Surface:     "ide",
			Configs:     []string{".github/hooks/*.json"},
			UserConfigs: []string{".copilot/hooks/*.json"},
			AlsoReadBy:  []string{"copilot_cli"},
			Events: map[string]Event{
				"SessionStart": {At: SessionStart}, "UserPromptSubmit": {At: Prompt}, "PreToolUse": {At: BeforeTool},
				"PostToolUse": {At: AfterTool}, "Stop": {At: Stop},
			},
			Edits: []string{
				"create_file", "replace_string_in_file", "multi_replace_string_in_file", "insert_edit_into_file", "apply_patch",
				"edit_notebook_file",
			},
			Shells: []string{"run_in_terminal"},
			Takes:  []Moment{SessionStart, BeforeTool, AfterTool},
			shape:  vscodeShape(),
			deny:   denyEnvelope,
			inject: injectEnvelope,
		}
	}},
	{id: "gemini_cli", make: func() *Host {
		return &Host{
			Name: "Gemini CLI", Surface: "cli",
			Configs: []string{".gemini/settings.json"}, UserConfigs: []string{".gemini/settings.json"},
			Events: map[string]Event{
				"SessionStart": {At: SessionStart}, "BeforeAgent": {At: Prompt}, "BeforeTool": {At: BeforeTool},
				"AfterTool": {At: AfterTool}, "AfterAgent": {At: Stop}, "SessionEnd": {At: SessionEnd},
				"Notification": {At: Asks},
			},
			asking: []string{"ToolPermission"},
			Edits:  []string{"write_file", "replace"}, Shells: []string{"run_shell_command"}, Plans: []string{"exit_plan_mode"},
			Takes: []Moment{SessionStart, Prompt, AfterTool},
			shape: geminiShape(), deny: denyWord("deny"), inject: injectNamed, adjust: adjustGemini,
		}
	}},
	{id: "windsurf", make: func() *Host {
		return &Host{
			Name: "Windsurf", Surface: "ide",
			Configs: []string{".windsurf/hooks.json"}, UserConfigs: []string{".codeium/windsurf/hooks.json", ".codeium/hooks.json"},
			Events: map[string]Event{
				"pre_user_prompt": {At: Prompt}, "pre_write_code": {BeforeTool, Edit}, "pre_run_command": {BeforeTool, Bash},
				"post_write_code": {AfterTool, Edit}, "post_run_command": {AfterTool, Bash}, "post_cascade_response": {At: Stop},
			},
			Edits: []string{"edit"}, Shells: []string{"run_command"},
			shape: shape{
				event:   []string{"agent_action_name"},
				session: []string{"trajectory_id"},
				turn:    []string{"execution_id"},
				stamp:   []string{"timestamp"},
				model:   []string{"model_name"},
				prompt:  []string{"tool_info.user_prompt"},
				input:   []string{"tool_info"},
				said:    []string{"tool_info.response"},
			},
			deny: denyExit, inject: nothing,
		}
	}},
	{id: "opencode", make: func() *Host {
		return &Host{
			Name: "opencode", Surface: "cli", Plugin: "svc.js",
			Configs: []string{".opencode/plugin/svc.js", ".opencode/plugins/svc.js"},
			Events:  opencodeEvents(),
			Edits:   []string{"write", "edit", "apply_patch"}, Shells: []string{"bash"}, Plans: []string{"plan_exit"}, Joint: "_",
			Takes: []Moment{Prompt, AfterTool},
			shape: opencodeShape(), deny: denyPlugin, inject: injectPlugin, adjust: adjustOpencode,
		}
	}},
	{id: "omp", make: func() *Host {
		return &Host{
			Name: "oh-my-pi", Surface: "cli", Plugin: "svc.ts", Timeout: 600 * time.Millisecond,
			Configs: []string{".omp/extensions/svc.ts", ".pi/extensions/svc.ts"},
			Events: map[string]Event{
				"session_start": {At: SessionStart}, "before_agent_start": {At: Prompt}, "tool_call": {At: BeforeTool},
				"tool_result": {At: AfterTool}, "session_stop": {At: Stop}, "agent_end": {At: Stop}, "session_shutdown": {At: SessionEnd},
			},
			Edits: []string{"write", "edit"}, Shells: []string{"bash"},
			Takes: []Moment{Prompt, AfterTool},
			shape: shape{
				event:   []string{"event.type"},
				session: []string{"ctx.sessionId", "event.session_id"},
				parent:  []string{"ctx.parentId"},
				cwd:     []string{"ctx.cwd"},
				model:   []string{"ctx.model"},
				prompt:  []string{"event.prompt"},
				tool:    []string{"event.toolName"},
				input:   []string{"event.input"},
				call:    []string{"event.toolCallId"},
				turn:    []string{"event.turn_id"},
				said:    []string{"event.last_assistant_message"},
				failed:  []string{"event.isError"},
			},
			deny: denyPlugin, inject: injectPlugin, adjust: adjustOmp,
		}
	}},
}

// nothing serves hosts that show context at no moment.
func nothing(*Call, string) Output { return Output{} }

func cursorShape() shape {
	s := claudeShape
	s.agent = nil
	s.session = []string{"session_id", "conversation_id"}
	s.roots = []string{"workspace_roots"}
	s.version = []string{"cursor_version"}
	s.turn = []string{"generation_id"}
	s.said = []string{"text"}
	return s
}

func copilotShape() shape {
	s := claudeShape
	s.session = []string{"sessionId", "session_id"}
	s.tool = []string{"toolName", "tool_name"}
	s.input = []string{"toolArgs", "tool_input"}
	s.record = []string{"transcriptPath", "transcript_path"}
	s.failed = []string{"toolResult.resultType", "tool_result.result_type"}
	return s
}

func vscodeShape() shape {
	s := claudeShape
	s.event = []string{"hook_event_name", "hookEventName"}
	s.session = []string{"session_id", "sessionId"}
	return s
}

func geminiShape() shape {
	s := claudeShape
	s.said = []string{"prompt_response"}
	s.failed = []string{"tool_response.error"}
	return s
}

func opencodeEvents() map[string]Event {
	return map[string]Event{
		"session.created": {At: SessionStart}, "chat.message": {At: Prompt}, "tool.execute.before": {At: BeforeTool},
		"tool.execute.after": {At: AfterTool}, "session.idle": {At: Stop}, "session.deleted": {At: SessionEnd},
	}
}

func opencodeShape() shape {
	return shape{
		event:   []string{"type"},
		session: []string{"input.sessionID", "properties.sessionID"},
		parent:  []string{"parentID", "properties.info.parentID"},
		cwd:     []string{"directory", "properties.info.directory"},
		model:   []string{"input.model.modelID", "output.message.model.modelID"},
		version: []string{"properties.info.version"},
		tool:    []string{"input.tool"},
		input:   []string{"output.args", "input.args"},
		call:    []string{"input.callID"},
		said:    []string{"said"},
		turn:    []string{"output.message.id", "id"},
	}
}

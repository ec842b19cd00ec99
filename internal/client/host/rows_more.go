package host

var secondNine = []row{
	{id: "cline", make: func() *Host {
		return &Host{
			Name: "Cline", Surface: "cli", Plugin: "svc.js",
			Configs: []string{".cline/plugins/svc.js", ".cline/hooks/*", ".clinerules/hooks/*"},
			Events: map[string]Event{
				"beforeRun": {At: SessionStart}, "beforeTool": {At: BeforeTool}, "afterTool": {At: AfterTool}, "afterRun": {At: Stop},
				"TaskStart": {At: SessionStart}, "TaskResume": {At: SessionStart}, "UserPromptSubmit": {At: Prompt}, "PreToolUse": {At: BeforeTool},
				"PostToolUse": {At: AfterTool}, "TaskComplete": {At: Stop}, "TaskCancel": {At: Stop}, "SessionShutdown": {At: SessionEnd},
			},
			Apart: []string{
				"TaskStart", "TaskResume", "UserPromptSubmit", "PreToolUse", "PostToolUse", "TaskComplete", "TaskCancel",
				"SessionShutdown",
			},
			Edits: []string{"editor", "write_to_file", "replace_in_file"}, Shells: []string{"run_commands", "execute_command"},
			Takes: []Moment{BeforeTool, AfterTool},
			shape: shape{
				session: []string{"snapshot.conversationId", "sessionContext.rootSessionId", "taskId"},
				roots:   []string{"workspaceRoots"},
				cwd:     []string{"cwd"},
				version: []string{"clineVersion"},
				model:   []string{"toolCall.metadata.toolSource.modelId"},
				prompt:  []string{"userPromptSubmit.prompt", "prompt"},
				tool:    []string{"toolCall.toolName", "tool_call.name", "tool_result.name", "preToolUse.toolName", "postToolUse.toolName"},
				input:   []string{"toolCall.input", "input", "tool_call.input", "tool_result.input", "preToolUse.parameters", "postToolUse.parameters"},
				call:    []string{"toolCall.toolCallId", "tool_call.id", "tool_result.id"},
				stamp:   []string{"timestamp"},
				said:    []string{"result.outputText", "turn.outputText"},
				failed:  []string{"result.isError"},
			},
			deny: denyCline, inject: injectCline, adjust: adjustCline,
		}
	}},
	{id: "kiro", make: func() *Host {
		return &Host{
			Name: "Kiro", Surface: "ide",
			Configs: []string{".kiro/hooks/*.json", ".kiro/agents/*.json"}, UserConfigs: []string{".kiro/hooks/*.json"},
			Events: map[string]Event{
				"SessionStart": {At: SessionStart}, "UserPromptSubmit": {At: Prompt}, "PreToolUse": {At: BeforeTool}, "PostToolUse": {At: AfterTool},
				"Stop":       {At: Stop},
				"AgentSpawn": {At: SessionStart}, "agentSpawn": {At: SessionStart}, "userPromptSubmit": {At: Prompt}, "preToolUse": {At: BeforeTool},
				"postToolUse": {At: AfterTool}, "stop": {At: Stop},
			},
			Edits:  []string{"fs_write", "create_file", "str_replace", "fs_append", "delete_file", "apply_patch", "edit_file"},
			Shells: []string{"execute_bash", "execute_pwsh", "shell"},
			Takes:  []Moment{SessionStart, Prompt},
			shape:  claudeShape, deny: denyExit, inject: injectPlain, adjust: adjustKiro,
		}
	}},
	{id: "antigravity", make: func() *Host {
		return &Host{
			Name: "Antigravity", Surface: "cli",
			Configs: []string{".agents/hooks.json"}, UserConfigs: []string{".gemini/config/hooks.json"},
			Events: map[string]Event{
				"PreInvocation": {At: BeforeModel}, "PreToolUse": {At: BeforeTool}, "PostToolUse": {At: AfterTool}, "Stop": {At: Stop},
			},
			Edits: []string{"write_to_file", "replace_file_content"}, Shells: []string{"run_command"},
			Takes: []Moment{BeforeModel},
			shape: shape{
				session: []string{"conversationId"}, roots: []string{"workspacePaths"}, model: []string{"modelName"}, tool: []string{"toolCall.name"},
				input: []string{"toolCall.args"}, stamp: []string{"stepIdx"}, record: []string{"transcriptPath"}, failed: []string{"error"},
			},
			deny: denyWord("deny"), inject: injectAntigravity, quiet: quietAntigravity,
		}
	}},
	{id: "goose", make: func() *Host {
		return &Host{
			Name: "Goose", Surface: "cli",
			Configs: []string{".agents/plugins/svc/hooks/hooks.json"},
			Events:  claudeEvents(nil),
			Edits:   []string{"developer__write", "developer__edit"}, Shells: []string{"developer__shell"},
			shape: shape{
				event:   []string{"event"},
				session: []string{"session_id"},
				cwd:     []string{"working_dir"},
				prompt:  []string{"message"},
				tool:    []string{"tool_name"},
				input:   []string{"tool_input"},
				call:    []string{"tool_call_id"},
				said:    []string{"last_assistant_message"},
			},
			deny: denyWord("block"), inject: nothing,
		}
	}},
	{id: "qwen_code", make: func() *Host {
		return &Host{
			Name: "Qwen Code", Surface: "cli",
			Configs: []string{".qwen/settings.json"}, UserConfigs: []string{".qwen/settings.json"},
			Events: claudeEvents(map[string]Event{"Notification": {At: Asks}}),
			asking: permissionPrompts,
			Edits:  []string{"edit", "write_file", "notebook_edit"}, Shells: []string{"run_shell_command"}, Plans: []string{"exit_plan_mode"},
			Takes: []Moment{SessionStart, Prompt, AfterTool},
			shape: claudeShape, deny: denyEnvelope, inject: injectEnvelope, adjust: adjustQwen,
		}
	}},
	{id: "kilo_code", make: func() *Host {
		return &Host{
			Name: "Kilo Code", Surface: "cli", Plugin: "svc.js",
			Configs: []string{".kilo/plugin/svc.js", ".kilocode/plugin/svc.js"},
			Events:  opencodeEvents(),
			Edits:   []string{"write", "edit", "apply_patch"}, Shells: []string{"bash"}, Plans: []string{"plan_exit"}, Joint: "_",
			Takes: []Moment{Prompt, AfterTool},
			shape: opencodeShape(), deny: denyPlugin, inject: injectPlugin, adjust: adjustOpencode,
		}
	}},
	{id: "factory_droid", make: func() *Host {
		return &Host{
			Name:        "Factory Droid",
			Surface:     "cli",
			Configs:     []string{".factory/hooks.json", ".factory/hooks/hooks.json", ".factory/settings.json"},
			UserConfigs: []string{".factory/hooks.json", ".factory/settings.json"},
			Events:      only(claudeEvents(nil), "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"),
			Edits:       []string{"Edit", "Create", "ApplyPatch"},
			Shells:      []string{"Execute"},
			Plans:       []string{"ExitPlanMode"},
			Takes:       []Moment{SessionStart, Prompt, AfterTool},
			shape:       claudeShape,
			deny:        denyEnvelope,
			inject:      injectEnvelope,
		}
	}},
	{id: "crush", make: func() *Host {
		return &Host{
			Name: "Crush", Surface: "cli",
			Configs: []string{"crush.json", ".crush.json"}, UserConfigs: []string{".config/crush/crush.json"},
			Events: only(claudeEvents(nil), "PreToolUse"),
			Edits:  []string{"edit", "write", "multiedit"}, Shells: []string{"bash"},
			Takes: []Moment{BeforeTool},
			shape: shape{
				event:   []string{"event"},
				session: []string{"session_id"},
				cwd:     []string{"cwd"},
				tool:    []string{"tool_name"},
				input:   []string{"tool_input"},
			},
			deny: denyWord("deny"), inject: injectContext, denyCarries: true,
		}
	}},
	{id: "augment", make: func() *Host {
		return &Host{
			Name: "Augment", Surface: "cli",
			Configs: []string{".augment/settings.json", ".augment/settings.local.json"}, UserConfigs: []string{".augment/settings.json"},
			Events: map[string]Event{
				"SessionStart": {At: SessionStart}, "PromptSubmit": {At: Prompt}, "PreToolUse": {At: BeforeTool}, "PostToolUse": {At: AfterTool},
				"Stop": {At: Stop}, "SessionEnd": {At: SessionEnd},
			},
			Edits: []string{"str-replace-editor", "save-file", "apply_patch", "remove-files"}, Shells: []string{"launch-process"},
			Takes: []Moment{SessionStart, AfterTool},
			shape: shape{
				event:   []string{"hook_event_name"},
				session: []string{"conversation_id"},
				roots:   []string{"workspace_roots"},
				prompt:  []string{"user_prompt"},
				tool:    []string{"tool_name"},
				input:   []string{"tool_input"},
				failed:  []string{"tool_error"},
				touched: []string{"file_changes"},
			},
			deny: denyEnvelope, inject: injectEnvelope,
		}
	}},
}

package host

import (
	"regexp"
	"strings"
)

func betraysCursor(p payload, getenv func(string) string) bool {
	// permission_mode is the first host's own, which may run inside a Cursor
	// terminal and inherit its variables.
	return p.has("cursor_version", "conversation_id") || getenv("CURSOR_VERSION") != "" && !p.has("permission_mode")
}

// betraysCopilot knows both of its payloads: camel case, and the one it writes
// for the first host's event names.
func betraysCopilot(p payload, getenv func(string) string) bool {
	if p.has("toolName", "toolArgs") || p.has("sessionId") && !p.has("hookEventName") {
		return true
	}
	if !p.isoTime() {
		return false
	}
	return getenv("COPILOT_CLI") != "" || p.has("tool_result", "initial_prompt", "stop_reason") ||
		p.has("tool_input.file_text", "tool_input.old_str")
}

// adjustClaude notes through which door the host was started.
func adjustClaude(c *Call, p payload, getenv func(string) string) {
	switch c.At {
	case TaskMade, TaskDone:
		c.Task = teamTask(c, p, getenv)
	case Idle:
		c.Team = p.text([]string{"team_name"})
	}
	if e := getenv("CLAUDE_CODE_ENTRYPOINT"); e != "" {
		c.Surface = e
	}
}

// adjustCursor reads events that carry the tool's arguments at the top level.
func adjustCursor(c *Call, p payload, _ func(string) string) {
	switch c.Native {
	case "beforeShellExecution":
		c.Command = commandOf(map[string]any(p))
		c.Folder = p.text([]string{"cwd"})
		c.Cwd = p.text([]string{"workspace_roots.0", "cwd"})
	case "afterFileEdit":
		c.Paths = editPaths(map[string]any{"file_path": p["file_path"]})
	}
}

// adjustGemini takes our own context out of the prompt: in headless mode the
// host hands it back.
func adjustGemini(c *Call, _ payload, _ func(string) string) {
	c.Prompt = withoutContext(c.Prompt)
}

func withoutContext(s string) string {
	const begin, end = "<hook_context>", "</hook_context>"
	for {
		i := strings.Index(s, begin)
		j := strings.Index(s, end)
		if i < 0 || j < i {
			return strings.TrimSpace(s)
		}
		s = s[:i] + s[j+len(end):]
	}
}

// adjustQwen ignores the prompt event that this host sends before each
// continuation, where nobody has said anything.
func adjustQwen(c *Call, p payload, _ func(string) string) {
	if c.At != Prompt {
		return
	}
	c.Prompt = p.text([]string{"submitted_prompt"})
	if c.Prompt == "" {
		c.At = ""
	}
}

// adjustOpencode puts the prompt together from its parts. The command line
// passes it with the quotes it was typed in.
func adjustOpencode(c *Call, p payload, _ func(string) string) {
	if c.At != Prompt {
		return
	}
	parts, _ := p.at("output.parts").([]any)
	var said []string
	for _, part := range parts {
		if m, ok := part.(map[string]any); ok && m["type"] == "text" && m["synthetic"] != true {
			if s, ok := m["text"].(string); ok {
				said = append(said, s)
			}
		}
	}
	c.Prompt = strings.Join(said, "\n")
	if n := len(c.Prompt); n >= 2 && c.Prompt[0] == '"' && c.Prompt[n-1] == '"' && strings.Count(c.Prompt, `"`) == 2 {
		c.Prompt = c.Prompt[1 : n-1]
	}
}

// adjustOmp finds the last message in the list that ends a run; omp also
// tells it apart, pi does not.
func adjustOmp(c *Call, p payload, _ func(string) string) {
	if c.At == Stop && c.Said == "" {
		c.Said = lastSaid(p.at("event.messages"))
	}
}

// adjustCline tells the two ways apart in which this host runs us, and its
// sub-agents from their parents.
func adjustCline(c *Call, p payload, _ func(string) string) {
	c.viaFile = p.has("hookName", "taskId")
	if agent := p.text([]string{"agent_id"}); agent != "" && p.text([]string{"parent_agent_id"}) != "" {
		c.Parent, c.Session = c.Session, c.Session+"/"+agent
	}
}

// kiroResults are the sentences in which early versions of this host hide the
// file of a tool they tell nothing else about.
var kiroResults = []string{
	`Created the (.+) file\.`, `Replaced text in (.+)`, `Appended the text to the (.+) file\.`, `Deleted the (.+) file\.`,
}

func adjustKiro(c *Call, p payload, getenv func(string) string) {
	if c.At == Prompt && c.Prompt == "" {
		c.Prompt = getenv("USER_PROMPT")
	}
	if c.Session == "" {
		c.Session = getenv("KIRO_SESSION_ID")
	}
	if c.At != AfterTool || !isEdit(c.Tool) || len(c.Paths) > 0 {
		return
	}
	result := p.text([]string{"tool_response"})
	for _, expr := range kiroResults {
		if m := regexp.MustCompile(expr).FindStringSubmatch(result); m != nil {
			c.Paths = []string{strings.TrimSpace(m[1])}
			return
		}
	}
}

// lastSaid returns the text of the last assistant message in a conversation.
func lastSaid(v any) string {
	list, _ := v.([]any)
	for i := len(list) - 1; i >= 0; i-- {
		m, ok := list[i].(map[string]any)
		if !ok || m["role"] != "assistant" {
			continue
		}
		if s := textOf(m["content"]); s != "" {
			return s
		}
	}
	return ""
}

// textOf returns the text of a message's content: a string, or parts.
func textOf(content any) string {
	if s, ok := content.(string); ok {
		return s
	}
	parts, _ := content.([]any)
	var out []string
	for _, part := range parts {
		if m, ok := part.(map[string]any); ok && m["type"] == "text" {
			if s, ok := m["text"].(string); ok {
				out = append(out, s)
			}
		}
	}
	return strings.Join(out, "\n")
}

//go:build unix

package hosttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A row is a host that can be run here: where its program comes from, how it
// is pointed at our model, and how its model edits.
type row struct {
	id      string // as in svc init --tools
	name    string
	pkg     string // on npm
	version string // pinned: a new one is tried, not met by accident
	bin     string
	node    int // the least major version of Node.js, if it needs one

	args  []string
	env   []string          // $MODEL and $REPO stand for the model's address and the repository
	files map[string]string // in the home folder, with the same words replaced, and $DIRECT

	mcp    string                 // what the model calls a tool, with $S and $T for server and tool
	find   func(tool string) call // how it must ask for a server's tool first, if it must
	invoke string                 // the tool with which it calls what it found, if not by its name
	direct string                 // for $DIRECT: a tool server at $SERVER, with $TOKEN, called direct
	stdio  string                 // for $DIRECT: a tool server that is the program $WRITER, called writer

	read  func(path string) call // what the host demands before an edit, if anything
	edit  func(path, old, new string) call
	shell func(command string) call

	// accept does what svc init tells the user to do in the host, if settings
	// that we may write ahead of time do not.
	accept func(w *world, bin string)

	// limits explains behaviours that the host itself cannot show.
	limits map[behaviour]string
}

const prompt = "Please bring the ledger up to date."

var rows = []row{
	{
		id: "claude_code", name: "Claude Code", pkg: "@anthropic-ai/claude-code", version: "2.1.325", bin: "claude",
		args: []string{"-p", prompt, "--permission-mode", "acceptEdits", "--allowedTools", "Bash,mcp__svc,mcp__direct,mcp__writer"},
		mcp:  "mcp__$S__$T", find: search("ToolSearch", "select:"), files: map[string]string{".claude.json": `{"mcpServers":{$DIRECT}}`},
		direct: `"direct":{"type":"http","url":"$SERVER/mcp","headers":{"Authorization":"Bearer $TOKEN"}}`,
		stdio:  `"writer":{"command":"$WRITER","args":[]}`,
		env: []string{"ANTHROPIC_BASE_URL=$MODEL", "ANTHROPIC_API_KEY=test", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
			"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1"},
		read:  func(path string) call { return call{tool: "Read", args: object{"file_path": path}} },
		edit:  named("Edit", "file_path", "old_string", "new_string"),
		shell: command("Bash", "command"),
	},
	{
		id:      "codex",
		name:    "Codex",
		pkg:     "@openai/codex",
		version: "0.166.0",
		bin:     "codex",
		args:    []string{"exec", "-s", "danger-full-access", prompt},
		env:     []string{"FAKE_KEY=test"},
		files: map[string]string{".codex/config.toml": `model = "gpt-5.5"
model_provider = "fake"
[model_providers.fake]
name = "fake"
base_url = "$MODEL/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
[analytics]
enabled = false
[projects."$REPO"]
trust_level = "trusted"
$DIRECT`},
		mcp:    "mcp__$S__$T",
		find:   search("tool_search", ""),
		stdio:  "[mcp_servers.writer]\ncommand = \"$WRITER\"\n",
		direct: "[mcp_servers.direct]\nurl = \"$SERVER/mcp\"\nhttp_headers = { Authorization = \"Bearer $TOKEN\" }\n",
		edit: func(path, old, new string) call {
			return call{
				tool: "apply_patch",
				text: "*** Begin Patch\n*** Update File: " + filepath.Base(path) + "\n@@\n-" + old + "\n+" + new + "\n*** End Patch\n",
			}
		},
		shell:  command("exec_command", "cmd"),
		accept: acceptCodexHooks,
	},
	{
		id: "copilot_cli", name: "Copilot CLI", pkg: "@github/copilot", version: "1.0.102", bin: "copilot", node: 22,
		args: []string{"-p", prompt, "--allow-all-tools", "--trust-folder"},
		env: []string{"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false", "COPILOT_PROVIDER_BASE_URL=$MODEL/v1",
			"COPILOT_PROVIDER_API_KEY=test", "COPILOT_MODEL=fake-model"},
		mcp: "$S-$T", files: map[string]string{".copilot/mcp-config.json": `{"mcpServers":{$DIRECT}}`},
		direct: `"direct":{"type":"http","url":"$SERVER/mcp","headers":{"Authorization":"Bearer $TOKEN"},"tools":["*"]}`,
		stdio:  `"writer":{"type":"local","command":"$WRITER","args":[],"tools":["*"]}`,
		edit:   named("edit", "path", "old_str", "new_str"),
		shell:  command("bash", "command"),
	},
	{
		id: "gemini_cli", name: "Gemini CLI", pkg: "@google/gemini-cli", version: "0.61.0", bin: "gemini", node: 20,
		args: []string{"-p", prompt, "--yolo", "-m", "gemini-2.5-pro"},
		env:  []string{"GEMINI_API_KEY=test", "GOOGLE_GEMINI_BASE_URL=$MODEL"},
		files: map[string]string{
			".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"telemetry":{"enabled":false},` +
				`"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true,"disableUpdateNag":true},"mcpServers":{$DIRECT}}`,
			".gemini/trustedFolders.json": `{"$REPO":"TRUST_FOLDER"}`,
		},
		stdio: `"writer":{"command":"$WRITER","args":[]}`,
		mcp:   "mcp_$S_$T", direct: `"direct":{"httpUrl":"$SERVER/mcp","headers":{"Authorization":"Bearer $TOKEN"}}`,
		edit:  named("replace", "file_path", "old_string", "new_string"),
		shell: command("run_shell_command", "command"),
	},
	{
		id:      "opencode",
		name:    "opencode",
		pkg:     "opencode-ai",
		version: "1.18.33",
		bin:     "opencode",
		args:    []string{"run", prompt},
		env: []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1",
			"OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "npm_config_fetch_retries=0"}, // it would wait for npm at its first start
		files: map[string]string{".config/opencode/opencode.json": `{"share":"disabled","autoupdate":false,"provider":{"fake":{
"npm":"@ai-sdk/openai-compatible","name":"fake","options":{"baseURL":"$MODEL/v1","apiKey":"test"},
"models":{"fake-model":{"name":"fake","tool_call":true,"limit":{"context":100000,"output":4000}}}}},
"model":"fake/fake-model","small_model":"fake/fake-model","mcp":{$DIRECT}}`},
		mcp:    "$S_$T",
		stdio:  `"writer":{"type":"local","command":["$WRITER"],"enabled":true}`,
		direct: `"direct":{"type":"remote","url":"$SERVER/mcp","headers":{"Authorization":"Bearer $TOKEN"},"oauth":false,"enabled":true}`,
		read:   func(path string) call { return call{tool: "read", args: object{"filePath": path}} },
		edit:   named("edit", "filePath", "oldString", "newString"),
		shell:  command("bash", "command"),
	},
	{
		id:      "qwen_code",
		name:    "Qwen Code",
		pkg:     "@qwen-code/qwen-code",
		version: "0.24.4",
		bin:     "qwen",
		node:    22,
		args:    []string{"--auth-type", "openai", "--yolo", "-p", prompt},
		env: []string{"OPENAI_API_KEY=test", "OPENAI_BASE_URL=$MODEL/v1", "OPENAI_MODEL=fake-model", "QWEN_TELEMETRY_ENABLED=false",
			"DISABLE_AUTOUPDATER=1", "QWEN_CODE_SUPPRESS_YOLO_WARNING=1"},
		mcp:    "mcp__$S__$T",
		find:   search("tool_search", "select:"),
		invoke: "tool_call",
		files:  map[string]string{".qwen/settings.json": `{"mcpServers":{$DIRECT}}`},
		direct: `"direct":{"httpUrl":"$SERVER/mcp","headers":{"Authorization":"Bearer $TOKEN"}}`,
		stdio:  `"writer":{"command":"$WRITER","args":[]}`,
		read:   func(path string) call { return call{tool: "read_file", args: object{"file_path": path}} },
		edit:   named("edit", "file_path", "old_string", "new_string"),
		shell:  command("run_shell_command", "command"),
	},
}

// named makes calls of an edit tool with these names of its arguments.
func named(tool, path, old, new string) func(_, _, _ string) call {
	return func(p, o, n string) call {
		c := call{tool: tool, args: object{path: p, old: o, new: n}}
		if tool == "replace" {
			c.args["instruction"] = "bring it up to date"
		}
		return c
	}
}

// command makes calls of a shell tool.
func command(tool, arg string) func(string) call {
	return func(text string) call {
		c := call{tool: tool, args: object{arg: text}}
		if arg == "command" {
			c.args["description"] = "write the ledger"
		}
		if tool == "run_shell_command" {
			c.args["is_background"] = false
		}
		return c
	}
}

// search makes calls of a tool that finds others: by name, after what is to be
// put before it, or else by the words in it.
func search(tool, by string) func(string) call {
	return func(name string) call {
		if by == "" {
			name = strings.ReplaceAll(name, "_", " ")
		}
		return call{tool: tool, args: object{"query": by + name}}
	}
}

// editTool is the name of the tool that a host's model edits with.
func (h row) editTool() string { return h.edit("", "", "").tool }

// withClaudeCode is a world in which Claude Code is installed, if it is wanted.
func withClaudeCode(t *testing.T) (h row, w *world, ok bool) {
	hosts := wanted(t)
	at := slices.IndexFunc(hosts, func(h row) bool { return h.id == "claude_code" })
	if at < 0 {
		return h, nil, false
	}
	return hosts[at], newWorld(t, append([]string{buildClient(t)}, install(t, hosts[at])...)), true
}

// wanted are the hosts to run: those that SVC_TEST_HOSTS names, or all of them
// if it is 1. Without it none is, because they have to be downloaded.
func wanted(t *testing.T) []row {
	t.Helper()
	value := os.Getenv("SVC_TEST_HOSTS")
	switch value {
	case "":
		return nil
	case "1":
		return rows
	}
	var some []row
	for id := range strings.SplitSeq(value, ",") {
		if id == "crowd" { // has hosts of its own
			continue
		}
		i := slices.IndexFunc(rows, func(h row) bool { return h.id == id })
		if i < 0 {
			t.Fatalf("SVC_TEST_HOSTS: there is no row for %q", id)
		}
		some = append(some, rows[i])
	}
	return some
}

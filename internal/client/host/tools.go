package host

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/patch"
)

// Our names of tools, after the first host's.
const (
	Edit         = "Edit"
	Write        = "Write"
	MultiEdit    = "MultiEdit"
	NotebookEdit = "NotebookEdit"
	Delete       = "Delete"
	Read         = "Read"
	Bash         = "Bash"
	PowerShell   = "PowerShell"
	ExitPlanMode = "ExitPlanMode"
	Foreign      = "Foreign" // a tool of another tool server: it may write files, and tells of none
)

// toolNamed returns the tool of a name in any host, in lower case. A name means
// the same wherever it is seen, so that a host which runs another's hooks is
// understood too. Tools that are not here are none of our business: "".
func toolNamed(name string) string {
	switch name {
	case "edit", "str_replace_editor", "str-replace-editor", "str_replace", "replace", "apply_patch", "applypatch",
		"editor", "edit_file", "fs_append", "replace_in_file", "replace_file_content", "replace_string_in_file",
		"insert_edit_into_file", "developer__edit", "developer__text_editor":
		return Edit
	case "write", "create", "create_file", "write_file", "write_to_file", "fs_write", "save-file", "developer__write":
		return Write
	case "multiedit", "multi_edit", "multi_replace_string_in_file", "multi_replace_file_content":
		return MultiEdit
	case "notebookedit", "notebook_edit", "edit_notebook_file":
		return NotebookEdit
	case "delete", "delete_file", "remove-files":
		return Delete
	case "read", "read_file", "read_files", "read_many_files", "fs_read", "view", "view_file", "notebookread",
		"beforereadfile":
		return Read
	case "bash", "shell", "exec_command", "local_shell", "run_shell_command", "execute_bash", "execute",
		"execute_command", "run_command", "run_commands", "run_in_terminal", "launch-process", "developer__shell":
		return Bash
	case "powershell", "execute_pwsh":
		return PowerShell
	case "exitplanmode", "exit_plan_mode", "plan_exit":
		return ExitPlanMode
	}
	return ""
}

// isForeign reports whether a tool, in lower case, is of another tool server than
// ours. Hosts call it mcp__server__tool, mcp_server_tool, MCP:tool, or join the two
// names in a way of their own.
func (h *Host) isForeign(name string) bool {
	if rest, ok := strings.CutPrefix(name, "mcp"); ok && rest != "" && strings.Contains("_:", rest[:1]) {
		return !strings.HasPrefix(strings.TrimLeft(rest, "_:"), "svc_")
	}
	if name == "use_mcp_tool" {
		return true
	}
	server, _, joined := strings.Cut(name, h.Joint)
	return h.Joint != "" && joined && server != "" && server != "svc"
}

// Keys of tool arguments, over all hosts.
var (
	pathKeys = []string{
		"file_path", "filePath", "path", "paths", "notebook_path", "notebookPath", "TargetFile", "target_file", "file_paths",
		"files", "filename",
	}
	listKeys    = []string{"replacements", "ReplacementChunks", "edits", "changes", "files"}
	patchKeys   = []string{"patchText", "patch", "input", "command", "diff"}
	commandKeys = []string{"command", "commands", "CommandLine", "command_line", "cmd"}
	folderKeys  = []string{"cwd", "Cwd", "workdir", "working_directory", "workingDirectory"}
	planKeys    = []string{"plan", "plan_text", "content"}
)

// isEdit and isShell group our tool names.
func isEdit(tool string) bool {
	return tool == Edit || tool == Write || tool == MultiEdit || tool == NotebookEdit || tool == Delete
}

func isShell(tool string) bool { return tool == Bash || tool == PowerShell }

// editPaths returns the files that an edit tool's arguments name.
func editPaths(input any) []string {
	switch in := input.(type) {
	case string:
		return patch.Paths(in)
	case map[string]any:
		var out []string
		for _, k := range pathKeys {
			out = appendNew(out, texts(in[k])...)
		}
		for _, k := range listKeys {
			list, _ := in[k].([]any)
			for _, e := range list {
				if m, ok := e.(map[string]any); ok {
					for _, k := range pathKeys {
						out = appendNew(out, texts(m[k])...)
					}
				}
			}
		}
		if len(out) > 0 {
			return out
		}
		for _, k := range patchKeys {
			if s, ok := in[k].(string); ok {
				if out = patch.Paths(s); len(out) > 0 {
					return out
				}
			}
		}
	}
	return nil
}

// commandOf returns the command line in a shell tool's arguments.
func commandOf(input any) string {
	in, ok := input.(map[string]any)
	if !ok {
		s, _ := input.(string)
		return s
	}
	for _, k := range commandKeys {
		list := texts(in[k])
		if len(list) == 0 {
			continue
		}
		// ["bash", "-lc", "script"] is one command, ["a", "b"] of commands are two.
		if k == "commands" {
			return strings.Join(list, "\n")
		}
		if len(list) == 3 && strings.HasPrefix(list[1], "-") && strings.HasSuffix(list[1], "c") {
			return list[2]
		}
		return strings.Join(list, " ")
	}
	return ""
}

func appendNew(out []string, more ...string) []string {
next:
	for _, s := range more {
		for _, o := range out {
			if o == s {
				continue next
			}
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

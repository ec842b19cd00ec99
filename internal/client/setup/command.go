package setup

import (
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// A repository's hooks run on the machines of people who do not have svc. The
// guards below make a missing binary mean "no hook" there: without them
// Copilot CLI, for one, would deny every tool call. svc is always the last
// simple command, because Cursor appends the payload to the text as a heredoc.
const (
	posixGuard = "command -v svc >/dev/null 2>&1 || exit 0; "
	cmdGuard   = "where /q svc || exit 0 & "
)

// hookCommand is the bare command.
func hookCommand(host, event string) string {
	return "svc hook --tool " + host + " --event " + event
}

// posix is the command for hosts that run hooks with sh or bash.
func posix(host, event string) string { return posixGuard + hookCommand(host, event) }

// posixReply is posix for hosts that demand an answer even where svc is missing.
func posixReply(host, event, reply string) string {
	return "command -v svc >/dev/null 2>&1 || { echo '" + reply + "'; exit 0; }; " + hookCommand(host, event)
}

// cmdExe is the command for hosts that run hooks with cmd.exe on Windows.
func cmdExe(host, event string) string { return cmdGuard + hookCommand(host, event) }

// powershell is the command for hosts that run hooks with PowerShell on Windows.
func powershell(host, event string) string {
	return "if (Get-Command svc -ErrorAction SilentlyContinue) { " + hookCommand(host, event) + "; exit $LASTEXITCODE }"
}

// ourCommand matches every form that svc init writes or once wrote. A command
// of the user's that merely calls svc somewhere is not ours.
var ourCommand = lazy.Regexp(`^(command -v ` + anySvc + ` >/dev/null 2>&1 \|\| (exit 0|\{ echo '[^']*'; exit 0; \}); |` +
	`where /q svc \|\| exit 0 & |if not exist ` + anySvc + ` exit 0 & |` +
	`if \(Get-Command ` + anySvc + ` -ErrorAction SilentlyContinue\) \{ (?:& )?)?` + anySvc + ` hook( |$)`)

// anySvc matches svc by its name or by a path, quoted or not.
const anySvc = `(?:'[^'"|&;]*[/\\]svc(?:\.exe)?'|"[^'"|&;]*[/\\]svc(?:\.exe)?"|(?:"?[^\s'"|&;]*[/\\])?svc(?:\.exe)?"?)`

// isOurHandler reports whether a handler of a host's hook file runs svc hook:
// in its command for any shell, also where the arguments stand apart.
func isOurHandler(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	for _, key := range []string{"command", "bash", "powershell", "commandWindows", "windows", "linux", "osx"} {
		s, _ := m[key].(string)
		if args, ok := m["args"].([]any); ok && s != "" {
			for _, a := range args {
				text, _ := a.(string)
				s += " " + text
			}
		}
		if s != "" && ourCommand.Get().MatchString(s) {
			return true
		}
	}
	return isOurHandler(m["action"]) // Kiro nests the command
}

// isOurServer reports whether a tool-server entry starts svc mcp, or reaches
// our endpoint with the header that svc prints.
func isOurServer(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	var words []string
	for _, key := range []string{"command", "cmd", "args", "headersHelper", "http_headers_helper"} {
		switch x := m[key].(type) {
		case string:
			words = append(words, x)
		case []any:
			for _, w := range x {
				text, _ := w.(string)
				words = append(words, text)
			}
		}
	}
	return ourServer.Get().MatchString(strings.Join(words, " "))
}

var ourServer = lazy.Regexp(`^(.*[/\\])?svc(\.exe)? mcp(-headers)?( |$)`)

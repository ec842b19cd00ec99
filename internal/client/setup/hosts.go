package setup

// A Host is one coding agent: how to see that somebody uses it, and which of
// its files svc init writes.
type Host struct {
	ID    string
	Title string
	Note  string // what it still wants from the user, in one line

	noteHome string   // instead of Note, once its file in the home folder is ours too
	binaries []string // names on PATH
	homeOnly bool     // another program has the same name: only homes tells
	homes    []string // its folders and files under the home folder
	marks    []string // its folders and files in a repository

	files        []hostFile
	instructions []string             // files it reads instructions from, the preferred first
	readsFirst   bool                 // it reads only the first of them that exists
	redirect     func(reader) string  // another instruction file, if the repository says so
	trust        func(*planner) Trust // reads the user's consent; nil where it cannot be read
}

// A reader returns a file of the repository, or nil if there is none.
type reader func(path string) []byte

// A hostFile is one file of a host and what svc puts in it.
type hostFile struct {
	paths []string          // the first that exists is used, otherwise the last
	home  bool              // under the home folder: edited only on request
	use   func(reader) bool // whether this repository wants the file; nil for always

	hooks  *hookTable
	entry  *entry // the tool server, or named hooks
	table  *tomlTable
	yaml   *yamlEntry
	plugin bool   // the whole file is the host's plugin
	text   string // the whole file is this

	program string // where svc is, if the file names it by its path
}

// hasHooks reports whether the file makes the host call svc.
func (f *hostFile) hasHooks() bool {
	return f.hooks != nil || f.plugin || f.entry != nil && len(f.entry.at) == 0
}

// hasServer reports whether the file makes the host start our tool server.
func (f *hostFile) hasServer() bool {
	return f.table != nil || f.yaml != nil || f.entry != nil && len(f.entry.at) > 0
}

// Host-level limits. svc itself gives up long before; these only bound a svc
// that hangs.
const (
	short = 5
	long  = 10
)

// mcp is the tool-server entry most hosts take: svc mcp over stdio, which
// finds server and token in the user's login. No repository names a server:
// a cloned one could otherwise send its reader's token elsewhere.
func mcp(at string, extra ...field) *entry {
	e := &entry{at: []string{at}, name: "svc", ours: isOurServer}
	for _, f := range extra {
		if f.key == "type" {
			e.val = append(e.val, f)
		}
	}
	e.val = append(e.val, field{"command", "svc"}, field{"args", []string{"mcp"}})
	for _, f := range extra {
		if f.key != "type" {
			e.val, e.soft = append(e.val, f), append(e.soft, f.key)
		}
	}
	return e
}

// mcpList is mcp for hosts that take the command as one list.
func mcpList(at string) *entry {
	return &entry{at: []string{at}, name: "svc", ours: isOurServer, soft: []string{"enabled"},
		val: object{{"type", "local"}, {"command", []string{"svc", "mcp"}}, {"enabled", true}}}
}

var stdio = field{"type", "stdio"}

// events builds a host's events: session, prompt, tools before and after,
// turn's end, session's end. An empty name leaves one out.
func events(start, prompt, pre, preTools, post, postTools, stop, end string) []hookEvent {
	all := []hookEvent{{start, "", short}, {prompt, "", short}, {pre, preTools, short},
		{post, postTools, long}, {stop, "", long}, {end, "", long}}
	var named []hookEvent
	for _, e := range all {
		if e.name != "" {
			named = append(named, e)
		}
	}
	return named
}

// failing adds the event of hosts that tell of a failed tool by another one: a
// command may have written before it failed. Edits that failed have not.
func failing(name, shells string, all []hookEvent) []hookEvent {
	return append(all, hookEvent{name, shells, long})
}

// claudeEvents are the names that Claude Code gave its events, which several
// hosts took over.
func claudeEvents(preTools, postTools string) []hookEvent {
	return events("SessionStart", "UserPromptSubmit", "PreToolUse", preTools, "PostToolUse", postTools, "Stop", "SessionEnd")
}

// grouped renders a matcher with a list of handlers, as Claude Code has it.
// The handler's members beside type and command come from more.
func grouped(more func(host string, e hookEvent) []field) func(string, hookEvent) object {
	return func(host string, e hookEvent) object {
		handler := append(object{{"type", "command"}, {"command", posix(host, e.name)}}, more(host, e)...)
		return append(matcherOf(e), field{"hooks", []object{handler}})
	}
}

func matcherOf(e hookEvent) object {
	if e.matcher == "" {
		return nil
	}
	return object{{"matcher", e.matcher}}
}

func seconds(_ string, e hookEvent) []field { return []field{{"timeout", e.seconds}} }

func millis(_ string, e hookEvent) []field { return []field{{"timeout", e.seconds * 1000}} }

// namedMillis is for hosts that list hooks by name and let users switch them
// off by it.
func namedMillis(_ string, e hookEvent) []field {
	return []field{{"name", "svc"}, {"timeout", e.seconds * 1000}}
}

func codexHandler(host string, e hookEvent) []field {
	return []field{{"commandWindows", cmdExe(host, e.name)}, {"timeout", e.seconds}}
}

// cursorEntry has no guard: Cursor feeds the same text to bash and, on
// Windows, to PowerShell, and goes on when the command is not found.
func cursorEntry(host string, e hookEvent) object {
	return append(object{{"command", hookCommand(host, e.name)}}, append(matcherOf(e), field{"timeout", e.seconds})...)
}

// copilotEntry serves Copilot CLI and VS Code, which read the same file; svc
// hook tells them apart by the payload.
func copilotEntry(_ string, e hookEvent) object {
	o := object{{"type", "command"}, {"bash", posix("copilot_cli", e.name)}, {"powershell", powershell("copilot_cli", e.name)}}
	return append(append(o, matcherOf(e)...), field{"timeoutSec", e.seconds})
}

func windsurfEntry(host string, e hookEvent) object {
	return object{{"command", posix(host, e.name)}, {"powershell", powershell(host, e.name)}, {"show_output", false}}
}

func crushEntry(host string, e hookEvent) object {
	return append(append(object{{"name", "svc"}}, matcherOf(e)...), field{"command", posix(host, e.name)}, field{"timeout", e.seconds})
}

func kiroEntry(host string, e hookEvent) object {
	o := append(object{{"name", "svc-" + e.name}, {"trigger", e.name}}, matcherOf(e)...)
	return append(o, field{"action", object{{"type", "command"}, {"command", posix(host, e.name)}}},
		field{"timeout", e.seconds}, field{"enabled", true})
}

// antigravityHooks are hooks under a name of ours. Before a tool call the host
// takes silence for trouble and asks the user, so the guard answers.
func antigravityHooks() *entry {
	const tools = "write_to_file|replace_file_content|run_command"
	handler := func(event, reply string, limit int) object {
		return object{{"type", "command"}, {"command", posixReply("antigravity", event, reply)}, {"timeout", limit}}
	}
	group := func(event, reply string, limit int) []object {
		return []object{{{"matcher", tools}, {"hooks", []object{handler(event, reply, limit)}}}}
	}
	return &entry{name: "svc", ours: hasOurHandler, val: object{
		{"PreToolUse", group("PreToolUse", `{"decision":"allow"}`, short)},
		{"PostToolUse", group("PostToolUse", `{}`, long)},
		{"PreInvocation", []object{handler("PreInvocation", `{}`, short)}},
		{"Stop", []object{handler("Stop", `{}`, long)}},
	}}
}

// hasOurHandler reports whether a handler of ours is somewhere in v.
func hasOurHandler(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		for _, sub := range x {
			if hasOurHandler(sub) {
				return true
			}
		}
		return isOurHandler(x)
	case []any:
		for _, sub := range x {
			if hasOurHandler(sub) {
				return true
			}
		}
	}
	return false
}

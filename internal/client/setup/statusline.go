package setup

import "github.com/svc-hq/svc/internal/core/lazy"

// statusLine is where Claude Code shows a line of svc's below its prompt. It is
// a choice of the person's, so it stands in their home folder; one of their own
// is left alone.
func statusLine() *hostFile {
	return &hostFile{paths: []string{".claude/settings.json"}, home: true, entry: &entry{
		name: "statusLine",
		val:  object{{"type", "command"}, {"command", "svc prompt"}},
		ours: func(v any) bool {
			m, _ := v.(map[string]any)
			command, _ := m["command"].(string)
			return ourPrompt.Get().MatchString(command)
		},
	}}
}

var ourPrompt = lazy.Regexp(`^(\S*[/\\])?svc(\.exe)? prompt( |$)`)

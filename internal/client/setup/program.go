package setup

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/svc-hq/svc/internal/core/lazy"
)

// orName is the program, or its name where nobody said where it is.
func orName(program string) string {
	if program == "" {
		return "svc"
	}
	return program
}

// startedFrom returns the file as it is where svc is named by its path.
func (f hostFile) startedFrom(program string) hostFile {
	if program == "" || strings.ContainsAny(program, `'"|&;`) { // which no shell's quotes could hold for all of them
		return f
	}
	f.program = program
	if f.hooks != nil {
		t := *f.hooks
		render := t.render
		t.render = func(host string, e hookEvent) object { return named(program, render(host, e)).(object) }
		f.hooks = &t
	}
	if f.entry != nil {
		e := *f.entry
		e.val = named(program, e.val).(object)
		f.entry = &e
	}
	if f.table != nil {
		t := *f.table
		t.lines = named(program, object(t.lines)).(object)
		f.table = &t
	}
	return f
}

// placed is a plugin's text in such a file.
func (f *hostFile) placed(plugin []byte) []byte {
	if f.program == "" {
		return plugin
	}
	return bytes.ReplaceAll(plugin, []byte(`spawn("svc"`), []byte(`spawn(`+quoted(f.program)))
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

// named returns what we write into a file with the program's path in place of
// its name: in commands of every shell, and where a command is a value.
func named(program string, v any) any {
	switch x := v.(type) {
	case string:
		return inCommand(program, x)
	case []string:
		out := make([]string, len(x))
		for i, s := range x {
			out[i] = inCommand(program, s)
		}
		return out
	case object:
		out := make(object, len(x))
		for i, f := range x {
			if out[i] = (field{f.key, named(program, f.val)}); f.key == "name" || f.key == "matcher" {
				out[i] = f // the entry's own name
			}
		}
		return out
	case []object:
		out := make([]object, len(x))
		for i, o := range x {
			out[i] = named(program, o).(object)
		}
		return out
	}
	return v
}

func inCommand(program, text string) string {
	switch {
	case text == "svc":
		return program
	case text == `"svc"`: // TOML
		return quoted(program)
	case strings.HasPrefix(text, cmdGuard):
		dos := `"` + program + `"`
		return "if not exist " + dos + " exit 0 & " + dos + strings.TrimPrefix(text, cmdGuard+"svc")
	case strings.HasPrefix(text, "if (Get-Command svc "):
		ps := "'" + program + "'"
		return strings.NewReplacer("Get-Command svc ", "Get-Command "+ps+" ", "{ svc hook", "{ & "+ps+" hook").Replace(text)
	}
	sh := inShell(program)
	text = strings.Replace(text, "command -v svc ", "command -v "+sh+" ", 1)
	if rest, ok := strings.CutPrefix(text, "svc hook "); ok {
		return sh + " hook " + rest
	}
	return strings.Replace(text, "; svc hook ", "; "+sh+" hook ", 1)
}

var plainPath = lazy.Regexp(`^[A-Za-z0-9_./+@%,:=-]+$`)

func inShell(path string) string {
	if plainPath.Get().MatchString(path) {
		return path
	}
	return "'" + path + "'"
}

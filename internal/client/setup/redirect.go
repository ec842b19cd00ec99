package setup

import "github.com/svc-hq/svc/internal/core/lazy"

// droidHooksFile reports whether Factory Droid's hooks belong in its
// hooks.json. It reads those of settings.json only while there is no
// hooks.json, so making one would switch off the ones that are there.
func droidHooksFile(read reader) bool {
	if read(".factory/hooks.json") != nil {
		return true
	}
	d, err := parseJSON(trimBOM(read(".factory/settings.json")))
	if err != nil {
		return true
	}
	v, _ := d.find("hooks")
	return v == nil
}

var importsAgents = lazy.Regexp(`(?m)^@(\./)?AGENTS\.md\s*$`)

// claudeInstructions sends our block to AGENTS.md where CLAUDE.md imports it,
// so that Claude does not read it twice.
func claudeInstructions(read reader) string {
	if importsAgents.Get().Match(read("CLAUDE.md")) {
		return "AGENTS.md"
	}
	return ""
}

// geminiInstructions is the file that the project's settings name instead of
// GEMINI.md.
func geminiInstructions(read reader) string {
	d, err := parseJSON(trimBOM(read(".gemini/settings.json")))
	if err != nil {
		return ""
	}
	v, err := d.find("context", "fileName")
	if err != nil || v == nil {
		return ""
	}
	names, _ := decode(v).([]any)
	if one, ok := decode(v).(string); ok {
		names = []any{one}
	}
	first := ""
	for _, n := range names {
		name, _ := n.(string)
		switch {
		case name == "GEMINI.md" || !safeName.Get().MatchString(name):
			return ""
		case name == "AGENTS.md":
			return name
		case first == "":
			first = name
		}
	}
	return first
}

// safeName keeps a settings file from sending our block elsewhere.
var safeName = lazy.Regexp(`^[A-Za-z0-9._-]+\.md$`)

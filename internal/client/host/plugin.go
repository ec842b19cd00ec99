package host

import (
	"embed"

	"github.com/svc-hq/svc/internal/core/lazy"
)

//go:embed plugins
var plugins embed.FS

// pluginFiles are the files under plugins, by host. Hosts of one family share
// the parts that are the same.
var pluginFiles = lazy.Table[map[string][]string]{Make: func() map[string][]string {
	return map[string][]string{
		"opencode":  {"run.js", "opencode-hooks.js", "opencode.js"},
		"kilo_code": {"run.js", "opencode-hooks.js", "kilo_code.js"},
		"omp":       {"run.js", "omp.ts"},
		"cline":     {"run.js", "cline.js"},
	}
}}

// Plugin returns the plugin through which a host without command hooks runs
// svc hook: the name of the file and its content. ok is false for hosts that
// need none.
func Plugin(id string) (name string, content []byte, ok bool) {
	h, found := ByID(id)
	if !found || h.Plugin == "" {
		return "", nil, false
	}
	for _, part := range pluginFiles.Get()[id] {
		text, err := plugins.ReadFile("plugins/" + part)
		if err != nil {
			return "", nil, false
		}
		content = append(content, text...)
	}
	return h.Plugin, content, len(content) > 0
}

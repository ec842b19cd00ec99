package gitrepo

import (
	"strings"

	"github.com/svc-hq/svc/internal/client/gitrepo/odb"
	"github.com/svc-hq/svc/internal/client/plain"
)

// A setting is one line of a git configuration, its name as git writes it:
// section and key in lower case, core.autocrlf or remote.origin.url.
type setting struct{ name, value string }

// parseConfig reads the settings in a configuration file. What it includes is
// not read: a working copy could name any file.
func parseConfig(text string) []setting {
	var out []setting
	section := ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := strings.TrimSpace(lines[i])
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = line[:len(line)-1] + strings.TrimSpace(lines[i])
		}
		if strings.HasPrefix(line, "[") {
			head, rest, ok := strings.Cut(line[1:], "]")
			if !ok {
				continue
			}
			section = sectionName(head)
			line = strings.TrimSpace(rest)
		}
		if line == "" || line[0] == '#' || line[0] == ';' || section == "" {
			continue
		}
		key, value, assigned := strings.Cut(line, "=")
		if !assigned {
			value = "true"
		}
		out = append(out, setting{section + "." + strings.ToLower(strings.TrimSpace(key)), configValue(value)})
	}
	return out
}

// sectionName returns the name of [core] or [remote "origin"].
func sectionName(head string) string {
	kind, sub, ok := strings.Cut(strings.TrimSpace(head), " ")
	if !ok {
		return strings.ToLower(kind)
	}
	sub = strings.TrimSpace(sub)
	if len(sub) >= 2 && sub[0] == '"' && sub[len(sub)-1] == '"' {
		if sub = sub[1 : len(sub)-1]; strings.Contains(sub, `\`) {
			sub = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(sub)
		}
	}
	return strings.ToLower(kind) + "." + sub
}

// settings returns the configuration of the working copy itself, without the
// user's own.
func (r *Repo) settings() []setting {
	data, err := plain.ReadHere(r.CommonDir+"/config", odb.MaxText)
	if err != nil {
		return nil
	}
	out := parseConfig(string(data))
	for _, s := range out {
		if s.name == "extensions.worktreeconfig" && s.value == "true" {
			if data, err := plain.ReadHere(r.GitDir+"/config.worktree", odb.MaxText); err == nil {
				out = append(out, parseConfig(string(data))...)
			}
			break
		}
	}
	return out
}

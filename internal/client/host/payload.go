package host

import (
	"encoding/json"
	"errors"
	"strings"
)

// A payload is what a host wrote to our standard input.
type payload map[string]any

// parsePayload reads one JSON object. No input at all is an empty payload:
// some hosts tell everything by environment variables.
func parsePayload(data []byte) (payload, error) {
	if len(strings.TrimSpace(string(data))) == 0 {
		return payload{}, nil
	}
	var p payload
	if err := json.Unmarshal(data, &p); err != nil {
		return nil, err
	}
	if p == nil {
		return nil, errors.New("the payload is null")
	}
	return p, nil
}

// at returns the value at a path such as toolCall.args or workspace_roots.0.
func (p payload) at(path string) any {
	var v any = map[string]any(p)
	for key := range strings.SplitSeq(path, ".") {
		switch t := v.(type) {
		case map[string]any:
			v = t[key]
		case []any:
			if key != "0" || len(t) == 0 {
				return nil
			}
			v = t[0]
		default:
			return nil
		}
	}
	return v
}

// has reports whether one of the keys is there with a value.
func (p payload) has(paths ...string) bool {
	for _, path := range paths {
		if p.at(path) != nil {
			return true
		}
	}
	return false
}

// text returns the first string among paths that is not empty.
func (p payload) text(paths []string) string {
	for _, path := range paths {
		if s, ok := p.at(path).(string); ok && s != "" {
			return s
		}
	}
	return ""
}

// first returns the first value among paths.
func (p payload) first(paths []string) any {
	for _, path := range paths {
		if v := p.at(path); v != nil {
			return v
		}
	}
	return nil
}

// isoTime reports whether the payload is stamped with a written time.
func (p payload) isoTime() bool {
	s, ok := p["timestamp"].(string)
	return ok && len(s) > 10 && s[4] == '-' && s[10] == 'T'
}

// texts returns v as a list of strings: a string, a list of them, or a list
// written as JSON in a string.
func texts(v any) []string {
	switch t := v.(type) {
	case string:
		if strings.HasPrefix(t, "[") {
			var list []any
			if json.Unmarshal([]byte(t), &list) == nil {
				return texts(list)
			}
		}
		if t != "" {
			return []string{t}
		}
	case []any:
		var out []string
		for _, e := range t {
			if s, ok := e.(string); ok && s != "" {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// A shape tells where in a payload things are: for each, paths of which the
// first with a value counts.
type shape struct {
	event   []string
	session []string
	parent  []string // the session that started this one
	agent   []string // sub-agent within the session
	cwd     []string
	roots   []string // workspace folders
	model   []string
	version []string
	prompt  []string
	tool    []string
	input   []string // the tool's arguments
	call    []string // id of the tool call
	turn    []string // id of the turn or prompt
	stamp   []string // a time that tells two events apart
	said    []string // the last assistant message
	record  []string // file that holds the conversation
	failed  []string // true, or a text, when the tool failed
	touched []string // files that the host says were changed
	kind    []string // of a notification
	message []string // what a notification says
}

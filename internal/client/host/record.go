package host

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/svc-hq/svc/internal/client/plain"
)

// recordTail is how much of a conversation's file is looked at: the last
// message is near its end.
const recordTail = 256 << 10

// LastSaid returns what the assistant said last since the user spoke, from the
// file in which a host keeps the conversation, one JSON object a line. Hosts
// differ in how they nest it; what cannot be understood is skipped.
func LastSaid(file string) string {
	data, err := plain.ReadEnd(file, recordTail)
	if err != nil {
		return ""
	}
	lines := bytes.Split(data, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if !bytes.Contains(lines[i], []byte("assistant")) && !bytes.Contains(lines[i], []byte("user")) {
			continue
		}
		var p payload
		if json.Unmarshal(lines[i], &p) != nil {
			continue
		}
		if s := saidIn(p, "assistant"); s != "" {
			return s
		}
		if saidIn(p, "user") != "" {
			return "" // what comes before is of another turn
		}
	}
	return ""
}

// saidIn returns the text of a line that is a message of the given role.
func saidIn(p payload, role string) string {
	kind, _ := p["type"].(string)
	for _, path := range []string{"message", "data", ""} {
		m := map[string]any(p)
		if path != "" {
			var ok bool
			if m, ok = p[path].(map[string]any); !ok {
				continue
			}
		}
		if m["role"] == role || kind == role || strings.HasPrefix(kind, role+".") {
			if s := textOf(m["content"]); s != "" {
				return s
			}
		}
	}
	return ""
}

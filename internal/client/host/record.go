package host

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
)

// recordTail is how much of a conversation's file is looked at: the last
// message is near its end.
const recordTail = 256 << 10

// LastSaid returns the last assistant message in the file in which a host
// keeps the conversation, one JSON object a line. Hosts differ in how they
// nest it; what cannot be understood is skipped.
func LastSaid(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err != nil || size <= recordTail {
		_, err = f.Seek(0, io.SeekStart)
		if err != nil {
			return ""
		}
	} else if _, err := f.Seek(-recordTail, io.SeekEnd); err != nil {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, recordTail))
	if err != nil {
		return ""
	}
	lines := bytes.Split(data, []byte("\n"))
	for i := len(lines) - 1; i >= 0; i-- {
		if !bytes.Contains(lines[i], []byte("assistant")) {
			continue
		}
		var p payload
		if json.Unmarshal(lines[i], &p) == nil {
			if s := saidIn(p); s != "" {
				return s
			}
		}
	}
	return ""
}

// saidIn returns the text of a line that is an assistant's message.
func saidIn(p payload) string {
	kind, _ := p["type"].(string)
	for _, path := range []string{"message", "data", ""} {
		m := map[string]any(p)
		if path != "" {
			var ok bool
			if m, ok = p[path].(map[string]any); !ok {
				continue
			}
		}
		if m["role"] == "assistant" || strings.HasPrefix(kind, "assistant") {
			if s := textOf(m["content"]); s != "" {
				return s
			}
		}
	}
	return ""
}

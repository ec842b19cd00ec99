package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// logLimit is the size at which hook.log becomes hook.log.1.
const logLimit = 1 << 20

// log notes why an event failed open. It never fails itself, and holds neither
// what was sent nor any secret.
func (r *runner) log(err error) {
	dir, dirErr := r.ConfigDir()
	if dirErr != nil || dir == "" {
		return
	}
	event, tool := r.event, ""
	if r.host != nil {
		tool = r.host.ID
	}
	if r.call != nil {
		tool = r.call.Host.ID
		if r.call.Event != "" {
			event = string(r.call.Event)
		}
	}
	text := err.Error()
	if len(r.login.Token) > 8 { // a shorter one is none, and may be part of any word
		text = strings.ReplaceAll(text, r.login.Token, "[token]")
	}
	line := fmt.Sprintf("%s fail-open tool=%s event=%s error=%q\n", time.Now().UTC().Format(time.RFC3339), tool, event, clip(text, 500))
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	name := filepath.Join(dir, "hook.log")
	if info, err := os.Stat(name); err == nil && info.Size()+int64(len(line)) > logLimit {
		_ = os.Rename(name, name+".1")
	}
	f, openErr := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if openErr != nil {
		return
	}
	defer f.Close()
	_, _ = f.WriteString(line)
}

package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/excerpt"
)

// logLimit is the size at which hook.log becomes hook.log.1.
const logLimit = 1 << 20

// A Log notes why events failed open, in the folder of the configuration. It
// never fails itself, and holds neither what was sent nor any secret.
type Log struct {
	Dir         string // "" keeps none
	Tool, Event string // what failed
	Token       string // never written
}

// Note adds a line.
func (l Log) Note(err error) {
	if l.Dir == "" || os.MkdirAll(l.Dir, 0o700) != nil {
		return
	}
	text := err.Error()
	if len(l.Token) > 8 { // a shorter one is none, and may be part of any word
		text = strings.ReplaceAll(text, l.Token, "[token]")
	}
	line := fmt.Sprintf("%s fail-open tool=%s event=%s error=%q\n", time.Now().UTC().Format(time.RFC3339), l.Tool, l.Event,
		excerpt.Text(text, 500))
	name := filepath.Join(l.Dir, "hook.log")
	if info, err := os.Stat(name); err == nil && info.Size()+int64(len(line)) > logLimit {
		_ = os.Rename(name, name+".1")
	}
	_ = Append(name, line)
}

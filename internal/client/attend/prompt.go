package attend

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/svc-hq/svc/internal/client/hook"
)

// PrintPrompt prints the line of this process's folder, for svc prompt.
func PrintPrompt(in *os.File, out io.Writer) int {
	dir, err := os.Getwd()
	if err != nil {
		return 0 // a folder that is gone: nothing to say
	}
	info, err := in.Stat()
	typed := err != nil || info.Mode()&os.ModeCharDevice != 0
	if g := PromptGlance(in, typed, "", dir, time.Now()); g.Line != "" {
		fmt.Fprintln(out, g.Line)
	}
	return 0
}

// PromptGlance looks where a host's status line says, or at the folder. A shell
// hands its own standard input on, from which nothing may be taken: only what
// is there at once and looks like a host's is read.
func PromptGlance(in io.Reader, typed bool, temp, dir string, now time.Time) hook.StatusLine {
	var told struct {
		SessionID string `json:"session_id"`
		Cwd       string `json:"cwd"`
		Workspace struct {
			CurrentDir string `json:"current_dir"`
		} `json:"workspace"`
	}
	if !typed && in != nil {
		_ = json.Unmarshal(quickly(in), &told) // not a host's: as if nothing was said
	}
	for _, d := range []string{told.Cwd, told.Workspace.CurrentDir} {
		if d != "" {
			dir = d
		}
	}
	return hook.StatusLineAt(temp, dir, told.SessionID, now)
}

// hostSpeaks is how long a host's words may take: tmux keeps the input open and
// says nothing.
const hostSpeaks = 30 * time.Millisecond

// quickly returns the JSON object that is there to be read, if it is there soon.
func quickly(in io.Reader) []byte {
	got := make(chan json.RawMessage, 1)
	go func() { // a read cannot be interrupted; the process ends before it does
		var raw json.RawMessage
		_ = json.NewDecoder(io.LimitReader(in, 1<<20)).Decode(&raw)
		got <- raw
	}()
	select {
	case raw := <-got:
		return raw
	case <-time.After(hostSpeaks):
		return nil
	}
}

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/hook"
)

// promptCommand is the page of svc prompt; Run starts it without the command
// tree, since shells wait for it.
func promptCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:   "prompt",
		Short: "Print one short line for a prompt or a status line",
		Long: "Print what hooks were told last about this folder: your intent, conflicts that\n" +
			"stop an edit (✗) or warn (!), and whether agents go on unchecked. It asks no\n" +
			"server and prints nothing where there is nothing to say. Claude Code tells it\n" +
			"the session on standard input; svc init --status-line puts it there. In tmux it\n" +
			"is '#(cd \"#{pane_current_path}\" && svc prompt)', in a shell $(svc prompt).",
		Example: "  svc prompt\n  svc prompt --json",
		Args:    term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			g := promptGlance(a.Stdin, a.Terminal.In, a.Getenv("TMPDIR"), a.Dir, a.Now())
			if a.JSON {
				return a.PrintJSON(g)
			}
			if g.Line != "" {
				fmt.Fprintln(a.Stdout, g.Line)
			}
			return nil
		},
	}
}

// printPrompt prints the line of this process's folder.
func printPrompt(in *os.File, out io.Writer) int {
	dir, err := os.Getwd()
	if err != nil {
		return term.ExitOK // a folder that is gone: nothing to say
	}
	info, err := in.Stat()
	typed := err != nil || info.Mode()&os.ModeCharDevice != 0
	if g := promptGlance(in, typed, "", dir, time.Now()); g.Line != "" {
		fmt.Fprintln(out, g.Line)
	}
	return term.ExitOK
}

// promptGlance looks where a host's status line says, or at the folder. A shell
// hands its own standard input on, from which nothing may be taken: only what
// is there at once and looks like a host's is read.
func promptGlance(in io.Reader, typed bool, temp, dir string, now time.Time) hook.StatusLine {
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

// patience is how long a host's words may take: tmux keeps the input open and
// says nothing.
const patience = 30 * time.Millisecond

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
	case <-time.After(patience):
		return nil
	}
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
)

// promptCommand is the page of svc prompt. Without flags it never comes here:
// shells wait for it, so the command tree is passed by.
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
			g := attend.PromptGlance(a.Stdin, a.Terminal.In, a.Getenv("TMPDIR"), a.Dir, a.Now())
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

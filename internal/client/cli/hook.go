package cli

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/attend"
	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/reader"
	"github.com/svc-hq/svc/internal/client/setup"
)

// Run runs the client in this process; args come after the program's name.
// Agents wait for svc hook at every edit, so it goes before the command tree,
// and without a watch for signals, which costs a thread: a hook that is
// stopped has nothing to put in order.
func Run(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "hook":
			if !slices.Contains(args, "--help") && !slices.Contains(args, "-h") {
				return attend.Finish(reader.Facts, args[1:])
			}
		case "prompt": // at every prompt of a shell
			if len(args) == 1 {
				return attend.PrintPrompt(os.Stdin, os.Stdout)
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Main(ctx, OS(), args)
}

// hookCommand is the page of svc hook; Run starts it without the command tree.
func hookCommand(a *app.Run) *cobra.Command {
	var tool, event string
	cmd := &cobra.Command{
		Use:   "hook --tool HOST --event EVENT",
		Short: "Answer a hook of an agent host",
		Long: "Read what an agent host tells its hooks on standard input, ask the server, and\n" +
			"answer in the host's own words. svc init configures hosts to run it. Whatever\n" +
			"fails, it exits 0 and prints nothing, or once in an outage a line for you, so\n" +
			"that the agent goes on; hook.log in the config folder says why. It exits 2,\n" +
			"with the reason on standard error, only to block an edit in hosts that know no\n" +
			"other way.",
		Example: "  svc hook --tool claude_code --event PreToolUse < payload.json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &term.Exit{Code: attend.Finish(reader.Facts, []string{"--tool", tool, "--event", event})}
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "the agent host, as svc init names it")
	term.ChoicesOf(cmd, "tool", setup.IDs)
	cmd.Flags().StringVar(&event, "event", "", "the host's own name of the event")
	return cmd
}

package records

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func muteCommand(a *app.Run) *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use:   "mute WHAT",
		Short: "Not be asked about a kind, a repository or a thread any more",
		Long: "Not be asked about something, whatever comes, until you say --off. WHAT is a\n" +
			"kind such as message, a repository, or a thread as svc messages show takes it.\n" +
			"Only you are asked less: your agents still hear of it.",
		Example: "  svc attention mute invite\n  svc attention mute acme/shop\n  svc attention mute acme/shop --off",
		Args:    term.Exactly(1, "a kind, a repository or a thread"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.Client()
			if err != nil {
				return err
			}
			what, err := muteOf(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			in := wire.MuteAttention{Mute: what, Off: off}
			if err := c.Send(cmd.Context(), "POST", "/v1/attention/mute", in, nil); err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(in)
			}
			if off {
				fmt.Fprintln(a.Stdout, "You are asked about it again.")
			} else {
				fmt.Fprintf(a.Stdout, "Muted. svc attention mute %s --off asks you again.\n", peertext.Line(args[0], 100))
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "be asked again")
	completesArgs(a, cmd, "repos", "threads")
	return cmd
}

// muteOf finds what a word names: a kind, a repository or a thread.
func muteOf(ctx context.Context, a *app.Run, word string) (coord.Mute, error) {
	kind := strings.ReplaceAll(strings.ToLower(word), " ", "_")
	if slices.Contains(coord.AttentionKinds(), coord.AttentionKind(kind)) {
		return coord.Mute{What: "kind", ID: kind}, nil
	}
	c, _, err := a.Client()
	if err != nil {
		return coord.Mute{}, err
	}
	if strings.Contains(word, "/") && !strings.HasPrefix(word, "#") {
		repos, err := c.Repos(ctx)
		for _, r := range repos {
			if strings.EqualFold(r.FullName, word) {
				return coord.Mute{What: "repo", ID: r.ID}, nil
			}
		}
		if err == nil {
			err = fmt.Errorf("no repository is called %q; svc repos lists them", peertext.Line(word, 200))
		}
		return coord.Mute{}, err
	}
	thread, err := findThread(ctx, c, word)
	return coord.Mute{What: "thread", ID: thread.ID}, err
}

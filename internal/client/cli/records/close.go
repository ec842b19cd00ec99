package records

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/wire"
)

func closeIntentCommand(a *app.Run) *cobra.Command {
	var merged, abandoned bool
	var note string
	cmd := &cobra.Command{
		Use:     "close INT-n --merged|--abandoned",
		Short:   "End an intent",
		Example: "  svc intents close INT-7 --merged\n  svc intents close 6 --abandoned --note 'not needed any more'",
		Args:    term.Exactly(1, "one intent such as INT-7"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := intentRef(args[0])
			if err != nil {
				return err
			}
			if merged == abandoned {
				return term.Usagef("say how it ended: --merged or --abandoned")
			}
			outcome := "merged"
			if abandoned {
				outcome = "abandoned"
			}
			in := map[string]any{"outcome": outcome, "note": optional(note)}
			return send(cmd.Context(), a, "POST", "/v1/intents/"+ref+"/close", in, func(out wire.HandedOff) {
				fmt.Fprintf(a.Stdout, "%s is %s.\n", out.Intent.Ref, out.Intent.Status)
			})
		},
	}
	cmd.Flags().BoolVar(&merged, "merged", false, "it is in the default branch")
	cmd.Flags().BoolVar(&abandoned, "abandoned", false, "it was given up")
	cmd.Flags().StringVar(&note, "note", "", "a word about it")
	completesArgs(a, cmd, "my intents")
	return cmd
}

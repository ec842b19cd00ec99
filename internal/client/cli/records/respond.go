package records

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A response is a way to respond to a conflict.
type response struct {
	use, short, example string
	action              coord.ConflictAction
	did                 string
}

var responses = []response{
	{"ack CF-n", "Say that you have seen it", "  svc conflicts ack CF-3", coord.ActionAck, "you have seen it"},
	{"resolve CF-n", "Say that it is settled", "  svc conflicts resolve CF-3 --note 'we split the file'", coord.ActionResolved,
		"you call it settled"},
	{
		"propose CF-n",
		"Propose who goes first",
		"  svc conflicts propose CF-3 --note 'I merge today, you rebase tomorrow'",
		coord.ActionProposeSequence,
		"you made a proposal",
	},
	{"rebase CF-n", "Say that you will rebase onto the other", "  svc conflicts rebase CF-3", coord.ActionWillRebase, "you will rebase"},
	{"request-override CF-n", "Ask somebody who may override it", "  svc conflicts request-override CF-3 --note 'mine is a hotfix'",
		coord.ActionRequestOverride, "an override is asked for"},
	{"false-alarm CF-n", "Close it as a false alarm", "  svc conflicts false-alarm CF-3", coord.ActionFalsePositive,
		"you call it a false alarm"},
}

func respondCommand(a *app.Run, r response) *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:     r.use,
		Short:   r.short,
		Example: r.example,
		Args:    term.Exactly(1, "one conflict such as CF-3"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := conflictRef(args[0])
			if err != nil {
				return err
			}
			in := map[string]any{"action": r.action, "note": optional(note)}
			return send(cmd.Context(), a, "POST", "/v1/conflicts/"+ref+"/actions", in, func(cf coord.Conflict) {
				fmt.Fprintf(a.Stdout, "%s: %s. It is %s.\n", cf.Ref, r.did, peertext.Name(string(cf.Status)))
			})
		},
	}
	if r.action == coord.ActionFalsePositive {
		cmd.Aliases = []string{"false-positive"} // as the API has it
	}
	cmd.Flags().StringVar(&note, "note", "", "a word for the other side")
	completesArgs(a, cmd, "conflicts")
	return cmd
}

// verdicts are what people say of a report, as they would write it.
var verdicts = map[string]coord.Verdict{"useful": coord.VerdictUseful, "false-alarm": coord.VerdictFalsePositive,
	"false-positive": coord.VerdictFalsePositive, "false_positive": coord.VerdictFalsePositive, "too-late": coord.VerdictTooLate,
	"too_late": coord.VerdictTooLate}

// feedbackCommand judges a report, which tunes what is worth a warning.
func feedbackCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "feedback CF-n useful|false-alarm|too-late",
		Short: "Say whether the report was right",
		Long: "Say whether the report was right. It shows in the stats and tunes what is worth\n" +
			"a warning; the conflict itself stays as it is.",
		Example: "  svc conflicts feedback CF-3 useful",
		Args:    term.Exactly(2, "a conflict, and useful, false-alarm or too-late"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := conflictRef(args[0])
			if err != nil {
				return err
			}
			verdict, ok := verdicts[strings.ToLower(args[1])]
			if !ok {
				return term.Usagef("no verdict %q; there are useful, false-alarm and too-late", args[1])
			}
			return do(cmd.Context(), a, "POST", "/v1/conflicts/"+ref+"/feedback", map[string]any{"verdict": verdict}, "Thank you.")
		},
	}
	completesArgs(a, cmd, "conflicts")
	term.Then(cmd, "useful", "false-alarm", "too-late")
	return cmd
}

// overrideCommand leads to the page where a person confirms: a token alone may
// be an agent's.
func overrideCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "override CF-n",
		Short: "Let both sides go on; opens the page where you confirm",
		Long: "Let both sides go on. Only a person may, so this opens the conflict's page in\n" +
			"the dashboard, where you give the reason and confirm.",
		Example: "  svc conflicts override CF-3",
		Args:    term.Exactly(1, "one conflict such as CF-3"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref, err := conflictRef(args[0])
			if err != nil {
				return err
			}
			return openPage(cmd.Context(), a, "/conflicts/"+ref)
		},
	}
	completesArgs(a, cmd, "conflicts")
	return cmd
}

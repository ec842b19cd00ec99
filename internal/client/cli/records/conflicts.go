package records

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func ConflictsCommand(a *app.Run) *cobra.Command {
	var flags listFlags
	cmd := &cobra.Command{
		Use:   "conflicts [show|ack|resolve|propose|rebase|feedback|override]",
		Short: "List where work collides",
		Long: "List where two pieces of work collide. Without flags: everything live in the\n" +
			"org, most severe first.",
		Example: "  svc conflicts --mine\n  svc conflicts show CF-3",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return listConflicts(cmd.Context(), a, &flags) },
	}
	flags.add(cmd, "conflicts", coord.ConflictStatus("").Enum())
	cmd.Flags().BoolVar(&flags.filter.Mine, "mine", false, "only those you are a party of")
	cmd.Flags().StringVar(&flags.filter.Person, "person", "", "only those that this member is a party of: @name or an email")
	cmd.Flags().StringVar(&flags.filter.Kind, "kind", "", "only these kinds, separated by commas")
	cmd.Flags().StringVar(&flags.filter.Severity, "severity", "", "only these severities, separated by commas")
	term.Choices(cmd, "kind", coord.ConflictKind("").Enum()...)
	term.Choices(cmd, "severity", coord.Severity("").Enum()...)
	Completes(a, cmd, "person", "people")
	cmd.Flags().StringVar(&flags.filter.Intent, "intent", "", "only those of this intent")
	Completes(a, cmd, "intent", "intents")
	Completes(a, cmd, "repo", "repos")
	term.Choices(cmd, "status", append([]string{"live"}, coord.ConflictStatus("").Enum()...)...)
	for _, r := range responses {
		cmd.AddCommand(respondCommand(a, r))
	}
	cmd.AddCommand(feedbackCommand(a), overrideCommand(a))
	show := &cobra.Command{
		Use:     "show CF-n",
		Short:   "Show one conflict with its evidence",
		Example: "  svc conflicts show CF-3\n  svc conflicts show 3 --json",
		Args:    term.Exactly(1, "one conflict such as CF-3"),
		RunE:    func(cmd *cobra.Command, args []string) error { return showConflict(cmd.Context(), a, args[0]) },
	}
	completesArgs(a, show, "conflicts")
	cmd.AddCommand(show)
	return cmd
}

func listConflicts(ctx context.Context, a *app.Run, flags *listFlags) error {
	return listed(ctx, a, flags, (*remote.Client).Conflicts, func(p wire.Page[coord.Conflict]) { conflictList.page(a, p) })
}

func showConflict(ctx context.Context, a *app.Run, arg string) error {
	ref, err := conflictRef(arg)
	if err != nil {
		return err
	}
	return shown(ctx, a, ref, (*remote.Client).Conflict, func(cf coord.Conflict) { printConflict(a, cf) })
}

func printConflict(a *app.Run, cf coord.Conflict) {
	fmt.Fprintf(a.Stdout, "%s %s %s, %s\n", a.Paint(term.Bold, cf.Ref), Severity(a, cf.Severity), peertext.Name(string(cf.Kind)),
		peertext.Name(string(cf.Status)))
	a.Facts([][]string{{"Where", team.Where(cf)}, {"Repo", peertext.Path(cf.Repo.FullName)}})
	a.Quote(a.Stdout, coord.AsSeen(cf.Explanation, coord.Time(a.Now().UnixMilli())))
	for _, p := range cf.Parties {
		intent := ""
		if p.Intent != nil {
			intent = " " + p.Intent.Ref + " " + title(p.Intent.Title)
		}
		if b := peertext.Branch(text(p.Branch)); b != "" {
			intent += " on " + b
		}
		fmt.Fprintf(a.Stdout, "  %-11s %s%s\n", peertext.Name(string(p.Role))+":", person(p.User), intent)
	}
	for _, e := range cf.Evidence {
		fmt.Fprintf(a.Stdout, "  - %s\n", evidence(e))
	}
	if cf.Suggestion.Text != "" && cf.Status.Live() { // of one that is settled nothing is left to do
		fmt.Fprintf(a.Stdout, "Next: %s\n", forPerson(cf))
	}
	if cf.Status.Live() {
		fmt.Fprintf(a.Stdout, "You can: svc conflicts ack|propose|rebase|resolve|override %s, or svc messages send %s TEXT\n", cf.Ref, cf.Ref)
	} else {
		fmt.Fprintf(a.Stdout, "Was it right? svc conflicts feedback %s useful|false-alarm|too-late\n", cf.Ref)
	}
}

// forPerson says the next step in words for people: the server writes it for
// agents.
func forPerson(cf coord.Conflict) string {
	next := strings.NewReplacer(
		"ask a person to override (`conflict_respond` with request_override)", "override it (svc conflicts override "+cf.Ref+")",
		"(`intent_update` with scope_remove)", "(svc intents update with --remove-path)",
	).Replace(cf.Suggestion.Text)
	return peertext.Line(toolWords.ReplaceAllString(next, ""), 500)
}

// toolWords name an agent's tool, which a person has not.
var toolWords = regexp.MustCompile(" \\(`[^)]*`[^)]*\\)| with `[^`]*`")

// evidence is one fact in one line.
func evidence(e coord.Evidence) string {
	what := ""
	for _, s := range []*string{e.Symbol, e.Contract, e.Path, e.Selector} {
		if s != nil && *s != "" {
			what = peertext.Path(*s)
			break
		}
	}
	if e.Lines != nil {
		what += fmt.Sprintf(" lines %d-%d", e.Lines.Start, e.Lines.End)
	}
	out := fmt.Sprintf("%s by %s: %s", peertext.Name(string(e.Via)), peertext.Name(string(e.Party)), what)
	if d := text(e.Detail); d != "" {
		out += " (" + peertext.Line(d, 200) + ")"
	}
	return out
}

package records

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// listFlags are the flags of commands that list records.
type listFlags struct {
	filter remote.Filter
	all    bool // whatever the status
	here   bool // this repository only

	statuses []string // those there are
}

func (f *listFlags) add(cmd *cobra.Command, what string, statuses []string) {
	f.statuses = append([]string{"live"}, statuses...)
	fs := cmd.Flags()
	fs.StringVar(&f.filter.Repo, "repo", "", "only this repo, owner/name")
	fs.BoolVar(&f.here, "here", false, "only the repository of this folder")
	fs.StringVar(&f.filter.Status, "status", "live", "live, or statuses separated by commas")
	fs.BoolVar(&f.all, "all", false, what+" of every status")
	fs.IntVar(&f.filter.Limit, "limit", 50, "at most this many, 1 to 200")
}

// resolve completes the filter.
func (f *listFlags) resolve(ctx context.Context, a *app.Run) (remote.Filter, error) {
	out := f.filter
	if out.Limit < 1 || out.Limit > wire.MaxLimit {
		return out, term.Usagef("--limit must be 1 to %d", wire.MaxLimit)
	}
	if f.all {
		out.Status = ""
	}
	for s := range strings.SplitSeq(out.Status, ",") {
		if s != "" && len(f.statuses) > 0 && !slices.Contains(f.statuses, s) {
			return out, term.Usagef("no status %q; there are %s", s, strings.Join(f.statuses, ", "))
		}
	}
	for _, who := range []*string{&out.Owner, &out.Person} {
		if !strings.HasPrefix(*who, "@") {
			continue
		}
		c, _, err := a.Client()
		if err == nil {
			*who, err = recipient(ctx, c, *who)
		}
		if err != nil {
			return out, err
		}
	}
	if out.Intent != "" {
		ref, err := intentRef(out.Intent)
		if err != nil {
			return out, err
		}
		out.Intent = ref
	}
	if f.here {
		p, err := a.Here()
		if err != nil {
			return out, err
		}
		out.Repo = p.Fingerprint
	}
	return out, nil
}

func IntentsCommand(a *app.Run) *cobra.Command {
	var flags listFlags
	var mine bool
	cmd := &cobra.Command{
		Use:     "intents [list|show|declare|update|close|adopt]",
		Short:   "List what people and agents work on",
		Long:    "List what people and agents announced to work on. Without flags: everything\nlive in the org.",
		Example: "  svc intents\n  svc intents --mine --here\n  svc intents show INT-7",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if mine {
				flags.filter.Owner = "me"
			}
			return listIntents(cmd.Context(), a, &flags)
		},
	}
	flags.add(cmd, "intents", coord.IntentStatus("").Enum())
	cmd.Flags().BoolVar(&mine, "mine", false, "only your own")
	cmd.Flags().StringVar(&flags.filter.Owner, "owner", "", "only those of this member: @name or an email")
	Completes(a, cmd, "owner", "people")
	Completes(a, cmd, "repo", "repos")
	term.Choices(cmd, "status", append([]string{"live"}, coord.IntentStatus("").Enum()...)...)
	cmd.AddCommand(declareCommand(a), updateIntentCommand(a), closeIntentCommand(a), adoptCommand(a))
	show := &cobra.Command{
		Use:     "show INT-n",
		Short:   "Show one intent",
		Example: "  svc intents show INT-7",
		Args:    term.Exactly(1, "one intent such as INT-7"),
		RunE:    func(cmd *cobra.Command, args []string) error { return showIntent(cmd.Context(), a, args[0]) },
	}
	completesArgs(a, show, "intents")
	cmd.AddCommand(show)
	return cmd
}

func listIntents(ctx context.Context, a *app.Run, flags *listFlags) error {
	return listed(ctx, a, flags, (*remote.Client).Intents, func(p wire.Page[coord.Intent]) { intentList.page(a, p) })
}

func showIntent(ctx context.Context, a *app.Run, arg string) error {
	ref, err := intentRef(arg)
	if err != nil {
		return err
	}
	return shown(ctx, a, ref, (*remote.Client).Intent, func(in coord.Intent) { printIntent(a, in) })
}

func printIntent(a *app.Run, in coord.Intent) {
	fmt.Fprintf(a.Stdout, "%s %s\n", a.Paint(term.Bold, in.Ref), peertext.Title(in.Title))
	blockers := make([]string, 0, len(in.BlockedBy))
	for _, b := range in.BlockedBy {
		blockers = append(blockers, peertext.Name(b.Ref))
	}
	rows := [][]string{
		{"Status", string(in.Status)}, {"Owner", person(&in.Owner)}, {"Repo", peertext.Path(in.Repo.FullName)},
		{"Branch", peertext.Branch(text(in.Branch))}, {"Mode", string(in.EffectiveMode)},
		{"Blocked by", strings.Join(blockers, " ")}, {"Paths", paths(in.Scope.Paths)},
		{"Edited", paths(observed(in))}, {"Symbols", paths(in.Scope.Symbols)},
		{"Contracts", paths(in.Scope.Contracts)}, {"Active", a.Ago(in.LastActivityAt)},
	}
	a.Facts(rows)
	if s := text(in.Summary); s != "" {
		a.Quote(a.Stdout, s)
	}
}

// observed returns the files that agents were seen to edit for an intent.
func observed(in coord.Intent) (paths []string) {
	for _, c := range in.Claims {
		if c.Source == coord.Observed && c.Kind == coord.ClaimPath {
			paths = append(paths, c.Selector)
		}
	}
	return paths
}

func paths(ss []string) string {
	clean := make([]string, len(ss))
	for i, s := range ss {
		clean[i] = peertext.Path(s)
	}
	return strings.Join(clean, ", ")
}

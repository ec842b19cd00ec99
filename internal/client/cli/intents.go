package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/grid"
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
func (f *listFlags) resolve(ctx context.Context, a *app) (remote.Filter, error) {
	out := f.filter
	if out.Limit < 1 || out.Limit > wire.MaxLimit {
		return out, usagef("--limit must be 1 to %d", wire.MaxLimit)
	}
	if f.all {
		out.Status = ""
	}
	for s := range strings.SplitSeq(out.Status, ",") {
		if s != "" && len(f.statuses) > 0 && !slices.Contains(f.statuses, s) {
			return out, usagef("no status %q; there are %s", s, strings.Join(f.statuses, ", "))
		}
	}
	for _, who := range []*string{&out.Owner, &out.Person} {
		if !strings.HasPrefix(*who, "@") {
			continue
		}
		c, _, err := a.client()
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
		p, err := a.here()
		if err != nil {
			return out, err
		}
		out.Repo = p.Fingerprint
	}
	return out, nil
}

func (a *app) intentsCommand() *cobra.Command {
	var flags listFlags
	var mine bool
	cmd := &cobra.Command{
		Use:     "intents [list|show|declare|update|close|adopt]",
		Short:   "List what people and agents work on",
		Long:    "List what people and agents announced to work on. Without flags: everything\nlive in the org.",
		Example: "  svc intents\n  svc intents --mine --here\n  svc intents show INT-7",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if mine {
				flags.filter.Owner = "me"
			}
			return a.listIntents(cmd.Context(), &flags)
		},
	}
	flags.add(cmd, "intents", coord.IntentStatus("").Enum())
	cmd.Flags().BoolVar(&mine, "mine", false, "only your own")
	cmd.Flags().StringVar(&flags.filter.Owner, "owner", "", "only those of this member: @name or an email")
	a.completes(cmd, "owner", "people")
	a.completes(cmd, "repo", "repos")
	choices(cmd, "status", append([]string{"live"}, coord.IntentStatus("").Enum()...)...)
	cmd.AddCommand(a.declareCommand(), a.updateIntentCommand(), a.closeIntentCommand(), a.adoptCommand())
	show := &cobra.Command{
		Use:     "show INT-n",
		Short:   "Show one intent",
		Example: "  svc intents show INT-7",
		Args:    exactly(1, "one intent such as INT-7"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.showIntent(cmd.Context(), args[0]) },
	}
	a.completesArgs(show, "intents")
	cmd.AddCommand(show)
	return cmd
}

func (a *app) listIntents(ctx context.Context, flags *listFlags) error {
	return listed(ctx, a, flags, (*remote.Client).Intents, a.printIntents)
}

func (a *app) printIntents(page wire.Page[coord.Intent]) {
	rows := [][]string{}
	for _, in := range page.Items {
		rows = append(rows, []string{in.Ref, peertext.Name(string(in.Status)), person(&in.Owner), peertext.Path(in.Repo.FullName),
			peertext.Branch(text(in.Branch)), a.ago(in.LastActivityAt), list(in.Scope.Paths), peertext.Title(in.Title)})
	}
	columns := []grid.Column{col("INTENT"), col("STATUS", 0, 1), col("OWNER", 8, 0, 16), col("REPO", 10, 3), col("BRANCH", 10, 4),
		col("ACTIVE", 0, 2), places("WHERE", 14, 0, 18), col("TITLE", 20, 0, 24)}
	a.list(rows, columns, "No intents.", page.NextCursor != nil)
}

// listed asks for the records that the flags want, and prints them.
func listed[T any](ctx context.Context, a *app, flags *listFlags,
	ask func(*remote.Client, context.Context, remote.Filter) (wire.Page[T], error), show func(wire.Page[T])) error {
	f, err := flags.resolve(ctx, a)
	if err != nil {
		return err
	}
	return shown(ctx, a, f, ask, show)
}

// shown asks for what is wanted and prints it.
func shown[W, T any](ctx context.Context, a *app, want W, ask func(*remote.Client, context.Context, W) (T, error), show func(T)) error {
	c, _, err := a.client()
	if err != nil {
		return err
	}
	got, err := ask(c, ctx, want)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(got)
	}
	show(got)
	return nil
}

// list prints rows under a heading, or that there are none.
func (a *app) list(rows [][]string, columns []grid.Column, none string, more bool) {
	if len(rows) == 0 {
		fmt.Fprintln(a.Stdout, none)
		return
	}
	heading := make([]string, len(columns))
	for i, c := range columns {
		heading[i] = c.Title
	}
	a.table(columns, append([][]string{heading}, rows...))
	if more {
		fmt.Fprintln(a.Stderr, "There are more; raise --limit or narrow the list.")
	}
}

func (a *app) showIntent(ctx context.Context, arg string) error {
	ref, err := intentRef(arg)
	if err != nil {
		return err
	}
	return shown(ctx, a, ref, (*remote.Client).Intent, a.printIntent)
}

func (a *app) printIntent(in coord.Intent) {
	fmt.Fprintf(a.Stdout, "%s %s\n", a.paint(bold, in.Ref), peertext.Title(in.Title))
	blockers := make([]string, 0, len(in.BlockedBy))
	for _, b := range in.BlockedBy {
		blockers = append(blockers, peertext.Name(b.Ref))
	}
	rows := [][]string{
		{"Status", string(in.Status)}, {"Owner", person(&in.Owner)}, {"Repo", peertext.Path(in.Repo.FullName)},
		{"Branch", peertext.Branch(text(in.Branch))}, {"Mode", string(in.EffectiveMode)},
		{"Blocked by", strings.Join(blockers, " ")}, {"Paths", list(in.Scope.Paths)},
		{"Edited", list(observed(in))}, {"Symbols", list(in.Scope.Symbols)},
		{"Contracts", list(in.Scope.Contracts)}, {"Active", a.ago(in.LastActivityAt)},
	}
	a.facts(rows)
	if s := text(in.Summary); s != "" {
		a.quote(a.Stdout, s)
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

// facts prints the rows that say something.
func (a *app) facts(rows [][]string) {
	var said [][]string
	for _, r := range rows {
		if r[1] != "" {
			said = append(said, []string{"  " + r[0], r[1]})
		}
	}
	a.table([]grid.Column{col(""), col("", 20)}, said)
}

func list(ss []string) string {
	clean := make([]string, len(ss))
	for i, s := range ss {
		clean[i] = peertext.Path(s)
	}
	return strings.Join(clean, ", ")
}

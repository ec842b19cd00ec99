package records

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// LandingCommand shows in which order to merge.
func LandingCommand(a *app.Run) *cobra.Command {
	var repo string
	var first []string
	cmd := &cobra.Command{
		Use:   "landing",
		Short: "Show in which order to merge the work under way",
		Long: "Show the order in which the live work of a repository costs the fewest lines to\n" +
			"write again, with a reason for each step. Between linked repositories, a new\n" +
			"form lands before its users, and an old one goes last. With --if: what another\n" +
			"order would cost.",
		Example: "  svc landing\n  svc landing --if INT-4,INT-2",
		Args:    term.Exactly(0, "no argument; name intents with --if"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			where := repo
			if where == "" {
				here, err := a.Here()
				if err != nil {
					return fmt.Errorf("%w; say where with --repo", err)
				}
				where = here.Fingerprint
			}
			path := "/v1/repos/" + url.PathEscape(where) + "/landing"
			var refs []string
			for _, ref := range first {
				r, err := intentRef(ref)
				if err != nil {
					return err
				}
				refs = append(refs, r)
			}
			return send(cmd.Context(), a, "GET", query(path, "if", strings.Join(refs, ",")), nil, func(l wire.Landing) { printLanding(a, l) })
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "owner/name; default the repository of this folder")
	cmd.Flags().StringSliceVar(&first, "if", nil, "intents that land first, in this order")
	Completes(a, cmd, "repo", "repos")
	Completes(a, cmd, "if", "intents")
	return cmd
}

func printLanding(a *app.Run, l wire.Landing) {
	if len(l.Steps) == 0 {
		fmt.Fprintln(a.Stdout, "Nothing is under way here.")
		return
	}
	for _, s := range l.Steps {
		who, what := person(s.User), ""
		if s.Intent != nil {
			who, what = s.Intent.Ref, " "+peertext.Title(text(s.Intent.Title))
		}
		if s.Outside != nil {
			who, what = team.Side(coord.Party{Outside: s.Outside, Branch: s.Branch}), " by "+peertext.Person(s.Outside.Author)+", without svc"
		}
		if s.Repo.ID != l.Repo.ID {
			what += " in " + peertext.Path(s.Repo.FullName)
		}
		fmt.Fprintf(a.Stdout, "%d. %s%s\n   %s\n", s.Place, a.Paint(term.Bold, who), what, peertext.Line(s.Reason, 400))
	}
	fmt.Fprintf(a.Stdout, "To redo: %s", price(l.LandingPrice))
	if l.Best != l.LandingPrice {
		fmt.Fprintf(a.Stdout, "; in the order that costs least: %s", price(l.Best))
	}
	fmt.Fprintln(a.Stdout, ".")
}

func price(p wire.LandingPrice) string {
	text := fmt.Sprintf("%d lines", p.LinesRedone)
	if p.LinesRedone == 1 {
		text = "one line"
	}
	switch p.Breaks {
	case 0:
		return text
	case 1:
		return text + " and one break between repositories"
	}
	return fmt.Sprintf("%s and %d breaks between repositories", text, p.Breaks)
}

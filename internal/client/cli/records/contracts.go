package records

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func ContractsCommand(a *app.Run) *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:   "contracts [KEY]",
		Short: "List API contracts, or look one up",
		Long: "List the contracts of a repository: routes, tables, events and what packages\noffer. With KEY: who provides it, who " +
			"uses it and who is changing it.",
		Example: "  svc contracts\n  svc contracts 'GET /users/{id}'\n  svc contracts db:public.users --repo acme/shop",
		RunE: func(cmd *cobra.Command, args []string) error {
			where := repo
			if where == "" {
				if here, err := a.Here(); err == nil {
					where = here.Fingerprint
				}
			}
			if len(args) > 1 {
				return term.Usagef("expected one contract, got %d; quote it if it has spaces", len(args))
			}
			if len(args) == 1 {
				path := query("/v1/contracts/lookup", "key", args[0], "repo", where)
				return send(cmd.Context(), a, "GET", path, nil, func(p wire.ContractPicture) { printContracts(a, p) })
			}
			return contractList.ask(cmd.Context(), a, query(contractList.path, "repo", where, "limit", "200"))
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "owner/name; default the repository of this folder")
	Completes(a, cmd, "repo", "repos")
	completesArgs(a, cmd, "contracts")
	show := &cobra.Command{
		Use:               "show KEY",
		Short:             "Show who provides one, who uses it and who is changing it",
		Example:           "  svc contracts show 'GET /users/{id}'",
		Args:              term.Exactly(1, "one contract; quote it if it has spaces"),
		RunE:              cmd.RunE,
		ValidArgsFunction: cmd.ValidArgsFunction,
	}
	show.Flags().AddFlagSet(cmd.LocalNonPersistentFlags())
	cmd.AddCommand(show)
	return cmd
}

// fate is what becomes of a use where something does, and who is to know.
func fate(u wire.ContractUse) string {
	if u.State == coord.UseStands || u.State == coord.UseFits {
		return ""
	}
	out := ", " + strings.ReplaceAll(string(u.State), "_", " ")
	if who := cmp.Or(u.By, u.Owner); who != nil {
		out += " (" + person(who) + ")"
	}
	return out
}

func printContracts(a *app.Run, p wire.ContractPicture) {
	for _, k := range p.Contracts {
		fmt.Fprintf(a.Stdout, "%s %s\n", a.Paint(term.Bold, peertext.Line(k.Key, 200)), k.Criticality.Level)
		for _, at := range k.Providers {
			fmt.Fprintf(a.Stdout, "  %-9s %s %s:%d\n", "provided", peertext.Path(at.Repo.FullName), peertext.Path(at.Path), at.Line)
		}
		for _, at := range k.Users {
			fmt.Fprintf(a.Stdout, "  %-9s %s %s:%d%s\n", "used", peertext.Path(at.Repo.FullName), peertext.Path(at.Path), at.Line, fate(at))
		}
		for _, ch := range k.InFlight {
			fmt.Fprintf(a.Stdout, "  %-9s by %s in %s, %s\n", "changing", person(ch.By), peertext.Path(ch.Path), ch.Compatibility)
		}
	}
	if len(p.Contracts) == 0 {
		fmt.Fprintln(a.Stdout, "Nothing is known of it.")
	}
}

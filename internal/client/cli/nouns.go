package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// query is a path with parameters; empty ones are left out.
func query(path string, pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

func (a *app) searchCommand() *cobra.Command {
	var kinds []string
	var repo string
	var limit int
	cmd := &cobra.Command{
		Use:     "search WORDS",
		Short:   "Search what the team did in the last 90 days",
		Example: "  svc search token refresh\n  svc search 'login' --kind conflicts,messages",
		Args:    atLeast(1, "words to look for"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := query("/v1/search", "q", strings.Join(args, " "), "repo", repo, "kinds", strings.Join(kinds, ","), "limit", strconv.Itoa(limit))
			return send(cmd.Context(), a, "GET", path, nil, func(page wire.Page[coord.Memory]) {
				rows := [][]string{}
				for _, m := range page.Items {
					rows = append(rows, []string{peertext.Line(m.Ref, 60), string(m.Kind), person(m.By), a.ago(m.At), peertext.Title(m.Title)})
				}
				columns := []grid.Column{col("REF", 8), col("KIND", 0, 2), col("BY", 8, 0, 16), col("WHEN", 0, 1), col("TITLE", 24, 0, 40)}
				a.list(rows, columns, "Nothing found.", page.NextCursor != nil)
			})
		},
	}
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "intents, messages, conflicts, statuses, contracts or questions")
	choices(cmd, "kind", "intents", "messages", "conflicts", "statuses", "contracts", "questions")
	cmd.Flags().StringVar(&repo, "repo", "", "only this repo, owner/name")
	cmd.Flags().IntVar(&limit, "limit", 20, "at most this many, 1 to 50")
	a.completes(cmd, "repo", "repos")
	return cmd
}

func (a *app) whoCommand() *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:     "who",
		Short:   "Show whose agents are at work, and on what",
		Example: "  svc who\n  svc who --repo acme/shop --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return shown(cmd.Context(), a, repo, (*remote.Client).Presence, func(page wire.Page[wire.Online]) {
				rows := [][]string{}
				for _, o := range page.Items {
					work := ""
					if o.Intent != nil {
						work = o.Intent.Ref + " " + title(o.Intent.Title)
					}
					rows = append(rows, []string{person(&o.Developer), peertext.Name(o.Tool), string(o.Status), peertext.Path(o.Repo.FullName),
						a.ago(o.LastActivity), work, peertext.Line(text(o.StatusText), 200)})
				}
				columns := []grid.Column{col("WHO", 8, 0, 16), col("TOOL", 0, 3), col("STATUS", 0, 2), col("REPO", 10, 0, 16), col("ACTIVE", 0, 1),
					col("WORKS ON", 20, 0, 30), col("SAYS", 24, 4)}
				a.list(rows, columns, "Nobody's agent is at work.", page.NextCursor != nil)
			})
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "only this repo, owner/name")
	a.completes(cmd, "repo", "repos")
	return cmd
}

func (a *app) membersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "members",
		Short:   "List the members, or invite somebody",
		Example: "  svc members\n  svc members invite cy@example.com --role member",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return shown(cmd.Context(), a, struct{}{}, func(c *remote.Client, ctx context.Context, _ struct{}) ([]coord.Membership, error) {
				return c.Members(ctx)
			}, func(ms []coord.Membership) {
				rows := [][]string{}
				for _, m := range ms {
					rows = append(rows, []string{peertext.Person(m.Name), peertext.Person(m.Email), string(m.Role)})
				}
				a.list(rows, []grid.Column{col("NAME", 10), col("EMAIL", 16), col("ROLE")}, "No members.", false)
			})
		},
	}
	var role string
	invite := &cobra.Command{
		Use:     "invite EMAIL",
		Short:   "Invite somebody",
		Example: "  svc members invite cy@example.com",
		Args:    exactly(1, "an email"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := map[string]any{"email": args[0], "role": role}
			return send(cmd.Context(), a, "POST", "/v1/invites", in, func(made coord.Invite) {
				fmt.Fprintf(a.Stdout, "Invited %s as %s.\n", peertext.Person(args[0]), peertext.Name(role))
				a.sayInvite(made)
			})
		},
	}
	invite.Flags().StringVar(&role, "role", "member", "member, admin or owner")
	choices(invite, "role", "member", "admin", "owner")
	cmd.AddCommand(a.showMemberCommand(), invite, a.invitesCommand(), a.resendCommand())
	return cmd
}

func (a *app) tokensCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tokens",
		Short:   "List, make and revoke access tokens",
		Example: "  svc tokens\n  svc tokens create ci --scope intents:read\n  svc tokens revoke ci",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return send(cmd.Context(), a, "GET", "/v1/tokens", nil, func(page wire.Page[coord.Token]) {
				rows := [][]string{}
				for _, t := range page.Items {
					rows = append(rows, []string{t.ID, peertext.Person(t.Name), string(t.Kind), a.tokenState(t), a.tokenUse(t)})
				}
				columns := []grid.Column{col("ID"), col("NAME", 16), col("KIND", 0, 1), col("STATE"), col("USED", 0, 2)}
				a.list(rows, columns, "No tokens.", page.NextCursor != nil)
			})
		},
	}
	var scopes []string
	var days int
	create := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a token; it is shown once",
		Example: "  svc tokens create ci --scope intents:read,conflicts:read --days 90",
		Args:    exactly(1, "a name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			in := map[string]any{"name": args[0]}
			if len(scopes) > 0 {
				in["scopes"] = scopes
			}
			if days > 0 {
				in["expires_in_days"] = days
			}
			return send(cmd.Context(), a, "POST", "/v1/tokens", in, func(t wire.CreatedToken) {
				fmt.Fprintln(a.Stderr, "Keep it: it is shown this once.")
				fmt.Fprintln(a.Stdout, t.Plaintext)
			})
		},
	}
	create.Flags().StringSliceVar(&scopes, "scope", nil, "what it may do, such as intents:read")
	create.Flags().IntVar(&days, "days", 0, "until it expires")
	revoke := &cobra.Command{
		Use:     "revoke TOKEN",
		Short:   "Revoke a token",
		Long:    "Revoke a token. TOKEN is its name, or its id or the beginning of that, as svc\ntokens shows them.",
		Example: "  svc tokens revoke ci",
		Args:    exactly(1, "a token's name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, _, err := a.client()
			if err != nil {
				return err
			}
			id, err := tokenNames.idOf(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			if err := c.RevokeToken(cmd.Context(), id); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]string{"revoked": id})
			}
			fmt.Fprintln(a.Stdout, "Revoked.")
			return nil
		},
	}
	a.completesArgs(revoke, "tokens")
	cmd.AddCommand(showRecord(a, tokenNames, "  svc tokens show ci", "tokens", a.printToken), create, revoke)
	return cmd
}

func (a *app) contractsCommand() *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:   "contracts [KEY]",
		Short: "List what programs agree on, or look one up",
		Long: "List the contracts of a repository: routes, tables, events and what packages\noffer. With KEY: who provides it, who " +
			"uses it and who is changing it.",
		Example: "  svc contracts\n  svc contracts 'GET /users/{id}'\n  svc contracts db:public.users --repo acme/shop",
		RunE: func(cmd *cobra.Command, args []string) error {
			where := repo
			if where == "" {
				if here, err := a.here(); err == nil {
					where = here.Fingerprint
				}
			}
			if len(args) > 1 {
				return usagef("expected one contract, got %d; quote it if it has spaces", len(args))
			}
			if len(args) == 1 {
				path := query("/v1/contracts/lookup", "key", args[0], "repo", where)
				return send(cmd.Context(), a, "GET", path, nil, a.printContracts)
			}
			path := query("/v1/contracts", "repo", where, "limit", "200")
			return send(cmd.Context(), a, "GET", path, nil, func(page wire.Page[wire.ContractRecord]) {
				rows := [][]string{}
				for _, k := range page.Items {
					rows = append(rows, []string{
						peertext.Line(k.Key, 100),
						k.Criticality.Level,
						strconv.Itoa(len(k.Users)),
						strconv.Itoa(len(k.InFlight)),
					})
				}
				columns := []grid.Column{places("CONTRACT", 30), col("CRITICAL"), col("USES"), col("IN FLIGHT")}
				a.list(rows, columns, "No contracts; svc index reads them.", page.NextCursor != nil)
			})
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "owner/name; default the repository of this folder")
	a.completes(cmd, "repo", "repos")
	a.completesArgs(cmd, "contracts")
	show := &cobra.Command{
		Use:               "show KEY",
		Short:             "Show who provides one, who uses it and who is changing it",
		Example:           "  svc contracts show 'GET /users/{id}'",
		Args:              exactly(1, "one contract; quote it if it has spaces"),
		RunE:              cmd.RunE,
		ValidArgsFunction: cmd.ValidArgsFunction,
	}
	show.Flags().AddFlagSet(cmd.LocalNonPersistentFlags())
	cmd.AddCommand(show)
	return cmd
}

func (a *app) printContracts(p wire.ContractPicture) {
	for _, k := range p.Contracts {
		fmt.Fprintf(a.Stdout, "%s %s\n", a.paint(bold, peertext.Line(k.Key, 200)), k.Criticality.Level)
		for what, places := range map[string][]wire.ContractPlace{"provided": k.Providers, "used": k.Users} {
			for _, at := range places {
				fmt.Fprintf(a.Stdout, "  %-9s %s %s:%d\n", what, peertext.Path(at.Repo.FullName), peertext.Path(at.Path), at.Line)
			}
		}
		for _, ch := range k.InFlight {
			fmt.Fprintf(a.Stdout, "  %-9s by %s in %s, %s\n", "changing", person(ch.By), peertext.Path(ch.Path), ch.Compatibility)
		}
	}
	if len(p.Contracts) == 0 {
		fmt.Fprintln(a.Stdout, "Nothing is known of it.")
	}
}

// do makes a request whose answer matters to programs only.
func (a *app) do(ctx context.Context, method, path string, in any, did string) error {
	c, _, err := a.client()
	if err != nil {
		return err
	}
	out, err := c.Raw(ctx, method, path, in)
	if err != nil {
		return err
	}
	if a.json {
		if len(out) == 0 {
			out = json.RawMessage(`{}`)
		}
		return a.printJSON(out)
	}
	fmt.Fprintln(a.Stdout, strings.TrimSuffix(did, "\n"))
	return nil
}

func (a *app) feedCommand() *cobra.Command {
	var limit int
	var types []string
	cmd := &cobra.Command{
		Use:     "feed",
		Short:   "Show what happened lately",
		Example: "  svc feed\n  svc feed --type conflict.detected --limit 100",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			path := query("/v1/feed", "limit", strconv.Itoa(limit), "type", strings.Join(types, ","))
			return send(cmd.Context(), a, "GET", path, nil, func(f wire.Feed) {
				if len(f.Items) == 0 {
					fmt.Fprintln(a.Stdout, "Nothing happened yet.")
				}
				known := names{}
				known.learn(f.Refs)
				for _, e := range f.Items {
					fmt.Fprintln(a.Stdout, a.eventLine(e, known))
				}
			})
		},
	}
	cmd.Flags().IntVar(&limit, "limit", 30, "at most this many, 1 to 200")
	cmd.Flags().StringSliceVar(&types, "type", nil, "only events of this type")
	return cmd
}

func (a *app) statsCommand() *cobra.Command {
	var days int
	cmd := &cobra.Command{
		Use:     "stats",
		Short:   "Show the figures of the last days",
		Example: "  svc stats\n  svc stats --days 90 --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return send(cmd.Context(), a, "GET", query("/v1/stats", "days", strconv.Itoa(days)), nil, func(s wire.Stats) {
				t := s.Totals
				fmt.Fprintf(a.Stdout, "The last %d days: %s, %s found, %d stopped and %d warned, %s overridden.\n", s.Days, plural(t.Intents, "intent"),
					plural(t.Conflicts, "conflict"), t.Blocked, t.Warned, plural(t.Overridden, "conflict"))
				rows := [][]string{}
				for _, m := range s.Members {
					rows = append(rows, []string{person(&m.User), strconv.Itoa(m.Intents), strconv.Itoa(m.Conflicts), strconv.Itoa(m.Sessions)})
				}
				a.list(rows, []grid.Column{col("WHO", 10), col("INTENTS"), col("CONFLICTS"), col("SESSIONS")}, "Nobody did anything.", false)
			})
		},
	}
	cmd.Flags().IntVar(&days, "days", 30, "7, 30 or 90")
	return cmd
}

package records

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

func TokensCommand(a *app.Run) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "tokens",
		Short:   "List, make and revoke access tokens",
		Example: "  svc tokens\n  svc tokens create ci --scope intents:read\n  svc tokens revoke ci",
		Args:    term.NoArgs,
		RunE:    tokenList.run(a),
	}
	var scopes []string
	var days int
	create := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a token; it is shown once",
		Example: "  svc tokens create ci --scope intents:read,conflicts:read --days 90",
		Args:    term.Exactly(1, "a name"),
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
	term.Choices(create, "scope", coord.Scope("").Enum()...)
	create.Flags().IntVar(&days, "days", 0, "until it expires")
	revoke := &cobra.Command{
		Use:     "revoke TOKEN",
		Short:   "Revoke a token",
		Long:    "Revoke a token. TOKEN is its name, or its id or the beginning of that, as svc\ntokens shows them.",
		Example: "  svc tokens revoke ci",
		Args:    term.Exactly(1, "a token's name or id"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := tokenNames().idOf(cmd.Context(), a, args[0])
			if err != nil {
				return err
			}
			err = change(cmd.Context(), a, "DELETE", "/v1/tokens", func(c *remote.Client) error { return c.RevokeToken(cmd.Context(), id) })
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(map[string]string{"revoked": id})
			}
			fmt.Fprintln(a.Stdout, "Revoked.")
			return nil
		},
	}
	completesArgs(a, revoke, "tokens")
	cmd.AddCommand(showRecord(a, tokenNames(), "  svc tokens show ci", "tokens", func(t coord.Token) { printToken(a, t) }), create, revoke)
	return cmd
}

func printToken(a *app.Run, t coord.Token) {
	scopes := make([]string, len(t.Scopes))
	for i, s := range t.Scopes {
		scopes[i] = string(s)
	}
	expires := "never"
	if t.ExpiresAt != nil {
		expires = t.ExpiresAt.String()
	}
	fmt.Fprintln(a.Stdout, a.Paint(term.Bold, peertext.Person(t.Name)))
	a.Facts([][]string{{"Id", t.ID}, {"Kind", string(t.Kind)}, {"State", tokenState(a, t)}, {"Begins", peertext.Name(t.Prefix)},
		{"Used", tokenUse(a, t)}, {"Expires", expires}})
	fmt.Fprintf(a.Stdout, "  May: %s\n", strings.Join(scopes, " "))
}

// tokenState is whether a token is still taken.
func tokenState(a *app.Run, t coord.Token) string {
	switch {
	case t.RevokedAt != nil:
		return "revoked"
	case t.ExpiresAt != nil && t.ExpiresAt.Std().Before(a.Now()):
		return "expired"
	}
	return "valid"
}

func tokenUse(a *app.Run, t coord.Token) string {
	if t.LastUsedAt == nil {
		return "never"
	}
	return a.Ago(*t.LastUsedAt)
}

package cli

import (
	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// whoami is the answer of /v1/me with the server that gave it.
type whoami struct {
	wire.Me
	Server string `json:"server"`
}

func whoamiCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:     "whoami",
		Short:   "Show who you are logged in as",
		Example: "  svc whoami\n  svc whoami --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, l, err := a.Client()
			if err != nil {
				return err
			}
			me, err := c.Me(cmd.Context())
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(whoami{me, l.Server})
			}
			rows := [][]string{}
			if me.User != nil {
				rows = append(rows, []string{"User", peertext.Person(me.User.Name) + " <" + peertext.Person(me.User.Email) + ">"})
			}
			rows = append(rows, []string{"Org", peertext.Person(me.Org.Name)})
			if me.Role != nil {
				rows = append(rows, []string{"Role", peertext.Name(string(*me.Role))})
			}
			rows = append(rows, []string{"Server", l.Server})
			if me.Token != nil {
				rows = append(rows, []string{
					"Token",
					peertext.Person(me.Token.Name) + " (" + peertext.Name(string(me.Token.Kind)) + ", from " + string(l.TokenSource) + ")",
				})
			}
			a.Table([]grid.Column{term.Col(""), term.Col("", 20)}, rows)
			return nil
		},
	}
}

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/login"
)

func mcpHeadersCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp-headers",
		Short: "Print the request headers for the tool server, as JSON",
		Long: "Print the request headers for the tool server as a JSON object. For agent\n" +
			"hosts that call a program for them.",
		Example: "  svc mcp-headers",
		Args:    term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			value, err := authorization(a)
			if err != nil {
				return err
			}
			return a.PrintJSON(map[string]string{"Authorization": value})
		},
	}
}

func authHeaderCommand(a *app.Run) *cobra.Command {
	return &cobra.Command{
		Use:     "auth-header",
		Short:   "Print the value of the Authorization header",
		Example: "  curl -H \"Authorization: $(svc auth-header)\" http://127.0.0.1:7780/v1/me",
		Args:    term.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			value, err := authorization(a)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(value)
			}
			_, err = fmt.Fprintln(a.Stdout, value)
			return err
		},
	}
}

func authorization(a *app.Run) (string, error) {
	l, _, err := a.Login(login.Overrides{})
	if err != nil {
		return "", err
	}
	if !l.LoggedIn() {
		return "", app.NotLoggedIn(l)
	}
	return "Bearer " + l.Token, nil
}

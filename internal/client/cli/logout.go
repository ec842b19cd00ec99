package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/login"
)

func (a *app) logoutCommand() *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "logout [--revoke]",
		Short: "Forget the stored login",
		Long: "Forget the stored login. The token itself stays valid, since other machines\n" +
			"may use it; --revoke makes it invalid on the server, too.",
		Example: "  svc logout\n  svc logout --revoke",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.runLogout(cmd.Context(), revoke) },
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "make the token invalid on the server")
	return cmd
}

func (a *app) runLogout(ctx context.Context, revoke bool) error {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return err
	}
	if revoke {
		if err := a.revokeStored(ctx, store); err != nil {
			return fmt.Errorf("the token could not be revoked, so the login was kept: %w", err)
		}
	}
	had, err := store.Forget()
	if err != nil {
		return err
	}
	env := a.Getenv("SVC_TOKEN") != ""
	if env {
		fmt.Fprintln(a.Stderr, "svc: SVC_TOKEN is still set and goes on being used; unset it to log out")
	}
	switch {
	case a.json:
		return a.PrintJSON(map[string]bool{"logged_out": had, "revoked": had && revoke, "svc_token_set": env})
	case had:
		fmt.Fprintln(a.Stdout, "Logged out.")
	default:
		fmt.Fprintln(a.Stdout, "There was no stored login.")
	}
	return nil
}

// revokeStored makes the stored token invalid, whatever the environment says.
func (a *app) revokeStored(ctx context.Context, store login.Store) error {
	conf, err := store.Load()
	if err != nil || conf.Token == "" {
		return err
	}
	l, err := login.Resolve(conf, func(string) string { return "" }, login.Overrides{})
	if err != nil {
		return err
	}
	c, err := a.connect(l)
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return err
	}
	return c.RevokeToken(ctx, me.Token.ID)
}

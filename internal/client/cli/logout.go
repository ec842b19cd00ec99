package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/copies"
	"github.com/svc-hq/svc/internal/client/login"
)

func logoutCommand(a *app.Run) *cobra.Command {
	var revoke bool
	cmd := &cobra.Command{
		Use:   "logout [--revoke]",
		Short: "Forget the stored login",
		Long: "Forget the stored login. The token itself stays valid, since other machines\n" +
			"may use it; --revoke makes it invalid on the server, too.",
		Example: "  svc logout\n  svc logout --revoke",
		Args:    term.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runLogout(cmd.Context(), a, revoke) },
	}
	cmd.Flags().BoolVar(&revoke, "revoke", false, "make the token invalid on the server")
	return cmd
}

func runLogout(ctx context.Context, a *app.Run, revoke bool) error {
	store, err := login.Locate(a.Getenv)
	if err != nil {
		return err
	}
	if revoke {
		if err := revokeStored(ctx, a, store); err != nil {
			return fmt.Errorf("the token could not be revoked, so the login was kept: %w", err)
		}
	}
	store.ForgetAdmin()
	conf, err := store.LoadFile()
	if err != nil {
		return err
	}
	// So that hooks know that it was meant.
	if err := copies.Open(store.Dir).Leave(func(c copies.Copy) bool { return c.Server == conf.Server }); err != nil {
		return err
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
	case a.JSON:
		return a.PrintJSON(map[string]bool{"logged_out": had, "revoked": had && revoke, "svc_token_set": env})
	case had:
		fmt.Fprintln(a.Stdout, "Logged out.")
	default:
		fmt.Fprintln(a.Stdout, "There was no stored login.")
	}
	return nil
}

// revokeStored makes the stored token invalid, whatever the environment says.
func revokeStored(ctx context.Context, a *app.Run, store login.Store) error {
	conf, err := store.Load()
	if err != nil || conf.Token == "" {
		return err
	}
	l, err := login.Resolve(conf, func(string) string { return "" }, login.Overrides{})
	if err != nil {
		return err
	}
	c, err := a.Connect(l)
	if err != nil {
		return err
	}
	me, err := c.Me(ctx)
	if err != nil {
		return err
	}
	return c.RevokeToken(ctx, me.Token.ID)
}

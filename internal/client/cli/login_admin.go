package cli

import (
	"context"
	"fmt"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/login"
)

// runAdminLogin logs a person in a second time, with an administrator's rights and
// for a few minutes. The login that hooks use stays as it is.
func runAdminLogin(ctx context.Context, a *app.Run, flags login.Overrides, org string) error {
	l, store, err := a.Login(flags)
	if err != nil {
		return err
	}
	if a.ByAgent(store) {
		return app.ErrAgent
	}
	if org == "" && l.LoggedIn() { // of the org that the other login is of
		c, err := a.Connect(l)
		if err != nil {
			return err
		}
		if me, err := c.Me(ctx); err == nil {
			org = me.Org.Slug
		}
	}
	issued, err := deviceFlow(ctx, a, l, org, true)
	if err != nil {
		return err
	}
	if issued.ExpiresAt == nil {
		return fmt.Errorf("%s is too old for --admin: it made a login that does not end; revoke it in the dashboard, under Settings, Tokens",
			l.Server)
	}
	if err := store.SaveAdmin(login.Admin{Server: l.Server, Token: issued.Token, Until: issued.ExpiresAt.Std()}); err != nil {
		return fmt.Errorf("the login is good but could not be stored: %w", err)
	}
	if a.JSON {
		return a.PrintJSON(map[string]any{"server": l.Server, "expires_at": issued.ExpiresAt})
	}
	fmt.Fprintf(a.Stdout, "Until %s your commands have an administrator's rights on %s. Your agents' do not.\n",
		issued.ExpiresAt.Std().Local().Format("15:04"), l.Server)
	return nil
}

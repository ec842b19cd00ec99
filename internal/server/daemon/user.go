package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops"
)

const userUsage = `usage: svcd user sign-in ADDRESS [flags]
       svcd user unbind ADDRESS [flags]

sign-in prints a link that signs an owner in once, within 15 minutes, though
the OpenID provider or the mail does not work. It shows in the audit log.
unbind takes an account from the OpenID sign-ins it is bound to: the next one
with its verified address has it.
The server may be running. --data, --database and --public-url are as for svcd serve.

Example:
  svcd user unbind ana@example.com
`

// userCommand helps somebody who cannot sign in, from the server's own machine.
func userCommand(ctx context.Context, env Env, args []string) error {
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" {
		fmt.Fprint(env.Stdout, userUsage)
		return nil
	}
	if len(args) < 2 || !shape.IsEmail(args[1]) {
		return usageError{errors.New("say whom: svcd user sign-in ADDRESS, or svcd user unbind ADDRESS")}
	}
	do, email := args[0], args[1]
	if do != "sign-in" && do != "unbind" {
		return usageError{fmt.Errorf("svcd user %s is unknown; there are sign-in and unbind", do)}
	}
	cfg, err := config(env, "user", args[2:])
	if err != nil {
		return err
	}
	st, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer st.Close()
	log := slog.New(slog.DiscardHandler)
	rooms := ops.New(st, eventlog.New(st, log), live.New(st), log, ops.Config{PublicURL: cfg.PublicURL})
	if do == "unbind" {
		n, err := rooms.People.UnbindUser(ctx, email)
		if err == nil {
			fmt.Fprintf(env.Stdout, "%s is bound to no OpenID sign-in any more (was to %d); the next with its verified address has it\n", email, n)
		}
		return err
	}
	link, err := rooms.People.BreakGlass(ctx, email)
	if err == nil {
		fmt.Fprintf(env.Stdout, "Signs %s in once, within 15 minutes: %s\n", email, link)
	}
	return err
}

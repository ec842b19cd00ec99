package cli

import (
	"context"
	"os"

	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/version"
)

// Run runs the client in this process; args come after the program's name.
// Agents wait for svc hook at every edit, so it goes before the command tree.
func Run(ctx context.Context, args []string) int {
	if len(args) > 0 && args[0] == "hook" {
		return runHook(ctx, args[1:])
	}
	return Main(ctx, OS(), args)
}

func runHook(ctx context.Context, args []string) int {
	return hook.Run(ctx, hook.Env{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: version.Version,
		Login: func() (hook.Login, error) { return hookLogin(os.Getenv) },
		ConfigDir: func() (string, error) {
			s, err := login.Locate(os.Getenv)
			return s.Dir, err
		},
	})
}

// hookLogin is the login as hooks need it.
func hookLogin(getenv func(string) string) (hook.Login, error) {
	store, err := login.Locate(getenv)
	if err != nil {
		return hook.Login{}, err
	}
	c, err := store.Load()
	if err != nil {
		return hook.Login{}, err
	}
	l, err := login.Resolve(c, getenv, login.Overrides{})
	if err == nil {
		err = remote.CheckAddress(l.Server, l.Insecure)
	}
	if err != nil {
		return hook.Login{}, err
	}
	return hook.Login{Server: l.Server, Token: l.Token, MachineID: l.MachineID, DataMode: l.DataMode}, nil
}

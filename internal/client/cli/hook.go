package cli

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/version"
)

// Run runs the client in this process; args come after the program's name.
// Agents wait for svc hook at every edit, so it goes before the command tree,
// and without a watch for signals, which costs a thread: a hook that is
// stopped has nothing to put in order.
func Run(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "hook":
			return runHook(context.Background(), args[1:])
		case factsCommand:
			return answerFacts(context.Background(), os.Stdin, os.Stdout)
		case "analyze", "index", "backtest": // they read code
			if companion.Carried() {
				return handOver(args)
			}
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
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
		Base:      gitrepo.Base,
		Analyze:   analyzeEdit,
		Unindexed: startIndex,
	})
}

// analyzeEdit returns the facts about edited files, within what an event may
// take.
func analyzeEdit(ctx context.Context, root string, paths []string) (*coord.Analysis, error) {
	l, err := hookLogin(os.Getenv)
	if err != nil {
		return nil, err
	}
	in := factsRequest{Root: root, Paths: paths, MetadataOnly: l.DataMode == coord.DataMetadataOnly}
	if companion.Carried() {
		return askFacts(ctx, in)
	}
	return in.facts(ctx)
}

// startIndex begins a scan of a repository in a process of its own, which
// outlives the hook.
func startIndex(root string) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.Command(self, "index", "--quiet", "--no-update-check")
	cmd.Dir = root
	detach(cmd)
	if cmd.Start() == nil {
		cmd.Process.Release()
	}
}

// hookLogin is the login as hooks need it.
func hookLogin(getenv func(string) string) (hook.Login, error) {
	store, err := login.Locate(getenv)
	if err != nil {
		return hook.Login{}, err
	}
	store.Patience = 300 * time.Millisecond // nobody types a password into a hook
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

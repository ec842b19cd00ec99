package cli

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/companion"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/client/hook"
	"github.com/svc-hq/svc/internal/client/login"
	"github.com/svc-hq/svc/internal/client/reader"
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
			if !slices.Contains(args, "--help") && !slices.Contains(args, "-h") {
				return runHook(context.Background(), args[1:])
			}
		case "prompt": // at every prompt of a shell
			if len(args) == 1 {
				return printPrompt(os.Stdin, os.Stdout)
			}
		case "analyze", "index", "backtest", "api", "top": // they read code, pick from answers, or draw
			if companion.Carries(companion.Reader) {
				return handOver(args)
			}
		}
		if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--template") }) && companion.Carries(companion.Reader) {
			return handOver(args)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return Main(ctx, OS(), args)
}

// hookCommand is the page of svc hook; Run starts it without the command tree.
func (a *app) hookCommand() *cobra.Command {
	var tool, event string
	cmd := &cobra.Command{
		Use:   "hook --tool HOST --event EVENT",
		Short: "Answer a hook of an agent host",
		Long: "Read what an agent host tells its hooks on standard input, ask the server, and\n" +
			"answer in the host's own words. svc init configures hosts to run it. Whatever\n" +
			"fails, it exits 0 and prints nothing, or once in an outage a line for you, so\n" +
			"that the agent goes on; hook.log in the config folder says why. It exits 2,\n" +
			"with the reason on standard error, only to block an edit in hosts that know no\n" +
			"other way.",
		Example: "  svc hook --tool claude_code --event PreToolUse < payload.json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return &exit{code: runHook(cmd.Context(), []string{"--tool", tool, "--event", event})}
		},
	}
	cmd.Flags().StringVar(&tool, "tool", "", "the agent host, as svc init names it")
	cmd.Flags().StringVar(&event, "event", "", "the host's own name of the event")
	return cmd
}

func runHook(ctx context.Context, args []string) int {
	return hook.Run(ctx, hook.Env{
		Args: args, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Version: version.Version,
		Login: func(fingerprints []string) (hook.Login, error) { return hookLogin(os.Getenv, fingerprints) },
		ConfigDir: func() (string, error) {
			s, err := login.Locate(os.Getenv)
			return s.Dir, err
		},
		Base:      gitrepo.Base,
		Roots:     gitrepo.Roots,
		Analyze:   analyzeEdit,
		Unindexed: startIndex,
	})
}

// analyzeEdit returns the facts about edited files, within what an event may
// take.
func analyzeEdit(ctx context.Context, root, base string, paths, along []string, private bool) (*coord.Analysis, error) {
	return reader.Request{Root: root, Base: base, Paths: paths, Along: along, MetadataOnly: private}.Facts(ctx)
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

// hookLogin is the login as hooks need it, for a repository.
func hookLogin(getenv func(string) string, fingerprints []string) (hook.Login, error) {
	store, err := login.Locate(getenv)
	if err != nil {
		return hook.Login{}, err
	}
	store.Patience = 300 * time.Millisecond // nobody types a password into a hook
	c, err := store.LoadFile()
	if err != nil {
		return hook.Login{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), hookStart)
	defer cancel()
	if s, here, err := localFor(ctx, getenv, store, c, fingerprints); here {
		if err != nil {
			return hook.Login{Local: true}, err
		}
		return hook.Login{Server: s.Server, Token: s.Token, MachineID: store.Machine(), Local: true}, nil
	}
	if c.Keychain {
		if c, err = store.Load(); err != nil {
			return hook.Login{}, err
		}
	}
	l, err := login.Resolve(c, getenv, login.Overrides{})
	if err == nil {
		err = remote.CheckAddress(l.Server, l.Insecure)
	}
	if err != nil {
		return hook.Login{}, err
	}
	if l.MachineID == "" && l.LoggedIn() {
		l.MachineID = store.Machine()
	}
	return hook.Login{Server: l.Server, Token: l.Token, MachineID: l.MachineID, DataMode: l.DataMode,
		Leave: leaveOf(l, store, fingerprints)}, nil
}

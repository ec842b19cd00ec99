package records

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
)

// LeaseCommand leases what is no file, for as long as a command runs.
func LeaseCommand(a *app.Run) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "lease KIND[:NAME] [-- COMMAND...]",
		Short: "Lease a port, a migration number or a shared environment",
		Long: "Lease something that is no file, so that no other agent or person takes it:\n" +
			"port hands out the next free port, migration:FOLDER the next number of a folder\n" +
			"of migrations, and any other KIND:NAME is had by one at a time.\n\n" +
			"With a command, the lease lasts as long as the command runs. The command finds\n" +
			"what it got in SVC_LEASE, and a port in PORT too. Without one, the lease lasts\n" +
			"until its intent is closed. If it is taken, svc lease waits in line.",
		Example: "  svc lease port -- npm run dev\n  svc lease env:staging -- make deploy\n  svc lease migration:db/migrations",
		Args:    term.AtLeast(1, "what to lease, such as port"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); len(args) > 1 && at != 1 {
				return term.Usagef("write -- before the command: svc lease %s -- %s", args[0], strings.Join(args[1:], " "))
			}
			l := lease{Run: a, args: args[1:]}
			return l.run(cmd.Context(), args[0], timeout, cmd.Flags().Changed("timeout"))
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this long in line; without it, never")
	return cmd
}

// A lease is one run of svc lease.
type lease struct {
	*app.Run
	args   []string // the command, if any
	client *remote.Client
	intent coord.Intent
}

func (l *lease) run(ctx context.Context, what string, timeout time.Duration, bounded bool) error {
	key, err := resourceKey(what)
	if err != nil {
		return err
	}
	here, err := l.Here()
	if err != nil {
		return err
	}
	if l.client, _, err = l.Client(); err != nil {
		return err
	}
	title := "svc lease " + what
	if len(l.args) > 0 {
		title += ": " + strings.Join(l.args, " ")
	}
	var out wire.Declared
	if err := l.client.Send(ctx, "POST", "/v1/intents", wire.PostIntent{Separate: true, DeclareIntent: wire.DeclareIntent{
		Title: excerpt.Dots(title, 200), Repo: &here.Fingerprint, Mode: coord.Shared,
		Scope: &coord.ScopeSet{Paths: []string{}, Symbols: []string{}, Contracts: []string{key}}}}, &out); err != nil {
		return err
	}
	l.intent = out.Intent
	if err := l.wait(ctx, timeout, bounded); err != nil {
		return errors.Join(err, l.release(ctx))
	}
	if len(l.args) > 0 {
		return l.while(ctx)
	}
	if l.JSON {
		return l.PrintJSON(l.intent)
	}
	fmt.Fprintln(l.Stdout, peertext.Line(text(l.intent.Leases[0].Name), 200))
	fmt.Fprintf(l.Stderr, "%s is yours until you run: svc intents close %s --abandoned\n",
		peertext.Line(text(l.intent.Leases[0].Resource), 200), l.intent.Ref)
	return nil
}

// resourceKey reads port, env:staging or res:env:staging.
func resourceKey(what string) (string, error) {
	what = strings.TrimPrefix(what, scope.ResourcePrefix)
	if !strings.Contains(what, ":") {
		what += ":*"
	}
	key, err := scope.ParseContract(scope.ResourcePrefix + what)
	if err != nil {
		return "", term.Usagef("%v", err)
	}
	return key, nil
}

// wait returns once the intent has what it asked for.
func (l *lease) wait(ctx context.Context, timeout time.Duration, bounded bool) error {
	end := l.Now().Add(timeout)
	for told := false; ; told = true {
		if len(l.intent.Leases) != 1 || !l.intent.Status.Live() {
			return fmt.Errorf("%s is %s and leases nothing", l.intent.Ref, l.intent.Status)
		}
		got := l.intent.Leases[0]
		if got.Resource != nil {
			return nil
		}
		why := peertext.Line(text(got.Note), 300)
		if r, _ := scope.ParseResource(got.Asked); r.Kind == scope.Migrations && r.Counted() { // numbers never run out: nobody is before it
			return fmt.Errorf("%s has no number yet: %s", peertext.Line(got.Asked, 200), why)
		}
		if bounded && !l.Now().Before(end) {
			return fmt.Errorf("%s is not free: %s", peertext.Line(got.Asked, 200), why)
		}
		if !told {
			fmt.Fprintf(l.Stderr, "%s is not free: %s. Waiting in line; Ctrl-C stops.\n", peertext.Line(got.Asked, 200), why)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lookAgain):
		}
		next, err := l.client.Intent(ctx, l.intent.Ref)
		if err != nil {
			return err
		}
		l.intent = next
	}
}

// while runs the command, and releases what it had once it has ended.
func (l *lease) while(ctx context.Context) error {
	name, key := text(l.intent.Leases[0].Name), text(l.intent.Leases[0].Resource)
	cmd := exec.CommandContext(ctx, l.args[0], l.args[1:]...)
	cmd.Dir = l.Dir
	cmd.Stdin, cmd.Stdout, cmd.Stderr = l.Stdin, l.Stdout, l.Stderr
	cmd.Env = append(os.Environ(), "SVC_LEASE="+name)
	if strings.HasPrefix(key, scope.ResourcePrefix+"port:") {
		cmd.Env = append(cmd.Env, "PORT="+name)
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		err = &term.Exit{Code: max(ended.ExitCode(), 1)}
	}
	if failed := l.release(ctx); failed != nil {
		fmt.Fprintf(l.Stderr, "%s is still leased: %v\n", peertext.Line(key, 200), failed)
	}
	return err
}

// release ends the lease, also where the run was interrupted.
func (l *lease) release(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return l.client.Send(ctx, "POST", "/v1/intents/"+l.intent.Ref+"/close", map[string]any{"outcome": coord.OutcomeAbandoned}, nil)
}

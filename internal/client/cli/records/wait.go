package records

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A waitResult is the JSON of svc wait.
type waitResult struct {
	Target string   `json:"target"`
	Free   bool     `json:"free"`
	By     []string `json:"by"` // who is in the way
}

const lookAgain = 2 * time.Second

func WaitCommand(a *app.Run) *cobra.Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "wait PATH|INT-n|CF-n",
		Short: "Wait until a file, an intent or a conflict is free",
		Long: "Wait until nobody else's work is in the way of a path, an intent has ended, or a\n" +
			"conflict is settled. It exits 0 when it is free and 1 when --timeout has passed\n" +
			"before, so that scripts can build on it.",
		Example: "  svc wait auth/login.go && make deploy\n  svc wait INT-7 --timeout 10m\n  svc wait CF-3 --timeout 0s",
		Args:    term.Exactly(1, "a path, an intent or a conflict"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runWait(cmd.Context(), a, args[0], timeout, cmd.Flags().Changed("timeout"))
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this long; 0s only looks; without it, never")
	completesArgs(a, cmd, "intents", "conflicts", "paths")
	return cmd
}

func runWait(ctx context.Context, a *app.Run, what string, timeout time.Duration, bounded bool) error {
	c, _, err := a.Client()
	if err != nil {
		return err
	}
	look, target, err := looker(a, c, what)
	if err != nil {
		return err
	}
	end := a.Now().Add(timeout)
	for told := false; ; {
		by, err := look(ctx)
		if err != nil {
			return err
		}
		if len(by) == 0 || bounded && !a.Now().Before(end) {
			return waited(a, waitResult{Target: target, Free: len(by) == 0, By: orEmpty(by)})
		}
		if !told && !a.JSON {
			fmt.Fprintf(a.Stderr, "%s is not free: %s. Waiting; Ctrl-C stops.\n", peertext.Path(target), strings.Join(by, ", "))
		}
		told = true
		next := lookAgain
		if bounded {
			next = min(next, max(end.Sub(a.Now()), time.Millisecond))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(next):
		}
	}
}

func waited(a *app.Run, r waitResult) error {
	if a.JSON {
		if err := a.PrintJSON(r); err != nil {
			return err
		}
	} else if r.Free {
		fmt.Fprintf(a.Stdout, "%s is free.\n", peertext.Path(r.Target))
	} else {
		fmt.Fprintf(a.Stdout, "%s is not free: %s.\n", peertext.Path(r.Target), strings.Join(r.By, ", "))
	}
	if !r.Free {
		return &term.Exit{Code: term.ExitError}
	}
	return nil
}

// looker returns how to ask who is in the way of something.
func looker(a *app.Run, c *remote.Client, what string) (look func(context.Context) ([]string, error), target string, err error) {
	switch {
	case isRef(what, "INT-"):
		ref, err := intentRef(what)
		return func(ctx context.Context) ([]string, error) {
			in, err := c.Intent(ctx, ref)
			if err != nil || !in.Status.Live() {
				return nil, err
			}
			return []string{person(&in.Owner) + " (" + string(in.Status) + ")"}, nil
		}, ref, err
	case isRef(what, "CF-"):
		ref, err := conflictRef(what)
		return func(ctx context.Context) ([]string, error) {
			cf, err := c.Conflict(ctx, ref)
			if err != nil || !cf.Status.Live() {
				return nil, err
			}
			return []string{team.Between(cf) + " (" + string(cf.Status) + ")"}, nil
		}, ref, err
	}
	here, err := a.Here()
	if err != nil {
		return nil, what, err
	}
	path, err := a.InRepo(here, what)
	if err != nil {
		return nil, what, err
	}
	return func(ctx context.Context) (by []string, err error) {
		res, err := c.CheckScope(ctx, wire.ScopeCheck{Paths: []string{path}, Symbols: []string{}, Contracts: []string{}, Repo: &here.Fingerprint})
		for _, f := range res.Findings {
			if who := person(f.With.User); !slices.Contains(by, who) {
				by = append(by, who)
			}
		}
		return by, err
	}, what, nil
}

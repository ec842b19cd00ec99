package merging

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/records"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/gitrepo"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

// pushFlags are the flags of svc check --push.
type pushFlags struct {
	on     bool
	strict bool
	repo   string
	pusher string
}

func (f *pushFlags) register(a *app.Run, cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.on, "push", false, "check the commits of a push, in a pre-receive hook")
	cmd.Flags().StringVar(&f.repo, "repo", "", "with --push: the repository's name on the svc server")
	cmd.Flags().StringVar(&f.pusher, "pusher", "", "with --push: email or name of who pushes, as the git server knows them")
	records.Completes(a, cmd, "repo", "repos")
	cmd.Flags().BoolVar(&f.strict, "strict", false, "with --push: refuse the push when the svc server cannot be asked")
}

// runPush answers git's pre-receive hook. A server that cannot be asked lets the
// push through, unless the hook is strict.
func runPush(ctx context.Context, a *app.Run, f pushFlags) error {
	if f.repo == "" {
		return term.Usagef("--push needs --repo, such as --repo acme/shop")
	}
	updates, err := readUpdates(a)
	if err != nil {
		return err
	}
	client, _, err := a.Client()
	if err != nil {
		return unasked(a, f, err)
	}
	f.pusher = cmp.Or(f.pusher, a.Getenv("SVC_PUSHER"))
	refused, answers := false, []wire.PushChecked{}
	for _, u := range updates {
		pushed, err := gitrepo.PushedCommits(ctx, a.Dir, u.old, u.now, u.ref)
		if err != nil {
			return err
		}
		if len(pushed.Paths.Items) == 0 && !pushed.Paths.Cut {
			continue
		}
		in := wire.CheckPush{Repo: f.repo, Branch: strings.TrimPrefix(u.ref, "refs/heads/"), Pusher: f.pusher,
			Paths: pushed.Paths.Items, More: pushed.Paths.Cut}
		if f.pusher == "" {
			in.Emails = pushed.Emails
		}
		res, err := client.CheckPush(ctx, in)
		if err != nil {
			return unasked(a, f, err)
		}
		answers = append(answers, res)
		for _, h := range res.Held {
			fmt.Fprintf(a.Stderr, "svc: %s: %s\n", peertext.Name(in.Branch), peertext.Line(h.Text, 1000))
		}
		refused = refused || res.Decision == wire.Block
	}
	if a.JSON {
		if err := a.PrintJSON(answers); err != nil {
			return err
		}
	}
	if refused {
		fmt.Fprintln(a.Stderr, "svc: the push is refused. It passes when the claim ends or a person overrides the conflict.")
		return &term.Exit{Code: term.ExitError}
	}
	return nil
}

// unasked is what becomes of a push that nobody could be asked about.
func unasked(a *app.Run, f pushFlags, why error) error {
	if f.strict {
		return why
	}
	fmt.Fprintf(a.Stderr, "svc: the push was not checked: %v\n", why)
	return nil
}

// An update is a line of what git tells a pre-receive hook.
type update struct{ old, now, ref string }

func readUpdates(a *app.Run) (out []update, err error) {
	lines := bufio.NewScanner(a.Stdin)
	for lines.Scan() {
		f := strings.SplitN(lines.Text(), " ", 3)
		if len(f) != 3 || !gitrepo.IsID(f[0]) || !gitrepo.IsID(f[1]) {
			return nil, term.Usagef("--push expects what git gives a pre-receive hook: OLD NEW REF, one a line")
		}
		out = append(out, update{f[0], f[1], f[2]})
	}
	return out, lines.Err()
}

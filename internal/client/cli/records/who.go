package records

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/svc-hq/svc/internal/client/cli/app"
	"github.com/svc-hq/svc/internal/client/cli/term"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A presence is who is at work: the person's own agents beside those of
// teammates, of whom alone the server's list of presence speaks.
type presence struct {
	wire.Page[wire.Online]
	Own     []wire.Online `json:"own"`
	Outside []wire.Branch `json:"outside"` // of people who do not use svc
}

func WhoCommand(a *app.Run) *cobra.Command {
	var repo string
	cmd := &cobra.Command{
		Use:   "who",
		Short: "Show whose agents are at work, and on what",
		Long: "Show the agents at work, yours first and then those of your teammates, with\n" +
			"their repository, what they work on and what they said last; then the open pull\n" +
			"requests and pushed branches of people who do not use svc.",
		Example: "  svc who\n  svc who --repo acme/shop --json",
		Args:    term.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return shown(cmd.Context(), a, repo, atWork, func(p presence) {
				if len(p.Own) > 0 {
					fmt.Fprintln(a.Stdout, a.Paint(term.Bold, "Your agents"))
					presenceList.print(a, p.Own, false)
				}
				if len(p.Own) > 0 && len(p.Items) > 0 {
					fmt.Fprintf(a.Stdout, "\n%s\n", a.Paint(term.Bold, "Teammates"))
				}
				if len(p.Own) == 0 || len(p.Items) > 0 {
					presenceList.page(a, p.Page)
				}
				if len(p.Outside) > 0 {
					fmt.Fprintf(a.Stdout, "\n%s\n", a.Paint(term.Bold, "Without svc"))
					branchList.print(a, p.Outside, false)
				}
			})
		},
	}
	cmd.Flags().StringVar(&repo, "repo", "", "only this repo, owner/name")
	Completes(a, cmd, "repo", "repos")
	return cmd
}

func atWork(c *remote.Client, ctx context.Context, repo string) (p presence, err error) {
	if p.Page, err = c.Presence(ctx, repo); err != nil {
		return p, err
	}
	if p.Own, err = ownAgents(ctx, c, repo); err != nil {
		return p, err
	}
	p.Outside, err = c.Branches(ctx, repo)
	return p, err
}

// ownAgents returns the person's own live sessions, in a repo or in all.
func ownAgents(ctx context.Context, c *remote.Client, repo string) ([]wire.Online, error) {
	me, err := c.Me(ctx)
	if err != nil || me.User == nil { // a service token is nobody's
		return []wire.Online{}, err
	}
	sessions, err := c.LiveSessions(ctx)
	return ownOf(sessions, me.User, repo), err
}

// ownOf returns those of a person among sessions.
func ownOf(sessions []coord.Session, me *coord.User, repo string) []wire.Online {
	own := []wire.Online{}
	for _, s := range sessions {
		if me == nil || s.User.ID != me.ID || repo != "" && s.Repo.FullName != repo {
			continue
		}
		own = append(own, wire.Online{SessionID: s.ID, Developer: s.User, Tool: s.Tool, Repo: s.Repo, Branch: s.Branch, Intent: s.Intent,
			Status: s.Status, LastActivity: s.LastHeartbeatAt, StatusText: s.StatusText, StatusAt: s.StatusAt})
	}
	return own
}

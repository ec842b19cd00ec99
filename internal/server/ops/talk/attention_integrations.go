package talk

import (
	"context"
	"fmt"

	"github.com/svc-hq/svc/internal/core/coord"
)

// integrations tells admins which other services do not let us do what we are
// to do there: nobody else would notice before they miss it.
func (a attention) integrations(ctx context.Context) ([]coord.AttentionItem, error) {
	if !a.who.Role.IsAdmin() {
		return nil, nil
	}
	out, err := a.suspended(ctx)
	if err != nil {
		return nil, err
	}
	for _, provider := range []coord.Provider{coord.GitHub, coord.GitLab} {
		t, err := a.tx.HostToken(ctx, provider, a.who.OrgID)
		if err != nil {
			return nil, err
		}
		if t != nil && t.RefusedAt != nil {
			out = append(out, a.broken(string(provider)+" token", *t.RefusedAt, "github", t.Web+" does not take its token any more",
				"Pull requests there are told nothing until another is set."))
		}
	}
	channels, err := a.tx.Slacks(ctx, a.who.OrgID)
	for _, c := range channels {
		if c.LastError != nil && c.LastErrorAt != nil {
			out = append(out, a.broken("slack "+c.ID, *c.LastErrorAt, "slack", "Slack does not take posts", *c.LastError))
		}
	}
	return out, err
}

// suspended tells of GitHub's apps that somebody suspended on an account.
func (a attention) suspended(ctx context.Context) (out []coord.AttentionItem, err error) {
	apps, err := a.tx.GitHubApps(ctx, a.who.OrgID)
	if err != nil {
		return nil, err
	}
	for _, app := range apps {
		rows, err := a.tx.Installations(ctx, app.ID)
		if err != nil {
			return nil, err
		}
		for _, i := range rows {
			if i.Suspended && !i.Gone {
				out = append(out, a.broken(fmt.Sprint("installation ", i.ID), i.ChangedAt, "github",
					fmt.Sprintf("The GitHub app is suspended on %s", i.Account),
					"Its pull requests move no intents and are told of no conflicts until somebody ends that on GitHub; "+
						"what was missed is asked for then."))
			}
		}
	}
	return out, nil
}

// broken is an item about a service that a page of the settings is about.
func (a attention) broken(id string, since coord.Time, page, title, detail string) coord.AttentionItem {
	return coord.AttentionItem{
		ID:      itemID(coord.AttentionIntegration, id, since),
		Kind:    coord.AttentionIntegration,
		Title:   title,
		Detail:  detail,
		Since:   since,
		URL:     a.s.URL("settings", page),
		Actions: []string{"open"},
	}
}

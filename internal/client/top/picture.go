// Package top is the view of a team that one keeps open in a terminal: agents,
// what needs the person, and conflicts, kept current by the live stream. What
// the rows say is worked out in team; what may be done, the server says. It is
// the one package that knows the terminal library, which the lean svc is
// without.
package top

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A Picture is what the view shows at one moment.
type Picture struct {
	Org       string                `json:"org"`
	Agents    []team.Agent          `json:"agents"`
	Needs     []coord.AttentionItem `json:"needs"`
	NeedsAll  int                   `json:"needs_total"`
	Conflicts []coord.Conflict      `json:"conflicts"`
	Colliding int                   `json:"colliding"` // pairs of work, as the dashboard counts them

	live map[string]bool // refs of intents and conflicts that have not ended
}

// maxNeeds is how many the view asks for at once.
const maxNeeds = 50

// Look asks the service for everything, all parts at once.
func Look(ctx context.Context, c *remote.Client) (Picture, error) {
	var (
		all       sync.WaitGroup
		p         = Picture{Agents: []team.Agent{}, Needs: []coord.AttentionItem{}, Conflicts: []coord.Conflict{}, live: map[string]bool{}}
		sessions  []coord.Session
		intents   []coord.Intent
		conflicts []coord.Conflict
		outside   []wire.Branch
		errs      [6]error
	)
	part := func(i int, get func() error) { all.Go(func() { errs[i] = get() }) }
	part(0, func() error {
		me, err := c.Me(ctx)
		p.Org = me.Org.Name
		return err
	})
	part(1, func() (err error) { sessions, err = c.LiveSessions(ctx); return err })
	part(2, func() (err error) { intents, err = c.LiveIntents(ctx); return err })
	part(3, func() (err error) { conflicts, err = c.LiveConflicts(ctx); return err })
	part(4, func() error {
		at, err := c.Attention(ctx, maxNeeds)
		p.Needs, p.NeedsAll = append(p.Needs, at.Items...), at.Total
		return err
	})
	part(5, func() (err error) { outside, err = c.Branches(ctx, ""); return err })
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return p, err
		}
	}
	p.Agents = append(team.Agents(sessions, intents, conflicts), team.OutsideWork(outside)...)
	p.Colliding = team.Pairs(conflicts)
	for _, c := range conflicts {
		p.live[c.Ref] = true
		if team.Matters(c) {
			p.Conflicts = append(p.Conflicts, c)
		}
	}
	slices.SortStableFunc(p.Conflicts, func(a, b coord.Conflict) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(b.Number, a.Number))
	})
	for _, in := range intents {
		p.live[in.Ref] = true
	}
	return p, nil
}

package ground

import (
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// checkHolds refuses what would end, narrow, move or hand over the exclusive
// claim of a live session on the word of anything that is not that session or a
// person. It does not ask whether a conflict stands recorded, nor whose agent
// calls: what an operation did to the claim is all that counts. Package api says
// which operations pass.
func (s *Ground) checkHolds(ctx context.Context, c *Change) error {
	for _, was := range c.Live.Replaced() {
		if keepsHold(was, c.Live.Worker(was.ID)) {
			continue
		}
		if may, err := c.MayFree(ctx, was); may || err != nil {
			return err
		}
		return problem.Newf(problem.Forbidden, "%s is held exclusively by a live session of %s: only that session ends or narrows it, or a "+
			"person at %s", was.Ref(), peertext.QuotedName(was.User.Name), s.PageURL("intent", was.Ref()))
	}
	return nil
}

// MayFree reports whether a change is made on a word that can free what a worker
// holds exclusively.
func (c *Change) MayFree(ctx context.Context, w *engine.Worker) (bool, error) {
	if c.unruled || c.Who.MayFree || c.Who.Via == coord.ViaSystem || w == nil || len(w.Lineages) == 0 {
		return true, nil
	}
	return c.SpeaksAs(ctx, w.Lineages)
}

// keepsHold reports whether a worker still holds all that it held exclusively,
// with the sessions that held it.
func keepsHold(was, now *engine.Worker) bool {
	held := false
	for _, cl := range was.Claims {
		if cl.Mode != coord.Exclusive {
			continue
		}
		held = true
		if now == nil || !slices.ContainsFunc(now.Claims, func(o coord.Claim) bool {
			return o.Mode == coord.Exclusive && o.Kind == cl.Kind && o.Selector == cl.Selector
		}) {
			return false
		}
	}
	if !held {
		return true
	}
	gone := func(lineage string) bool { return !slices.Contains(now.Lineages, lineage) }
	return now.User.ID == was.User.ID && now.Repo.ID == was.Repo.ID && !slices.ContainsFunc(was.Lineages, gone)
}

// SpeaksAs reports whether a call surely comes from one of these lineages. An
// event of a hook comes from its session: its host sent it. Any other call shows
// the session's key. A session whose client has no keys is known by its token,
// as long as no other agent works with it.
func (c *Change) SpeaksAs(ctx context.Context, lineages []string) (bool, error) {
	switch {
	case c.Who.Via == coord.ViaHook:
		sess, err := c.Session(ctx, c.Who.OrgID, c.Who.SessionID)
		return err == nil && slices.Contains(lineages, sess.LineageID), err
	case c.Who.Lineage != "":
		return slices.Contains(lineages, c.Who.Lineage), nil
	case c.Who.TokenID == "" || !c.Who.Personal():
		return false, nil
	}
	agents, err := c.Sessions(ctx, c.Who.OrgID, store.SessionFilter{
		User:    c.Who.UserID,
		Token:   c.Who.TokenID,
		Unended: true,
		Since:   c.Now.Add(-coord.SessionExpiryHours * time.Hour),
	})
	agents = slices.DeleteFunc(agents, func(s store.SessionRow) bool { return s.Tool == wire.DoctorTool || s.Tool == wire.EditorTool })
	other := func(s store.SessionRow) bool { return s.Keyed() || !slices.Contains(lineages, s.LineageID) }
	return len(agents) > 0 && !slices.ContainsFunc(agents, other), err
}

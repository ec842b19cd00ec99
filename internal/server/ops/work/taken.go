package work

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// LeftOn returns an owner's live intent on a branch that a session may take
// up, or nil: the latest that no other live session works on. A caller without
// a session is a person, who means the latest.
func LeftOn(ctx context.Context, c *ground.Change, repo, owner, branch string, session *store.SessionRow) (*store.IntentRow, error) {
	found, err := c.LiveIntentsOn(ctx, c.Who.OrgID, repo, owner, branch)
	if err != nil {
		return nil, err
	}
	for k := range found {
		taken, err := takenFrom(ctx, c, found[k], session)
		if err != nil {
			return nil, err
		}
		if !taken {
			return &found[k], nil
		}
	}
	return nil, nil
}

// takenFrom reports whether a live session of another lineage works on an
// intent, so that this one may not.
func takenFrom(ctx context.Context, c *ground.Change, i store.IntentRow, session *store.SessionRow) (bool, error) {
	if session == nil {
		return false, nil
	}
	at, err := workingOn(ctx, c, i.ID)
	return slices.ContainsFunc(at, func(o store.SessionRow) bool { return o.LineageID != session.LineageID }), err
}

// workingOn returns the live sessions of an intent.
func workingOn(ctx context.Context, c *ground.Change, intent string) ([]store.SessionRow, error) {
	at, err := c.Sessions(ctx, c.Who.OrgID, store.UnendedOn(intent))
	return slices.DeleteFunc(at, func(s store.SessionRow) bool { return s.LastHeartbeatAt <= c.Now.Add(-Expiry) }), err
}

// stillAt refuses to take an intent from a session that works on it: claims
// hold between two agents of one person as between two people.
func stillAt(ctx context.Context, c *ground.Change, i store.IntentRow, sess *store.SessionRow) error {
	at, err := workingOn(ctx, c, i.ID)
	if err != nil {
		return err
	}
	for _, o := range at {
		if o.LineageID != sess.LineageID {
			return problem.Newf(problem.Conflict,
				"another session of yours (%s) works on %s; end it first, or declare an intent of your own", o.Tool, i.Ref)
		}
	}
	return nil
}

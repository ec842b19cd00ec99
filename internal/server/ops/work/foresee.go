package work

import (
	"cmp"
	"context"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// foreseePlace asks for what declaring in a repo asks for, in tx.Foresee.
func (s *Service) foreseePlace(ctx context.Context, tx *store.Tx, who coord.Caller, in wire.DeclareIntent) {
	if in.Repo != nil && *in.Repo != "" {
		FindRepo(ctx, tx, who, *in.Repo)
	}
	repo, branch := s.called.id(who, in.Repo), in.Branch
	if id := *cmp.Or(in.SessionID, &who.SessionID); id != "" {
		tx.Session(ctx, who.OrgID, id)
		ground.ForeseeConflicts(ctx, tx, who.OrgID, id)
		if session, ok := s.Live.LastRead(who.OrgID, id); ok {
			repo, branch = cmp.Or(repo, session.Repo.ID), cmp.Or(branch, session.Branch)
			tx.Changes(ctx, who.OrgID, session.Repo.ID, live.CopyOf(session.Session))
			if session.IntentID != nil {
				foreseeIntent(ctx, tx, who.OrgID, *session.IntentID)
			}
		}
	}
	if repo == "" {
		return
	}
	if in.Mode == coord.Exclusive {
		tx.RepoFiles(ctx, repo)
	}
	if branch != nil {
		tx.LiveIntentsOn(ctx, who.OrgID, repo, who.UserID, *branch)
	}
}

// foreseeIntent asks for an intent and for what settling it asks for, in
// tx.Foresee.
func foreseeIntent(ctx context.Context, tx *store.Tx, org, id string) {
	tx.IntentByID(ctx, org, id)
	tx.Blocking(ctx, org, id)
	ground.ForeseeSettle(ctx, tx, org, id)
}

// names are the ids that repos had under the names that callers know them by, to
// foresee what is asked about them.
type names struct {
	mu  sync.Mutex
	ids map[[2]string]string
}

const maxNames = 10_000 // then it begins anew: what is not foreseen is asked for later

func (n *names) note(who coord.Caller, repo *string, id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.ids == nil || len(n.ids) >= maxNames {
		n.ids = map[[2]string]string{}
	}
	n.ids[calledBy(who, repo)] = id
}

// id returns the id that a repo had, or "".
func (n *names) id(who coord.Caller, repo *string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.ids[calledBy(who, repo)]
}

// calledBy is what a caller calls a repo.
func calledBy(who coord.Caller, repo *string) [2]string {
	if repo == nil {
		return [2]string{who.TokenID, ""}
	}
	return [2]string{who.OrgID, strings.ToLower(*repo)}
}

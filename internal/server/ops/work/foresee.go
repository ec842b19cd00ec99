package work

import (
	"context"
	"strings"
	"sync"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// foreseePlace asks for what declaring in a repo asks for, in tx.Foresee.
func (s *Service) foreseePlace(ctx context.Context, tx *store.Tx, who coord.Caller, in wire.DeclareIntent) {
	if in.Repo != nil && *in.Repo != "" {
		FindRepo(ctx, tx, who, *in.Repo)
	}
	if in.SessionID != nil {
		tx.Session(ctx, who.OrgID, *in.SessionID)
	}
	repo := s.called.id(who, in.Repo)
	if repo == "" {
		return
	}
	if in.Mode == coord.Exclusive {
		tx.RepoFiles(ctx, repo)
	}
	if in.Branch != nil {
		tx.LiveIntentsOn(ctx, who.OrgID, repo, who.UserID, *in.Branch)
	}
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

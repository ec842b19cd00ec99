package moments

import (
	"context"
	"strings"

	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

// lookUp finds the session of an event, nil if it is at no work.
func (s *Service) lookUp(ctx context.Context, e *hookEvent) (*live.Place, error) {
	return s.Live.Session(ctx, e.who.OrgID, e.key(), e.tellsNothingOf, func(ctx context.Context) (*live.Place, error) {
		return s.readPlace(ctx, e)
	})
}

// key is how memory knows the session of an event.
func (e *hookEvent) key() live.SessionKey {
	return live.SessionKey{User: e.who.UserID, Tool: e.Session.Tool, External: e.name(), Remotes: strings.Join(e.remotes, " ")}
}

// readPlace reads the session of an event, or nil if there is none at work.
func (s *Service) readPlace(ctx context.Context, e *hookEvent) (out *live.Place, err error) {
	_, last, _ := s.Live.Remembered(e.who.OrgID, e.key())
	err = s.Read(ctx, func(tx *store.Tx) error {
		if err := tx.Foresee(ctx, func() {
			tx.RepoByRemotes(ctx, e.who.OrgID, e.remotes)
			if last != nil {
				tx.SessionByName(ctx, e.who.OrgID, e.who.UserID, e.Session.Tool, e.name(), last.Repo.ID)
			}
			if last != nil && last.Known() {
				tx.Turned(ctx, last.Session)
			}
		}); err != nil {
			return err
		}
		repo, err := tx.RepoByRemotes(ctx, e.who.OrgID, e.remotes)
		if err != nil || repo == nil || repo.ArchivedAt != nil {
			return err
		}
		sess, err := tx.SessionByName(ctx, e.who.OrgID, e.who.UserID, e.Session.Tool, e.name(), repo.ID)
		if err == nil && sess != nil && sess.EndedAt == nil {
			out = &live.Place{Repo: *repo, Session: *sess}
			out.Turned, err = tx.Turned(ctx, *sess)
		}
		return err
	})
	return out, err
}

// tellsNothingOf reports whether an event only repeats what is known of its
// session: one whose person was asked, and which is at a tool, has its answer.
func (e *hookEvent) tellsNothingOf(p *live.Place) bool {
	if p.Session.AskedAt != nil {
		return false
	}
	same := func(have *string, told string) bool { return told == "" || have != nil && *have == told }
	return p.Session.TokenID == e.who.TokenID && same(p.Session.Branch, e.Repo.Branch) && same(p.Session.WorktreeHash, e.Repo.WorktreeHash)
}

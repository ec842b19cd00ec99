package work

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// CloseIntent ends an intent or hands it off.
func (s *Service) CloseIntent(ctx context.Context, who coord.Caller, in wire.CloseIntent) (wire.HandedOff, error) {
	return s.closeIntent(ctx, who, in.Ref, in.Outcome, in.Note, in.HandoffTo, nil)
}

// CloseIntentTool is CloseIntent as an agent calls it.
func (s *Service) CloseIntentTool(ctx context.Context, who coord.Caller, in wire.IntentClose) (wire.HandedOff, error) {
	return s.closeIntent(ctx, who, string(in.Intent), in.Outcome, in.Note, in.HandoffTo, in.SessionID)
}

func (s *Service) closeIntent(ctx context.Context, who coord.Caller, ref string, outcome coord.Outcome,
	note, to, session *string) (out wire.HandedOff, err error) {
	if outcome == coord.OutcomeHandoff {
		if to == nil {
			return out, problem.InvalidField("handoff_to", "is required with outcome handoff: a member's email")
		}
		return s.handOff(ctx, who, ref, recipient{"handoff_to", *to}, note, session)
	}
	if to != nil {
		return out, problem.InvalidField("handoff_to", "goes with outcome handoff only")
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		i, err := ownIntent(ctx, c, ref)
		if err != nil {
			return err
		}
		if !i.Status.Live() {
			return closedIntent(i)
		}
		if _, err := s.speaksFor(ctx, c, session, i.Repo.ID); err != nil {
			return err
		}
		if note != nil {
			i.Note = note
		}
		status := coord.IntentAbandoned
		if outcome == coord.OutcomeMerged {
			status = coord.IntentMerged
		}
		i.Outcome = &outcome
		if err := End(ctx, c, &i, status, coord.EventIntentClosed); err != nil {
			return err
		}
		out.Intent, err = Show(ctx, c.Tx, i, who)
		return err
	})
	return out, err
}

// End closes an intent: its claims are released, its conflicts go stale, what
// waited for it goes on. Work that was merged is remembered, for those whose
// base is older.
func End(ctx context.Context, c *ground.Change, i *store.IntentRow, status coord.IntentStatus, event coord.EventType) error {
	was := i.Status
	dependents, err := c.Dependents(ctx, i.ID)
	if err != nil {
		return err
	}
	merged, err := dropChanges(ctx, c, *i, status == coord.IntentMerged)
	if err != nil {
		return err
	}
	i.Status, i.ClosedAt, i.BlockedBy = status, c.Now.Ptr(), []coord.Blocker{}
	released := Release(i)
	if err := c.SaveIntent(ctx, i); err != nil {
		return err
	}
	if err := c.ReleaseSessions(ctx, i.ID, ""); err != nil {
		return err
	}
	facts := ground.IntentFacts(*i)
	facts.PreviousStatus = was
	if err := c.TellOf(ctx, event, i.ID, i.Repo.ID, wire.IntentClosedPayload{IntentPayload: facts, Outcome: i.Outcome}); err != nil {
		return err
	}
	c.Live.RemoveWorker(i.ID)
	if _, err := c.Settle(ctx, i.ID); err != nil { // nothing is found of it: all go stale
		return err
	}
	for _, d := range dependents {
		if d.Status.Live() {
			c.Touched[d.ID] = true
			if _, err := c.Settle(ctx, d.ID); err != nil { // dependency_order ends
				return err
			}
		}
	}
	for _, id := range WorkersOn(c, i.Repo.ID, merged) {
		if _, err := c.Settle(ctx, id); err != nil {
			return err
		}
	}
	if err := PassOn(ctx, c, released); err != nil {
		return err
	}
	if err := c.Reblock(ctx); err != nil {
		return err
	}
	clear(c.Touched)
	return nil
}

// dropChanges forgets what an ended intent changed and returns the paths of
// what was merged.
func dropChanges(ctx context.Context, c *ground.Change, i store.IntentRow, merged bool) (paths []string, err error) {
	for _, ch := range c.Live.Changes(i.ID) {
		if merged {
			m := store.MergedRow{RepoID: ch.RepoID, MergeID: i.ID, Facts: ch.Facts, IntentID: &i.ID, At: c.Now}
			if err := c.InsertMerged(ctx, c.Who.OrgID, m); err != nil {
				return nil, err
			}
			c.Live.PutMerged(ch, i, c.Now)
			if err := land(ctx, c, i.Repo, i.Owner, ch.Facts); err != nil {
				return nil, err
			}
			paths = append(paths, ch.Facts.Path)
			if ch.Facts.OldPath != nil {
				paths = append(paths, *ch.Facts.OldPath)
			}
		}
		row := store.ChangeRow{RepoID: ch.RepoID, Copy: ch.Copy, Facts: ch.Facts}
		for _, t := range ch.By {
			if t.Worker != i.ID {
				row.Touched = append(row.Touched, store.Touch(t))
			}
		}
		if len(row.Touched) == 0 {
			row.Facts.Status = coord.FileUnchanged
		}
		if err := c.SaveChange(ctx, c.Who.OrgID, row); err != nil {
			return nil, err
		}
		c.Live.PutChange(live.ChangeOf(row))
		if err := c.TellOf(ctx, coord.EventChangeRecorded, i.ID, ch.RepoID, wire.ChangePayload{
			Copy:  ch.Copy,
			Files: 1,
			Paths: []string{row.Facts.Path},
		}); err != nil {
			return nil, err
		}
	}
	if len(paths) == 0 {
		return nil, nil
	}
	return paths, ground.Emit(ctx, c.Tx, c.Who, ground.Happening{
		Type:    coord.EventContractChanged,
		Subject: coord.Entity{Kind: "repo", ID: i.Repo.ID},
		Repo:    i.Repo.ID,
		Payload: wire.ContractPayload{Paths: paths},
	})
}

// WorkersOn returns the live workers that changed one of the paths.
func WorkersOn(c *ground.Change, repo string, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	var out []string
	for _, id := range c.Live.Workers(repo) {
		for _, ch := range c.Live.Changes(id) {
			if slices.Contains(paths, ch.Facts.Path) || ch.Facts.OldPath != nil && slices.Contains(paths, *ch.Facts.OldPath) {
				out = append(out, id)
				break
			}
		}
	}
	return out
}

// HandOff passes an intent to somebody else.
func (s *Service) HandOff(ctx context.Context, who coord.Caller, in wire.HandOff) (wire.HandedOff, error) {
	return s.handOff(ctx, who, in.Ref, recipient{"to", in.To}, in.Note, nil)
}

// HandOffTool is HandOff as an agent calls it: by default of the intent it is
// working on.
func (s *Service) HandOffTool(ctx context.Context, who coord.Caller, in wire.IntentHandoff) (wire.HandedOff, error) {
	ref := ""
	if in.Ref != nil {
		ref = string(*in.Ref)
	}
	return s.handOff(ctx, who, ref, recipient{"to", in.To}, in.Note, in.SessionID)
}

// A recipient is whom an intent is handed to, and the field that names them.
type recipient struct{ field, email string }

func (s *Service) handOff(ctx context.Context, who coord.Caller, ref string, to recipient,
	note, session *string) (out wire.HandedOff, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		if ref == "" {
			acting, err := s.ActingSession(ctx, c.Tx, who, session, "")
			if err != nil {
				return err
			}
			if acting == nil || acting.Intent == nil {
				return problem.InvalidField("ref", "is required: you have no current intent")
			}
			ref = acting.Intent.Ref
		}
		i, err := ownIntent(ctx, c, ref)
		if err != nil {
			return err
		}
		if _, err := s.speaksFor(ctx, c, session, i.Repo.ID); err != nil {
			return err
		}
		if out.Handoff, err = handTo(ctx, c, &i, to, note); err != nil {
			return err
		}
		out.Intent, err = Show(ctx, c.Tx, i, who)
		return err
	})
	return out, err
}

func handTo(ctx context.Context, c *ground.Change, i *store.IntentRow, to recipient, note *string) (*coord.Handoff, error) {
	if !i.Status.Live() {
		return nil, closedIntent(*i)
	}
	m, err := c.MemberByEmail(ctx, c.Who.OrgID, to.email)
	if err != nil {
		return nil, err
	}
	switch {
	case !m.Role.CanOwnIntents():
		return nil, problem.InvalidField(to.field, "%s has the role %s, which cannot own intents", m.Email, m.Role)
	case m.ID == i.Owner.ID:
		return nil, problem.Newf(problem.Conflict, "%s is %s's already", i.Ref, peertext.QuotedName(m.Name))
	}
	from := i.Owner
	about := &coord.About{Kind: "intent", Ref: i.Ref}
	body, reader := "Handed "+i.Ref+" to you.", m.User
	if c.Who.UserID == m.ID { // taken, so it is the other who has to hear of it
		body, reader = "Took "+i.Ref+" over from you.", from
	}
	if note != nil && *note != "" {
		body += "\n\n" + *note
	}
	subject := "Handoff of " + i.Ref
	msg, err := ground.Post(ctx, c.Tx, c.Who, ground.Letter{
		Thread:      store.DirectThread([]string{from.ID, m.ID}, about, &subject),
		To:          "user:" + reader.Email,
		Subject:     &subject,
		Body:        body,
		RequiresAck: false,
		About:       about,
		Recipients:  []string{reader.ID},
	})
	if err != nil {
		return nil, err
	}
	h := coord.Handoff{
		ID:        ground.NewID(),
		Intent:    i.Ref,
		From:      from,
		To:        m.User,
		Note:      note,
		ThreadID:  &msg.ConversationID,
		MessageID: &msg.ID,
		CreatedAt: c.Now,
	}
	if err := c.InsertHandoff(ctx, c.Who.OrgID, i.ID, h); err != nil {
		return nil, err
	}
	if err := c.ReleaseSessions(ctx, i.ID, from.ID); err != nil {
		return nil, err
	}
	i.Owner, i.SessionID, i.LastActivityAt = m.User, nil, c.Now
	if err := c.SaveIntent(ctx, i); err != nil {
		return nil, err
	}
	if err := c.TellOf(ctx, coord.EventIntentHandedOff, i.ID, i.Repo.ID,
		wire.IntentHandedOffPayload{IntentPayload: ground.IntentFacts(*i), FromID: from.ID, ToID: m.ID}); err != nil {
		return nil, err
	}
	if err := staleWith(ctx, c, *i, m.ID); err != nil {
		return nil, err
	}
	_, err = AfterIntent(ctx, c, i)
	return i.Handoff, err
}

// staleWith ends the conflicts between an intent and its new owner's other
// work: both sides are one person's now. What a live session holds exclusively
// it holds against that person's other agents, too, so such a conflict ends on
// the word of that session or of a person only.
func staleWith(ctx context.Context, c *ground.Change, i store.IntentRow, owner string) error {
	rows, err := c.Conflicts(ctx, c.Who.OrgID, store.ConflictFilter{Worker: i.ID, User: owner, Statuses: coord.LiveConflictStatuses()})
	if err != nil {
		return err
	}
	how := coord.ResolvedHandedOver
	for k := range rows {
		if rows[k].Kind == coord.ExclusiveClaim {
			if may, err := c.MayFree(ctx, c.Live.Worker(rows[k].Holder)); err != nil {
				return err
			} else if !may {
				continue
			}
		}
		if err := c.CloseConflict(ctx, &rows[k], coord.ConflictStale, &how); err != nil {
			return err
		}
	}
	return nil
}

// AdoptIntentFor is AdoptIntent for a person, who names the session.
func (s *Service) AdoptIntentFor(ctx context.Context, who coord.Caller, in wire.AdoptIntent) (wire.Declared, error) {
	return s.AdoptIntent(ctx, who, wire.IntentAdopt{Ref: wire.IntentRef(in.Ref), SessionID: &in.SessionID})
}

// AdoptIntent binds the calling session to an intent that was handed to the
// caller: its claims, changes and conflicts become that session's.
func (s *Service) AdoptIntent(ctx context.Context, who coord.Caller, in wire.IntentAdopt) (out wire.Declared, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		i, err := FindIntent(ctx, c.Tx, who, string(in.Ref))
		if err != nil {
			return err
		}
		sess, err := s.ActingSession(ctx, c.Tx, who, in.SessionID, i.Repo.ID)
		switch {
		case err != nil:
			return err
		case i.Owner.ID != who.UserID:
			return problem.Newf(problem.Forbidden, "%s belongs to %s; ask them to hand it off to you", i.Ref, peertext.QuotedName(i.Owner.Name))
		case !i.Status.Live():
			return closedIntent(i)
		case sess == nil:
			return problem.InvalidField("session_id", "is required: call this from an agent session in %s", peertext.Quoted(i.Repo.FullName))
		case sess.Repo.ID != i.Repo.ID:
			return problem.InvalidField("session_id", "is a session in %s; %s is in %s", peertext.Quoted(sess.Repo.FullName), i.Ref,
				peertext.Quoted(i.Repo.FullName))
		}
		if err := stillAt(ctx, c, i, sess); err != nil {
			return err
		}
		c.Who.SessionID = sess.ID
		if err := Bind(ctx, c, *sess, i); err != nil {
			return err
		}
		i.SessionID, i.LastActivityAt = &sess.ID, c.Now
		if i.Handoff != nil && i.Handoff.AdoptedAt == nil {
			if err := c.AdoptHandoff(ctx, i.Handoff.ID); err != nil {
				return err
			}
		}
		if err := c.SaveIntent(ctx, &i); err != nil {
			return err
		}
		if err := TellIntent(ctx, c, coord.EventIntentAdopted, i); err != nil {
			return err
		}
		if out.Met, err = answerWith(ctx, c, &i, sess); err != nil {
			return err
		}
		out.Intent, err = Show(ctx, c.Tx, i, who)
		return err
	})
	return out, err
}

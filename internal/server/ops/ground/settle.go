package ground

import (
	"context"
	"reflect"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
)

// A Change is a write that acts on what is live: a transaction and the org's
// index as it sees it.
type Change struct {
	*store.Tx
	Live *live.Draft
	Who  coord.Caller
	// touched are the intents whose blockers may have changed.
	Touched map[string]bool
	// known are intents as they were saved, as long as nothing else can be about
	// them, so that there is nothing to be asked.
	known   map[string]known
	unruled bool // see Ground.Unruled
	// last is what was found when somebody was settled last.
	last struct {
		worker string
		tries  int
		found  []engine.Finding
	}
}

// Findings returns what a worker collides with: as it was found when it was
// settled, if nothing was tried since.
func (c *Change) Findings(workerID string) []engine.Finding {
	if c.last.worker != workerID || c.last.tries != c.Live.Tries() {
		found := slices.DeleteFunc(engine.Detect(c.Live.View(), workerID), func(f engine.Finding) bool { return f.Untold() })
		c.last.worker, c.last.tries, c.last.found = workerID, c.Live.Tries(), found
	}
	return c.last.found
}

// Alter runs fn in a transaction of the caller's org with its live index, and
// at the end brings the conflicts of whoever fn touched, and the intents that
// these block, up to date. asks are what fn is known to ask for: they are asked
// together.
func (s *Ground) Alter(ctx context.Context, who coord.Caller, fn func(*Change) error, asks ...func(*store.Tx)) error {
	var last *Change // of the tries, the one that was committed
	err := s.Write(ctx, who, func(tx *store.Tx) error {
		if err := s.foresee(ctx, tx, who, asks); err != nil {
			return err
		}
		if err := tx.LookForLeases(ctx, who.OrgID, s.Leases.Replica()); err != nil {
			return err
		}
		// The caller was read before this transaction, maybe by a replica that
		// had not heard of the change: what may be stored is decided here.
		org, err := tx.Org(ctx, who.OrgID)
		if err != nil {
			return err
		}
		who := who
		who.DataMode = org.DataMode
		return s.Live.Within(ctx, tx, who.OrgID, func(d *live.Draft) error {
			c := &Change{Tx: tx, Live: d, Who: who, Touched: map[string]bool{}, known: map[string]known{}, unruled: s.Unruled}
			last = c
			keeps, err := c.keeps(ctx)
			if err != nil {
				return err
			}
			if err := fn(c); err != nil {
				return err
			}
			if err := c.settleDisturbed(ctx); err != nil {
				return err
			}
			if err := s.checkKeeps(ctx, c, keeps); err != nil {
				return err
			}
			if err := s.checkHolds(ctx, c); err != nil {
				return err
			}
			return c.Reblock(ctx)
		})
	})
	if err == nil && last != nil {
		s.Live.Took(who.OrgID, last.own())
	}
	return err
}

// foresee asks for what every change begins with, and for what asks ask for, in
// one go.
func (s *Ground) foresee(ctx context.Context, tx *store.Tx, who coord.Caller, asks []func(*store.Tx)) error {
	return tx.Foresee(ctx, func() {
		tx.Org(ctx, who.OrgID)
		s.Live.Foresee(ctx, tx, who.OrgID)
		tx.LookForLeases(ctx, who.OrgID, s.Leases.Replica())
		if !opensNothing(who) && who.Personal() {
			tx.KeptOut(ctx, who.OrgID, who.UserID)
		}
		for _, ask := range asks {
			ask(tx)
		}
	})
}

// settleDisturbed settles whoever's findings may have changed, and whoever that
// disturbs in turn.
func (c *Change) settleDisturbed(ctx context.Context) error {
	for ids := c.Live.Disturbed(); len(ids) > 0; ids = c.Live.Disturbed() {
		for _, id := range ids {
			if _, err := c.Settle(ctx, id); err != nil {
				return err
			}
		}
	}
	return nil
}

// TellOf writes an event about one record.
func (c *Change) TellOf(ctx context.Context, t coord.EventType, id, repo string, payload any) error {
	return Tell(ctx, c.Tx, c.Who, t, id, repo, payload)
}

// PutIntent makes the draft index know an intent as it now is.
func (c *Change) PutIntent(ctx context.Context, i store.IntentRow) error {
	if !i.Status.Live() {
		c.Live.RemoveWorker(i.ID)
		return nil
	}
	at, ok := c.known[i.ID]
	if !ok {
		var err error
		if at.sessions, err = c.Sessions(ctx, c.Who.OrgID, store.UnendedOn(i.ID)); err != nil {
			return err
		}
	}
	for _, s := range at.sessions {
		c.Live.RemoveWorker(s.ID) // bound now, so no worker of its own
	}
	c.Live.PutWorker(live.IntentWorker(i, at.sessions))
	return nil
}

// Settle brings the stored conflicts of a worker in line with what the engine
// finds now: new ones are opened, known ones updated, those that are gone
// resolved. It returns the worker's live conflicts.
func (c *Change) Settle(ctx context.Context, workerID string) ([]store.ConflictRow, error) {
	c.Live.Settled(workerID)
	if c.Live.Worker(workerID) == nil { // its work is over, and with it what was handed over of it
		if err := c.DeleteWorkersPatches(ctx, c.Who.OrgID, workerID); err != nil {
			return nil, err
		}
	}
	findings := c.Findings(workerID)
	var known []store.ConflictRow
	if !c.known[workerID].fresh {
		var err error
		if known, err = c.Conflicts(ctx, c.Who.OrgID, liveOf(workerID)); err != nil {
			return nil, err
		}
	}
	at := make(map[string]int, len(known))
	for i, k := range known {
		at[k.Fingerprint] = i
	}
	var fresh []string
	for _, f := range findings {
		if _, ok := at[f.Fingerprint]; !ok {
			fresh = append(fresh, f.Fingerprint)
		}
	}
	numbers, err := c.numbersFor(ctx, fresh)
	if err != nil {
		return nil, err
	}
	var out []store.ConflictRow
	found := make(map[string]bool, len(findings))
	for i := range findings {
		f := &findings[i]
		found[f.Fingerprint] = true
		var row store.ConflictRow
		if i, ok := at[f.Fingerprint]; ok {
			row = known[i]
			err = c.RefreshConflict(ctx, &row, f)
		} else {
			row, err = c.openConflict(ctx, f, "", numbers)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	for _, k := range known {
		if found[k.Fingerprint] {
			continue
		}
		if c.stillAttempted(k) {
			out = append(out, k)
			continue
		}
		if err := c.endConflict(ctx, k); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func liveOf(worker string) store.ConflictFilter {
	return store.ConflictFilter{Worker: worker, Statuses: coord.LiveConflictStatuses(), History: true}
}

// stillAttempted reports whether an edit that was attempted, and of which
// nothing is recorded, would still run into a conflict.
func (c *Change) stillAttempted(k store.ConflictRow) bool {
	w := c.Live.Worker(k.AttemptedBy)
	if k.AttemptedBy == "" || w == nil {
		return false
	}
	e := engine.Edit{Worker: w, Session: w.Session}
	for _, ev := range k.Evidence {
		if ev.Path != nil && !slices.Contains(e.Paths, *ev.Path) {
			e.Paths = append(e.Paths, *ev.Path)
		}
	}
	return slices.ContainsFunc(engine.Decide(c.Live.View(), e).Findings, func(f engine.Finding) bool { return f.Fingerprint == k.Fingerprint })
}

// fill writes a finding into a conflict, but for what it says to its sides.
func (c *Change) fill(row *store.ConflictRow, f *engine.Finding) {
	row.Kind, row.Severity = f.Kind, f.Severity
	row.Repo, row.CrossRepo, row.DependentRepo = f.Repo, f.CrossRepo, f.DependentRepo
	row.Holder, row.Challenger = f.Holder.ID, f.Challenger.ID
	row.HolderUser, row.ChallengerUser = f.Holder.User.ID, f.Challenger.User.ID
	row.Parties = partiesOf(f)
	if !f.Attempted {
		row.AttemptedBy = ""
	}
	row.Evidence, row.Keys, row.Fingerprint = f.Evidence, f.Keys, f.Fingerprint
	row.Explanation, row.Suggestion = engine.Explain(*f, "", 0)
}

// voicesOf returns what a finding says to its sides. Signatures are left out,
// as in the record: they are in the evidence, from which they can be cleared.
func voicesOf(f *engine.Finding) (v store.Voices) {
	plain := engine.WithoutForms(*f)
	v.Gone = f.Kind == coord.ExclusiveClaim && f.Holder.Gone > 0
	if f.Holder.Live() {
		v.Holder.Explanation, v.Holder.Suggestion = engine.Explain(plain, f.Holder.ID, 0)
	}
	if f.Challenger.Live() {
		v.Challenger.Explanation, v.Challenger.Suggestion = engine.Explain(plain, f.Challenger.ID, 0)
	}
	return v
}

func partiesOf(f *engine.Finding) []coord.Party {
	return []coord.Party{PartyOf(coord.Holder, f.Holder), PartyOf(coord.Challenger, f.Challenger)}
}

// PartyOf returns a worker as a side of a conflict.
func PartyOf(role coord.PartyRole, w *engine.Worker) coord.Party {
	p := coord.Party{Role: role, Repo: w.Repo}
	if w.User.ID != "" {
		u := w.User
		p.User = &u
	}
	if w.Intent != nil && w.Intent.Number > 0 {
		p.Intent = &coord.IntentName{Ref: w.Ref(), Number: w.Intent.Number, Status: w.Intent.Status}
		if w.Intent.Status != coord.IntentDraft {
			title := w.Intent.Title
			p.Intent.Title = &title
		}
	}
	if w.Session != "" {
		id := w.Session
		p.SessionID = &id
	}
	if w.Branch != "" {
		b := w.Branch
		p.Branch = &b
	}
	p.Outside = w.Outside
	return p
}

// OpenConflict records a new conflict. If it rests on an edit that was only
// attempted, by is the worker who tried.
func (c *Change) OpenConflict(ctx context.Context, f *engine.Finding, by string) (row store.ConflictRow, err error) {
	numbers, err := c.numbersFor(ctx, []string{f.Fingerprint})
	if err != nil {
		return row, err
	}
	return c.openConflict(ctx, f, by, numbers)
}

// numbers are for conflicts that are about to be opened, with the last one of
// each fingerprint.
type numbers struct {
	next int
	last map[string]*store.ConflictRow
}

func (c *Change) numbersFor(ctx context.Context, fingerprints []string) (*numbers, error) {
	if len(fingerprints) == 0 {
		return nil, nil
	}
	last, err := c.LastConflicts(ctx, c.Who.OrgID, fingerprints)
	if err != nil {
		return nil, err
	}
	next, err := c.ConflictNumbers(ctx, c.Who.OrgID, len(fingerprints))
	return &numbers{next, last}, err
}

func (c *Change) openConflict(ctx context.Context, f *engine.Finding, by string, n *numbers) (row store.ConflictRow, err error) {
	last := n.last[f.Fingerprint]
	delete(c.known, f.Holder.ID)
	delete(c.known, f.Challenger.ID)
	row.AttemptedBy = by
	row.ID, row.OrgID, row.Status, row.FirstSeenAt = NewID(), c.Who.OrgID, coord.ConflictOpen, c.Now
	var order *coord.ActionTaken
	if last != nil {
		row.Previous = &last.Ref
		if order, err = c.agreedOrder(ctx, *last); err != nil {
			return row, err
		}
	}
	if order != nil { // what the sides agreed on holds when it returns
		row.Status = coord.ConflictResolving
	}
	row.Number, n.next = n.next, n.next+1
	row.Ref = coord.ConflictRef(row.Number)
	c.fill(&row, f)
	row.Voices = voicesOf(f)
	if err := c.SaveConflict(ctx, &row); err != nil {
		return row, err
	}
	c.touch(row)
	if order != nil {
		if err := c.InsertAction(ctx, NewID(), row.ID, *order); err != nil {
			return row, err
		}
		row.Actions = append(row.Actions, *order)
	}
	if err := c.tellUnattended(ctx, false, row); err != nil {
		return row, err
	}
	return row, c.TellOf(ctx, coord.EventConflictDetected, row.ID, row.Repo.ID,
		wire.ConflictDetectedPayload{ConflictPayload: ConflictFacts(row), Previous: row.Previous})
}

// tellUnattended asks whoever holds a claim for a sign of life, once it stands
// in somebody's way and its last session has ended.
func (c *Change) tellUnattended(ctx context.Context, before bool, row store.ConflictRow) error {
	if before || !row.Voices.Gone {
		return nil
	}
	return c.TellOf(ctx, coord.EventIntentUnattended, row.Holder, row.Repo.ID,
		wire.IntentUnattendedPayload{Conflict: row.Ref, OwnerID: row.HolderUser})
}

// agreedOrder returns the order that was proposed for a conflict which ended
// by itself, if one was.
func (c *Change) agreedOrder(ctx context.Context, last store.ConflictRow) (*coord.ActionTaken, error) {
	if last.Status != coord.ConflictStale && (last.Resolution == nil || *last.Resolution != coord.ResolvedCleared) {
		return nil, nil
	}
	full, err := c.Conflict(ctx, c.Who.OrgID, last.Number)
	if err != nil {
		return nil, err
	}
	return Order(full.Actions), nil
}

// Order returns the latest order that was proposed, or nil.
func Order(actions []coord.ActionTaken) *coord.ActionTaken {
	for _, a := range slices.Backward(actions) {
		if a.Action == coord.ActionProposeSequence || a.Action == coord.ActionWillRebase {
			return &a
		}
	}
	return nil
}

// RefreshConflict makes a live conflict say what is true now; an event tells
// of it if there is more evidence, another form of it, or another severity.
func (c *Change) RefreshConflict(ctx context.Context, row *store.ConflictRow, f *engine.Finding) error {
	old := *row
	if f.Attempted && row.AttemptedBy == "" {
		return nil // what is recorded says more than the attempt
	}
	c.fill(row, f)
	changed := !reflect.DeepEqual(old.Evidence, row.Evidence) || !slices.Equal(old.Keys, row.Keys)
	if !changed && old.Severity == row.Severity && old.Explanation == row.Explanation && old.AttemptedBy == row.AttemptedBy &&
		reflect.DeepEqual(old.Parties, row.Parties) {
		return nil
	}
	row.Voices = voicesOf(f)
	if err := c.SaveConflict(ctx, row); err != nil {
		return err
	}
	c.touch(old)
	c.touch(*row)
	grown := engine.Grown(old.Keys, row.Keys)
	told := grown || old.Severity != row.Severity || old.HolderUser != row.HolderUser || old.ChallengerUser != row.ChallengerUser ||
		!slices.Equal(engine.FormsOf(old.Evidence), engine.FormsOf(row.Evidence)) || old.Explanation != row.Explanation && !changed
	if !told {
		return nil
	}
	if err := c.tellUnattended(ctx, old.Voices.Gone, *row); err != nil {
		return err
	}
	return c.TellOf(ctx, coord.EventConflictUpdated, row.ID, row.Repo.ID,
		wire.ConflictUpdatedPayload{ConflictPayload: ConflictFacts(*row), PreviousSeverity: old.Severity, Grown: grown})
}

// endConflict closes a conflict that is no longer found: cleared if both sides
// are still at work, stale if one of them ended.
func (c *Change) endConflict(ctx context.Context, row store.ConflictRow) error {
	gone := func(id string) bool { return id != "" && c.Live.Worker(id) == nil }
	if gone(row.Holder) || gone(row.Challenger) {
		return c.CloseConflict(ctx, &row, coord.ConflictStale, nil)
	}
	cleared := coord.ResolvedCleared
	return c.CloseConflict(ctx, &row, coord.ConflictResolved, &cleared)
}

// CloseConflict ends a conflict as somebody or something resolved it.
func (c *Change) CloseConflict(ctx context.Context, row *store.ConflictRow, status coord.ConflictStatus, how *coord.Resolution) error {
	row.Status, row.Resolution, row.ClosedAt = status, how, c.Now.Ptr()
	if err := c.SaveConflict(ctx, row); err != nil {
		return err
	}
	if s, ok := live.SuppressionOf(row.Lasting()); ok {
		c.Live.Suppress(s)
	}
	c.touch(*row)
	if err := c.unwantFree(ctx, row.Challenger); err != nil {
		return err
	}
	t := coord.EventConflictResolved
	switch status {
	case coord.ConflictStale:
		t = coord.EventConflictStale
	case coord.ConflictOverridden:
		t = coord.EventConflictOverridden
	}
	return c.TellOf(ctx, t, row.ID, row.Repo.ID, wire.ConflictEndedPayload{ConflictPayload: ConflictFacts(*row), Resolution: how})
}

// unwantFree forgets the refused paths of an intent that nobody keeps it out
// of any more: they are not what it works on.
func (c *Change) unwantFree(ctx context.Context, intent string) error {
	w := c.Live.Worker(intent)
	if w == nil {
		return nil
	}
	return c.Unwant(ctx, intent, func(path string) bool { return !engine.KeptOut(c.Live.View(), w, path) })
}

// ConflictFacts is what every event about a conflict says of it.
func ConflictFacts(row store.ConflictRow) wire.ConflictPayload {
	return wire.ConflictPayload{Ref: row.Ref, Kind: row.Kind, Severity: row.Severity, Status: row.Status, Fingerprint: row.Fingerprint,
		Holder: row.Holder, Challenger: row.Challenger, Users: []string{row.HolderUser, row.ChallengerUser}}
}

// IntentFacts is what every event about an intent says of it.
func IntentFacts(i store.IntentRow) wire.IntentPayload {
	return wire.IntentPayload{Ref: i.Ref, Status: i.Status, OwnerID: i.Owner.ID, Mode: i.EffectiveMode}
}

// EndAndSettle ends a session that does not say so itself, and settles what it
// was part of.
func (c *Change) EndAndSettle(ctx context.Context, x store.SessionRow, at coord.Time, why wire.SessionEndedPayload) error {
	if err := c.EndSession(ctx, x.ID, at); err != nil {
		return err
	}
	if err := c.TellOf(ctx, coord.EventSessionEnded, x.ID, x.Repo.ID, why); err != nil {
		return err
	}
	c.Live.RemoveWorker(x.ID)
	if x.IntentID != nil {
		i, err := c.IntentByID(ctx, c.Who.OrgID, *x.IntentID)
		if err != nil {
			return err
		}
		if err := c.PutIntent(ctx, i); err != nil {
			return err
		}
		_, err = c.Settle(ctx, i.ID)
		return err
	}
	_, err := c.Settle(ctx, x.ID)
	return err
}

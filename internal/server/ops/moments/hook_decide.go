package moments

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/ruling"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/trail"
)

// hookDecide answers whether an edit may go on, within the time that its agent
// waits since it asked: from memory where the rest takes longer. That is then
// carried out after the answer. What is allowed, as most edits are, costs a look
// at what is at hand, and writes nothing.
func (s *Service) hookDecide(ctx context.Context, e *hookEvent) (wire.HookReply, error) {
	if reply, free := s.freeAtHand(ctx, e); free {
		return reply, nil
	}
	return s.hookInTime(ctx, e)
}

// freeAtHand answers an edit that nothing is in the way of, if what is known of
// its session and its org is surely current.
func (s *Service) freeAtHand(ctx context.Context, e *hookEvent) (reply wire.HookReply, free bool) {
	_, step := trail.In(ctx, trail.Index)
	defer step.End()
	s.Live.AtHand(e.who.OrgID, e.key(), func(ix *engine.Index, at *live.Place) {
		if e.recordsNothing(at) {
			reply, free = s.free(e, ix, at)
		}
	})
	return reply, free
}

// hookInTime looks, and answers from memory where that takes too long.
func (s *Service) hookInTime(ctx context.Context, e *hookEvent) (wire.HookReply, error) {
	type answer struct {
		reply wire.HookReply
		err   error
		told  *store.Noted
	}
	done := make(chan answer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordFor)
		defer cancel()
		ctx, noted := store.Noting(ctx)
		a := answer{told: noted}
		defer func() {
			if broken := recover(); broken != nil {
				a.err = fmt.Errorf("panic while deciding: %v\n%s", broken, debug.Stack())
			}
			done <- a
		}()
		a.reply, a.err = s.hookLook(ctx, e)
	}()
	late := time.NewTimer(s.Doubt - trail.Of(ctx).Age())
	defer late.Stop()
	select {
	case a := <-done:
		store.Note(ctx, *a.told)
		return a.reply, a.err
	case <-ctx.Done():
		return wire.HookReply{}, ctx.Err()
	case <-late.C:
		return s.fromMemory(e), nil
	}
}

// hookLook decides, once it is sure of what it knows.
func (s *Service) hookLook(ctx context.Context, e *hookEvent) (reply wire.HookReply, err error) {
	at, err := s.lookUp(ctx, e)
	if err != nil {
		return s.unsure(ctx, e, err)
	}
	free := false
	if at != nil && e.recordsNothing(at) {
		err = s.Live.Recall(ctx, e.who.OrgID, func(ix *engine.Index) error {
			reply, free = s.free(e, ix, at)
			return nil
		})
	}
	if err != nil || free {
		return reply, err
	}
	return s.hookAnswer(ctx, e, at)
}

// recordsNothing reports whether an answer that lets an edit go on is all that
// comes of an event: it tells nothing new of its session, nor is its agent to be
// told of anything.
func (e *hookEvent) recordsNothing(at *live.Place) bool {
	return e.FailOpens == 0 && e.StaleWrites == 0 && e.tellsNothingOf(at) && (!at.Turned || e.Session.Deaf)
}

// free lets an edit go on if nothing is in its way.
func (s *Service) free(e *hookEvent, ix *engine.Index, at *live.Place) (reply wire.HookReply, free bool) {
	now := s.Store.Now()
	s.work.Beats.Note(e.who.OrgID, at.Session.ID, now)
	reply = ruling.Allowed()
	reply.SessionID, reply.IndexVersion = &at.Session.ID, at.Repo.IndexVersion
	if n := at.Session.Intent; n != nil {
		reply.Intent = &wire.HookIntent{Number: n.Number, Ref: n.Ref, Status: n.Status}
	}
	if sweeps := ruling.SweepsOf(e.HookRequest); len(e.Paths)+len(e.Folders)+len(sweeps) > 0 {
		p := work.Place{Repo: at.Repo, Session: &at.Session}
		edit := editOf(e, p.Worker(ix, *e.who), &at.Session, now)
		d := engine.Decide(ix, edit)
		if d.Action != engine.Allow || engine.Guard(ix, edit, sweeps).Action != engine.Allow {
			return reply, false
		}
		rules, _ := ix.Rules(at.Repo.ID)
		reply.WantLines, reply.StaleWrite = d.WantLines, staleWrite(rules)
	}
	return reply, true
}

// recordFor is how long the record of an answer is tried for.
const recordFor = 15 * time.Second

// unsure answers an edit about which the database could not be asked.
func (s *Service) unsure(ctx context.Context, e *hookEvent, err error) (wire.HookReply, error) {
	var p *problem.Error
	if ctx.Err() != nil || !errors.As(err, &p) || p.Kind != problem.Unavailable {
		return wire.HookReply{}, err
	}
	return s.fromMemory(e), nil
}

// fromMemory answers an edit when the database does not, in time. What is known
// to be claimed is refused. Else it goes on, since a service that is down must
// not keep anybody from working, and its agent is told that nobody looked.
func (s *Service) fromMemory(e *hookEvent) wire.HookReply {
	reply := ruling.Allowed()
	if ix, at, age := s.Live.Remembered(e.who.OrgID, e.key()); at != nil {
		if at.Known() {
			reply.SessionID = &at.Session.ID
		}
		reply.IndexVersion = at.Repo.IndexVersion
		if reason := s.claimed(e, ix, at); reason != "" {
			if age > 2*time.Second { // less is no news: the database is slow
				reason += fmt.Sprintf(" This is as of %d seconds ago: svc's database does not answer.", int(age.Seconds()))
			}
			ruling.Refuse(&reply, reason)
			return reply
		}
	}
	reply.Unchecked = wire.UncheckedDatabase
	reply.InjectContext = "svc could not check this edit: its database did not answer in time. Others may be at work in the same place."
	return reply
}

// claimed returns why an edit is refused by claims that are remembered, or "".
// Of a session that is not known it may be that it took up work of its person:
// it is refused what other people claimed.
func (s *Service) claimed(e *hookEvent, ix *engine.Index, at *live.Place) string {
	p, sess := work.Place{Repo: at.Repo}, &at.Session
	if at.Known() {
		p.Session = sess
	}
	edit := editOf(e, p.Worker(ix, *e.who), sess, s.Store.Now())
	d := engine.Decide(ix, edit)
	others := func(f engine.Finding) bool {
		return f.Kind == coord.ExclusiveClaim && f.Severity == coord.SeverityBlock && f.Holder.User.ID != e.who.UserID
	}
	if d.Action == engine.Block && (at.Known() || slices.ContainsFunc(d.Findings, others)) {
		return d.Reason
	}
	if g := engine.Guard(ix, edit, ruling.SweepsOf(e.HookRequest)); at.Known() && g.Action == engine.Block {
		return g.Reason
	}
	return ""
}

// editOf returns what an event of a session is about to write.
func editOf(e *hookEvent, w *engine.Worker, sess *store.SessionRow, now coord.Time) engine.Edit {
	return ruling.EditOf(e.HookRequest, w, ruling.Session{ID: sess.ID, Copy: live.CopyOf(sess.Session), Since: sess.StartedAt}, now)
}

// hookAnswer decides inside a transaction: for a session we did not know yet,
// and for edits that are warned about or blocked, of which a record is kept. at is
// where the session was last seen, if it was.
func (s *Service) hookAnswer(ctx context.Context, e *hookEvent, at *live.Place) (reply wire.HookReply, err error) {
	var h *hook
	err = s.Alter(ctx, *e.who, func(c *ground.Change) error {
		if old, err := kept(ctx, c, e.replyKey(), e.asked()); err != nil || old != nil {
			if old != nil {
				reply = *old
			}
			return err
		}
		if h, _, err = hookSession(ctx, c, e); err != nil {
			return err
		}
		if h == nil {
			reply = ruling.Allowed()
			return nil
		}
		c.Who.SessionID = h.session.ID
		if reply, err = h.decide(ctx); err != nil || reply.Decision == wire.Allow && reply.InjectContext == "" {
			return err
		}
		return keep(ctx, c, e, reply)
	}, func(tx *store.Tx) {
		e.foresee(ctx, tx)
		if at != nil {
			tx.SessionByName(ctx, e.who.OrgID, e.who.UserID, e.Session.Tool, e.name(), at.Repo.ID)
		}
	})
	if err == nil {
		s.met(e, h)
	}
	return reply, err
}

func (h *hook) edit() engine.Edit {
	return editOf(h.event, h.Live.Worker(h.worker()), &h.session, h.Now)
}

func (h *hook) decision() engine.Decision { return engine.Decide(h.Live.View(), h.edit()) }

func (h *hook) decide(ctx context.Context) (wire.HookReply, error) {
	d, g := h.decision(), engine.Guard(h.Live.View(), h.edit(), ruling.SweepsOf(h.event.HookRequest))
	switch {
	case d.Action == engine.Block:
		return h.block(ctx, d)
	case g.Action == engine.Block:
		return h.refuseGit(ctx, g)
	}
	answer := h.allow
	if d.Action == engine.Warn || g.Action == engine.Warn {
		answer = func(ctx context.Context) (wire.HookReply, error) { return h.warn(ctx, d, g) }
	}
	reply, err := answer(ctx)
	reply.WantLines = d.WantLines
	return reply, err
}

// allow lets an edit go on, and tells what has become of the conflicts that the
// session knows: it is the next that its agent hears.
func (h *hook) allow(ctx context.Context) (wire.HookReply, error) {
	turned, err := h.Turned(ctx, h.session)
	if err == nil && turned && !h.event.Session.Deaf {
		if err = h.recall(ctx); err == nil {
			err = h.conflictNews(ctx)
		}
	}
	if err != nil {
		return wire.HookReply{}, err
	}
	return h.reply(ctx)
}

// block refuses an edit. What it ran into is recorded, so that there is a
// conflict to wait for, to talk about, or to ask a person to override.
func (h *hook) block(ctx context.Context, d engine.Decision) (wire.HookReply, error) {
	waits, err := h.Turned(ctx, h.session) // something else is still to be told
	if err != nil {
		return wire.HookReply{}, err
	}
	if h.intent == nil {
		if err := h.draft(ctx, ""); err != nil {
			return wire.HookReply{}, err
		}
		// Words and sides as they will be on every retry.
		if again := h.decision(); again.Action == engine.Block {
			d = again
		}
	}
	if h.intent != nil {
		if err := h.want(ctx, wanted(append(slices.Clip(h.event.Paths), h.event.Folders...), d.Findings)); err != nil {
			return wire.HookReply{}, err
		}
	}
	if err := h.foreseeRecord(ctx, d); err != nil {
		return wire.HookReply{}, err
	}
	if err := h.settleOwn(ctx); err != nil {
		return wire.HookReply{}, err
	}
	hits, err := h.attempted(ctx, d)
	if err != nil {
		return wire.HookReply{}, err
	}
	if err = h.Heard(ctx, h.session.ID, h.worker(), hits); err == nil && !waits {
		err = h.TurnsTold(ctx, h.session.ID) // the refusal tells it
	}
	if err != nil {
		return wire.HookReply{}, err
	}
	reply, err := h.reply(ctx)
	if err != nil {
		return reply, err
	}
	ruling.Refuse(&reply, d.Reason)
	named := make([]wire.HookConflict, len(hits))
	for i, c := range hits {
		named[i] = wire.HookConflict{Number: c.Number, Ref: c.Ref, Kind: c.Kind, Severity: c.Severity}
	}
	refs := ruling.Name(&reply, named)
	return reply, h.TellOf(ctx, coord.EventHookBlocked, h.session.ID, h.repo.ID,
		wire.HookBlockedPayload{HookPayload: h.answered(wire.Block, kindOf(d)), Refs: refs})
}

// foreseeDecision asks for what refusing an edit asks for first, in Foresee.
func (h *hook) foreseeDecision(ctx context.Context) {
	h.Turned(ctx, h.session)
	h.Policies(ctx, h.Who.OrgID)
	if h.session.IntentID != nil {
		ground.ForeseeSettle(ctx, h.Tx, h.Who.OrgID, *h.session.IntentID)
	} else if h.session.Branch != nil {
		h.LiveIntentsOn(ctx, h.Who.OrgID, h.repo.ID, h.Who.UserID, *h.session.Branch)
	}
}

// foreseeRecord asks for what the record of a refused edit asks for.
func (h *hook) foreseeRecord(ctx context.Context, d engine.Decision) error {
	return h.Foresee(ctx, func() {
		ground.ForeseeSettle(ctx, h.Tx, h.Who.OrgID, h.worker())
		for i := range d.Findings {
			h.LastConflicts(ctx, h.Who.OrgID, []string{d.Findings[i].Fingerprint})
		}
	})
}

// answered is what an event says of an answer to an edit.
func (h *hook) answered(with wire.Decision, kind string) wire.HookPayload {
	return wire.HookPayload{Decision: with, Event: h.event.Event, Tool: h.session.Tool, Paths: len(h.event.Paths), Kind: kind,
		IntentID: h.session.IntentID}
}

// attempted returns the conflicts that block an edit, and records those that
// nothing recorded so far shows.
func (h *hook) attempted(ctx context.Context, d engine.Decision) (out []store.ConflictRow, err error) {
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Severity != coord.SeverityBlock {
			continue
		}
		at := slices.IndexFunc(h.found, func(c store.ConflictRow) bool { return c.Fingerprint == f.Fingerprint })
		switch {
		case at >= 0 && h.found[at].AttemptedBy == "":
		case at >= 0:
			err = h.RefreshConflict(ctx, &h.found[at], f)
		default:
			row, err := h.OpenConflict(ctx, f, h.worker())
			if err != nil {
				return nil, err
			}
			h.found = append(h.found, row)
			at = len(h.found) - 1
		}
		if err != nil {
			return nil, err
		}
		out = append(out, h.found[at])
	}
	return out, nil
}

// want remembers paths whose edit was refused, for the conflict and for who
// waits. They are not what the agent works on: nobody is in their way.
func (h *hook) want(ctx context.Context, paths []string) error {
	before := len(h.intent.Wanted)
	for _, p := range paths {
		if !slices.Contains(h.intent.Wanted, p) && len(h.intent.Wanted) < work.MaxScope {
			h.intent.Wanted = append(h.intent.Wanted, p)
		}
	}
	if len(h.intent.Wanted) == before {
		return nil
	}
	slices.Sort(h.intent.Wanted)
	if err := h.SaveIntent(ctx, h.intent); err != nil {
		return err
	}
	if err := work.TellIntent(ctx, h.Change, coord.EventIntentUpdated, *h.intent); err != nil {
		return err
	}
	return h.PutIntent(ctx, *h.intent)
}

// wanted returns the paths that block findings about exclusive claims are
// about.
func wanted(paths []string, findings []engine.Finding) []string {
	var out []string
	for _, f := range findings {
		if f.Kind != coord.ExclusiveClaim || f.Severity != coord.SeverityBlock {
			continue
		}
		for _, ev := range f.Evidence {
			if ev.Party == coord.Challenger && ev.Path != nil && slices.Contains(paths, *ev.Path) && !slices.Contains(out, *ev.Path) {
				out = append(out, *ev.Path)
			}
		}
	}
	return out
}

func kindOf(d engine.Decision) string {
	if len(d.Findings) == 0 {
		return "require_intent"
	}
	return string(d.Findings[0].Kind)
}

// warn tells of what the edit runs into, once per session and again when there
// is more to tell.
func (h *hook) warn(ctx context.Context, d engine.Decision, g engine.Guarded) (wire.HookReply, error) {
	for i := range d.Findings {
		f := &d.Findings[i]
		ref := ""
		if !f.Attempted {
			row, err := h.LastConflict(ctx, h.Who.OrgID, f.Fingerprint)
			if err != nil {
				return wire.HookReply{}, err
			}
			if row != nil && row.Status.Live() {
				ref = row.Ref
				h.found = append(h.found, *row)
			}
		}
		h.conflictItem(ref, engine.HeardOf(ref, f, h.worker()), "", f)
	}
	if g.Action == engine.Warn {
		h.brief.add(rankConflict, "git over others' work", g.Key, ruling.GuardLine(g), nil)
	}
	if d.Undeclared {
		h.brief.add(rankConflict, "edit without intent", "", engine.WantsIntent, nil)
	}
	if len(h.brief.items) == 0 { // told before: nothing to add
		h.found = nil
		return h.allow(ctx)
	}
	reply, err := h.reply(ctx)
	if err != nil || reply.InjectContext == "" {
		return reply, err
	}
	reply.Decision, reply.Reason = wire.Warn, reply.InjectContext
	kind := ruling.GuardKind
	if d.Action == engine.Warn {
		kind = kindOf(d)
	}
	return reply, h.TellOf(ctx, coord.EventHookWarned, h.session.ID, h.repo.ID, h.answered(wire.Warn, kind))
}

package work

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// ListConflicts returns conflicts, newest first.
func (s *Service) ListConflicts(ctx context.Context, who coord.Caller, in wire.ListConflicts) (out wire.Page[coord.Conflict], err error) {
	want := store.ConflictFilter{
		Limit:      in.Limit + 1,
		Statuses:   conflictStatuses(in.Status),
		Severities: in.Severity,
		Kinds:      in.Kind,
		History:    true,
	}
	if err := ground.Uncursor(in.Cursor, &want.Before); err != nil {
		return out, err
	}
	if want.Changed, err = ground.Moment("changed_since", in.Since); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		if want.User, err = PersonFilter(ctx, tx, who, "person", in.Person); err != nil {
			return err
		}
		rows, err := s.conflicts(ctx, tx, who, want, in.Mine, in.Repo, in.Intent)
		if err != nil {
			return err
		}
		rows, out.NextCursor = ground.Page(rows, in.Limit, func(c store.ConflictRow) []any { return []any{c.Number} })
		out.Items, err = ConflictsFor(ctx, tx, rows, who, nil)
		return err
	})
	return out, err
}

// ListConflictsTool is ListConflicts as an agent calls it.
func (s *Service) ListConflictsTool(ctx context.Context, who coord.Caller,
	in wire.ConflictsTool) (out wire.Page[coord.Conflict], err error) {
	want := store.ConflictFilter{Limit: in.Limit, Statuses: conflictStatuses(in.Status), History: true}
	repo := ""
	if in.Repo != nil {
		repo = *in.Repo
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		rows, err := s.conflicts(ctx, tx, who, want, in.Mine, repo, "")
		if err != nil {
			return err
		}
		reader, err := s.ActingSession(ctx, tx, who, nil, "")
		if problem.KindOf(err) == problem.BadRequest { // nobody knows which of several agents reads
			err = nil
		}
		if err == nil {
			out.Items, err = ConflictsFor(ctx, tx, rows, who, reader)
		}
		return err
	})
	return out, err
}

func (s *Service) conflicts(ctx context.Context, tx *store.Tx, who coord.Caller, want store.ConflictFilter, mine bool,
	repo, intent string) (_ []store.ConflictRow, err error) {
	if mine {
		if want.User = who.UserID; want.User == "" {
			return nil, problem.InvalidField("mine", "a service token is a party of nothing")
		}
	}
	if want.Repo, err = RepoFilter(ctx, tx, who, repo); err != nil {
		return nil, err
	}
	if intent != "" {
		i, err := FindIntent(ctx, tx, who, intent)
		if err != nil {
			return nil, err
		}
		want.Worker = i.ID
	}
	return tx.Conflicts(ctx, who.OrgID, want)
}

func conflictStatuses(names []string) (out []coord.ConflictStatus) {
	for _, n := range names {
		if n == "live" {
			out = append(out, coord.LiveConflictStatuses()...)
		} else {
			out = append(out, coord.ConflictStatus(n))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// GetConflict returns one conflict.
func (s *Service) GetConflict(ctx context.Context, who coord.Caller, in wire.GetConflict) (out coord.Conflict, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		c, err := FindConflict(ctx, tx, who, in.Ref)
		if err == nil {
			err = tx.PartiesNow(ctx, who.OrgID, []store.ConflictRow{c})
			out = c.For(readingSide(c, who, nil))
		}
		return err
	})
	return out, err
}

// FindConflict returns the conflict of the org that a reference names.
func FindConflict(ctx context.Context, tx *store.Tx, who coord.Caller, ref string) (store.ConflictRow, error) {
	n, ok := coord.ParseConflictRef(ref)
	if !ok {
		return store.ConflictRow{}, problem.Newf(problem.NotFound, "%q is not a conflict; refs look like CF-7", ref)
	}
	return tx.Conflict(ctx, who.OrgID, n)
}

// ActOnConflict responds to a conflict as a party of it or an admin.
func (s *Service) ActOnConflict(ctx context.Context, who coord.Caller, in wire.ActOnConflict) (coord.Conflict, error) {
	return s.act(ctx, who, in.Ref, in.Action, in.Note, nil)
}

// ConflictRespond is ActOnConflict as an agent calls it.
func (s *Service) ConflictRespond(ctx context.Context, who coord.Caller, in wire.ConflictRespond) (coord.Conflict, error) {
	return s.act(ctx, who, string(in.Conflict), in.Action, in.Note, in.SessionID)
}

func (s *Service) act(ctx context.Context, who coord.Caller, ref string, action coord.ConflictAction,
	note, session *string) (out coord.Conflict, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		row, err := FindConflict(ctx, c.Tx, who, ref)
		if err != nil {
			return err
		}
		sess, err := s.speaksFor(ctx, c, session, row.Repo.ID)
		if err != nil {
			return err
		}
		if !isParty(who, row) && !who.Role.IsAdmin() {
			return problem.Newf(problem.Forbidden, "only the parties of %s and admins act on it", row.Ref)
		}
		side, err := spokenSide(ctx, c, row, sess)
		if err != nil {
			return err
		}
		effect, refused := row.Effect(action, side)
		switch refused {
		case coord.NotPossible:
			return problem.Newf(problem.Conflict, "%s is %s; %s is not possible then", row.Ref, row.Status, action)
		case coord.NotTheirs:
			return problem.Newf(problem.Forbidden, "%s keeps work out: only the holder's side ends it, or a person overrides it at %s",
				row.Ref, s.PageURL("conflict", row.Ref))
		}
		if action == coord.ActionProposeSequence && note == nil {
			note = sequence(c, row)
		}
		taken := coord.ActionTaken{Action: action, Note: note, By: who.User(), At: c.Now}
		if sess != nil {
			taken.SessionID = &sess.ID
		}
		if err := c.InsertAction(ctx, ground.NewID(), row.ID, taken); err != nil {
			return err
		}
		row.Actions = append(row.Actions, taken)
		if err := carryOut(ctx, c, &row, action, effect, note, sess); err != nil {
			return err
		}
		if err := c.PartiesNow(ctx, who.OrgID, []store.ConflictRow{row}); err != nil {
			return err
		}
		out = row.For(side)
		if sess != nil {
			return c.Heard(ctx, sess.ID, ground.WorkerOf(*sess), []store.ConflictRow{row})
		}
		return nil
	})
	return out, err
}

func isParty(who coord.Caller, row store.ConflictRow) bool {
	return who.Personal() && (row.HolderUser == who.UserID || row.ChallengerUser == who.UserID)
}

// SideIn tells for which side of a conflict a caller speaks, under the session
// they act as, if any.
func SideIn(row store.ConflictRow, who coord.Caller, sess *store.SessionRow) coord.PartyRole {
	me := coord.Stake{User: who.UserID}
	if sess != nil {
		me.Worker = ground.WorkerOf(*sess)
	}
	holder, challenger := row.Stakes()
	return coord.SideOf(holder, challenger, me, who.IsPerson())
}

// readingSide is SideIn for what is read: words that say "you" are for the work
// of who reads them. An agent is told of its person's other agents as of others,
// and so is who stands behind both sides.
func readingSide(row store.ConflictRow, who coord.Caller, sess *store.SessionRow) coord.PartyRole {
	holder, challenger := row.Stakes()
	if sess != nil {
		if own := ground.WorkerOf(*sess); own != holder.Worker && own != challenger.Worker {
			return ""
		}
	} else if holder.User == challenger.User && !who.IsPerson() {
		return ""
	}
	return SideIn(row, who, sess)
}

// spokenSide is SideIn for what is done rather than shown: where a live session
// holds, an agent speaks for the holder only if it is that session's.
func spokenSide(ctx context.Context, c *ground.Change, row store.ConflictRow, sess *store.SessionRow) (coord.PartyRole, error) {
	side, holder := SideIn(row, c.Who, sess), c.Live.Worker(row.Holder)
	if side != coord.Holder || c.Who.IsPerson() || holder == nil || len(holder.Lineages) == 0 {
		return side, nil
	}
	if sure, err := c.SpeaksAs(ctx, holder.Lineages); sure || err != nil {
		return side, err
	}
	if row.ChallengerUser == c.Who.UserID {
		return coord.Challenger, nil
	}
	return "", nil
}

// carryOut makes an action's effect.
func carryOut(ctx context.Context, c *ground.Change, row *store.ConflictRow, action coord.ConflictAction, effect coord.Effect,
	note *string, sess *store.SessionRow) error {
	next := effect.Status
	switch action {
	case coord.ActionResolved, coord.ActionFalsePositive:
		if *effect.Resolution == coord.ResolvedWithdrawn {
			if err := withdraw(ctx, c, *row); err != nil {
				return err
			}
		}
		return c.CloseConflict(ctx, row, next, effect.Resolution)
	case coord.ActionRequestOverride:
		row.OverrideRequested = &coord.OverrideRequest{By: c.Who.User(), Note: note, At: c.Now}
		return saveAndTell(ctx, c, row, coord.EventConflictOverrideRequested)
	case coord.ActionAck:
		row.Status = next
		return saveAndTell(ctx, c, row, coord.EventConflictAcknowledged)
	}
	row.Status = next
	if err := tellOtherSide(ctx, c, *row, action, note, sess); err != nil {
		return err
	}
	return saveAndTell(ctx, c, row, coord.EventConflictResolving)
}

// withdraw takes back what the side that is kept out wanted. What it has really
// done cannot be taken back by saying so.
func withdraw(ctx context.Context, c *ground.Change, row store.ConflictRow) error {
	var paths []string
	for _, e := range row.Evidence {
		if e.Party != coord.Challenger || e.Path == nil {
			continue
		}
		if paths = append(paths, *e.Path); e.Via != coord.ViaClaim && (e.Detail == nil || *e.Detail != coord.AboutToEdit) {
			return problem.Newf(problem.Conflict, "%s rests on what was changed in %s: undo that, or ask the holder's side to let it in",
				row.Ref, peertext.Quoted(*e.Path))
		}
	}
	return c.Unwant(ctx, row.Challenger, func(path string) bool { return slices.Contains(paths, path) })
}

func saveAndTell(ctx context.Context, c *ground.Change, row *store.ConflictRow, t coord.EventType) error {
	if err := c.SaveConflict(ctx, row); err != nil {
		return err
	}
	return c.TellOf(ctx, t, row.ID, row.Repo.ID, ground.ConflictFacts(*row))
}

// tellOtherSide posts a proposal to the parties' thread.
func tellOtherSide(ctx context.Context, c *ground.Change, row store.ConflictRow, action coord.ConflictAction, note *string,
	sess *store.SessionRow) error {
	body := "I will rebase my work for " + row.Ref + "."
	if action == coord.ActionProposeSequence {
		body = "I propose an order for " + row.Ref + "."
	}
	if note != nil && strings.TrimSpace(*note) != "" {
		body += "\n\n" + *note
	}
	users := slices.DeleteFunc([]string{row.HolderUser, row.ChallengerUser, c.Who.UserID}, func(id string) bool { return id == "" })
	about := &coord.About{Kind: "conflict", Ref: row.Ref}
	subject := "About " + row.Ref
	_, err := ground.Post(ctx, c.Tx, c.Who, ground.Letter{
		Thread:     store.DirectThread(users, about, &subject),
		To:         "conflict:" + row.Ref,
		Subject:    &subject,
		Body:       body,
		About:      about,
		Recipients: users,
		Session:    sess,
	})
	return err
}

// GiveFeedback stores a person's verdict on a conflict report. Enough false
// positives lower the kind's severity in that repo.
func (s *Service) GiveFeedback(ctx context.Context, who coord.Caller, in wire.GiveFeedback) (out wire.None, err error) {
	if !who.Personal() {
		return out, problem.Newf(problem.Forbidden, "a verdict is a person's; this needs a personal token")
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		row, err := FindConflict(ctx, c.Tx, who, in.Ref)
		if err != nil {
			return err
		}
		if !coord.MayJudge(SideIn(row, who, nil), who.Role) {
			return problem.Newf(problem.Forbidden, "only the parties of %s, who saw it, and admins judge it", row.Ref)
		}
		if err := c.SaveFeedback(ctx, row.ID, who.UserID, in.Verdict); err != nil {
			return err
		}
		if err := c.TellOf(ctx, coord.EventConflictFeedback, row.ID, row.Repo.ID,
			wire.ConflictFeedbackPayload{ConflictPayload: ground.ConflictFacts(row), Verdict: in.Verdict}); err != nil {
			return err
		}
		tallies, err := c.Tallies(ctx, who.OrgID, row.Repo.ID)
		if err != nil {
			return err
		}
		rules, before := c.Live.Rules(row.Repo.ID)
		after := live.Demoted(rules, tallies, row.Repo.ID)
		if slices.Equal(before, after) {
			return nil
		}
		return rejudge(ctx, c, row.Repo.ID)
	})
	return out, err
}

// tellDemotions tells of kinds that feedback has lowered in a repo, or lowers
// no more.
func tellDemotions(ctx context.Context, c *ground.Change, repo string, rules *policy.Effective, before, after []coord.ConflictKind) error {
	for _, k := range coord.ConflictKinds() {
		was, is := slices.Contains(before, k), slices.Contains(after, k)
		if was == is {
			continue
		}
		t, full := coord.EventPolicyDemoted, rules.Severity[k]
		from, to := full, policy.Demoted(full)
		if was {
			t, from, to = coord.EventPolicyRestored, to, from
		}
		err := ground.Emit(ctx, c.Tx, c.Who, ground.Happening{Type: t, Subject: coord.Entity{Kind: "repo", ID: repo}, Repo: repo,
			Payload: wire.PolicyShiftPayload{Kind: k, From: from, To: to}})
		if err != nil {
			return err
		}
	}
	return nil
}

// OverrideConflict lets both sides go on, on the word of a person whose role
// the policy allows. An agent cannot, whichever way it comes.
func (s *Service) OverrideConflict(ctx context.Context, who coord.Caller, in wire.OverrideConflict) (out coord.Conflict, err error) {
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		row, err := FindConflict(ctx, c.Tx, who, in.Ref)
		if err != nil {
			return err
		}
		rules, err := c.EffectivePolicy(ctx, who.OrgID, row.Repo.ID)
		if err != nil {
			return err
		}
		own := in.Share && who.UserID != "" && row.HolderUser == who.UserID
		if !own && !rules.MayOverride(who.Role) {
			return problem.Newf(problem.Forbidden, "the policy lets %s override conflicts here; you are %s", rolesText(rules.OverrideAllowedRoles),
				who.Role)
		}
		reason, err := overrideReason(in.Reason, rules.OverrideRequireReason && !own)
		if err != nil {
			return err
		}
		if !row.Status.Live() {
			return problem.Newf(problem.Conflict, "%s is %s already", row.Ref, row.Status)
		}
		if in.Share {
			out, err = shareClaim(ctx, c, row, reason)
			return err
		}
		row.Override = &coord.Override{By: who.User(), Reason: reason, At: c.Now}
		if err := c.CloseConflict(ctx, &row, coord.ConflictOverridden, nil); err != nil {
			return err
		}
		out = row.Conflict
		return c.PartiesNow(ctx, who.OrgID, []store.ConflictRow{row})
	})
	return out, err
}

// shareClaim makes the exclusive claim behind a conflict a shared one, and has its
// owner and the agent that works on it told. Who was stopped by it goes on.
func shareClaim(ctx context.Context, c *ground.Change, row store.ConflictRow, reason *string) (out coord.Conflict, err error) {
	i, err := c.IntentByID(ctx, c.Who.OrgID, row.Holder) // a worker's id is its intent's
	if row.Kind != coord.ExclusiveClaim || problem.KindOf(err) == problem.NotFound {
		return out, problem.InvalidField("share", "%s rests on no exclusive claim of an intent", row.Ref)
	}
	if err != nil {
		return out, err
	}
	i.Mode = coord.Shared
	if _, err := Revise(ctx, c, &i, wire.IntentPatch{}, nil, nil); err != nil {
		return out, err
	}
	body := "Others may now edit what " + i.Ref + " held exclusively: " + peertext.QuotedName(c.Who.Name) + " made it shared."
	if reason != nil {
		body += "\n\n" + *reason
	}
	about, subject := &coord.About{Kind: "intent", Ref: i.Ref}, "About "+i.Ref
	// The service says it: a person's own agents hear nothing of what they write themselves.
	if _, err := ground.Post(ctx, c.Tx, ground.System(c.Who.OrgID), ground.Letter{
		Thread:     store.DirectThread([]string{i.Owner.ID, c.Who.UserID}, about, &subject),
		To:         "intent:" + i.Ref,
		Subject:    &subject,
		Body:       body,
		About:      about,
		Recipients: []string{i.Owner.ID},
	}); err != nil {
		return out, err
	}
	if row, err = FindConflict(ctx, c.Tx, c.Who, row.Ref); err != nil {
		return out, err
	}
	return row.Conflict, nil
}

func rolesText(roles []coord.Role) string {
	if len(roles) == 0 {
		return "nobody"
	}
	out := make([]string, len(roles))
	for i, r := range roles {
		out[i] = string(r)
	}
	return strings.Join(out, ", ")
}

func overrideReason(given *string, required bool) (*string, error) {
	text := ""
	if given != nil {
		text = strings.TrimSpace(*given)
	}
	switch n := utf8.RuneCountInString(text); {
	case n == 0 && !required:
		return nil, nil
	case n < 3 || n > 2000:
		return nil, problem.InvalidField("reason", "must be 3-2000 characters after trimming, is %d", n)
	}
	return &text, nil
}

package talk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/money"
	"github.com/svc-hq/svc/internal/server/store"
)

const (
	// maxPerKind bounds what one kind contributes.
	maxPerKind = 200
	// An agent that called a tool within silentSince, coord.SilentGap after its
	// last hook event, works with hooks that do not run.
	silentSince = 12 * time.Hour
	// uncheckedSince is how long a person is told that their agent was not
	// checked for a while.
	uncheckedSince = 24 * time.Hour
)

// A watch is one source of attention items. A caller without its scope does
// not see it.
type watch struct {
	scope coord.Scope
	look  func(attention, context.Context) ([]coord.AttentionItem, error)
}

var watches = []watch{
	{coord.ScopeConflictsRead, attention.conflicts},
	{coord.ScopeConflictsRead, attention.overrideRequests},
	{coord.ScopeConflictsRead, attention.claims},
	{coord.ScopeConflictsRead, attention.demotions},
	{coord.ScopeIntentsRead, attention.orphans},
	{coord.ScopeReposRead, attention.twins},
	{coord.ScopeMembersRead, attention.integrations},
	{coord.ScopeMessagesRead, attention.acks},
	{coord.ScopeMessagesRead, attention.messages},
	{coord.ScopeMessagesRead, attention.questions},
	{coord.ScopeIntentsRead, attention.handoffs},
	{coord.ScopeIntentsRead, attention.silentHooks},
	{coord.ScopeIntentsRead, attention.unchecked},
	{coord.ScopeMembersRead, attention.invites},
	{coord.ScopeMembersRead, attention.planLimits},
}

// attention is somebody looking for what they have to see to.
type attention struct {
	s   *Service
	tx  *store.Tx
	who coord.Caller
	own []store.ConflictRow // live conflicts of theirs
}

// GetAttention returns what wants the caller's attention: the most pressing
// kind first, and of a kind what waits longest.
func (s *Service) GetAttention(ctx context.Context, who coord.Caller, in wire.GetAttention) (out wire.Attention, err error) {
	out.ByKind = map[coord.AttentionKind]int{}
	err = s.Read(ctx, func(tx *store.Tx) error {
		items, err := attention{s: s, tx: tx, who: who}.all(ctx, who.Has)
		if err != nil {
			return err
		}
		hidden, mutes, err := tx.Dismissed(ctx, who.OrgID, who.UserID)
		if err != nil {
			return err
		}
		items = slices.DeleteFunc(items, func(i coord.AttentionItem) bool { return hidden[i.ID] })
		out.Mutes, out.Muted = mutes, len(items)
		items = slices.DeleteFunc(items, func(i coord.AttentionItem) bool {
			return slices.ContainsFunc(mutes, func(m coord.Mute) bool { return m.Silences(i) })
		})
		out.Muted -= len(items)
		for _, i := range items {
			out.ByKind[i.Kind]++
		}
		out.Total, out.Items = len(items), items[:min(len(items), in.Limit)]
		return nil
	})
	return out, err
}

// DismissAttention hides items from the caller until they change. An id that
// names nothing now is ignored: the item changed or went while it was shown.
func (s *Service) DismissAttention(ctx context.Context, who coord.Caller, in wire.DismissAttention) (out wire.None, err error) {
	err = s.Write(ctx, who, func(tx *store.Tx) error {
		items, err := attention{s: s, tx: tx, who: who}.all(ctx, func(coord.Scope) bool { return true })
		if err != nil {
			return err
		}
		there := make([]string, len(items))
		for k, i := range items {
			there[k] = i.ID
		}
		if err := tx.ForgetDismissals(ctx, who.OrgID, who.UserID, there); err != nil {
			return err
		}
		return tx.Dismiss(ctx, who.OrgID, who.UserID, slices.DeleteFunc(slices.Clone(in.IDs), func(id string) bool {
			return !slices.Contains(there, id)
		}))
	})
	return out, err
}

// all returns the items of the kinds whose scope may be read.
func (a attention) all(ctx context.Context, may func(coord.Scope) bool) ([]coord.AttentionItem, error) {
	out := []coord.AttentionItem{}
	if may(coord.ScopeConflictsRead) { // two kinds look at them
		var err error
		if a.own, err = a.tx.Conflicts(ctx, a.who.OrgID, store.ConflictFilter{User: a.who.UserID, Statuses: coord.LiveConflictStatuses(),
			Limit: maxPerKind}); err != nil {
			return nil, err
		}
	}
	for _, w := range watches {
		if !may(w.scope) {
			continue
		}
		items, err := w.look(a, ctx)
		if err != nil {
			return nil, err
		}
		slices.SortStableFunc(items, func(x, y coord.AttentionItem) int { return int(x.Since - y.Since) })
		out = append(out, items...)
	}
	rank := coord.AttentionKinds()
	slices.SortStableFunc(out, func(x, y coord.AttentionItem) int { return slices.Index(rank, x.Kind) - slices.Index(rank, y.Kind) })
	return out, nil
}

// itemID names an item as it is: the thing and what of it matters.
func itemID(kind coord.AttentionKind, id string, version ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", version))
	return string(kind) + ":" + id + ":" + hex.EncodeToString(sum[:6])
}

func (a attention) conflicts(context.Context) (out []coord.AttentionItem, err error) {
	for _, c := range a.own {
		if c.Severity.Rank() < coord.SeverityWarn.Rank() {
			continue
		}
		out = append(out, coord.AttentionItem{
			ID:      itemID(coord.AttentionConflict, c.Ref, c.Status, c.Severity, strings.Join(c.Keys, "\n")),
			Kind:    coord.AttentionConflict,
			Title:   fmt.Sprintf("%s: %s", c.Ref, strings.ReplaceAll(string(c.Kind), "_", " ")),
			Detail:  c.Explanation,
			Ref:     &c.Ref,
			Repo:    &c.Repo,
			Since:   c.FirstSeenAt,
			URL:     a.s.PageURL("conflict", c.Ref),
			Actions: []string{"ack", "propose_sequence", "will_rebase", "resolved", "false_positive"},
		})
	}
	return out, err
}

func (a attention) overrideRequests(ctx context.Context) (out []coord.AttentionItem, err error) {
	rules, err := a.tx.Policies(ctx, a.who.OrgID)
	if err != nil {
		return nil, err
	}
	rows, err := a.tx.Conflicts(ctx, a.who.OrgID, store.ConflictFilter{Statuses: coord.LiveConflictStatuses(), Plea: true, History: true})
	for _, c := range rows {
		if c.OverrideRequested == nil || !policy.Merge(rules[""], rules[c.Repo.ID]).MayOverride(a.who.Role) || len(out) == maxPerKind {
			continue
		}
		by, agent := c.OverrideRequested.By, askedByAgent(c.Conflict)
		if by.ID == a.who.UserID && !agent { // they know; an agent asks its own person, too
			continue
		}
		out = append(out, coord.AttentionItem{
			ID:      itemID(coord.AttentionOverrideRequest, c.Ref, c.OverrideRequested.At),
			Kind:    coord.AttentionOverrideRequest,
			Title:   fmt.Sprintf("%s asks for an override of %s", callOf(by, agent), c.Ref),
			Detail:  c.Explanation,
			Ref:     &c.Ref,
			Repo:    &c.Repo,
			Since:   c.OverrideRequested.At,
			URL:     a.s.PageURL("conflict", c.Ref),
			Actions: []string{"override"},
		})
	}
	return out, err
}

// claims asks for a sign of life where a claim keeps somebody out and nobody
// is at work under it.
func (a attention) claims(context.Context) (out []coord.AttentionItem, err error) {
	for _, c := range a.own {
		if !c.Voices.Gone || c.HolderUser != a.who.UserID || len(c.Parties) == 0 || c.Parties[0].Intent == nil {
			continue
		}
		ref := c.Parties[0].Intent.Ref
		out = append(out, coord.AttentionItem{
			ID:      itemID(coord.AttentionClaim, c.Ref, c.FirstSeenAt),
			Kind:    coord.AttentionClaim,
			Title:   fmt.Sprintf("Do you still need what %s holds exclusively?", ref),
			Detail:  "Its session has ended, and it keeps somebody out. Without a sign of life it becomes shared. " + c.Explanation,
			Ref:     &ref,
			Repo:    &c.Repo,
			Since:   c.UpdatedAt,
			URL:     a.s.PageURL("intent", ref),
			Actions: []string{"close", "handoff"},
		})
	}
	return out, err
}

// orphans shows admins the live work of people who have left.
func (a attention) orphans(ctx context.Context) (out []coord.AttentionItem, err error) {
	if !a.who.Role.IsAdmin() {
		return nil, nil
	}
	rows, err := a.tx.Orphans(ctx, a.who.OrgID)
	for _, i := range rows {
		out = append(out, coord.AttentionItem{
			ID:      itemID(coord.AttentionOrphan, i.Ref, i.Owner.ID),
			Kind:    coord.AttentionOrphan,
			Title:   fmt.Sprintf("%s of %s, who has left, is still live", i.Ref, peertext.QuotedName(i.Owner.Name)),
			Detail:  "Hand it off or close it.",
			Ref:     &i.Ref,
			Repo:    &i.Repo,
			Since:   i.UpdatedAt,
			URL:     a.s.PageURL("intent", i.Ref),
			Actions: []string{"handoff", "close"},
		})
	}
	return out, err
}

// twins shows admins what is, or looks like, one repository under two names.
func (a attention) twins(ctx context.Context) (out []coord.AttentionItem, err error) {
	if !a.who.Role.IsAdmin() {
		return nil, nil
	}
	rows, err := a.tx.Twins(ctx, a.who.OrgID)
	for _, t := range rows {
		title := fmt.Sprintf("%s and %s look like one repository", t.First.FullName, t.Second.FullName)
		why := "They begin with the same commit."
		if t.Why == "host" {
			title = fmt.Sprintf("%s and %s are one repository", t.First.FullName, t.Second.FullName)
			why = "Their host says so: it was renamed or moved."
		}
		out = append(out, coord.AttentionItem{
			ID:    itemID(coord.AttentionTwins, t.First.ID+" "+t.Second.ID, t.Why),
			Kind:  coord.AttentionTwins,
			Title: title,
			Detail: why + " Until they are merged, agents at work under one name are not told of those under the other. " +
				"Merge them, or keep them apart.",
			Repo:    &t.Second,
			Since:   t.At,
			URL:     a.s.URL("repos", t.Second.FullName),
			Actions: []string{"merge", "keep_apart"},
		})
	}
	return out, err
}

// demotions shows admins which kinds of conflict verdicts have lowered.
func (a attention) demotions(ctx context.Context) (out []coord.AttentionItem, err error) {
	if !a.who.Role.IsAdmin() {
		return nil, nil
	}
	rules, err := a.tx.Policies(ctx, a.who.OrgID)
	if err != nil {
		return nil, err
	}
	tallies, err := a.tx.Tallies(ctx, a.who.OrgID, "")
	for _, t := range tallies {
		p := policy.Merge(rules[""], rules[t.RepoID])
		if err != nil || !p.Demotes(t.Kind, t.Verdicts()) {
			continue
		}
		repo, err := a.tx.Repo(ctx, a.who.OrgID, t.RepoID)
		if err != nil {
			return nil, err
		}
		kind := strings.ReplaceAll(string(t.Kind), "_", " ")
		out = append(out, coord.AttentionItem{
			ID:   itemID(coord.AttentionDemotion, t.RepoID+" "+string(t.Kind), p.Severity[t.Kind]),
			Kind: coord.AttentionDemotion,
			Title: fmt.Sprintf("Verdicts lowered %s from %s to %s in %s", kind, p.Severity[t.Kind], policy.Demoted(p.Severity[t.Kind]),
				repo.FullName),
			Detail: fmt.Sprintf("%d of %d verdicts, by %d people, call it false. Pin it (severity_pinned) to keep its severity.", t.FalsePositive,
				t.FalsePositive+t.Useful, t.Judges),
			Repo:    &coord.RepoName{ID: repo.ID, FullName: repo.FullName},
			Since:   a.tx.Now,
			URL:     a.s.URL("settings", "policies"),
			Actions: []string{"pin"},
		})
	}
	return out, err
}

// askedByAgent tells whether an agent, not a person, asked last for an
// override.
func askedByAgent(c coord.Conflict) bool {
	for _, taken := range slices.Backward(c.Actions) {
		if taken.Action == coord.ActionRequestOverride {
			return taken.SessionID != nil
		}
	}
	return true
}

func (a attention) acks(ctx context.Context) ([]coord.AttentionItem, error) {
	rows, err := a.tx.OwedAcks(ctx, a.who.OrgID, a.who.UserID, maxPerKind)
	return a.letters(coord.AttentionAck, rows, "asks you to acknowledge a message", "ack"), err
}

func (a attention) messages(ctx context.Context) ([]coord.AttentionItem, error) {
	rows, err := a.tx.UnreadDirect(ctx, a.who.OrgID, a.who.UserID, maxPerKind)
	var latest []coord.Message // one item per thread: its newest message
	seen := map[string]bool{}
	for _, m := range rows {
		if !seen[m.ConversationID] {
			seen[m.ConversationID] = true
			latest = append(latest, m)
		}
	}
	return a.letters(coord.AttentionMessage, latest, "wrote to you", "read"), err
}

func (a attention) letters(kind coord.AttentionKind, rows []coord.Message, what, action string) []coord.AttentionItem {
	out := make([]coord.AttentionItem, len(rows))
	for k, m := range rows {
		ref := "thread:" + m.ConversationID
		out[k] = coord.AttentionItem{
			ID:      itemID(kind, m.ConversationID, m.ID),
			Kind:    kind,
			Title:   personOf(m.From) + " " + what,
			Detail:  excerpt(m.Body),
			Ref:     &ref,
			Since:   m.CreatedAt,
			URL:     a.s.PageURL("conversation", m.ConversationID),
			Actions: []string{action},

			MessageID: &m.ID,
		}
	}
	return out
}

// personOf names a sender for people.
func personOf(from coord.Sender) string {
	if from.User == nil {
		return "svc"
	}
	return callOf(*from.User, from.Kind == coord.SenderSession)
}

func callOf(u coord.User, agent bool) string {
	if agent {
		return peertext.QuotedName(u.Name) + "'s agent"
	}
	return peertext.QuotedName(u.Name)
}

// excerpt returns the beginning of a text, on one line.
func excerpt(text string) string {
	const most = 200
	line := strings.Join(strings.Fields(text), " ")
	if runes := []rune(line); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return line
}

func (a attention) questions(ctx context.Context) (out []coord.AttentionItem, err error) {
	rows, err := a.tx.OpenQuestionsTo(ctx, a.who.OrgID, a.who.UserID, maxPerKind)
	for _, q := range rows {
		out = append(out, coord.AttentionItem{
			ID:      itemID(coord.AttentionQuestion, q.ID, q.UpdatedAt),
			Kind:    coord.AttentionQuestion,
			Title:   personOf(q.AskedBy) + " asks you something",
			Detail:  excerpt(q.Question.Question),
			Ref:     &q.ID,
			Repo:    q.Repo,
			Since:   q.CreatedAt,
			URL:     a.s.PageURL("conversation", q.ConversationID),
			Actions: []string{"answer"},
		})
	}
	return out, err
}

func (a attention) handoffs(ctx context.Context) (out []coord.AttentionItem, err error) {
	rows, err := a.tx.PendingHandoffs(ctx, a.who.OrgID, a.who.UserID)
	for _, i := range rows {
		out = append(out, coord.AttentionItem{
			ID:      itemID(coord.AttentionHandoff, i.Ref, i.Handoff.ID),
			Kind:    coord.AttentionHandoff,
			Title:   fmt.Sprintf("%s handed %s to you", peertext.QuotedName(i.Handoff.From.Name), i.Ref),
			Detail:  excerpt(i.Title),
			Ref:     &i.Ref,
			Repo:    &i.Repo,
			Since:   i.Handoff.CreatedAt,
			URL:     a.s.PageURL("intent", i.Ref),
			Actions: []string{"adopt", "handoff", "close"},
		})
	}
	return out, err
}

func (a attention) silentHooks(ctx context.Context) (out []coord.AttentionItem, err error) {
	rows, err := a.tx.SilentSessions(ctx, a.who.OrgID, a.who.UserID, a.tx.Now.Add(-silentSince), coord.SilentGap.Milliseconds())
	for _, s := range rows {
		out = append(out, coord.AttentionItem{ID: itemID(coord.AttentionSilentHooks, s.ID, s.LastHeartbeatAt), Kind: coord.AttentionSilentHooks,
			Title: fmt.Sprintf("%s in %s works without its hooks", peertext.Quoted(s.Tool), peertext.Quoted(s.Repo.FullName)),
			Detail: fmt.Sprintf("Its tools are called, but no hook event has come since %s: edits are not checked. Run svc doctor in the "+
				"repository.", s.LastHeartbeatAt),
			Ref: &s.ID, Repo: &s.Repo, Since: s.LastHeartbeatAt, URL: a.s.PageURL("session", ""), Actions: []string{"doctor"}})
	}
	return out, err
}

// unchecked tells of agents that went on while the service did not answer them:
// nobody else would say so, since the edits themselves succeeded.
func (a attention) unchecked(ctx context.Context) (out []coord.AttentionItem, err error) {
	rows, err := a.tx.UncheckedSessions(ctx, a.who.OrgID, a.who.UserID, a.tx.Now.Add(-uncheckedSince))
	for _, s := range rows {
		out = append(out, coord.AttentionItem{
			ID:    itemID(coord.AttentionUnchecked, s.ID, s.FailOpens),
			Kind:  coord.AttentionUnchecked,
			Title: fmt.Sprintf("%s in %s went on unchecked", s.Tool, s.Repo.FullName),
			Detail: fmt.Sprintf("%s of it got no answer from svc. What it wrote meanwhile is known now, but nothing was blocked or "+
				"warned about then. Run svc doctor on that machine.", events(s.FailOpens)),
			Ref:     &s.ID,
			Repo:    &s.Repo,
			Since:   *s.FailOpensAt,
			URL:     a.s.URL("agents", s.ID),
			Actions: []string{"doctor"},
		})
	}
	return out, err
}

func events(n int) string {
	if n == 1 {
		return "One event"
	}
	return fmt.Sprintf("%d events", n)
}

func (a attention) invites(ctx context.Context) (out []coord.AttentionItem, err error) {
	if !a.who.Role.IsAdmin() {
		return nil, nil
	}
	rows, err := a.tx.Invites(ctx, a.who.OrgID)
	for _, i := range rows {
		if i.Email != nil && strings.EqualFold(*i.Email, a.who.Email) {
			continue // by which the first owner chooses a password
		}
		to := "somebody with the link"
		if i.Email != nil {
			to = *i.Email
		}
		out = append(out, coord.AttentionItem{
			ID:      itemID(coord.AttentionInvite, i.ID, i.ExpiresAt),
			Kind:    coord.AttentionInvite,
			Title:   "The invite to " + to + " is not accepted yet",
			Detail:  fmt.Sprintf("As %s; it expires on %s.", i.Role, i.ExpiresAt.Std().Format("2 January")),
			Ref:     &i.ID,
			Since:   i.CreatedAt,
			URL:     a.s.PageURL("invite", ""),
			Actions: []string{"revoke"},
		})
	}
	return out, err
}

// planLimits tells those who can do something about it that a limit of the
// plan is near or reached.
func (a attention) planLimits(ctx context.Context) (out []coord.AttentionItem, err error) {
	if !a.who.Role.IsAdmin() && a.who.Role != coord.Billing {
		return nil, nil
	}
	u, err := money.Usage(ctx, a.tx, a.who.OrgID)
	month := a.tx.Now.Std()
	since := coord.Time(time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC).UnixMilli())
	for _, w := range u.Warnings {
		detail := "One more is refused when all are used."
		if w.Reached {
			detail = "One more is refused."
		}
		out = append(out, coord.AttentionItem{ID: itemID(coord.AttentionPlan, w.Limit, u.Period, u.Plan, w.Reached), Kind: coord.AttentionPlan,
			Title:  fmt.Sprintf("%d of %d %s of the %s plan are used this month", w.Used, w.Allowed, w.Limit, u.Plan),
			Detail: detail, Since: since, URL: a.s.URL("settings", "billing"), Actions: []string{"upgrade"}})
	}
	return out, err
}

package moments

import (
	"context"
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/ruling"
	"github.com/svc-hq/svc/internal/server/store"
)

// A hookEvent is an event with who sent it and from which repo.
type hookEvent struct {
	*wire.HookRequest
	who     *coord.Caller
	remotes []string
}

// EvaluateHook answers an agent host's event. Each edit of each agent passes
// here: the ordinary allow reads memory and writes nothing.
func (s *Service) EvaluateHook(ctx context.Context, who *coord.Caller, in *wire.EvaluateHook) (wire.HookReply, error) {
	who.Via = coord.ViaHook
	e := &hookEvent{HookRequest: &in.HookRequest, who: who}
	for _, branch := range []*string{&in.Repo.Branch, &in.Repo.DefaultBranch} {
		if *branch != "" && !scope.ValidBranch(*branch) { // git has no such branch: whatever it is, it is not where the agent works
			*branch = ""
		}
	}
	for _, r := range in.Repo.RemoteFingerprints {
		if fp, ok := scope.Fingerprint(r); ok && !slices.Contains(e.remotes, fp) {
			e.remotes = append(e.remotes, fp)
		}
	}
	if len(e.remotes) == 0 {
		return wire.HookReply{}, problem.InvalidField("repo.remote_fingerprints", "none of them is a remote such as github.com/owner/name")
	}
	if err := e.canonicalPaths(); err != nil {
		return wire.HookReply{}, err
	}
	var reply wire.HookReply
	var err error
	switch in.Event {
	case wire.HookPrePush:
		return ruling.Allowed(), nil
	case wire.HookPreEdit, wire.HookPreShell:
		reply, err = s.hookDecide(ctx, e)
	default:
		reply, err = s.hookRecord(ctx, e)
	}
	reply.Reason, reply.InjectContext = marker.Text(reply.Reason), marker.Text(reply.InjectContext)
	return reply, err
}

// hookRecord handles the events that change what is known: all but those that
// only ask. A retried one gets the answer it got before.
func (s *Service) hookRecord(ctx context.Context, e *hookEvent) (reply wire.HookReply, err error) {
	var h *hook
	err = s.Alter(ctx, *e.who, func(c *ground.Change) error {
		if old, err := kept(ctx, c, e.replyKey(), e.asked()); err != nil || old != nil {
			if old != nil {
				reply = *old
			}
			return err
		}
		var why string
		if h, why, err = hookSession(ctx, c, e); err != nil {
			return err
		}
		if h == nil {
			reply = ruling.Allowed()
			reply.InjectContext = why
			return nil
		}
		c.Who.SessionID = h.session.ID
		if err := h.learnMaps(ctx); err != nil {
			return err
		}
		if err := h.handle(ctx, e.Event); err != nil {
			return err
		}
		if reply, err = h.reply(ctx); err != nil {
			return err
		}
		reply.Wants, reply.Watch = h.wants(), h.watched()
		if reply.MergeChecks, err = h.mergeChecks(ctx); err != nil {
			return err
		}
		return keep(ctx, c, e, reply)
	}, func(tx *store.Tx) { e.foresee(ctx, tx) })
	if err == nil {
		s.met(e, h)
	}
	return reply, err
}

// met notes what memory is to know of a session after an event of it: its agent
// has been told, and where it works.
func (s *Service) met(e *hookEvent, h *hook) {
	s.Live.Told(e.who.OrgID, e.key())
	if h != nil && h.session.EndedAt == nil {
		s.Live.Met(e.who.OrgID, e.key(), &live.Place{Repo: h.repo, Session: h.session})
	}
}

// foresee asks for what handling an event asks for first, in tx.Foresee.
func (e *hookEvent) foresee(ctx context.Context, tx *store.Tx) {
	if e.DedupeKey != "" {
		tx.HookReply(ctx, e.who.OrgID, e.replyKey())
	}
	tx.RepoByRemotes(ctx, e.who.OrgID, e.remotes)
}

// A hook is one event being handled.
type hook struct {
	*ground.Change
	event   *hookEvent
	session store.SessionRow
	repo    coord.Repo
	intent  *store.IntentRow // the session's live one, if any
	brief   *brief
	found   []store.ConflictRow // the worker's live conflicts, once settled
}

// hookSession finds or makes the repo and session of an event. It returns nil
// and the reason when the plan has no room for the repo: a hook is never
// blocked by a plan.
func hookSession(ctx context.Context, c *ground.Change, e *hookEvent) (*hook, string, error) {
	repo, why, err := hookRepo(ctx, c, e)
	if err != nil || repo == nil {
		return nil, why, err
	}
	if err := work.NoteCase(ctx, c, *repo, e.Repo.IgnoreCase); err != nil {
		return nil, "", err
	}
	h := &hook{Change: c, event: e, repo: *repo}
	old, err := knownSession(ctx, c, e, repo.ID)
	if err != nil {
		return nil, "", err
	}
	if old == nil {
		err = h.startSession(ctx)
	} else {
		h.session = *old
		err = h.updateSession(ctx)
	}
	if err == nil && e.FailOpens > 0 {
		err = h.TellOf(ctx, coord.EventHookUnchecked, h.session.ID, h.repo.ID, wire.HookUncheckedPayload{
			Tool:     h.session.Tool,
			Events:   e.FailOpens,
			IntentID: h.session.IntentID,
		})
	}
	if err == nil {
		err = h.tellStale(ctx)
	}
	if err == nil {
		err = c.Foresee(ctx, func() {
			c.Told(ctx, h.session.ID)
			if h.session.IntentID != nil {
				c.IntentByID(ctx, c.Who.OrgID, *h.session.IntentID)
			}
			if e.Event == wire.HookPreEdit || e.Event == wire.HookPreShell {
				h.foreseeDecision(ctx)
			}
		})
	}
	if err != nil {
		return nil, "", err
	}
	told, err := c.Told(ctx, h.session.ID)
	h.brief = newBrief(told)
	if err == nil {
		err = h.repeat(ctx)
	}
	if err == nil {
		err = h.loadIntent(ctx)
	}
	if err == nil && h.intent != nil {
		h.intent.LastActivityAt = h.Now
		err = h.TouchIntent(ctx, h.intent.ID, h.Now)
	}
	if err == nil {
		err = h.appear(ctx)
	}
	return h, "", err
}

// knownSession returns the session of an event in a repo, or nil. One that began
// before its client sent keys takes the first that comes.
func knownSession(ctx context.Context, c *ground.Change, e *hookEvent, repo string) (*store.SessionRow, error) {
	find := func() (*store.SessionRow, error) {
		return c.SessionByName(ctx, c.Who.OrgID, c.Who.UserID, e.Session.Tool, e.name(), repo)
	}
	old, err := find()
	if err != nil || old != nil || e.Session.Key == "" {
		return old, err
	}
	if err := c.GiveKey(ctx, c.Who.OrgID, c.Who.UserID, e.Session.Tool, e.Session.ExternalID, e.Session.Key); err != nil {
		return nil, err
	}
	return find()
}

// name is how the session of an event is known.
func (e *hookEvent) name() string { return store.SessionName(e.Session.ExternalID, e.Session.Key) }

// appear makes sure that the index knows this session: one that comes back
// had left it.
func (h *hook) appear(ctx context.Context) error {
	if h.intent == nil {
		if h.Live.Worker(h.session.ID) == nil {
			h.Live.PutWorker(live.SessionWorker(h.session))
		}
		return nil
	}
	w := h.Live.Worker(h.intent.ID)
	if w == nil || !slices.Contains(w.Lineages, h.session.LineageID) {
		return h.PutIntent(ctx, *h.intent)
	}
	return nil
}

// tellStale tells of each edit that the client refused because it would have
// undone others' lines.
func (h *hook) tellStale(ctx context.Context) error {
	for range min(h.event.StaleWrites, maxStale) {
		err := h.TellOf(ctx, coord.EventHookStaleWrite, h.session.ID, h.repo.ID, wire.HookStaleWritePayload{
			Tool: h.session.Tool, IntentID: h.session.IntentID})
		if err != nil {
			return err
		}
	}
	return nil
}

// maxFailOpens is as far as it is counted how often a session went on unchecked.
const maxFailOpens = 1_000_000

// describe writes what an event tells of its session into s, and reports
// whether anything that matters changed.
func (h *hook) describe(s *store.SessionRow) (changed bool) {
	e := h.event
	set := func(to **string, value string) {
		if value != "" && (*to == nil || **to != value) {
			*to, changed = &value, true
		}
	}
	set(&s.Model, e.Session.Model)
	set(&s.Surface, e.Session.Surface)
	set(&s.Branch, e.Repo.Branch)
	set(&s.WorktreeHash, e.Repo.WorktreeHash)
	set(&s.HeadSHA, e.Repo.HeadSHA)
	set(&s.BaseSHA, e.Repo.BaseSHA)
	if n := len(e.Paths); n > 0 && s.File == nil || n > 0 && *s.File != e.Paths[n-1] {
		s.File = &e.Paths[n-1] // where it is changes nothing that matters to others' edits
	}
	if e.FailOpens > 0 {
		s.FailOpens, s.FailOpensAt = min(s.FailOpens+min(e.FailOpens, maxFailOpens), maxFailOpens), h.Now.Ptr()
	}
	if s.TokenID != h.Who.TokenID {
		s.TokenID, changed = h.Who.TokenID, true
	}
	client := store.SessionClient{
		CLIVersion:    e.Client.CLIVersion,
		OS:            e.Client.OS,
		ToolVersion:   e.Client.ToolVersion,
		MachineIDHash: e.Client.MachineIDHash,
	}
	if s.Client != client && client != (store.SessionClient{}) {
		s.Client, changed = client, true
	}
	return changed
}

func (h *hook) startSession(ctx context.Context) error {
	e := h.event
	s := store.SessionRow{Session: coord.Session{
		ID:              ground.NewID(),
		OrgID:           h.Who.OrgID,
		User:            h.Who.User(),
		Repo:            coord.RepoName{ID: h.repo.ID, FullName: h.repo.FullName},
		Tool:            e.Session.Tool,
		ExternalID:      e.name(),
		StartedAt:       h.Now,
		LastHeartbeatAt: h.Now,
	}}
	h.describe(&s)
	// Sub-agents share their parent's lineage, and so does one agent's work
	// in several repos.
	for _, id := range []string{store.SessionName(e.Session.ParentExternalID, e.Session.ParentKey), e.name()} {
		if s.LineageID != "" || id == "" {
			continue
		}
		lineage, err := h.LineageOf(ctx, h.Who.OrgID, h.Who.UserID, e.Session.Tool, id)
		if err != nil {
			return err
		}
		s.LineageID = lineage
	}
	if s.LineageID == "" {
		s.LineageID = s.ID
	}
	if err := h.InsertSession(ctx, s); err != nil {
		return err
	}
	h.session = s
	h.Who.SessionID = s.ID
	h.Live.PutWorker(live.SessionWorker(s))
	return h.TellOf(ctx, coord.EventSessionStarted, s.ID, h.repo.ID, wire.SessionStartedPayload{Tool: s.Tool})
}

// turn notes whether the agent's turn is over and whether its person is to
// answer it, and reports whether either is new. What is told of a session in its
// absence, and the end of it, say nothing about that.
func (h *hook) turn(s *store.SessionRow) bool {
	before := turnOf(*s)
	switch e := h.event; {
	case e.Event == wire.HookSessionEnd, e.Event == wire.HookPostEdit && e.Session.Deaf:
	case e.Event == wire.HookStop:
		s.StoppedAt, s.AskedAt = h.Now.Ptr(), nil
		if st := e.Status; st != nil && (st.Asks != "" || coord.AsksPerson(st.Excerpt)) {
			s.AskedAt = h.Now.Ptr()
			if st.Asks == wire.AskPermission {
				s.StoppedAt = nil
			}
		}
	default:
		s.StoppedAt, s.AskedAt = nil, nil
	}
	return turnOf(*s) != before
}

// turnOf is where a session's turn is, conflicts apart.
func turnOf(s store.SessionRow) coord.AgentState {
	switch {
	case s.AskedAt != nil:
		return coord.AgentAsks
	case s.StoppedAt != nil:
		return coord.AgentStopped
	}
	return coord.AgentWorking
}

// updateSession takes over what an event tells of a known session.
func (h *hook) updateSession(ctx context.Context) error {
	resumed := h.session.EndedAt != nil && h.event.Event != wire.HookSessionEnd
	if resumed {
		h.session.EndedAt = nil
	}
	h.describe(&h.session)
	turned := h.turn(&h.session)
	h.session.LastHeartbeatAt = h.Now
	if err := h.UpdateSession(ctx, h.session); err != nil {
		return err
	}
	h.Who.SessionID = h.session.ID
	if turned {
		if err := h.TellOf(ctx, coord.EventSessionTurn, h.session.ID, h.repo.ID, wire.SessionTurnPayload{
			Tool: h.session.Tool, State: turnOf(h.session), IntentID: h.session.IntentID}); err != nil {
			return err
		}
	}
	if !resumed {
		return nil
	}
	return h.TellOf(ctx, coord.EventSessionStarted, h.session.ID, h.repo.ID, wire.SessionStartedPayload{Tool: h.session.Tool, Resumed: true})
}

// loadIntent finds the session's live intent. A session without one takes up
// what its owner left on the same branch, if no other session works on it: the
// same person coming back must not be in their own way, and two agents of one
// person are two workers.
func (h *hook) loadIntent(ctx context.Context) error {
	if h.session.IntentID != nil {
		i, err := h.IntentByID(ctx, h.Who.OrgID, *h.session.IntentID)
		if err != nil {
			return err
		}
		if i.Status.Live() {
			h.intent = &i
			return nil
		}
	}
	if h.session.Branch == nil || h.event.Event == wire.HookSessionEnd || h.session.Tool == wire.DoctorTool ||
		h.session.Tool == wire.EditorTool {
		return nil
	}
	i, err := work.LeftOn(ctx, h.Change, h.repo.ID, h.Who.UserID, *h.session.Branch, &h.session)
	if err != nil || i == nil {
		return err
	}
	h.intent = i
	return h.bindTo(ctx, i)
}

func (h *hook) bindTo(ctx context.Context, i *store.IntentRow) error {
	if err := work.Bind(ctx, h.Change, h.session, *i); err != nil {
		return err
	}
	h.session.IntentID = &i.ID
	if i.SessionID == nil || *i.SessionID != h.session.ID {
		i.SessionID = &h.session.ID
		i.LastActivityAt = h.Now
		if err := h.SaveIntent(ctx, i); err != nil {
			return err
		}
	}
	if err := work.TellIntent(ctx, h.Change, coord.EventIntentUpdated, *i); err != nil {
		return err
	}
	return h.PutIntent(ctx, *i)
}

// worker returns the id under which the engine knows this session's work.
func (h *hook) worker() string {
	if h.intent != nil {
		return h.intent.ID
	}
	return h.session.ID
}

// reply makes the answer to a recorded event.
func (h *hook) reply(ctx context.Context) (wire.HookReply, error) {
	reply := ruling.Allowed()
	reply.SessionID = &h.session.ID
	reply.IndexVersion = h.repo.IndexVersion
	rules, _ := h.Live.Rules(h.repo.ID)
	reply.StaleWrite = staleWrite(rules)
	if h.intent != nil {
		reply.Intent = &wire.HookIntent{Number: h.intent.Number, Ref: h.intent.Ref, Status: h.intent.Status, Title: h.intent.Title}
	}
	for _, c := range h.found {
		reply.Conflicts = append(reply.Conflicts, wire.HookConflict{Number: c.Number, Ref: c.Ref, Kind: c.Kind, Severity: c.Severity})
	}
	text, told := h.brief.render(wire.MaxHookContext)
	reply.InjectContext = text
	return reply, h.noteTold(ctx, told)
}

// noteTold notes what was really shown to the agent.
func (h *hook) noteTold(ctx context.Context, told []toldItem) error {
	for _, t := range told {
		if t.key != "" {
			if err := h.Tell(ctx, h.session.ID, t.key, t.mark); err != nil {
				return err
			}
		}
		if t.then != nil {
			if err := t.then(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

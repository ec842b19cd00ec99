package work

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/store"
)

// Expiry is how long a quiet session still counts for anything.
const Expiry = coord.SessionExpiryHours * time.Hour

// alwaysActive is the shortest time after which a policy can call a session
// idle.
const alwaysActive = time.Minute

// CheckSession refuses a caller who acts under a session that is not theirs, and
// returns the session's lineage if they show its key.
func (s *Service) CheckSession(ctx context.Context, who coord.Caller) (lineage string, err error) {
	err = s.Read(ctx, func(tx *store.Tx) error {
		sess, err := OwnSession(ctx, tx, who, who.SessionID)
		switch {
		case err != nil:
			return err
		case sess.ProvedBy(who.SessionKey):
			lineage = sess.LineageID
			return nil
		}
		return maySpeakAs(ctx, tx, who, sess)
	})
	return lineage, err
}

// maySpeakAs refuses an agent that names a session without showing its key, or
// with another's. Ids of sessions are no keys: everybody is shown them. A person
// may name any of theirs, and so may the only agent that works with a token: it
// can be no other. A session whose client has no keys can be named; what it
// holds is safe all the same (ground.SpeaksAs).
func maySpeakAs(ctx context.Context, tx *store.Tx, who coord.Caller, sess store.SessionRow) error {
	switch {
	case who.IsPerson() || who.Lineage == sess.LineageID || who.Lineage == "" && who.SessionKey == "" && !sess.Keyed():
		return nil
	case who.Lineage == "" && who.SessionKey == "":
		recent, err := RecentSessions(ctx, tx, who)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(recent, func(x store.SessionRow) bool { return x.LineageID != sess.LineageID }) {
			return nil
		}
	}
	return problem.Newf(problem.Forbidden, "nothing shows that you are the agent of session %s, whose id everybody can see; its host's "+
		"svc mcp does, with the session's key", sess.ID)
}

// OwnSession returns the caller's session of that id.
func OwnSession(ctx context.Context, tx *store.Tx, who coord.Caller, id string) (store.SessionRow, error) {
	const none = "no session of yours has this id; the hook briefing names yours"
	if err := ground.WantUUID(id, none); err != nil {
		return store.SessionRow{}, err
	}
	sess, err := tx.Session(ctx, who.OrgID, id)
	if err == nil && sess.User.ID != who.UserID {
		err = problem.Newf(problem.NotFound, "%s", none)
	}
	return sess, err
}

// ActingSession returns the session that a call acts as: the one it names, or
// the caller's latest one driven by the same token whose last activity lies
// within its repo's idle time, or nil. With such sessions in several repos it
// fails and lists them, unless repo (an id) leaves one. So it does with several
// agents in one repo, when svc mcp brings a model's call and could not tell
// whose it is: a model does not act as another agent, not even of its person.
func (s *Service) ActingSession(ctx context.Context, tx *store.Tx, who coord.Caller, id *string, repo string) (*store.SessionRow, error) {
	brought := id == nil && who.SessionID != "" // by who carries the call
	if brought {
		id = &who.SessionID
	}
	if id != nil {
		sess, err := OwnSession(ctx, tx, who, *id)
		if err == nil {
			err = maySpeakAs(ctx, tx, who, sess)
		}
		if err == nil && brought && who.Via == coord.ViaTool && repo != "" && sess.Repo.ID != repo {
			return s.elsewhere(ctx, tx, who, sess, repo)
		}
		return s.noteTool(ctx, tx, who, &sess, err)
	}
	if who.TokenID == "" || !who.Personal() {
		return nil, nil
	}
	recent, err := RecentSessions(ctx, tx, who)
	if err != nil {
		return nil, err
	}
	var rules map[string]policy.Rules
	if slices.ContainsFunc(recent, func(x store.SessionRow) bool { return tx.Now >= x.LastHeartbeatAt.Add(alwaysActive) }) {
		if rules, err = tx.Policies(ctx, who.OrgID); err != nil {
			return nil, err
		}
	}
	var found []store.SessionRow // the latest of each agent in each repo
	seen := map[string]bool{}
	for _, x := range recent {
		key := x.Repo.ID
		if who.ForModel {
			key += " " + x.LineageID
		}
		if (repo == "" || x.Repo.ID == repo) && !seen[key] && x.Tool != wire.DoctorTool && StatusOf(tx, rules, x) == coord.SessionActive {
			seen[key] = true
			found = append(found, x)
		}
	}
	switch len(found) {
	case 0:
		return nil, nil
	case 1:
		return s.noteTool(ctx, tx, who, &found[0], nil)
	}
	return nil, whichOf(found)
}

// elsewhere returns the session of the same agent in another repo, or nil.
func (s *Service) elsewhere(ctx context.Context, tx *store.Tx, who coord.Caller, sess store.SessionRow, repo string) (
	*store.SessionRow, error) {
	recent, err := RecentSessions(ctx, tx, who)
	if err != nil {
		return nil, err
	}
	for _, x := range recent {
		if x.Repo.ID == repo && x.LineageID == sess.LineageID {
			return s.noteTool(ctx, tx, who, &x, nil)
		}
	}
	return nil, nil
}

// whichOf says that a call may come from any of several sessions.
func whichOf(found []store.SessionRow) error {
	bad := &problem.Error{Kind: problem.BadRequest, Detail: "you have active sessions in several repos; pass repo or session_id"}
	if !slices.ContainsFunc(found, func(x store.SessionRow) bool { return x.Repo.ID != found[0].Repo.ID }) {
		bad.Detail = "several agents of yours are at work in " + found[0].Repo.FullName +
			" and nothing says which one calls; pass session_id, which your briefing names"
	}
	for _, x := range found {
		bad.Candidates = append(bad.Candidates, fmt.Sprintf("repo %s: session_id %s (%s)", peertext.Quoted(x.Repo.FullName), x.ID,
			peertext.Quoted(x.Tool)))
	}
	return bad
}

// A toolCall remembers what a call of a tool has read, for what is looked up
// after it.
type toolCall struct {
	at     coord.Time
	recent []store.SessionRow
	acting *store.SessionRow // whose call it was, as it was when it was called
}

// Acting returns the session that called a tool, if that is known, to foresee
// what is asked about it.
func Acting(ctx context.Context) *store.SessionRow {
	call, _ := ctx.Value(toolCallKey{}).(*toolCall)
	if call == nil {
		return nil
	}
	return call.acting
}

type toolCallKey struct{}

// rememberFor bounds how long it is remembered: some calls wait for minutes.
const rememberFor = time.Second

// ToolCall returns a context for one call of a tool and for the News after it.
// What both ask for is read once.
func ToolCall(ctx context.Context) context.Context {
	return context.WithValue(ctx, toolCallKey{}, &toolCall{})
}

// RecentSessions returns the sessions that were heard of through the caller's
// token of late and have not ended, the latest first.
func RecentSessions(ctx context.Context, tx *store.Tx, who coord.Caller) ([]store.SessionRow, error) {
	call, _ := ctx.Value(toolCallKey{}).(*toolCall)
	if call != nil && call.at > 0 && tx.Now < call.at.Add(rememberFor) {
		return call.recent, nil
	}
	recent, err := tx.Sessions(ctx, who.OrgID, store.SessionFilter{
		User:    who.UserID,
		Token:   who.TokenID,
		Unended: true,
	})
	// It is not asked by the time, so that it can be foreseen before the time of
	// the write is known.
	recent = slices.DeleteFunc(recent, func(s store.SessionRow) bool { return s.LastHeartbeatAt <= tx.Now.Add(-Expiry) })
	if err == nil && call != nil {
		call.at, call.recent = tx.Now, recent
	}
	return recent, err
}

// noteTool notes that a session's agent called a tool, to be written with the
// heartbeats: agents that call tools while their hooks are silent want help.
func (s *Service) noteTool(ctx context.Context, tx *store.Tx, who coord.Caller, sess *store.SessionRow,
	err error) (*store.SessionRow, error) {
	if err == nil && who.Via == coord.ViaTool {
		s.ToolCalls.Note(who.OrgID, sess.ID, tx.Now)
		if call, ok := ctx.Value(toolCallKey{}).(*toolCall); ok {
			call.acting = sess
		}
	}
	return sess, err
}

// Place is where a call happens: a repo, and the session it acts as, if any.
type Place struct {
	Repo    coord.Repo
	Session *store.SessionRow
}

// Locate finds the place of a call from the repo and session it names or
// implies. A call from nowhere fails with what to pass.
func (s *Service) Locate(ctx context.Context, tx *store.Tx, who coord.Caller, session, repo *string) (p Place, err error) {
	p, err = s.Spot(ctx, tx, who, session, repo)
	if err == nil && (repo == nil || *repo == "") {
		p.Repo, err = tx.Repo(ctx, who.OrgID, p.Repo.ID)
	}
	return p, err
}

// Spot is Locate for who needs to know no more of the repo than its name.
func (s *Service) Spot(ctx context.Context, tx *store.Tx, who coord.Caller, session, repo *string) (p Place, err error) {
	if repo != nil && *repo != "" {
		if p.Repo, err = RepoField(ctx, tx, who, "repo", *repo); err != nil {
			return p, err
		}
	}
	if p.Session, err = s.ActingSession(ctx, tx, who, session, p.Repo.ID); err != nil {
		return p, err
	}
	switch {
	case p.Session == nil && p.Repo.ID == "":
		return p, problem.InvalidField("repo", "is required: no recent session of yours says which repo is meant")
	case p.Session != nil && p.Repo.ID != "" && p.Session.Repo.ID != p.Repo.ID:
		return p, problem.InvalidField("session_id", "is a session in %s, not in %s", peertext.Quoted(p.Session.Repo.FullName),
			peertext.Quoted(p.Repo.FullName))
	case p.Repo.ID == "":
		p.Repo = coord.Repo{ID: p.Session.Repo.ID, FullName: p.Session.Repo.FullName}
	}
	return p, err
}

// StatusOf returns how alive a session is now under its repo's policy.
func StatusOf(tx *store.Tx, rules map[string]policy.Rules, s store.SessionRow) coord.SessionStatus {
	p := policy.Merge(rules[""], rules[s.Repo.ID])
	return coord.StatusAt(tx.Now, s.LastHeartbeatAt, s.EndedAt, p.SessionIdleMinutes)
}

// Worker returns the caller as the engine sees them at a place: their session's
// intent, their session, or nobody who is at work yet.
func (p Place) Worker(ix *engine.Index, who coord.Caller) *engine.Worker {
	if p.Session != nil {
		if p.Session.IntentID != nil {
			if w := ix.Worker(*p.Session.IntentID); w != nil {
				return w
			}
		}
		return live.SessionWorker(*p.Session)
	}
	// An id that nobody has, or the engine would take them for merged work.
	return &engine.Worker{ID: "caller", Repo: coord.RepoName{ID: p.Repo.ID, FullName: p.Repo.FullName}, User: who.User()}
}

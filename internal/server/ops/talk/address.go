package talk

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scope"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// seenFor is how long somebody who worked in a repo counts to its channel's
// audience.
const seenFor = 30 * 24 * time.Hour

// An envelope is a letter's address being found.
type envelope struct {
	s       *Service
	tx      *store.Tx
	who     coord.Caller
	session *store.SessionRow // the agent that sends, if one does
}

// targets maps each form of a target to what finds its letter.
var targets = map[string]func(envelope, context.Context, string) (ground.Letter, error){
	"user":     envelope.toUser,
	"intent":   envelope.toIntent,
	"conflict": envelope.toConflict,
	"thread":   envelope.toThread,
	"channel":  envelope.toChannel,
	"contract": envelope.toContract,
}

const targetForms = "user:<email>, intent:INT-n, conflict:CF-n, thread:<id>, channel:team, channel:<owner/name> or " +
	"contract:<owner/name>#<key>"

// address finds where a target's messages go. Somebody who is not there is an
// error that says what to do instead.
func (e envelope) address(ctx context.Context, to string) (ground.Letter, error) {
	to = strings.TrimSpace(to)
	kind, rest, ok := strings.Cut(to, ":")
	if find := targets[strings.ToLower(kind)]; ok && find != nil {
		if rest = strings.TrimSpace(rest); rest == "" {
			return ground.Letter{}, problem.InvalidField("to", "names nobody after %s:; use %s", strings.ToLower(kind), targetForms)
		}
		return find(e, ctx, rest)
	}
	if !ok && !strings.Contains(to, "@") { // #name, or a bare channel name
		return e.toChannel(ctx, to)
	}
	if !ok {
		return ground.Letter{}, problem.InvalidField("to", "is not a target; for a person write user:%s", peertext.Quoted(to))
	}
	return ground.Letter{}, problem.InvalidField("to", "is not a target; use %s", targetForms)
}

// isSelf reports whether a user is the one who sends.
func (e envelope) isSelf(user string) bool { return e.who.Personal() && user == e.who.UserID }

// with returns the sender and others, for a thread between them.
func (e envelope) with(users ...string) []string {
	if e.who.Personal() {
		users = append(users, e.who.UserID)
	}
	return users
}

func (e envelope) toUser(ctx context.Context, email string) (ground.Letter, error) {
	m, err := e.tx.MemberByEmail(ctx, e.who.OrgID, email)
	switch {
	case problem.KindOf(err) == problem.NotFound:
		return ground.Letter{}, problem.Newf(problem.NotFound,
			"no member of this org has the address %s; who_is_online and the dashboard tell who there is", peertext.Quoted(email))
	case err != nil:
		return ground.Letter{}, err
	case e.isSelf(m.ID) && e.session == nil:
		return ground.Letter{}, problem.InvalidField("to",
			"is you; a message to yourself is for your other agents and needs the session_id of the one that writes it")
	}
	return ground.Letter{Thread: store.DirectThread(e.with(m.ID), nil, nil), To: "user:" + m.Email, Recipients: []string{m.ID}}, nil
}

func (e envelope) toIntent(ctx context.Context, ref string) (ground.Letter, error) {
	i, err := work.FindIntent(ctx, e.tx, e.who, ref)
	switch {
	case err != nil:
		return ground.Letter{}, err
	case !i.Status.Live():
		return ground.Letter{}, problem.Newf(problem.Conflict, "%s is %s and nobody works on it; write to its owner with user:%s", i.Ref,
			i.Status, i.Owner.Email)
	case e.isSelf(i.Owner.ID) && (e.session == nil || i.SessionID != nil && *i.SessionID == e.session.ID):
		return ground.Letter{}, problem.InvalidField("to", "%s is your own", i.Ref)
	}
	if _, err := e.tx.Member(ctx, e.who.OrgID, i.Owner.ID); err != nil {
		return ground.Letter{}, gone(err, "%s has left this org; an admin can hand %s to somebody", peertext.QuotedName(i.Owner.Name), i.Ref)
	}
	return e.aboutIt("intent", i.Ref, i.Owner.ID), nil
}

// gone turns "no such member" into a state that the caller can do something
// about.
func gone(err error, format string, args ...any) error {
	if problem.KindOf(err) == problem.NotFound {
		return problem.Newf(problem.Conflict, format, args...)
	}
	return err
}

func (e envelope) toConflict(ctx context.Context, ref string) (ground.Letter, error) {
	c, err := work.FindConflict(ctx, e.tx, e.who, ref)
	switch {
	case err != nil:
		return ground.Letter{}, err
	case !c.Status.Live():
		return ground.Letter{}, problem.Newf(problem.Conflict, "%s is %s; write to its parties with user:<email>", c.Ref, c.Status)
	}
	parties, err := e.members(ctx, slices.DeleteFunc([]string{c.HolderUser, c.ChallengerUser}, func(u string) bool { return u == "" }))
	if err != nil {
		return ground.Letter{}, err
	}
	reachable := slices.ContainsFunc(parties, func(u string) bool { return !e.isSelf(u) })
	if !reachable && (e.session == nil || len(parties) < 2) {
		return ground.Letter{}, problem.Newf(problem.Conflict, "you are the only one to reach about %s; post to its repo with channel:%s",
			c.Ref, peertext.Quoted(c.Repo.FullName))
	}
	return e.aboutIt("conflict", c.Ref, parties...), nil
}

// toContract addresses everybody who answers for code or work that uses a contract
// of a repo, once each.
func (e envelope) toContract(ctx context.Context, rest string) (ground.Letter, error) {
	repo, key, ok := strings.Cut(rest, "#")
	if !ok {
		return ground.Letter{}, problem.InvalidField("to", "names no contract; write contract:<owner/name>#<key>")
	}
	r, err := work.RepoField(ctx, e.tx, e.who, "to", strings.TrimSpace(repo))
	if err != nil {
		return ground.Letter{}, err
	}
	key, err = scope.ParseLookup(strings.TrimSpace(key))
	if err != nil {
		return ground.Letter{}, problem.InvalidField("to", "%v", err)
	}
	users, err := e.s.work.UsersOf(ctx, e.tx, e.who, r.ID, key)
	if err != nil {
		return ground.Letter{}, err
	}
	if users, err = e.members(ctx, users); err != nil {
		return ground.Letter{}, err
	}
	if !slices.ContainsFunc(users, func(u string) bool { return !e.isSelf(u) }) {
		return ground.Letter{}, problem.Newf(problem.Conflict,
			"nobody else is known to answer for a use of %s; post to the repo that uses it with channel:<owner/name>", peertext.Quoted(key))
	}
	l, subject := e.aboutIt("contract", r.FullName+"#"+key, users...), "About "+key
	l.Thread.Subject = &subject
	return l, nil
}

// members leaves out who is no member of the org, or no more.
func (e envelope) members(ctx context.Context, users []string) (out []string, err error) {
	for _, u := range users {
		if _, err := e.tx.Member(ctx, e.who.OrgID, u); err == nil {
			out = append(out, u)
		} else if problem.KindOf(err) != problem.NotFound {
			return nil, err
		}
	}
	return out, nil
}

// aboutIt returns a letter to some people in a thread about a record.
func (e envelope) aboutIt(kind, ref string, users ...string) ground.Letter {
	about, subject := &coord.About{Kind: kind, Ref: ref}, "About "+ref
	return ground.Letter{Thread: store.DirectThread(e.with(users...), about, &subject), To: kind + ":" + ref, About: about,
		Recipients: users}
}

// Agents read these as well as programs, so they name no route of either.
const noChannel = "no channel #%s: there is one called team, and one for each repo of this org, as owner/name"

const noConversation = "no such conversation, or not one that you can read"

func (e envelope) toThread(ctx context.Context, id string) (ground.Letter, error) {
	if err := ground.WantUUID(id, noConversation); err != nil {
		return ground.Letter{}, err
	}
	kind, member, err := e.tx.ConversationKind(ctx, e.who.OrgID, id, e.who.UserID)
	switch {
	case err != nil:
		return ground.Letter{}, err
	case kind == "":
		return ground.Letter{}, problem.Newf(problem.NotFound, noConversation)
	case kind == coord.Direct && !member:
		return ground.Letter{}, problem.Newf(problem.Forbidden,
			"only those who take part in a direct thread post to it; write to them with user:<email>")
	}
	c, err := e.s.conversation(ctx, e.tx, e.who, id)
	if err != nil {
		return ground.Letter{}, err
	}
	if c.Kind == coord.Channel {
		return e.channel(ctx, c)
	}
	l := ground.Letter{Thread: store.Thread{Kind: coord.Direct}, Conv: c.ID, To: "thread:" + c.ID, About: c.About}
	for _, p := range c.Participants {
		l.Recipients = append(l.Recipients, p.ID)
	}
	if l.Recipients, err = e.members(ctx, l.Recipients); err != nil {
		return l, err
	}
	if len(l.Addressees(e.who)) == 0 && (e.session == nil || len(c.Participants) > 1) {
		return l, problem.Newf(problem.Conflict, "everybody else in this thread has left the org; nobody would read it")
	}
	return l, nil
}

func (e envelope) toChannel(ctx context.Context, name string) (ground.Letter, error) {
	t, err := e.s.channelNamed(ctx, e.tx, e.who, "to", name)
	if err != nil {
		return ground.Letter{}, err
	}
	c := coord.Conversation{Kind: coord.Channel}
	if t.RepoID != nil {
		r, err := e.tx.Repo(ctx, e.who.OrgID, *t.RepoID)
		if err != nil {
			return ground.Letter{}, err
		}
		c.Repo = &coord.RepoName{ID: r.ID, FullName: r.FullName}
	}
	return e.channel(ctx, c)
}

// channel returns a letter to a channel's audience.
func (e envelope) channel(ctx context.Context, c coord.Conversation) (ground.Letter, error) {
	l, repo := ground.Letter{Thread: store.TeamChannel(), To: "channel:team"}, ""
	if c.Repo != nil {
		repo = c.Repo.ID
		l.Thread, l.To = store.RepoChannel(repo), "channel:"+c.Repo.FullName
	}
	var err error
	l.Recipients, err = e.tx.ChannelAudience(ctx, e.who.OrgID, repo, e.tx.Now.Add(-seenFor))
	return l, err
}

// channelNamed returns the channel that a name means: team, owner/name, or the
// bare name of a repo that no other repo of the org has; a leading # is
// ignored.
func (s *Service) channelNamed(ctx context.Context, tx *store.Tx, who coord.Caller, field, name string) (store.Thread, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "#")
	if strings.EqualFold(name, "team") {
		return store.TeamChannel(), nil
	}
	if strings.Contains(name, "/") || shape.IsUUID(name) {
		r, err := work.FindRepo(ctx, tx, who, name)
		if problem.KindOf(err) == problem.NotFound {
			err = problem.Newf(problem.NotFound, noChannel, peertext.Quoted(name))
		}
		return store.RepoChannel(r.ID), err
	}
	repos, err := tx.Repos(ctx, who.OrgID)
	if err != nil {
		return store.Thread{}, err
	}
	var found []coord.Repo
	for _, r := range repos {
		if strings.EqualFold(r.FullName[strings.LastIndex(r.FullName, "/")+1:], name) {
			found = append(found, r)
		}
	}
	switch len(found) {
	case 0:
		return store.Thread{}, problem.Newf(problem.NotFound, noChannel, peertext.Quoted(name))
	case 1:
		return store.RepoChannel(found[0].ID), nil
	}
	bad := &problem.Error{Kind: problem.Validation, Detail: fmt.Sprintf("%d repos are called %s; name one with its owner", len(found),
		peertext.Quoted(name)),
		Fields: []problem.Field{{Path: field, Message: "is the name of several repos"}}}
	for _, r := range found {
		bad.Candidates = append(bad.Candidates, "channel:"+peertext.Quoted(r.FullName))
	}
	return store.Thread{}, bad
}

package moments

import (
	"context"
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/talk"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/ruling"
	"github.com/svc-hq/svc/internal/server/store"
)

// news adds what is new to this session to its brief: conflicts that matter,
// messages, answers and questions.
func (h *hook) news(ctx context.Context) error {
	if h.event.Session.Deaf {
		return nil // told now, it would count as told and never be seen
	}
	if h.event.Event != wire.HookSessionStart && h.brief.heard[selfKey] == selfOwed {
		h.introduce()
	}
	return h.gatherNews(ctx)
}

func (h *hook) gatherNews(ctx context.Context) error {
	err := h.Foresee(ctx, func() {
		talk.Undelivered(ctx, h.Tx, h.Who, h.session, maxLetters+1)
		talk.NewAnswers(ctx, h.Tx, h.Who, h.session, maxLetters)
		talk.OpenQuestions(ctx, h.Tx, h.Who, h.session, maxLetters)
	})
	if err != nil {
		return err
	}
	for _, add := range []func(context.Context) error{h.conflictNews, h.landingNews, h.wishNews, h.messageNews, h.answerNews, h.questionNews} {
		if err := add(ctx); err != nil {
			return err
		}
	}
	return nil
}

// landingNews tells a session once that others had better land before it: its
// next step is another then.
func (h *hook) landingNews(context.Context) error {
	if h.intent == nil {
		return nil
	}
	if first, text := engine.GoesAfter(h.Live.View(), h.worker()); len(first) > 0 {
		h.brief.add(rankLanding, "landing", strings.Join(first, " "), marker.Say(text, ruling.MaxLine), nil)
	}
	return nil
}

// maxLetters is how many messages go into one brief.
const maxLetters = 5

// messageNews delivers messages that this session has not received yet.
func (h *hook) messageNews(ctx context.Context) error {
	letters, err := talk.Undelivered(ctx, h.Tx, h.Who, h.session, maxLetters+1)
	if err != nil {
		return err
	}
	for k, m := range letters {
		if k == maxLetters {
			h.brief.add(rankMessage, "", "", "More messages wait: call inbox.", nil)
			break
		}
		head := "Message from " + h.senderName(m.From)
		if m.Subject != nil {
			head += " about " + marker.Inline(*m.Subject, peertext.MaxTitle)
		}
		if m.About != nil && m.About.Kind == talk.AboutQuestion {
			head += " (to answer a question here: answer, question " + m.About.Ref + ")"
		}
		if m.RequiresAck {
			head += fmt.Sprintf(" (acknowledge with message_ack %s)", m.ID)
		}
		h.brief.add(rankMessage, "", "", head+", id "+m.ID+":\n"+marker.Block(m.Body, 1200), func(ctx context.Context) error {
			return talk.Deliver(ctx, h.Tx, h.session, []string{m.ID})
		})
	}
	return nil
}

// answerNews tells the answers to this session's questions.
func (h *hook) answerNews(ctx context.Context) error {
	asked, err := talk.NewAnswers(ctx, h.Tx, h.Who, h.session, maxLetters)
	if err != nil {
		return err
	}
	for _, q := range asked {
		for _, a := range q.Answers {
			told := q
			told.Answers = []coord.Answer{a}
			text := fmt.Sprintf("Answer from %s to your question %s", h.senderName(a.By), marker.Inline(q.Question, peertext.MaxTitle))
			h.brief.add(rankMessage, "", "", text+":\n"+marker.Block(a.Answer, 1200), func(ctx context.Context) error {
				return talk.DeliverQuestions(ctx, h.Tx, h.session, []coord.Question{told})
			})
		}
	}
	return nil
}

// questionNews asks what others want to know of this session's work.
func (h *hook) questionNews(ctx context.Context) error {
	open, err := talk.OpenQuestions(ctx, h.Tx, h.Who, h.session, maxLetters)
	if err != nil {
		return err
	}
	for _, q := range open {
		head := "Question from " + h.senderName(q.AskedBy)
		if q.About != nil {
			head += " about " + marker.Place(*q.About, peertext.MaxPath)
		}
		h.brief.add(rankQuestion, "", "", head+" (answer it with answer, question "+q.ID+"):\n"+marker.Block(q.Question, 1200),
			func(ctx context.Context) error {
				return talk.DeliverQuestions(ctx, h.Tx, h.session, []coord.Question{q})
			})
	}
	return nil
}

// senderName names who wrote to this session: a person, or an agent of somebody
// else's or of the session's own person.
func (h *hook) senderName(s coord.Sender) string {
	switch {
	case s.User == nil:
		return string(s.Kind)
	case s.Kind == coord.SenderSession && s.Tool != nil && s.User.ID == h.Who.UserID:
		return "your other agent (" + marker.Place(*s.Tool, peertext.MaxName) + ")"
	case s.Kind == coord.SenderSession && s.Tool != nil:
		return marker.PersonName(s.User.Name) + "'s agent (" + marker.Place(*s.Tool, peertext.MaxName) + ")"
	}
	return marker.PersonName(s.User.Name)
}

// What a session has heard of itself: svc share starts sessions in the name of
// agents that hear of it with their next hook.
const (
	selfKey  = "self"
	selfOwed = "owed"
)

// introduce adds under which names the service knows the agent.
func (h *hook) introduce() {
	branch, key, mark := "no branch", "", ""
	if h.session.Branch != nil {
		branch = "branch " + marker.Place(*h.session.Branch, peertext.MaxBranch)
	}
	if h.brief.heard[selfKey] == selfOwed {
		key, mark = selfKey, "told"
	}
	text := fmt.Sprintf("svc coordinates you with your teammates' agents. Your session_id is %s (%s, %s).", h.session.ID,
		marker.Place(h.repo.FullName, peertext.MaxPath), branch)
	if h.intent != nil {
		text += fmt.Sprintf("\nYour intent is %s (%s). Keep it current with intent_update.", h.intent.Ref, h.intent.Status)
	}
	h.brief.add(rankSelf, key, mark, text, nil)
}

// briefing adds what an agent needs to know when it starts.
func (h *hook) briefing(ctx context.Context) error {
	h.introduce()
	if h.intent == nil || h.intent.Status == coord.IntentDraft {
		h.brief.add(rankAdvice, "", "",
			"Before you edit: call team_context, then intent_declare with the paths you will touch. Never work around a block.", nil)
	}
	if h.intent != nil && h.intent.Handoff != nil && h.intent.Handoff.AdoptedAt == nil {
		h.brief.add(rankAdvice, "", "", h.intent.Ref+" was handed to you: call intent_adopt "+h.intent.Ref+".", nil)
	}
	return h.teamLines(ctx)
}

// maxTeam is how many teammates a briefing names.
const maxTeam = 8

// teamLines tells who else is at work here.
func (h *hook) teamLines(ctx context.Context) error {
	var lines []string
	for _, n := range nearby(h.Live.View(), h.Live.Worker(h.worker()), coord.ScopeSet{}, nil) {
		if len(lines) == maxTeam {
			lines = append(lines, "- and others: call who_is_online")
			break
		}
		line := "- " + marker.PersonName(n.User.Name)
		if n.Tool != nil {
			line += " (" + marker.Place(*n.Tool, peertext.MaxName) + ")"
		}
		if n.Branch != nil {
			line += " on " + marker.Place(*n.Branch, peertext.MaxBranch)
		}
		if n.Outside != nil {
			line += ", " + n.Outside.Name() + ", without svc"
		}
		if n.Intent != nil {
			line += ", " + n.Intent.Ref
			if n.Intent.Title != nil {
				line += " " + marker.Inline(*n.Intent.Title, peertext.MaxTitle)
			}
		}
		if n.Overlaps {
			line += ", where your scope is"
		}
		if len(n.Paths) > 0 {
			shown := make([]string, min(3, len(n.Paths)))
			for k := range shown {
				shown[k] = marker.Place(n.Paths[k], 100)
			}
			line += ": " + strings.Join(shown, ", ")
		}
		lines = append(lines, line)
	}
	if len(lines) > 0 {
		h.brief.add(rankTeam, "", "", "At work in this repository:\n"+strings.Join(lines, "\n"), nil)
	}
	return nil
}

// foreseeNews asks for what telling whether there are news asks for, in
// tx.Foresee.
func foreseeNews(ctx context.Context, tx *store.Tx, who coord.Caller) {
	if who.SessionID != "" {
		tx.Session(ctx, who.OrgID, who.SessionID)
	} else {
		work.RecentSessions(ctx, tx, who)
	}
	if sess := work.Acting(ctx); sess != nil {
		tx.HasNews(ctx, *sess, tx.Now.Add(-talk.QuietAfter))
	}
}

// News returns what waits for the agent that called a tool, in words, and
// notes it as told. It is empty where it is not sure which agent that is. It
// also notes that the agent is at work, whatever its hooks do.
func (s *Service) News(ctx context.Context, who coord.Caller) (text string, err error) {
	var sess *store.SessionRow
	waits := false
	err = s.Read(ctx, func(tx *store.Tx) error {
		if err := tx.Foresee(ctx, func() { foreseeNews(ctx, tx, who) }); err != nil {
			return err
		}
		if who.SessionID != "" {
			var own store.SessionRow
			own, err = work.OwnSession(ctx, tx, who, who.SessionID)
			sess = &own
		} else {
			sess, err = talk.OnlyAgent(work.RecentSessions(ctx, tx, who))
		}
		if err != nil || sess == nil {
			return err
		}
		waits, err = tx.HasNews(ctx, *sess, tx.Now.Add(-talk.QuietAfter))
		return err
	})
	if err != nil || sess == nil {
		return "", err
	}
	s.work.ToolCalls.Note(who.OrgID, sess.ID, s.Store.Now())
	if !waits {
		return "", nil
	}
	err = s.Alter(ctx, who, func(c *ground.Change) error {
		heard, err := c.Told(ctx, sess.ID)
		if err != nil {
			return err
		}
		h := &hook{Change: c, session: *sess, brief: newBrief(heard)}
		if err := h.recall(ctx); err != nil {
			return err
		}
		if err := h.gatherNews(ctx); err != nil {
			return err
		}
		var told []toldItem
		text, told = h.brief.render(maxToolNews)
		text = marker.Text(text)
		return h.noteTold(ctx, told)
	})
	return text, err
}

// maxToolNews bounds what is told beside a tool's answer, in characters.
const maxToolNews = 3000

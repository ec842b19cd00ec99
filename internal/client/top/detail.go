package top

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

const labels = len("challenger") // how wide they are

// lastOf is how many messages of a thread the pane shows.
const lastOf = 5

// A thread is what was said about a conflict or an intent.
type thread struct {
	ref  string
	said []coord.Message
	err  error
}

// detail is the chosen row in full, as lines of any length: why, where, what
// both sides work on, their last words, and what people said about it.
func (s *screen) detail(c chosen) (out []string) {
	say := func(label, text string) {
		if text != "" {
			out = append(out, fmt.Sprintf("%-*s %s", labels, label, text))
		}
	}
	switch {
	case c.conflict != nil:
		s.detailConflict(*c.conflict, say)
	case c.agent != nil:
		a := c.agent
		say(team.States[a.State], a.Who+" with "+a.Tool+" in "+a.Repo+on(a.Branch))
		say("works on", strings.TrimSpace(a.Intent+" "+a.Title))
		say("file", a.File)
		say("why", a.Why)
		say("says", quoted(a.Words))
		if k := s.pic.conflict(a.WhyRef); k != nil {
			s.detailConflict(*k, say)
		}
	case c.need != nil:
		say("needs you", strings.ReplaceAll(peertext.Name(string(c.need.Kind)), "_", " ")+", "+team.Age(s.now, c.need.Since))
		say("what", peertext.Line(c.need.Title, 500))
		say("", team.Why(s.now, c.need.Detail, 1000))
		if k := s.pic.conflict(c.ref()); k != nil {
			s.detailConflict(*k, say)
		}
	}
	if s.thread.ref == "" || s.thread.ref != c.ref() {
		return out
	}
	if s.thread.err != nil {
		say("thread", peertext.Line(s.thread.err.Error(), 300))
	}
	for _, m := range s.thread.said {
		say("thread", sender(m)+", "+team.Age(s.now, m.CreatedAt)+": "+peertext.Line(m.Body, 500))
	}
	return out
}

func (s *screen) detailConflict(k coord.Conflict, say func(label, text string)) {
	say(k.Ref, string(k.Severity)+", "+team.Kind(k.Kind)+", "+peertext.Name(string(k.Status))+", in "+peertext.Path(k.Repo.FullName))
	say("where", team.Where(k))
	say("why", team.Why(s.now, k.Explanation, 1000))
	for _, p := range k.Parties {
		text := team.Person(p.User)
		if p.Outside != nil {
			text = p.Outside.Name() + " by " + peertext.Person(p.Outside.Author) + ", who does not use svc,"
		}
		if p.Intent != nil {
			text += ", " + peertext.Name(p.Intent.Ref)
			if p.Intent.Title != nil {
				text += " " + peertext.Title(*p.Intent.Title)
			}
		}
		if p.Branch != nil {
			text += on(peertext.Branch(*p.Branch))
		}
		say(peertext.Name(string(p.Role)), text+sideLines(k, p.Role))
		if a := s.pic.agent(p.SessionID); a != nil {
			say("", quoted(a.Words))
		}
	}
	say("next", peertext.Line(k.Suggestion.Text, 500))
}

// sideLines are the lines that one side of a conflict has changed.
func sideLines(k coord.Conflict, side coord.PartyRole) string {
	for _, e := range k.Evidence {
		if e.Party == side && e.Lines != nil && e.Path != nil {
			return fmt.Sprintf(", lines %d-%d of %s", e.Lines.Start, e.Lines.End, peertext.Path(*e.Path))
		}
	}
	return ""
}

func on(branch string) string {
	if branch == "" {
		return ""
	}
	return " on " + branch
}

func quoted(words string) string {
	if words == "" {
		return ""
	}
	return "“" + words + "”"
}

func sender(m coord.Message) string {
	if m.From.User == nil {
		return "svc"
	}
	return team.Person(m.From.User)
}

func (p *Picture) conflict(ref string) *coord.Conflict {
	for i := range p.Conflicts {
		if p.Conflicts[i].Ref == ref {
			return &p.Conflicts[i]
		}
	}
	return nil
}

func (p *Picture) agent(session *string) *team.Agent {
	for i := range p.Agents {
		if session != nil && p.Agents[i].ID == *session {
			return &p.Agents[i]
		}
	}
	return nil
}

// pane draws the details under a line, wrapped, in at most so many lines.
func (s *screen) pane(most int) (out []string) {
	if !s.detailed || most < 3 {
		return nil
	}
	c, ok := s.chosen()
	if !ok {
		return nil
	}
	out = []string{s.paint(faint, strings.Repeat("─", s.width))}
	for _, text := range s.detail(c) {
		for i, line := range grid.Wrap(text, s.width-2, labels+1) {
			if i == 0 && len(line) > labels && s.colour {
				line = s.paint(bold, line[:labels]) + line[labels:]
			}
			out = append(out, "  "+line)
		}
	}
	if len(out) > most {
		out = append(out[:most-1], s.paint(faint, "  … enter opens its page"))
	}
	return out
}

// toggle shows or hides the pane.
func (m *model) toggle() tea.Cmd {
	m.detailed = !m.detailed
	return m.readThread()
}

// readThread asks for what was said about the chosen row, where the pane shows it.
func (m *model) readThread() tea.Cmd {
	c, ok := m.chosen()
	ref := c.ref()
	if !ok || !m.detailed || ref == "" || ref == m.thread.ref {
		return nil
	}
	m.thread = thread{ref: ref}
	client, ctx := m.client, m.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		said, err := messagesAbout(ctx, client, ref)
		return thread{ref, said, err}
	}
}

// messagesAbout returns the last messages of the thread about an intent or a
// conflict.
func messagesAbout(ctx context.Context, c *remote.Client, ref string) ([]coord.Message, error) {
	var all wire.Page[coord.Conversation]
	if err := c.Send(ctx, "GET", "/v1/conversations?limit=100", nil, &all); err != nil {
		return nil, err
	}
	for _, v := range all.Items {
		if v.About == nil || v.About.Ref != ref {
			continue
		}
		var page wire.Page[coord.Message]
		err := c.Send(ctx, "GET", fmt.Sprintf("/v1/conversations/%s/messages?limit=%d", url.PathEscape(v.ID), lastOf), nil, &page)
		return page.Items, err
	}
	return nil, nil
}

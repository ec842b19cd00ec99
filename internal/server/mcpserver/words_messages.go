package mcpserver

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

func sender(s coord.Sender) string {
	switch {
	case s.User != nil && s.Tool != nil && s.User.Name == "you": // what svc up calls somebody without an address in git
		return fmt.Sprintf("your agent (%s)", *s.Tool)
	case s.User != nil && s.Tool != nil:
		return fmt.Sprintf("%s's agent (%s)", s.User.Name, *s.Tool)
	case s.User != nil:
		return s.User.Name
	case s.Kind == coord.SenderSystem:
		return "svc"
	}
	return "a service"
}

// replyTo is the target that answers a message.
func replyTo(m coord.Message) string {
	if strings.HasPrefix(m.To, "channel:") {
		return m.To
	}
	return "thread:" + m.ConversationID
}

// addMessages writes messages out in full as long as there is room.
func addMessages(s *sheet, ms []coord.Message, now coord.Time) {
	const room = maxLetters - 1000
	for i, m := range ms {
		head := fmt.Sprintf("- message %s from %s, %s", m.ID, sender(m.From), m.CreatedAt.Ago(now))
		if m.About != nil {
			head += ", about " + m.About.Kind + " " + m.About.Ref
		}
		if m.Subject != nil {
			head += ", subject " + *m.Subject
		}
		if s.Len() > 0 && utf8.RuneCountInString(s.String())+utf8.RuneCountInString(m.Body) > room {
			s.line("and %d more in the structured content, or with a smaller limit.", len(ms)-i)
			return
		}
		s.line("%s:\n%s", head, m.Body)
		s.line("  reply: message_send to %s", replyTo(m))
		if m.RequiresAck && len(m.Acks) == 0 {
			s.line("  asks to be acknowledged: message_ack %s", m.ID)
		}
	}
}

func inboxWords(in wire.Inbox, now coord.Time) string {
	var s sheet
	switch {
	case len(in.Items) > 0:
		s.line("%s, newest first:", counted(len(in.Items), "message", "messages"))
		addMessages(&s, in.Items, now)
	case in.TimedOut != nil && *in.TimedOut:
		s.line("No message came in %d s. Call inbox again with wait_seconds, or go on with other work.", *in.WaitedMS/1000)
	default:
		s.line("No messages.")
	}
	if in.Unread > 0 {
		s.line("%d more are unread: call inbox again.", in.Unread)
	}
	return s.done()
}

func sent(m coord.Message) string {
	text := fmt.Sprintf("Sent to %s as message %s in %s. It reaches their agents at their next tool call or prompt.", m.To, m.ID, replyTo(m))
	if m.RequiresAck {
		text += " They were asked to acknowledge it."
	}
	return text + " To wait for a reply call inbox with wait_seconds."
}

func acked(a wire.Acked) string { return "Acknowledged message " + a.ID + "; its sender can see that." }

func channelsWords(c wire.Channels, now coord.Time) string {
	var s sheet
	for i, ch := range c.Items {
		if i == 15 {
			s.line("and %d more in the structured content.", len(c.Items)-i)
			break
		}
		text := fmt.Sprintf("- %s: %d posts, %d new to you", ch.To, ch.MessageCount, ch.NewCount)
		if ch.LastMessage != nil {
			text += fmt.Sprintf(", the latest by %s %s", sender(ch.LastMessage.From), ch.LastMessage.CreatedAt.Ago(now))
		}
		if ch.Current {
			text += " (your repository)"
		}
		s.line("%s", text)
	}
	s.line("Read one with channel_read, post with message_send.")
	return s.done()
}

func posts(p wire.ChannelPosts, now coord.Time) string {
	var s sheet
	if len(p.Items) == 0 {
		return fmt.Sprintf("Nothing was posted to %s yet. Post with message_send to %s.", p.Channel.Name, p.Channel.To)
	}
	s.line("%s, the latest %d of %d posts, oldest first:", p.Channel.Name, len(p.Items), p.Channel.MessageCount)
	addMessages(&s, p.Items, now)
	return s.done()
}

func asked(q coord.Question) string {
	var s sheet
	if q.Immediate != nil {
		s.line("Known now: %s", *q.Immediate)
	}
	s.line("Question %s went to %s. To wait for the answer call inbox with wait_seconds; it is also in your next briefing.", q.ID, q.To)
	return s.done()
}

func answered(q coord.Question) string {
	return fmt.Sprintf("Answered question %s; the agent that asked is told at its next tool call or prompt.", q.ID)
}

func memories(p wire.Page[coord.Memory], now coord.Time) string {
	if len(p.Items) == 0 {
		return "Nothing found in the last 90 days. Try fewer or other words, or ask."
	}
	var s sheet
	s.line("%d found, the best first:", len(p.Items))
	const room = maxText - 120
	for i, m := range p.Items {
		head := fmt.Sprintf("- %s %s", strings.TrimSuffix(string(m.Kind), "s"), m.Ref)
		if m.By != nil {
			head += " by " + m.By.Name
		}
		if m.Repo != nil {
			head += " in " + m.Repo.FullName
		}
		entry := fmt.Sprintf("%s, %s: %s\n%s", head, m.At.Ago(now), m.Title, coord.AsSeen(m.Snippet, now))
		if utf8.RuneCountInString(s.String()+entry) > room {
			s.line("and %d more in the structured content: narrow it down with other words, kinds or repo.", len(p.Items)-i)
			break
		}
		s.line("%s", entry)
	}
	return s.done()
}

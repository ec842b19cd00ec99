package top

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

func cut(s string, width int) string { return grid.Cut(s, width, false) }

const filterLabel = "Filter: "

// press does what a key asks for.
func (m *model) press(key, typed string) tea.Cmd {
	switch {
	case key == "ctrl+c":
		m.leaving = ErrInterrupted
		return tea.Quit
	case m.input != nil:
		return m.edit(key, typed)
	case m.help:
		m.help = false
		return nil
	}
	m.say("", "")
	switch key {
	case "q":
		m.leaving = m.over
		return tea.Quit
	case "?", "h":
		m.help = true
	case "tab", "right", "l":
		m.at = (m.at + 1) % sections
	case "shift+tab", "left":
		m.at = (m.at + sections - 1) % sections
	case "/":
		m.input = &input{label: filterLabel, done: func(s string) { m.filter = strings.TrimSpace(s) }}
		m.input.insert(m.filter)
	case "esc":
		m.detailed = m.detailed && m.filter != ""
		m.filter = ""
	case "space":
		return m.toggle()
	case "b":
		m.grouped = !m.grouped
	case "r":
		return m.retry()
	case "enter", "o":
		return m.open()
	case "a":
		return m.acknowledge()
	case "m":
		m.write()
	case "w":
		m.wait()
	case "d":
		return m.dismiss()
	default:
		m.move(key)
	}
	return m.readThread()
}

// edit gives a key to the line that is typed.
func (m *model) edit(key, typed string) tea.Cmd {
	switch key {
	case "esc":
		if m.input.label == filterLabel {
			m.filter = ""
		}
		m.input = nil
	case "enter":
		in := m.input
		m.input, m.next = nil, nil
		in.done(string(in.text))
		return m.next
	default:
		m.input.key(key, typed)
		if m.input.label == filterLabel { // at once, as it is typed
			m.filter = strings.TrimSpace(string(m.input.text))
		}
	}
	return nil
}

func (m *model) move(key string) {
	n := len(m.lists()[m.at].rows)
	page := max(1, m.height/3)
	by := map[string]int{"up": -1, "k": -1, "down": 1, "j": 1, "pgup": -page, "pgdown": page, "ctrl+b": -page, "ctrl+f": page,
		"g": -n, "home": -n, "G": n, "end": n}[key]
	m.selected[m.at] = max(0, min(m.selected[m.at]+by, n-1))
}

// retry looks again, with the login as it is now.
func (m *model) retry() tea.Cmd {
	c, err := m.opt.Connect()
	if err != nil {
		m.say(red, peertext.Line(err.Error(), 300))
		return nil
	}
	m.client, m.over, m.down = c, nil, nil
	m.listen()
	m.looking = true
	return m.look()
}

// A chosen row is the record that the mark is on.
type chosen struct {
	need     *coord.AttentionItem
	agent    *team.Agent
	conflict *coord.Conflict
}

func (m *screen) chosen() (c chosen, ok bool) {
	if m.at >= sections {
		return c, false
	}
	l := m.lists()[m.at]
	n := m.selected[m.at]
	if n >= len(l.refs) {
		return c, false
	}
	for i := range m.pic.Needs {
		if m.at == needs && m.pic.Needs[i].ID == l.refs[n] {
			c.need = &m.pic.Needs[i]
		}
	}
	for i := range m.pic.Agents {
		if m.at == agents && m.pic.Agents[i].ID == l.refs[n] {
			c.agent = &m.pic.Agents[i]
		}
	}
	for i := range m.pic.Conflicts {
		if m.at == conflicts && m.pic.Conflicts[i].Ref == l.refs[n] {
			c.conflict = &m.pic.Conflicts[i]
		}
	}
	return c, true
}

// ref is the conflict or intent that a row is about, or "".
func (c chosen) ref() string {
	switch {
	case c.conflict != nil:
		return c.conflict.Ref
	case c.agent != nil && c.agent.WhyRef != "":
		return c.agent.WhyRef
	case c.agent != nil:
		return c.agent.Intent
	case c.need != nil && c.need.Ref != nil && (strings.HasPrefix(*c.need.Ref, "CF-") || strings.HasPrefix(*c.need.Ref, "INT-")):
		return *c.need.Ref
	}
	return ""
}

// page is where the dashboard shows a row.
func (c chosen) page() string {
	switch {
	case c.agent != nil:
		return "/agents/" + url.PathEscape(c.agent.ID)
	case c.conflict != nil:
		return "/conflicts/" + c.conflict.Ref
	case c.need != nil:
		if u, err := url.Parse(c.need.URL); err == nil && strings.HasPrefix(u.Path, "/") {
			return u.Path
		}
	}
	return "/"
}

func (m *model) open() tea.Cmd {
	c, ok := m.chosen()
	if !ok {
		return nil
	}
	ctx, page, open := m.ctx, c.page(), m.opt.Open
	return func() tea.Msg {
		said, err := open(ctx, page)
		if err != nil {
			return failed{err}
		}
		return did{said}
	}
}

// post makes a request whose answer is only that it was done.
func (m *model) post(path string, in any, said string) tea.Cmd {
	client, ctx := m.client, m.ctx
	m.say(faint, "…")
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		if _, err := client.Raw(ctx, http.MethodPost, path, in); err != nil {
			return failed{err}
		}
		return did{said}
	}
}

func (m *model) acknowledge() tea.Cmd {
	c, ok := m.chosen()
	switch ref := c.ref(); {
	case !ok:
	case c.need != nil && c.need.Kind == coord.AttentionAck && c.need.MessageID != nil:
		return m.post("/v1/messages/"+url.PathEscape(*c.need.MessageID)+"/ack", nil, "Acknowledged the message.")
	case strings.HasPrefix(ref, "CF-"):
		return m.post("/v1/conflicts/"+ref+"/actions", map[string]any{"action": coord.ActionAck}, "Acknowledged "+ref+".")
	default:
		m.say("", "There is nothing to acknowledge here.")
	}
	return nil
}

func (m *model) dismiss() tea.Cmd {
	c, ok := m.chosen()
	if !ok || c.need == nil {
		m.say("", "Only what needs you can be dismissed.")
		return nil
	}
	return m.post("/v1/attention/dismiss", map[string]any{"ids": []string{c.need.ID}}, "Dismissed until it changes.")
}

// write asks for a text and sends it where the row says.
func (m *model) write() {
	c, ok := m.chosen()
	if !ok {
		return
	}
	label, path, field := "", "/v1/messages", "body"
	in := map[string]any{}
	switch ref := c.ref(); {
	case c.need != nil && c.need.Kind == coord.AttentionQuestion && c.need.Ref != nil:
		label, path, field = "Answer: ", "/v1/questions/"+url.PathEscape(*c.need.Ref)+"/answers", "answer"
	case c.need != nil && c.need.Ref != nil && strings.HasPrefix(*c.need.Ref, "thread:"):
		label, path = "Reply: ", "/v1/conversations/"+url.PathEscape(strings.TrimPrefix(*c.need.Ref, "thread:"))+"/messages"
	case c.agent != nil && c.agent.Intent != "":
		label, in["to"] = "To "+c.agent.Who+" and the agents of "+c.agent.Intent+": ", "intent:"+c.agent.Intent
	case c.agent != nil:
		label, in["to"] = "To "+c.agent.Who+": ", "user:"+c.agent.Email
	case strings.HasPrefix(ref, "CF-"):
		label, in["to"] = "To both sides of "+ref+": ", "conflict:"+ref
	case strings.HasPrefix(ref, "INT-"):
		label, in["to"] = "To those of "+ref+": ", "intent:"+ref
	default:
		m.say("", "There is nobody to write to here; enter opens its page.")
		return
	}
	m.input = &input{label: label, done: func(text string) {
		if text = strings.TrimSpace(text); text == "" {
			m.say("", "Nothing was sent.")
			return
		}
		in[field] = text
		m.next = m.post(path, in, "Sent.")
	}}
}

// wait begins or ends waiting for a row.
func (m *model) wait() {
	c, ok := m.chosen()
	ref := c.ref()
	switch {
	case !ok || ref == "":
		m.say("", "There is nothing to wait for here.")
	case m.waits[ref]:
		delete(m.waits, ref)
		m.say("", "No longer waiting for "+ref+".")
	case !m.pic.live[ref]:
		m.say("", ref+" is free already.")
	default:
		m.waits[ref] = true
		m.say("", "You hear when "+ref+" is free.")
	}
}

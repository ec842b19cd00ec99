package top

import (
	"context"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// How often the view asks: soon after something happened, and not more than
// once a second however much happens.
const (
	soon    = 200 * time.Millisecond
	between = time.Second
	ageing  = 20 * time.Second
)

// A model is the view with what it knows.
type model struct {
	opt      Options
	ctx      context.Context
	client   *remote.Client
	send     func(tea.Msg)
	unlisten func()

	screen
	looking, again bool
	lastLook       time.Time
	down           error // why the stream does not stand
	over           error // why it cannot come back by itself
	leaving        error
	input          *input
	help           bool
	next           tea.Cmd // what an answer in the input line started
}

func newModel(ctx context.Context, opt Options, c *remote.Client) *model {
	m := &model{opt: opt, ctx: ctx, client: c}
	m.screen = screen{now: opt.Now(), width: 80, height: 24, colour: opt.Colour, at: agents, first: true, waits: map[string]bool{}}
	return m
}

// Init begins.
func (m *model) Init() tea.Cmd {
	m.looking = true
	return tea.Batch(m.look(), age())
}

func age() tea.Cmd { return tea.Tick(ageing, func(time.Time) tea.Msg { return tick{} }) }

// Update takes in what happened.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	m.now = m.opt.Now()
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg.String(), msg.Text)
	case tea.MouseClickMsg:
		if m.input == nil && !m.help {
			return m, m.click(msg.Y)
		}
	case tea.MouseWheelMsg:
		if m.input == nil && !m.help {
			return m, m.wheel(msg.Y, msg.Button)
		}
	case thread:
		if msg.ref == m.thread.ref {
			m.thread = msg
		}
	case tea.PasteMsg:
		if m.input != nil {
			m.input.insert(msg.Content)
		}
	case heard:
		return m, m.soon()
	case up:
		m.down = nil
		return m, m.soon()
	case downMsg:
		m.down = msg.error
	case ended:
		m.over = msg.error
	case due:
		m.looking = true
		return m, m.look()
	case looked:
		return m, m.take(msg)
	case tick:
		return m, age()
	case did:
		m.say("", msg.said)
		return m, m.soon()
	case failed:
		m.say(red, peertext.Line(msg.Error(), 300))
	}
	return m, nil
}

func (m *model) say(style, text string) { m.notice, m.noticeStyle = text, style }

// soon looks again in a moment, once however often it is asked for.
func (m *model) soon() tea.Cmd {
	if m.looking {
		m.again = true
		return nil
	}
	m.looking = true
	wait := max(soon, between-m.now.Sub(m.lastLook))
	return tea.Tick(wait, func(time.Time) tea.Msg { return due{} })
}

// take shows a new picture, and tells of what one waited for.
func (m *model) take(l looked) tea.Cmd {
	m.looking, m.lastLook = false, m.now
	var cmds []tea.Cmd
	switch {
	case l.err != nil && remote.Rejected(l.err):
		m.over = l.err
	case l.err != nil:
		m.down = l.err
	default:
		m.keep(l.pic)
		m.first = false
		for ref := range m.waits {
			if !l.pic.live[ref] {
				delete(m.waits, ref)
				m.say(bold+";"+green, ref+" is free.")
				cmds = append(cmds, tea.Raw("\a"))
			}
		}
	}
	if m.again {
		m.again = false
		cmds = append(cmds, m.soon())
	}
	return tea.Batch(cmds...)
}

// keep takes a new picture and leaves the mark on what it was on.
func (m *model) keep(p Picture) {
	var was [sections]string
	for i, l := range m.lists() {
		if n := m.selected[i]; n < len(l.refs) {
			was[i] = l.refs[n]
		}
	}
	m.pic = p
	for i, l := range m.lists() {
		for n, ref := range l.refs {
			if ref == was[i] && m.selected[i] > 0 {
				m.selected[i] = n
			}
		}
		m.selected[i] = max(0, min(m.selected[i], len(l.refs)-1))
	}
}

// View draws the screen.
func (m *model) View() tea.View {
	shown := m.screen
	shown.state, shown.stateStyle = "live", green
	switch {
	case m.over != nil && remote.Rejected(m.over):
		shown.state, shown.stateStyle, shown.noticeStyle = "signed out", red, red
		shown.notice = "Your sign-in has ended. Run svc login in another terminal, then press r."
	case m.over != nil:
		shown.state, shown.stateStyle, shown.noticeStyle = "stopped", red, red
		shown.notice = peertext.Line(m.over.Error(), 300) + "; r tries again."
	case m.down != nil:
		shown.state, shown.stateStyle, shown.noticeStyle = "reconnecting…", yellow, yellow
		shown.notice = peertext.Line(m.down.Error(), 300)
	case m.first:
		shown.state, shown.stateStyle = "connecting…", faint
	}
	shown.keys = "space details · enter open · a ack · m message · w wait · d dismiss · b by repo · / filter · ? help · q quit"
	if m.width < 108 {
		shown.keys = "space details  enter open  a ack  m message  w wait  / filter  ? help  q quit"
	}
	v := tea.NewView("")
	if m.input != nil {
		line, cursor := m.input.show(m.width)
		shown.notice, shown.noticeStyle, shown.keys = line, "", "enter sends, esc leaves it"
		if m.input.label == filterLabel {
			shown.keys = "enter keeps it, esc shows all"
		}
		v.Cursor = tea.NewCursor(cursor, m.height-2)
	}
	lines := shown.lines()
	if m.help {
		lines = m.helpPage()
	}
	v.Content = strings.Join(lines, "\n")
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "svc top"
	return v
}

var helpText = []string{
	"svc top", "",
	"  ↑ ↓ j k         up and down     tab  shift+tab   the next list, the one before",
	"  PgUp PgDn g G   further",
	"  space           its details: why, which lines, both sides' work and last words",
	"  enter o         open its page in the browser",
	"  a               acknowledge: the conflict, or the message that wants it",
	"  m               write about an intent or a conflict; answer a question",
	"  w               tell me when it is free (an intent, a conflict); again to stop",
	"  b               agents by repository; again by trouble",
	"  d               dismiss what needs you, until it changes",
	"  /               show only rows with these words; esc shows all again",
	"  r               refresh now; after svc login, sign in again",
	"  mouse           click a row, click it again for its details; the wheel moves",
	"  q               leave", "",
	"  blocked    stopped by somebody's work    collides   overlaps somebody's work",
	"  asks       its person                    waits      for another intent",
	"  stopped    its turn has ended            silent     works, nothing heard lately",
}

func (m *model) helpPage() []string {
	out := make([]string, 0, m.height)
	for _, l := range helpText {
		out = append(out, cut(l, m.width))
	}
	for len(out) < m.height-1 {
		out = append(out, "")
	}
	return append(out[:max(0, min(len(out), m.height-1))], "any key goes back")
}

package top

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/svc-hq/svc/internal/client/remote"
	"github.com/svc-hq/svc/internal/core/coord"
)

// Options is the world of the view.
type Options struct {
	// Connect reads the login anew: people sign in again while it is open.
	Connect func() (*remote.Client, error)
	// Open shows a page of the dashboard; said is what to tell the person.
	Open func(ctx context.Context, path string) (said string, err error)
	Now  func() time.Time
	// Colour is whether the terminal wants colours.
	Colour  bool
	In      io.Reader
	Out     io.Writer
	Environ []string
}

// ErrInterrupted means that the person pressed Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// Print writes one picture as lines of text, for pipes.
func Print(w io.Writer, p Picture, now time.Time, columns int) error {
	s := screen{pic: p, now: now, width: columns, at: sections}
	ls := s.lists()
	lines := []string{s.head()}
	for i, l := range ls {
		part, _ := s.section(section(i), l, len(l.rows))
		lines = append(lines, part...)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// Run shows the view until the person leaves it. The error says why it could
// not go on, if it could not.
func Run(ctx context.Context, opt Options) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c, err := opt.Connect()
	if err != nil {
		return err
	}
	m := newModel(ctx, opt, c)
	program := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(opt.In), tea.WithOutput(opt.Out), tea.WithEnvironment(opt.Environ),
		tea.WithoutSignalHandler())
	m.send = program.Send
	m.listen()
	last, err := program.Run()
	if errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, context.Canceled) {
		return ErrInterrupted
	}
	if err != nil {
		return err
	}
	return last.(*model).leaving
}

// Messages that reach the view.
type (
	heard   struct{}        // something happened
	up      struct{}        // the stream stands
	downMsg struct{ error } // the stream broke off
	ended   struct{ error } // the stream is refused
	looked  struct {
		pic Picture
		err error
	}
	due    struct{} // it is time to look again
	tick   struct{} // ages have changed
	did    struct{ said string }
	failed struct{ error }
)

// listen follows the stream of the current client.
func (m *model) listen() {
	ctx, stop := context.WithCancel(m.ctx)
	if m.unlisten != nil {
		m.unlisten()
	}
	m.unlisten = stop
	c, send := m.client, m.send
	go func() {
		err := c.Follow(ctx, remote.Feed{
			Up:   func() { send(up{}) },
			Down: func(err error, _ time.Duration) { send(downMsg{err}) },
		}, func(coord.Event) error { send(heard{}); return nil })
		if ctx.Err() == nil {
			send(ended{err})
		}
	}()
}

// look asks for a new picture.
func (m *model) look() tea.Cmd {
	c, ctx := m.client, m.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
		defer cancel()
		p, err := Look(ctx, c)
		return looked{p, err}
	}
}

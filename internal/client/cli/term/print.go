// Package term is how svc speaks with a person at a terminal: printing, tables,
// questions, help and manual pages, completion scripts. It knows no command and
// no record: what is said is decided in cli.
package term

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// A Terminal says which streams are one, and how wide it is.
type Terminal struct {
	In, Out, Err bool
	Columns      int // 0 when unknown
}

// A Screen is where a command reads and writes.
type Screen struct {
	Stdin    io.Reader
	Stdout   io.Writer
	Stderr   io.Writer
	Getenv   func(string) string
	Now      func() time.Time
	Terminal Terminal
	Template Template // prints values instead of JSON, if there is one

	typed *bufio.Reader // what the person types, once they were asked
}

// PrintJSON prints v for a program to read. What a person would not see is
// escaped, since people look at JSON, too.
func (a *Screen) PrintJSON(v any) error {
	if a.Template != nil {
		return a.Template(a.Stdout, v)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := a.Stdout.Write(peertext.EscapeHidden(b.Bytes()))
	return err
}

// Whole is a text for a program, with nothing in it that could steer a terminal,
// but not without secrets: what is shown once must be kept.
func Whole(s string) string {
	return string(peertext.EscapeHidden([]byte(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s))))
}

// A Style is how a piece of text looks on a terminal.
type Style string

const (
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Paint styles s where the output is a terminal that wants colour.
func (a *Screen) Paint(st Style, s string) string {
	if !a.Terminal.Out || a.Getenv("NO_COLOR") != "" || a.Getenv("TERM") == "dumb" || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// Col is a column of a table. Numbers after the title say how narrow it may be
// cut, when it goes where there is no room (the highest first, 0 never), and how
// wide it should be before columns that may go get any.
func Col(title string, more ...int) grid.Column {
	more = append(more, 0, 0, 0)
	return grid.Column{Title: title, Min: more[0], Drop: more[1], Want: more[2]}
}

// Places is a column of paths, of which the end says most.
func Places(title string, more ...int) grid.Column {
	c := Col(title, more...)
	c.Tail = true
	return c
}

// Table prints rows in columns that fit the terminal; into a pipe they go
// whole. Columns that are never cut, since people type what stands in them, may
// go beyond its edge. Cells must be clean and in one line.
func (a *Screen) Table(columns []grid.Column, rows [][]string) {
	wide := grid.Fit(columns, rows, a.Terminal.Columns)
	end := max(a.Terminal.Columns, grid.Whole(columns, wide))
	for _, r := range rows {
		line := strings.TrimRight(grid.Line(columns, wide, r), " ")
		if a.Terminal.Columns > 0 {
			line = grid.Cut(line, end, false)
		}
		fmt.Fprintln(a.Stdout, line)
	}
}

// List prints rows under a heading, or that there are none.
func (a *Screen) List(rows [][]string, columns []grid.Column, none string, more bool) {
	if len(rows) == 0 {
		fmt.Fprintln(a.Stdout, none)
		return
	}
	heading := make([]string, len(columns))
	for i, c := range columns {
		heading[i] = c.Title
	}
	a.Table(columns, append([][]string{heading}, rows...))
	if more {
		fmt.Fprintln(a.Stderr, "There are more; raise --limit or narrow the list.")
	}
}

// Facts prints the rows that say something.
func (a *Screen) Facts(rows [][]string) {
	var said [][]string
	for _, r := range rows {
		if r[1] != "" {
			said = append(said, []string{"  " + r[0], r[1]})
		}
	}
	a.Table([]grid.Column{Col(""), Col("", 20)}, said)
}

// Plural counts things.
func Plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// Ago says how long before now t was.
func (a *Screen) Ago(t coord.Time) string {
	d := a.Now().Sub(t.Std())
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(d.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(d.Hours()/24))
}

// Quote writes text, which may be of a peer, each line marked.
func (a *Screen) Quote(w io.Writer, s string) {
	for line := range strings.Lines(peertext.Datamark(s) + "\n") {
		fmt.Fprint(w, "  "+line)
	}
}

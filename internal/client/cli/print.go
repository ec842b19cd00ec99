package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"github.com/svc-hq/svc/internal/client/grid"
	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// printJSON prints v for a program to read. What a person would not see is
// escaped, since people look at JSON, too.
func (a *app) printJSON(v any) error {
	if a.pour != nil {
		return a.pour(a.Stdout, v)
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

// whole is a text for a program, with nothing in it that could steer a terminal,
// but not without secrets: what is shown once must be kept.
func whole(s string) string {
	return string(peertext.EscapeHidden([]byte(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s))))
}

// A style is how a piece of text looks on a terminal.
type style string

const (
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
)

// paint styles s where the output is a terminal that wants colour.
func (a *app) paint(st style, s string) string {
	if !a.Terminal.Out || a.Getenv("NO_COLOR") != "" || a.Getenv("TERM") == "dumb" || s == "" {
		return s
	}
	return "\x1b[" + string(st) + "m" + s + "\x1b[0m"
}

// col is a column of a table. Numbers after the title say how narrow it may be
// cut, when it goes where there is no room (the highest first, 0 never), and how
// wide it should be before columns that may go get any.
func col(title string, more ...int) grid.Column {
	more = append(more, 0, 0, 0)
	return grid.Column{Title: title, Min: more[0], Drop: more[1], Want: more[2]}
}

// places is a column of paths, of which the end says most.
func places(title string, more ...int) grid.Column {
	c := col(title, more...)
	c.Tail = true
	return c
}

// table prints rows in columns that fit the terminal; into a pipe they go
// whole. Cells must be clean and in one line.
func (a *app) table(columns []grid.Column, rows [][]string) {
	width := a.Terminal.Columns
	wide := grid.Fit(columns, rows, width)
	for _, r := range rows {
		line := strings.TrimRight(grid.Line(columns, wide, r), " ")
		if width > 0 {
			line = grid.Cut(line, width, false)
		}
		fmt.Fprintln(a.Stdout, line)
	}
}

// plural counts things.
func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// ago says how long before now t was.
func (a *app) ago(t coord.Time) string {
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

// Cells of records that people wrote parts of.

func title(s *string) string {
	if s == nil {
		return "(draft)"
	}
	return peertext.Title(*s)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func person(u *coord.User) string { return team.Person(u) }

func severity(a *app, s coord.Severity) string {
	switch s {
	case coord.SeverityBlock:
		return a.paint(red, string(s))
	case coord.SeverityWarn:
		return a.paint(yellow, string(s))
	}
	return peertext.Name(string(s))
}

// quote writes text, which may be of a peer, each line marked.
func (a *app) quote(w io.Writer, s string) {
	for line := range strings.Lines(peertext.Datamark(s) + "\n") {
		fmt.Fprint(w, "  "+line)
	}
}

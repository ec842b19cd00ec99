package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/peertext"
)

// printJSON prints v for a program to read. What a person would not see is
// escaped, since people look at JSON, too.
func (a *app) printJSON(v any) error {
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

// table prints rows in columns, cut to the terminal's width; into a pipe they
// go whole. Cells must be clean and in one line.
func (a *app) table(rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintln(w, strings.Join(r, "\t"))
	}
	_ = w.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, " \n")
		if n := a.Terminal.Columns; n > 0 {
			line = excerpt.Dots(line, n)
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

func person(u *coord.User) string {
	if u == nil {
		return "-"
	}
	if u.Name != "" {
		return peertext.Person(u.Name)
	}
	return peertext.Person(u.Email)
}

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

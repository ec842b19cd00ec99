package hook

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/client/hook/view"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/presence"
	"github.com/svc-hq/svc/internal/core/excerpt"
)

// A voice says what an edit would undo. Every sentence is made of the facts of a
// verdict and of nothing else: who wrote lines that are still there is known, and
// that they came after the session last saw the file. When they came is not.
type voice struct {
	shell bool   // the call is a command
	self  string // the session that is spoken to
	// title is what another session works on, if that is known.
	title func(tool, session string) string
	again bool // the session was told of such lines before: it knows how that goes
}

const (
	maxQuoted = 3  // lines that a refusal shows
	maxTitle  = 50 // characters of what another session works on
)

// refusal says why an edit does not happen, what the lines are, and what to do.
func (s voice) refusal(v view.Verdict) string {
	text := s.changed(v, v.Lost)
	switch {
	case s.again:
		return text + ". Read it first, then repeat your " + s.call() + "." + quoted(v, maxQuoted-1)
	case v.Maybe:
		text += "; your " + s.call() + " may undo that."
	default:
		text += "; your " + s.call() + " would undo that."
	}
	if v.Never {
		return text + " Read the file and repeat your " + s.call() + "." + quoted(v, maxQuoted)
	}
	return text + " Read the file again and repeat your " + s.call() + "." + quoted(v, maxQuoted)
}

// warning says what else there is in the file.
func (s voice) warning(v view.Verdict) string {
	switch {
	case len(v.Lost) > 0 && v.Maybe:
		return s.changed(v, v.Lost) + "; your " + s.call() + " may undo that. If it did, put it back." + quoted(v, maxQuoted)
	case len(v.Lost) > 0:
		return s.changed(v, v.Lost) + "; your " + s.call() + " undoes that. Put it back." + quoted(v, maxQuoted)
	case len(v.Near) > 0:
		return s.changed(v, v.Near) + ", in a definition that your " + s.call() + " changes too."
	}
	return s.changed(v, v.Unsure) + ". If your " + s.call() + " undoes that, put it back."
}

func (s voice) call() string {
	if s.shell {
		return "command"
	}
	return "edit"
}

// changed says who changed which lines.
func (s voice) changed(v view.Verdict, spans []view.Span) string {
	since := " since you last saw it"
	if v.Never {
		since = ", not committed and not read by you"
	}
	return s.authors(v) + " " + spanWords(spans) + " of " + excerpt.Text(v.Path, 200) + since
}

// authors names who wrote the lines of a verdict, as the session that is spoken
// to knows them.
func (s voice) authors(v view.Verdict) string {
	var others []string
	out := make([]string, 0, 3)
	for _, f := range v.By {
		switch name := s.name(f); {
		case strings.HasPrefix(f.Session, s.self+"/"):
			out = append(out, "your sub-agent ("+name+")")
		case strings.HasPrefix(s.self, f.Session+"/"):
			out = append(out, "the agent that started you ("+name+")")
		default:
			others = append(others, name)
		}
	}
	switch n := len(others); {
	case n == 1:
		out = append(out, "your other agent ("+others[0]+")")
	case n > 1:
		out = append(out, fmt.Sprintf("%d of your other agents", n))
	}
	if v.Unnamed {
		out = append(out, "somebody")
	}
	text := listed(out)
	return strings.ToUpper(text[:1]) + text[1:]
}

// name is a session's host, and what it works on.
func (s voice) name(f *view.File) string {
	name := f.Tool
	if h, ok := host.ByID(f.Tool); ok {
		name = h.Name
	}
	if s.title != nil && !s.again {
		if title := s.title(f.Tool, f.Session); title != "" {
			name += fmt.Sprintf(", %q", excerpt.Text(title, maxTitle))
		}
	}
	return name
}

// titled finds what sessions of this machine work on.
func titled(book presence.Book) func(tool, session string) string {
	return func(tool, session string) string {
		s, _ := book.Load(tool, session)
		return s.Title
	}
}

// spanWords says what was done at places in a file.
func spanWords(spans []view.Span) string {
	var lines, gone []string
	kind := "line "
	for _, s := range spans {
		switch {
		case s.Count == 0 && s.Gone == 1:
			gone = append(gone, fmt.Sprintf("a line before line %d", s.Start))
		case s.Count == 0:
			gone = append(gone, fmt.Sprintf("%d lines before line %d", s.Gone, s.Start))
		case s.Count == 1:
			lines = append(lines, fmt.Sprint(s.Start))
		default:
			kind, lines = "lines ", append(lines, fmt.Sprintf("%d-%d", s.Start, s.Start+s.Count-1))
		}
	}
	if len(lines) > 1 {
		kind = "lines "
	}
	var out []string
	if len(lines) > 0 {
		out = append(out, "changed "+kind+firstOf(lines))
	}
	if len(gone) > 0 {
		out = append(out, "took out "+firstOf(gone))
	}
	return strings.Join(out, " and ")
}

// firstOf lists some places, the first of many.
func firstOf(list []string) string {
	if more := len(list) - 3; more > 1 {
		list = append(list[:3], fmt.Sprintf("%d more places", more))
	}
	return listed(list)
}

// listed joins words as a sentence does.
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// quoted shows the lines that would be lost.
func quoted(v view.Verdict, room int) string {
	var b strings.Builder
	for _, s := range v.Lost {
		if s.Count == 0 || room <= 0 {
			continue
		}
		b.WriteString(excerptOf(v.Text, s, room))
		room -= s.Count
	}
	if b.Len() == 0 {
		return ""
	}
	return "\n" + strings.TrimSuffix(b.String(), "\n")
}

// excerptOf returns lines of a text with their numbers, at most room of them.
func excerptOf(text []byte, s view.Span, room int) string {
	lines := bytes.Split(text, []byte("\n"))
	var b strings.Builder
	for i := s.Start - 1; i < min(s.Start-1+s.Count, len(lines)); i++ {
		if room--; room < 0 {
			b.WriteString("...\n")
			break
		}
		fmt.Fprintf(&b, "%d: %s\n", i+1, excerpt.Text(strings.TrimRight(string(lines[i]), "\r"), 160))
	}
	return b.String()
}

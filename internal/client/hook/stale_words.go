package hook

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/view"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/core/excerpt"
)

// A voice says what an edit would undo. Every sentence is made of the facts of a
// verdict and of nothing else.
type voice struct {
	shell bool   // the call is a command
	self  string // the session that is spoken to
	now   time.Time
}

// maxQuoted is how many lines a refusal shows.
const maxQuoted = 12

// refusal says why an edit does not happen, what the lines are, and what to do.
func (s voice) refusal(v view.Verdict) string {
	text := s.changed(v, v.Lost)
	if v.Never {
		text += ", not committed and not read by you; your " + s.call() + " would undo that."
		text += " Read the file and repeat your " + s.call() + "."
	} else {
		text += "; your " + s.call() + " would undo that. Read the file again and repeat your " + s.call() + "."
	}
	return text + quoted(v)
}

// warning says what else there is in the file.
func (s voice) warning(v view.Verdict) string {
	switch {
	case len(v.Lost) > 0:
		return s.changed(v, v.Lost) + "; your " + s.call() + " undoes that. Put it back." + quoted(v)
	case len(v.Near) > 0:
		return s.changed(v, v.Near) + ", in a definition that your " + s.call() + " changes too. Read it before you go on."
	}
	return s.changed(v, v.Unsure) + ", after you last saw it; if your " + s.call() + " writes the file from an older version, put that back."
}

func (s voice) call() string {
	if s.shell {
		return "command"
	}
	return "edit"
}

// changed says who changed which lines, and when.
func (s voice) changed(v view.Verdict, spans []view.Span) string {
	what := spanWords(spans)
	path := excerpt.Text(v.Path, 200)
	if v.By == nil {
		return "No agent that svc knows of changed " + what + " of " + path + " " + ago(s.now.Sub(v.At))
	}
	return s.who(v.By) + " changed " + what + " of " + path + " " + ago(s.now.Sub(v.At))
}

// who names another session as the one that is spoken to knows it.
func (s voice) who(f *view.File) string {
	name := f.Tool
	if h, ok := host.ByID(f.Tool); ok {
		name = h.Name
	}
	switch {
	case strings.HasPrefix(f.Session, s.self+"/"):
		return "Your sub-agent (" + name + ")"
	case strings.HasPrefix(s.self, f.Session+"/"):
		return "The agent that started you (" + name + ")"
	}
	return "Another agent in this working copy (" + name + ")"
}

// spanWords names places in a file.
func spanWords(spans []view.Span) string {
	var out []string
	for i, s := range spans {
		if i == 3 {
			out = append(out, fmt.Sprintf("%d more places", len(spans)-3))
			break
		}
		out = append(out, s.Words())
	}
	if len(out) == 1 {
		return out[0]
	}
	return strings.Join(out[:len(out)-1], ", ") + " and " + out[len(out)-1]
}

// quoted shows the lines that would be lost.
func quoted(v view.Verdict) string {
	room := maxQuoted
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

// ago says how long ago something was.
func ago(d time.Duration) string {
	switch m := int(d.Minutes()); {
	case d < 10*time.Second:
		return "just now"
	case m < 1:
		return "less than a minute ago"
	case m < 2:
		return "a minute ago"
	case m < 120:
		return fmt.Sprintf("%d minutes ago", m)
	case m < 48*60:
		return fmt.Sprintf("%d hours ago", m/60)
	default:
		return fmt.Sprintf("%d days ago", m/(24*60))
	}
}

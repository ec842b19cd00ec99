package bulletin

import (
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/peertext"
)

// A PullNote is one conflict that a pull request tells of.
type PullNote struct {
	Ref  string
	URL  string
	Kind string // in words
	With string // refs of the other side, or empty
	Text string // who, where and why; empty where strangers read it
	Ends string // how it ended; empty while it lives
}

// PullMarker stands in every comment of ours, to find it again.
const PullMarker = "<!-- svc: conflicts -->"

// Pull writes what a pull request says of its conflicts: those that live, or,
// once none does, those that there were.
func Pull(notes []PullNote, url string) (title, text string) {
	var live, ended []PullNote
	for _, n := range notes {
		if n.Ends == "" {
			live = append(live, n)
		} else {
			ended = append(ended, n)
		}
	}
	title = "No conflicts with other work any more"
	switch {
	case len(notes) == 0:
		title = "No conflicts with other work"
	case len(live) > 0:
		title = times(len(live), "conflict with other work", "conflicts with other work")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n### %s\n\n", PullMarker, title)
	for i, n := range live {
		if i == maxNotes {
			fmt.Fprintf(&b, "- and %d more\n", len(live)-maxNotes)
			break
		}
		fmt.Fprintf(&b, "- **[%s](%s)** %s", n.Ref, n.URL, markdown(n.Kind))
		if n.With != "" {
			fmt.Fprintf(&b, " with %s", markdown(n.With))
		}
		if n.Text != "" {
			fmt.Fprintf(&b, ": %s", markdown(n.Text))
		}
		b.WriteString("\n")
	}
	for i, n := range ended {
		if i == maxNotes {
			break
		}
		fmt.Fprintf(&b, "- ~~[%s](%s)~~ %s: %s\n", n.Ref, n.URL, markdown(n.Kind), markdown(n.Ends))
	}
	fmt.Fprintf(&b, "\n<sub>Kept up to date by [svc](%s).</sub>\n", url)
	return title, b.String()
}

// markdown cleans text and takes away its meaning for GitHub: no formatting,
// no HTML, no mentions.
func markdown(s string) string {
	var b strings.Builder
	for _, r := range peertext.Line(s, 1000) {
		switch {
		case strings.ContainsRune("\\`*_{}[]<>#+!|~&", r):
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '@':
			b.WriteString("@\u2060") // a word joiner: it reads the same and notifies nobody
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

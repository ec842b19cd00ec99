package bulletin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/core/excerpt"
	"github.com/svc-hq/svc/internal/core/peertext"
	"github.com/svc-hq/svc/internal/core/wire"
)

type block = map[string]any

// mrkdwn cleans text and escapes it for Slack: < > & would make links and
// mentions of it.
func mrkdwn(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(peertext.Line(s, 300))
}

func link(url, text string) string { return "<" + url + "|" + mrkdwn(text) + ">" }

// code shows a name as it is written in code.
func code(s string) string { return "`" + mrkdwn(strings.ReplaceAll(s, "`", "'")) + "`" }

// What Slack takes in a block; longer ones make it refuse the whole post.
const (
	maxSection = 3000
	maxHeader  = 150
)

// marked is text with our links and emphasis in it. Verbatim: addresses, @names
// and #channels in what people wrote stay text.
func marked(text string) block { return block{"type": "mrkdwn", "text": text, "verbatim": true} }

func section(text string) block { return block{"type": "section", "text": marked(text)} }

// sections are lines in as many blocks as they need.
func sections(lines []string) (out []block) {
	text := ""
	for _, l := range lines {
		if text != "" && len(text)+1+len(l) > maxSection {
			out, text = append(out, section(text)), ""
		}
		if text != "" {
			text += "\n"
		}
		text += l
	}
	return append(out, section(text))
}

func header(text string) block {
	return block{"type": "header", "text": block{"type": "plain_text", "text": excerpt.Dots(text, maxHeader), "emoji": false}}
}

func small(text string) block {
	return block{"type": "context", "elements": []block{marked(text)}}
}

// A Place is where in the code something is.
type Place struct {
	Path   string
	Symbol string // of a definition or contract; empty for the whole file
}

func (p Place) String() string {
	switch {
	case p.Symbol == "":
		return code(p.Path)
	case p.Path == "":
		return code(p.Symbol)
	}
	return code(p.Symbol) + " in " + code(p.Path)
}

// A Note is one happening that a channel is told of.
type Note struct {
	Icon  string // an emoji's name
	Text  string // what happened, ours
	Ref   string // empty if it has none
	URL   string
	Repo  string   // empty if it is about none
	Who   []string // names of people
	Where []Place
}

const (
	maxNotes  = 8 // how many happenings a post tells one by one
	maxPlaces = 3 // how many places of each
)

// Notes writes happenings as one post.
func Notes(notes []Note, url string) (post wire.ChatPost) {
	var heads []string
	for _, n := range notes[:min(maxNotes, len(notes))] {
		head := n.Text
		lines := []string{":" + n.Icon + ": " + mrkdwn(n.Text)}
		if n.Ref != "" {
			head = n.Ref + ": " + n.Text
			lines[0] = ":" + n.Icon + ": *" + link(n.URL, n.Ref) + "* " + mrkdwn(n.Text)
		}
		if len(n.Where) > 0 {
			head += " (" + strings.Trim(cmp.Or(n.Where[0].Symbol, n.Where[0].Path), "`") + ")"
			lines = append(lines, where(n.Where))
		}
		var about []string
		if n.Repo != "" {
			about = append(about, mrkdwn(n.Repo))
		}
		if len(n.Who) > 0 {
			about = append(about, mrkdwn(strings.Join(n.Who, " and ")))
		}
		if len(about) > 0 {
			lines = append(lines, strings.Join(about, " · "))
		}
		post.Blocks = append(post.Blocks, section(strings.Join(lines, "\n")))
		heads = append(heads, mrkdwn(head))
	}
	if len(notes) > maxNotes {
		more := others(notes[maxNotes:])
		post.Blocks = append(post.Blocks, small(link(url, more)))
		heads = append(heads, mrkdwn(more))
	}
	post.Text = strings.Join(heads, "; ")
	return post
}

func where(places []Place) string {
	var out []string
	for _, p := range places[:min(maxPlaces, len(places))] {
		out = append(out, p.String())
	}
	if n := len(places) - maxPlaces; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}

// others sums up what a post has no room for: how many, and where.
func others(notes []Note) string {
	count := map[string]int{}
	for _, n := range notes {
		count[n.Repo]++
	}
	delete(count, "")
	repos := slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(-cmp.Compare(count[a], count[b]), cmp.Compare(a, b)) })
	text := fmt.Sprintf("and %s", times(len(notes), "other happening", "other happenings"))
	var places []string
	for _, r := range repos[:min(maxPlaces, len(repos))] {
		places = append(places, fmt.Sprintf("%s %d", peertext.Line(r, 80), count[r]))
	}
	if len(places) > 0 {
		text += ": " + strings.Join(places, ", ")
	}
	return text
}

// Test writes the post by which an admin sees that chat works.
func Test(org, url string) wire.ChatPost {
	text := "svc is connected: conflicts, override requests and handoffs of " + mrkdwn(org) + " will be posted here."
	return wire.ChatPost{Text: text, Blocks: []block{section(":wave: " + text), small(link(url, "Settings"))}}
}

// DigestPost writes a digest for chat.
func DigestPost(d wire.Digest) wire.ChatPost {
	title := "The week of " + peertext.Line(d.Org, 80)
	post := wire.ChatPost{
		Text: fmt.Sprintf("%s: %s found, %d resolved", mrkdwn(title), times(d.Conflicts.Found, "conflict", "conflicts"), d.Conflicts.Resolved),
	}
	c := d.Conflicts
	post.Blocks = []block{header(title), section(fmt.Sprintf("*%s* found (%s)\n%d resolved · %d overridden · %s · %d ended with the "+
		"work · *%d still open*",
		times(c.Found, "conflict", "conflicts"), trend(d.Totals.Conflicts, d.Before.Conflicts), c.Resolved, c.Overridden,
		times(c.FalsePositives, "false alarm", "false alarms"), c.Stale, c.Open)),
		section(fmt.Sprintf("%s declared · %s · %s stopped · %s warned about", times(d.Totals.Intents, "piece of work", "pieces of work"),
			times(d.Totals.Sessions, "agent session", "agent sessions"), times(d.Totals.Blocked, "edit", "edits"),
			times(d.Totals.Warned, "edit", "edits")))}
	if len(d.NeedsHelp) > 0 {
		lines := []string{"*Who needs help*"}
		for _, n := range d.NeedsHelp {
			lines = append(lines, "• "+link(n.URL, n.Text))
		}
		post.Blocks = append(post.Blocks, sections(lines)...)
	}
	if d.TimeSavedMinutes == 0 {
		post.Blocks = append(post.Blocks, small(link(d.URL, "Open the dashboard")))
		return post
	}
	post.Blocks = append(post.Blocks, section("About *"+hours(d.TimeSavedMinutes)+"* saved"),
		small(mrkdwn(d.TimeSavedBasis)+" "+link(d.URL+"/stats", "What it is made of")))
	return post
}

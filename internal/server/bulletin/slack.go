package bulletin

import (
	"fmt"
	"strings"

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

func section(text string) block {
	return block{"type": "section", "text": block{"type": "mrkdwn", "text": text}}
}

func header(text string) block {
	return block{"type": "header", "text": block{"type": "plain_text", "text": text}}
}

func small(text string) block {
	return block{"type": "context", "elements": []block{{"type": "mrkdwn", "text": text}}}
}

// A Note is one happening that a channel is told of.
type Note struct {
	Icon string // an emoji's name
	Text string // what happened, ours
	Ref  string // empty if it has none
	URL  string
	Repo string   // empty if it is about none
	Who  []string // names of people
}

// maxNotes is how many happenings a post tells one by one.
const maxNotes = 8

// Notes writes happenings as one post.
func Notes(notes []Note, url string) (post wire.ChatPost) {
	var heads []string
	for i, n := range notes {
		if i == maxNotes {
			more := fmt.Sprintf("and %s", times(len(notes)-maxNotes, "other happening", "other happenings"))
			post.Blocks = append(post.Blocks, small(link(url, more)))
			heads = append(heads, more)
			break
		}
		head := n.Text
		text := ":" + n.Icon + ": " + mrkdwn(n.Text)
		if n.Ref != "" {
			head = n.Ref + ": " + n.Text
			text = ":" + n.Icon + ": *" + link(n.URL, n.Ref) + "* " + mrkdwn(n.Text)
		}
		var about []string
		if n.Repo != "" {
			about = append(about, mrkdwn(n.Repo))
		}
		if len(n.Who) > 0 {
			about = append(about, mrkdwn(strings.Join(n.Who, " and ")))
		}
		if len(about) > 0 {
			text += "\n" + strings.Join(about, " · ")
		}
		post.Blocks = append(post.Blocks, section(text))
		heads = append(heads, mrkdwn(head))
	}
	post.Text = strings.Join(heads, "; ")
	return post
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
		Text: fmt.Sprintf("%s: %s found, %d resolved, about %s saved", mrkdwn(title), times(d.Conflicts.Found, "conflict", "conflicts"),
			d.Conflicts.Resolved, hours(d.TimeSavedMinutes)),
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
		post.Blocks = append(post.Blocks, section(strings.Join(lines, "\n")))
	}
	post.Blocks = append(post.Blocks, section("About *"+hours(d.TimeSavedMinutes)+"* saved"),
		small(mrkdwn(d.TimeSavedBasis)+" "+link(d.URL, "Open the dashboard")))
	return post
}

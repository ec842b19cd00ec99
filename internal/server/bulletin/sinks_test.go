package bulletin_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext/corpus"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
)

// hostile puts a text wherever somebody else's words can stand.
func hostile(text string) (mails []wire.MailShape, posts []wire.ChatPost) {
	ref := "CF-12"
	d := busy()
	d.Org = text
	d.NeedsHelp = []wire.Need{{Kind: "person", Text: text, Ref: &ref, URL: "https://svc.example/members"}}
	d.Repos = []wire.RepoTotals{{Repo: coord.RepoName{FullName: text}, Totals: wire.Totals{Intents: 1}}}
	invite := invitation(text)
	invite.Org = text
	off := disabled()
	off.Org, off.Webhook.URL, off.Webhook.DisabledReason = text, "https://hooks.example/"+text, &text
	notes := []bulletin.Note{
		{Icon: "handshake", Text: text, Ref: "INT-7", URL: "https://svc.example/intents/INT-7", Repo: text, Who: []string{text, text},
			Where: []bulletin.Place{{Path: text, Symbol: text}}},
		{Icon: "wave", Text: text},
	}
	return []wire.MailShape{bulletin.Digest(d), bulletin.Invite(invite), bulletin.WebhookDisabled(off)},
		[]wire.ChatPost{bulletin.DigestPost(d), bulletin.Notes(notes, "https://svc.example"), bulletin.Test(text, "https://svc.example/settings")}
}

// skeleton is the elements and attributes of a page, without its text.
func skeleton(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.TextToken:
		default:
			tok := z.Token()
			fmt.Fprintf(&b, "%s %s %v\n", tok.Type, tok.Data, tok.Attr)
		}
	}
}

// special is what Slack does something with: links, mentions, channels.
var special = regexp.MustCompile(`<[^>]*>?`)

func specials(p wire.ChatPost) (out []string) {
	var texts func(v any)
	texts = func(v any) {
		switch v := v.(type) {
		case string:
			for _, s := range special.FindAllString(v, -1) {
				target, _, _ := strings.Cut(s, "|")
				out = append(out, target)
			}
		case map[string]any:
			if v["type"] == "plain_text" {
				return // Slack shows it as it is
			}
			for _, k := range []string{"text", "elements", "fields"} {
				texts(v[k])
			}
		case []map[string]any:
			for _, e := range v {
				texts(e)
			}
		}
	}
	texts(p.Text)
	texts(p.Blocks)
	return out
}

func visible(p wire.ChatPost) string { return fmt.Sprint(p.Text, p.Blocks) }

// Nothing in the attack corpus makes an element, a link, a mention or a
// header line of its own, or brings a hidden character along.
func TestHostileTextStaysTextInLetters(t *testing.T) {
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"<!channel>", "<@U123> look", "<https://evil.example|click>", "a|b>c", `"><img src=x onerror=alert(1)>`,
		"x\r\nBcc: all@example.com",
	} {
		cases = append(cases, corpus.Case{Class: "letters", Text: text})
	}
	plainMails, plainPosts := hostile("harmless")
	for _, c := range cases {
		mails, posts := hostile(c.Text)
		for i, m := range mails {
			if strings.ContainsAny(m.Subject, "\r\n") || corpus.Hidden(m.Subject) != nil {
				t.Errorf("%s: subject %+q", c.Name(), m.Subject)
			}
			for part, text := range map[string]string{"text": m.Text, "page": m.HTML} {
				if err := corpus.Hidden(text); err != nil {
					t.Errorf("%s: a mail's %s: %v", c.Name(), part, err)
				}
			}
			if got, want := skeleton(t, m.HTML), skeleton(t, plainMails[i].HTML); got != want {
				t.Errorf("%s: mail %d has other elements than with a harmless text", c.Name(), i)
			}
		}
		for i, p := range posts {
			if err := corpus.Hidden(visible(p)); err != nil {
				t.Errorf("%s: a post: %v", c.Name(), err)
			}
			if got, want := fmt.Sprint(specials(p)), fmt.Sprint(specials(plainPosts[i])); got != want {
				t.Errorf("%s: post %d links to %s, with a harmless text to %s", c.Name(), i, got, want)
			}
		}
	}
}

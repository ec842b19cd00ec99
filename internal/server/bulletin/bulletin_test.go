package bulletin_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/bulletin"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var now = coord.TimeOf(time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC))

// busy is a week with everything in it, hostile names included.
func busy() wire.Digest {
	ref := "CF-12"
	return wire.Digest{
		Org: "Acme <Robotics> & Sons", Since: now.Add(-7 * 24 * time.Hour), Until: now, URL: "https://svc.example",
		Totals: wire.Totals{
			Intents:        42,
			Conflicts:      9,
			Blocked:        14,
			Warned:         31,
			Resolved:       5,
			Overridden:     1,
			FalsePositives: 1,
			Messages:       60,
			Questions:      1,
			Sessions:       120,
		},
		Before:    wire.Totals{Intents: 40, Conflicts: 12},
		Conflicts: wire.Endings{Found: 9, Resolved: 5, Overridden: 1, FalsePositives: 1, Stale: 1, Open: 1},
		NeedsHelp: []wire.Need{
			{
				Kind: "override_request",
				Text: "CF-12 in acme/api waits for an override, asked for 5 hours ago (symbol overlap)",
				Ref:  &ref,
				URL:  "https://svc.example/conflicts/CF-12",
			},
			{
				Kind: "person",
				Text: "Bén \u202eeliv\u202c <script>alert(1)</script>'s agents were stopped 9 times",
				URL:  "https://svc.example/members",
			},
		},
		TimeSavedMinutes: 145, TimeSavedBasis: "An estimate: 30 minutes for each conflict resolved, less 5 for each false alarm.",
		Repos: []wire.RepoTotals{
			{Repo: coord.RepoName{FullName: "acme/api"}, Totals: wire.Totals{Intents: 30, Conflicts: 8}},
			{
				Repo:   coord.RepoName{FullName: "acme/a-repository-with-quite-a-long-name-that-must-not-break-the-layout"},
				Totals: wire.Totals{Intents: 1, Conflicts: 1},
			},
		},
	}
}

func calm() wire.Digest {
	return wire.Digest{
		Org:            "Acme",
		Since:          now.Add(-7 * 24 * time.Hour),
		Until:          now,
		URL:            "https://svc.example",
		TimeSavedBasis: "An estimate.",
	}
}

func invitation(by string) bulletin.Invitation {
	return bulletin.Invitation{Org: "Acme & Sons", By: by, Role: coord.Member, URL: "https://svc.example/invite#c0de", ExpiresAt: now}
}

func disabled() bulletin.DisabledWebhook {
	reason := "no delivery has succeeded for five days"
	return bulletin.DisabledWebhook{
		Org:     "Acme & Sons",
		URL:     "https://svc.example/settings/integrations",
		Webhook: coord.Webhook{URL: "https://hooks.example.com/in?key=secret", DisabledReason: &reason},
	}
}

func TestLettersReadAsTheyShould(t *testing.T) {
	notes := []bulletin.Note{
		{
			Icon: "octagonal_sign",
			Text: "symbol overlap, one side is stopped",
			Ref:  "CF-3",
			URL:  "https://svc.example/conflicts/CF-3",
			Repo: "acme/api",
			Who:  []string{"Ana", "Ben <!channel>"},
			Where: []bulletin.Place{
				{Path: "src/pay.go", Symbol: "Charge"}, {Path: "src/`pay`<b>.go"}, {Symbol: "http:GET /users/{id}"}, {Path: "src/more.go"},
			},
		},
		{
			Icon: "handshake",
			Text: "handed over",
			Ref:  "INT-7",
			URL:  "https://svc.example/intents/INT-7",
			Repo: "acme/api",
			Who:  []string{"Ana", "Cleo"},
		},
		{Icon: "electric_plug", Text: "a webhook was disabled because it keeps failing"},
	}
	var many []bulletin.Note
	for range 12 {
		many = append(many, notes[0])
	}
	for name, m := range map[string]wire.MailShape{
		"digest-busy":       bulletin.Digest(busy()),
		"digest-calm":       bulletin.Digest(calm()),
		"invite":            bulletin.Invite(invitation("Ana <ana>")),
		"sign-up":           bulletin.SignUp(bulletin.SigningUp{URL: "https://svc.example/sign-up#c0de"}),
		"rebind":            bulletin.Rebind(bulletin.Rebinding{Name: "Ana <ana>", Provider: "Acme ID", URL: "https://svc.example/link#c0de"}),
		"invite-by-service": bulletin.Invite(invitation("")),
		"test":              bulletin.TestLetter(bulletin.Trial{Org: "Acme & Sons", By: "Ana <ana>", URL: "https://svc.example/settings/mail"}),
		"webhook-disabled":  bulletin.WebhookDisabled(disabled()),
	} {
		golden(t, name+".txt", "Subject: "+m.Subject+"\n\n"+m.Text)
		golden(t, name+".html", m.HTML)
	}
	for name, p := range map[string]wire.ChatPost{
		"slack-digest-busy": bulletin.DigestPost(busy()),
		"slack-digest-calm": bulletin.DigestPost(calm()),
		"slack-notes":       bulletin.Notes(notes, "https://svc.example"),
		"slack-many-notes":  bulletin.Notes(many, "https://svc.example"),
		"slack-test":        bulletin.Test("Acme & Sons", "https://svc.example/settings"),
	} {
		text, err := json.MarshalIndent(p, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", string(text)+"\n")
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s\nrun with -update if this is meant", name, diff)
	}
}

func TestNothingOfPeopleIsMarkup(t *testing.T) {
	m := bulletin.Digest(busy())
	for _, bad := range []string{"<script", "<Robotics", "\u202e"} {
		if strings.Contains(m.HTML, bad) {
			t.Errorf("the HTML holds %q", bad)
		}
	}
	if strings.ContainsAny(m.Subject, "\r\n") || strings.Contains(m.Text, "\u202e") {
		t.Errorf("subject %q or text holds what a reader cannot see", m.Subject)
	}
	post, _ := json.Marshal(bulletin.Notes([]bulletin.Note{{
		Icon: "x",
		Text: "a",
		Who:  []string{"<!channel>", "<@U1>", "<https://evil.example|x>"},
	}}, "u"))
	if strings.Contains(string(post), `\u003c!channel`) || strings.Contains(string(post), `\u003c@U1`) ||
		strings.Contains(string(post), `\u003chttps://evil`) {
		t.Errorf("a name became a mention or a link: %s", post)
	}
	for _, style := range []string{"<style", "class=", "<link", "<img", "http-equiv", "position:", "flex"} {
		if strings.Contains(m.HTML, style) {
			t.Errorf("the HTML uses %q, which mail clients drop or block", style)
		}
	}
}

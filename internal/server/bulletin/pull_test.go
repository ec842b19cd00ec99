package bulletin_test

import (
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/server/bulletin"
)

func TestWhatAPullRequestSays(t *testing.T) {
	live := bulletin.PullNote{
		Ref:  "CF-3",
		URL:  "https://svc.example.com/conflicts/CF-3",
		Kind: "edit overlap",
		With: "INT-7",
		Text: "INT-7 (Bob) changed `a_b.go`.",
	}
	ended := bulletin.PullNote{Ref: "CF-2", URL: "https://svc.example.com/conflicts/CF-2", Kind: "edit overlap", Ends: "resolved (cleared)"}
	title, text := bulletin.Pull([]bulletin.PullNote{live, ended}, "https://svc.example.com")
	want := `<!-- svc: conflicts -->
### 1 conflict with other work

- **[CF-3](https://svc.example.com/conflicts/CF-3)** edit overlap with INT-7: INT-7 (Bob) changed ` + "\\`a\\_b.go\\`" + `.
- ~~[CF-2](https://svc.example.com/conflicts/CF-2)~~ edit overlap: resolved (cleared)

<sub>Kept up to date by [svc](https://svc.example.com).</sub>
`
	if title != "1 conflict with other work" || text != want {
		t.Errorf("%s\n%s\nwant\n%s", title, text, want)
	}
	if title, text := bulletin.Pull([]bulletin.PullNote{ended},
		"https://svc.example.com"); title != "No conflicts with other work any more" || !strings.Contains(text, "~~[CF-2]") {
		t.Errorf("%s\n%s", title, text)
	}
	many := make([]bulletin.PullNote, 30)
	for i := range many {
		many[i] = live
	}
	if _, text := bulletin.Pull(many, "https://svc.example.com"); !strings.Contains(text, "- and 22 more\n") {
		t.Errorf("%s", text)
	}
}

// Names of people and branches are theirs to choose: they must not notify
// anybody, hide anything or look like ours.
func TestTextOfPeopleMeansNothingToGitHub(t *testing.T) {
	for _, hostile := range []string{
		"@everyone", "<img src=x>", "[click](https://evil.example)", "a\n\n# Approved", "<!-- svc: conflicts -->", "**bold**",
		"```", "a|b", "~~x~~",
	} {
		_, text := bulletin.Pull([]bulletin.PullNote{
			{Ref: "CF-1", URL: "https://svc.example.com", Kind: "edit overlap", With: hostile, Text: hostile, Ends: ""},
		}, "https://svc.example.com")
		body := strings.TrimPrefix(text, bulletin.PullMarker)
		if strings.Contains(body, hostile) || strings.Count(text, "\n") != 6 {
			t.Errorf("%q stands in\n%s", hostile, text)
		}
	}
}

package outgoing_test

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/peertext/corpus"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// marked checks a text for an agent.
func marked(t testing.TB, sink, text string) {
	t.Helper()
	if err := corpus.Marked(text); err != nil {
		t.Errorf("%s: %v", sink, err)
	}
}

// The attack corpus goes through every way in which text leaves the service
// for an agent or a program: stored as written and JSON-encoded over REST and
// in the stream, cleaned and marked in tools' text and structured content and
// in hooks' context.
func TestHostileTextStaysText(t *testing.T) {
	cases, err := corpus.Cases()
	if err != nil {
		t.Fatal(err)
	}
	onTeams(t, func(t *testing.T, x *team) {
		stream := bufio.NewReader(x.W.Open(request{Method: "GET", Path: "/v1/stream?types=message.sent", Token: x.Ada.Token}))
		a := x.Agent(x.Bob, apiRepo)
		sent, want := 0, 200
		cases := cases
		if strings.HasSuffix(t.Name(), "/postgres") { // the ways out are the same: a sample shows that the store keeps them
			some := cases[:0:0]
			for i := 0; i < len(cases); i += 5 {
				some = append(some, cases[i])
			}
			cases, want = some, 40
		}
		for _, c := range cases {
			if sent%18 == 0 {
				x.W.Advance(25 * time.Hour) // the day's limit, too
				x.Hook(a, wire.HookPrompt, nil)
			}
			res := x.W.Do(request{
				Method: "POST",
				Path:   "/v1/messages",
				Token:  x.Ada.Token,
				Body:   map[string]any{"to": "user:" + x.Bob.Email, "body": c.Text, "subject": short(c.Text)},
			})
			if res.Status != 201 {
				if res.Status != 400 || utf8.ValidString(c.Text) && !strings.ContainsRune(c.Text, 0) &&
					utf8.RuneCountInString(c.Text) <= wire.MaxMessageBody && strings.TrimSpace(c.Text) != "" {
					t.Errorf("%s: refused with %d %s", c.Name(), res.Status, res.Body)
				}
				continue
			}
			sent++
			var m coord.Message
			res.JSON(t, &m)
			x.throughREST(c, m)
			frame(t, c, stream)
			x.throughAgents(t, c, a)
		}
		if sent < want {
			t.Errorf("only %d of %d cases went through", sent, len(cases))
		}
	})
}

func short(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200])
	}
	return s
}

// throughREST checks that the text is stored as it was written.
func (x *team) throughREST(c corpus.Case, m coord.Message) {
	x.Helper()
	want := strings.ToValidUTF8(c.Text, "\uFFFD")
	var page wire.Page[coord.Message]
	x.W.Must(200, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID + "/messages?limit=1", Token: x.Ada.Token}, &page)
	if got := page.Items[0]; got.ID != m.ID || utf8.ValidString(c.Text) && got.Body != want {
		x.Errorf("%s: stored as %+q, written as %+q", c.Name(), got.Body, want)
	}
}

// frame reads one event of the stream and checks that nothing broke out of it.
func frame(t testing.TB, c corpus.Case, stream *bufio.Reader) {
	t.Helper()
	var lines []string
	for {
		line, err := stream.ReadString('\n')
		if err != nil && err != io.EOF {
			t.Fatal(err)
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			if len(lines) > 0 && strings.HasPrefix(lines[0], "id: ") {
				break
			}
			lines = nil
			continue
		}
		lines = append(lines, line)
	}
	var e coord.Event
	data, ok := strings.CutPrefix(lines[len(lines)-1], "data: ")
	if len(lines) != 3 || lines[1] != "event: message.sent" || !ok || json.Unmarshal([]byte(data), &e) != nil || "id: "+e.ID != lines[0] {
		t.Errorf("%s: frame %q", c.Name(), lines)
	}
}

// throughAgents checks what a hook and a tool show of the newest message.
func (x *team) throughAgents(t testing.TB, c corpus.Case, a agent) {
	t.Helper()
	text := x.Hook(a, wire.HookPrompt, nil).InjectContext
	if !strings.Contains(text, "Message from") {
		t.Errorf("%s: the hook does not deliver it: %q", c.Name(), text)
	}
	marked(t, c.Name()+" in a hook", text)
	res := x.W.Do(teamtest.ToolRequest(a.Token, "inbox", map[string]any{"limit": 1}))
	var out struct {
		Result struct {
			Content           []struct{ Text string }
			StructuredContent wire.Inbox
		}
	}
	res.JSON(t, &out)
	if len(out.Result.StructuredContent.Items) != 1 {
		t.Fatalf("%s: inbox = %s", c.Name(), res.Body)
	}
	m := out.Result.StructuredContent.Items[0]
	marked(t, c.Name()+" in structured content", m.Body)
	if m.Subject != nil {
		marked(t, c.Name()+" in a subject", *m.Subject)
	}
	for _, part := range out.Result.Content {
		if !json.Valid([]byte(part.Text)) { // the words, not the structure as text
			marked(t, c.Name()+" in a tool's text", part.Text)
		}
	}
}

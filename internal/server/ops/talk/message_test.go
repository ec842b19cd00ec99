package talk_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// Every form of a target, right and wrong. What is refused stores nothing and
// says what to do.
func TestTargetsAndWhatBecomesOfThem(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		live := x.Intent(x.Bob, apiRepo, "Rework tokens", "src/token.go")
		closed := x.Intent(x.Bob, apiRepo, "Done", "src/done.go")
		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/intents/" + closed.Ref + "/close",
			Token:  x.Bob.Token,
			Body:   map[string]any{"outcome": "merged"},
		}, nil)
		own := x.Intent(x.Ada, apiRepo, "Mine", "docs/x.md")
		clash := x.conflict(x.Bob, x.Cyd)
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/repos",
			Token:  x.Ada.Token,
			Body:   map[string]any{"full_name": "other/web", "provider": "gitlab"},
		}, nil)
		theirs := x.Send(x.Bob, "user:"+x.Cyd.Email, "between us")
		mine := x.Send(x.Bob, "user:"+x.Ada.Email, "hello")
		stranger := newTeam(t, x.W, "Strangers")
		foreign := stranger.Send(stranger.Ada, "user:"+stranger.Bob.Email, "secret")
		team := x.Send(x.Bob, "channel:team", "all")

		for _, tt := range []struct {
			name, to string
			status   int
			stored   string // the message's to
			says     string // in the problem
		}{
			{"a person", "user:" + x.Bob.Email, 201, "user:" + x.Bob.Email, ""},
			{"a person in any case", "USER:" + strings.ToUpper(x.Bob.Email), 201, "user:" + x.Bob.Email, ""},
			{"an unknown person", "user:nobody@example.com", 404, "", "who_is_online"},
			{"somebody of another org", "user:" + stranger.Bob.Email, 404, "", "who_is_online"},
			{"oneself", "user:" + x.Ada.Email, 400, "", "session_id"},
			{"nobody after the colon", "user:", 400, "", "user:<email>"},
			{"a bare address", x.Bob.Email, 400, "", "user:" + x.Bob.Email},
			{"a live intent", "intent:" + live.Ref, 201, "intent:" + live.Ref, ""},
			{"a live intent by number", "intent:" + strconv.Itoa(live.Number), 201, "intent:" + live.Ref, ""},
			{"a closed intent", "intent:" + closed.Ref, 409, "", "user:" + x.Bob.Email},
			{"an unknown intent", "intent:INT-9999", 404, "", "INT-9999"},
			{"no intent at all", "intent:soon", 404, "", "INT-7"},
			{"one's own intent", "intent:" + own.Ref, 400, "", "your own"},
			{"a live conflict", "conflict:" + clash.Ref, 201, "conflict:" + clash.Ref, ""},
			{"an unknown conflict", "conflict:CF-9999", 404, "", "CF-9999"},
			{"a thread of mine", "thread:" + mine.ConversationID, 201, "thread:" + mine.ConversationID, ""},
			{"a thread of others", "thread:" + theirs.ConversationID, 403, "", "user:<email>"},
			{"a thread of another org", "thread:" + foreign.ConversationID, 404, "", "not one that you can read"},
			{"an unknown thread", "thread:" + uuid.NewString(), 404, "", "not one that you can read"},
			{"a thread that is no id", "thread:x", 404, "", "not one that you can read"},
			{"a channel as a thread", "thread:" + team.ConversationID, 201, "channel:team", ""},
			{"the team", "channel:team", 201, "channel:team", ""},
			{"the team with #", "channel:#team", 201, "channel:team", ""},
			{"#team alone", "#team", 201, "channel:team", ""},
			{"a repo's channel", "channel:" + apiRepo, 201, "channel:" + apiRepo, ""},
			{"a repo's channel in any case", "channel:Acme/API", 201, "channel:" + apiRepo, ""},
			{"a unique bare name", "channel:api", 201, "channel:" + apiRepo, ""},
			{"a unique bare name with #", "#api", 201, "channel:" + apiRepo, ""},
			{"a bare name alone", "api", 201, "channel:" + apiRepo, ""},
			{"an ambiguous bare name", "channel:web", 400, "", "channel:other/web"},
			{"an unknown channel", "channel:acme/nothing", 404, "", "one for each repo"},
			{"an unknown bare name", "#nothing", 404, "", "one for each repo"},
			{"an unknown kind", "group:x", 400, "", "user:<email>"},
			{"blanks", "   ", 404, "", "channel"},
		} {
			x.W.Advance(time.Hour) // out of the way of the limits
			before := x.Count("messages")
			res := x.W.Do(request{Method: "POST", Path: "/v1/messages", Token: x.Ada.Token, Body: map[string]any{"to": tt.to, "body": "hi"}})
			if res.Status != tt.status {
				t.Errorf("%s: %d, want %d\n%s", tt.name, res.Status, tt.status, res.Body)
				continue
			}
			if tt.status != 201 {
				teamtest.Contains(t, tt.name, string(res.Body), tt.says)
				if n := x.Count("messages"); n != before {
					t.Errorf("%s: %d messages were stored", tt.name, n-before)
				}
				continue
			}
			var m coord.Message
			res.JSON(t, &m)
			if m.To != tt.stored || m.From.Kind != coord.SenderUser || m.From.User.ID != x.Ada.ID {
				t.Errorf("%s: to %q from %+v, want to %q", tt.name, m.To, m.From, tt.stored)
			}
		}
		x.W.Advance(time.Hour)
		x.W.Must(200, request{
			Method: "POST",
			Path:   "/v1/conflicts/" + clash.Ref + "/actions",
			Token:  x.Bob.Token,
			Body:   map[string]any{"action": "resolved"},
		}, nil)
		res := x.W.Must(409, request{
			Method: "POST",
			Path:   "/v1/messages",
			Token:  x.Ada.Token,
			Body:   map[string]any{"to": "conflict:" + clash.Ref, "body": "hi"},
		}, nil)
		teamtest.Contains(t, "a settled conflict", string(res.Body), "user:<email>")
	})
}

// conflict makes two people collide.
func (x *team) conflict(a, b person) coord.Conflict {
	x.Helper()
	path := "src/" + uuid.NewString()[:8] + ".go"
	titles := []string{"Rework the parser", "Translate what users read"}
	for k, p := range []person{a, b} {
		x.W.Must(201, request{Method: "POST", Path: "/v1/intents", Token: p.Token, Body: map[string]any{"title": titles[k], "repo": apiRepo,
			"branch": uuid.NewString()[:8], "mode": "exclusive", "scope": map[string]any{"paths": []string{path}}}}, nil)
	}
	var out wire.Page[coord.Conflict]
	x.W.Must(200, request{Method: "GET", Path: "/v1/conflicts?mine=true&status=live", Token: b.Token}, &out)
	if len(out.Items) == 0 {
		x.Fatal("two exclusive claims on a file do not collide")
	}
	return out.Items[0]
}

// An intent's message reaches its owner, a conflict's both parties, each in a
// thread about it.
func TestMessagesAboutARecordReachItsPeople(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		i := x.Intent(x.Bob, apiRepo, "Rework tokens", "src/token.go")
		m := x.Send(x.Ada, "intent:"+i.Ref, "careful with the cache")
		if m.About == nil || *m.About != (coord.About{Kind: "intent", Ref: i.Ref}) {
			t.Errorf("about = %+v", m.About)
		}
		if got := x.Inbox(x.Bob, "").Items; len(got) != 1 || got[0].ID != m.ID {
			t.Errorf("the owner's inbox = %v", teamtest.Bodies(got))
		}
		clash := x.conflict(x.Bob, x.Cyd)
		x.Send(x.Ada, "conflict:"+clash.Ref, "talk to each other")
		for _, p := range []person{x.Bob, x.Cyd} {
			if got := x.Inbox(p, "?unread_only=true").Items; len(got) != 1 || got[0].Body != "talk to each other" {
				t.Errorf("%s's inbox = %v", p.Name, teamtest.Bodies(got))
			}
		}
		var c coord.Conversation
		x.W.Must(200, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID, Token: x.Bob.Token}, &c)
		if c.Kind != coord.Direct || c.Name != x.Ada.Name || c.To != "thread:"+c.ID || len(c.Participants) != 2 || c.MessageCount != 1 ||
			c.LastMessage.ID != m.ID {
			t.Errorf("conversation = %+v", c)
		}
		x.W.Must(404, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID, Token: x.Cyd.Token}, nil)
		x.W.Must(404, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID + "/messages", Token: x.Cyd.Token}, nil)
		x.W.Must(403, request{
			Method: "POST",
			Path:   "/v1/conversations/" + m.ConversationID + "/messages",
			Token:  x.Cyd.Token,
			Body:   map[string]any{"body": "me too"},
		}, nil)
	})
}

func TestAThreadIsPagedBackwards(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		first := x.Send(x.Ada, "user:"+x.Bob.Email, "m0")
		path := "/v1/conversations/" + first.ConversationID + "/messages"
		for k := 1; k < 7; k++ {
			x.W.Must(201, request{Method: "POST", Path: path, Token: x.Ada.Token, Body: map[string]any{"body": fmt.Sprint("m", k)}}, nil)
		}
		var got []string
		before, pages := "", 0
		for {
			var p wire.Page[coord.Message]
			x.W.Must(200, request{Method: "GET", Path: path + "?limit=3" + before, Token: x.Bob.Token}, &p)
			got = append(teamtest.Bodies(p.Items), got...)
			pages++
			if p.NextCursor == nil {
				break
			}
			if *p.NextCursor != p.Items[0].ID {
				t.Errorf("next_cursor = %s, want the oldest message %s", *p.NextCursor, p.Items[0].ID)
			}
			before = "&before=" + *p.NextCursor
		}
		if want := []string{"m0", "m1", "m2", "m3", "m4", "m5", "m6"}; !slices.Equal(got, want) || pages != 3 {
			t.Errorf("read %v in %d pages", got, pages)
		}
		for _, bad := range []string{"x", uuid.NewString()} {
			x.W.Must(400, request{Method: "GET", Path: path + "?before=" + bad, Token: x.Bob.Token}, nil)
		}
		other := x.Send(x.Ada, "channel:team", "elsewhere")
		x.W.Must(400, request{Method: "GET", Path: path + "?before=" + other.ID, Token: x.Bob.Token}, nil)
	})
}

// A person's reading in the dashboard and their agents' reading are apart.
func TestReadingInTheDashboardHidesNothingFromAgents(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		m := x.Send(x.Ada, "user:"+x.Bob.Email, "lunch?")
		cookie := request{Method: "GET", Path: "/v1/messages?unread_only=true", Cookie: x.W.Cookie(x.Bob.User), Org: x.O.Slug}
		var page wire.Page[coord.Message]
		if x.W.Must(200, cookie, &page); len(page.Items) != 1 || page.Items[0].ReadAt != nil {
			t.Errorf("first look = %+v", page.Items)
		}
		if x.W.Must(200, cookie, &page); len(page.Items) != 0 {
			t.Errorf("the dashboard shows %v again as unread", teamtest.Bodies(page.Items))
		}
		agent := x.Agent(x.Bob, apiRepo)
		var in wire.Inbox
		x.Must(agent.Token, "inbox", nil, &in)
		if len(in.Items) != 1 || !strings.Contains(in.Items[0].Body, "lunch?") {
			t.Errorf("the agent's inbox = %v", teamtest.Bodies(in.Items))
		}
		if x.Must(agent.Token, "inbox", nil, &in); len(in.Items) != 0 {
			t.Errorf("the agent's inbox repeats %v", teamtest.Bodies(in.Items))
		}
		if x.Must(agent.Token, "inbox", map[string]any{"unread_only": false}, &in); len(in.Items) != 1 {
			t.Errorf("read messages are gone: %v", teamtest.Bodies(in.Items))
		}
		// And the other way round.
		x.Send(x.Ada, "user:"+x.Bob.Email, "dinner?")
		x.Must(agent.Token, "inbox", nil, nil)
		if x.W.Must(200, cookie, &page); len(page.Items) != 1 {
			t.Errorf("what an agent read is hidden from the person: %v", teamtest.Bodies(page.Items))
		}
		// The sender sees each apart.
		var sent wire.Page[coord.Message]
		x.W.Must(200, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID + "/messages", Token: x.Ada.Token}, &sent)
		r := sent.Items[0].Receipts
		if len(r) != 1 || r[0].ReadAt == nil || r[0].AgentReadAt == nil || r[0].DeliveredAt == nil || r[0].AckedAt != nil {
			t.Errorf("receipts = %+v", r)
		}
		if x.W.Must(200, request{
			Method: "GET",
			Path:   "/v1/conversations/" + m.ConversationID + "/messages",
			Token:  x.Bob.Token,
		}, &sent); len(sent.Items[0].Receipts) != 0 {
			t.Errorf("a recipient sees receipts: %+v", sent.Items[0].Receipts)
		}
	})
}

func TestAcks(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		var m coord.Message
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/messages",
			Token:  x.Ada.Token,
			Body:   map[string]any{"to": "user:" + x.Bob.Email, "body": "freeze", "requires_ack": true},
		}, &m)
		ack := func(p person, id string) request {
			return request{Method: "POST", Path: "/v1/messages/" + id + "/ack", Token: p.Token}
		}
		var first, second wire.Acked
		x.W.Must(200, ack(x.Bob, m.ID), &first)
		x.W.Advance(time.Minute)
		x.W.Must(200, ack(x.Bob, m.ID), &second)
		if first != second || first.ID != m.ID || first.AckedAt == 0 {
			t.Errorf("acked %+v, then %+v", first, second)
		}
		for name, r := range map[string]request{
			"the sender":    ack(x.Ada, m.ID),
			"somebody else": ack(x.Cyd, m.ID),
			"an unknown id": ack(x.Bob, uuid.NewString()),
			"no id":         ack(x.Bob, "x"),
		} {
			if res := x.W.Do(r); res.Status != 404 {
				t.Errorf("an ack of %s = %d", name, res.Status)
			}
		}
		x.W.Must(403, request{Method: "POST", Path: "/v1/messages/" + m.ID + "/ack", Token: x.O.Service}, nil)
		var page wire.Page[coord.Message]
		x.W.Must(200, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID + "/messages", Token: x.Ada.Token}, &page)
		if acks := page.Items[0].Acks; len(acks) != 1 || acks[0].User.ID != x.Bob.ID || acks[0].AckedAt != first.AckedAt {
			t.Errorf("acks = %+v", acks)
		}
		post := x.Send(x.Ada, "channel:team", "read this")
		x.Must(x.Agent(x.Cyd, apiRepo).Token, "message_ack", map[string]any{"message": post.ID}, nil)
	})
}

// A repo's channel concerns those who work in it, and those of whom nobody
// knows where they work.
func TestChannels(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		inAPI, inWeb := x.Agent(x.Bob, apiRepo), x.Agent(x.Cyd, webRepo)
		x.Send(x.Ada, "channel:"+apiRepo, "api: freeze at noon")
		x.Send(x.Ada, "channel:team", "team: lunch at noon")
		for _, tt := range []struct {
			name  string
			token string
			want  []string // newest first
		}{
			{"an agent in the repo", inAPI.Token, []string{"team: lunch at noon", "api: freeze at noon"}},
			{"an agent in another repo", inWeb.Token, []string{"team: lunch at noon"}},
			{"somebody never seen at work", x.O.Tokens[coord.Viewer], []string{"team: lunch at noon", "api: freeze at noon"}},
		} {
			var page wire.Page[coord.Message]
			x.W.Must(200, request{Method: "GET", Path: "/v1/messages", Token: tt.token}, &page)
			if got := teamtest.Bodies(page.Items); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		}
		x.Send(x.Ada, "#api", "api: freeze is over")
		var list wire.Channels
		x.Must(inAPI.Token, "channels", nil, &list)
		if len(list.Items) != 3 {
			t.Fatalf("channels = %+v", list.Items)
		}
		c := list.Items[0]
		if !c.Current || c.To != "channel:"+apiRepo || c.Name != "#"+apiRepo || c.MessageCount != 2 || c.NewCount != 1 ||
			c.LastMessage == nil || !strings.Contains(c.LastMessage.Body, "is over") {
			t.Errorf("the current channel = %+v", c)
		}
		if list.Items[1].Name != "#team" || list.Items[1].Current || list.Items[2].MessageCount != 0 {
			t.Errorf("channels = %+v", list.Items)
		}
		var posts wire.ChannelPosts
		x.Must(inAPI.Token, "channel_read", map[string]any{"channel": "#" + apiRepo}, &posts)
		if len(posts.Items) != 2 || !strings.Contains(posts.Items[1].Body, "is over") {
			t.Errorf("posts = %v", teamtest.Bodies(posts.Items))
		}
		x.Must(inAPI.Token, "channels", nil, &list)
		if list.Items[0].NewCount != 0 {
			t.Errorf("%d posts are new after reading", list.Items[0].NewCount)
		}
		if bad := x.Tool(inAPI.Token, "channel_read", map[string]any{"channel": "nothing"}, nil); bad == nil || bad.Status != 404 {
			t.Errorf("an unknown channel = %+v", bad)
		}
		var all wire.Page[coord.Conversation]
		x.W.Must(200, request{Method: "GET", Path: "/v1/conversations?kind=channel&limit=2", Token: x.Cyd.Token}, &all)
		if len(all.Items) != 2 || all.NextCursor == nil {
			t.Fatalf("first page = %+v", all)
		}
		x.W.Must(200, request{Method: "GET", Path: "/v1/conversations?kind=channel&limit=2&cursor=" + *all.NextCursor, Token: x.Cyd.Token}, &all)
		if len(all.Items) != 1 || all.NextCursor != nil || all.Items[0].To != "channel:"+webRepo {
			t.Errorf("second page = %+v", all)
		}
		x.W.Must(400, request{Method: "GET", Path: "/v1/conversations?cursor=x", Token: x.Cyd.Token}, nil)
		x.W.Must(400, request{Method: "GET", Path: "/v1/conversations?limit=101", Token: x.Cyd.Token}, nil)
	})
}

// What one agent of a person writes reaches their other agents, and not
// itself.
func TestOnePersonsAgentsTalkToEachOther(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		one, two := x.Agent(x.Ada, apiRepo), x.Agent(x.Ada, apiRepo)
		x.Must(one.Token, "message_send", map[string]any{"to": "user:" + x.Ada.Email, "body": "I have the migrations"}, nil)
		x.Must(one.Token, "message_send", map[string]any{"to": "channel:team", "body": "hands off the migrations"}, nil)
		var in wire.Inbox
		if x.Must(one.Token, "inbox", nil, &in); len(in.Items) != 0 || in.Unread != 0 {
			t.Errorf("the sender reads its own %v", teamtest.Bodies(in.Items))
		}
		if x.Must(two.Token, "inbox", nil, &in); len(in.Items) != 2 {
			t.Errorf("the other agent reads %v", teamtest.Bodies(in.Items))
		}
		var page wire.Page[coord.Message]
		if x.W.Must(200, request{
			Method: "GET",
			Path:   "/v1/messages?unread_only=true",
			Cookie: x.W.Cookie(x.Ada.User),
			Org:    x.O.Slug,
		}, &page); len(page.Items) != 0 {
			t.Errorf("the person has to read what their own agent wrote: %v", teamtest.Bodies(page.Items))
		}
		reply := x.Hook(two, wire.HookPrompt, map[string]any{"prompt_excerpt": "go on"})
		if strings.Contains(reply.InjectContext, "migrations") {
			t.Errorf("what was read in the inbox is told again:\n%s", reply.InjectContext)
		}
	})
}

func TestLimitsAreExactOverReplicas(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		worlds := []*daemontest.World{x.W}
		if strings.HasPrefix(t.Name(), "TestLimitsAreExactOverReplicas/postgres") {
			worlds = append(worlds, x.W.Replica())
		}
		send := func(k int) int {
			return worlds[k%len(worlds)].Do(request{
				Method: "POST",
				Path:   "/v1/messages",
				Token:  x.Ada.Token,
				Body:   map[string]any{"to": "channel:team", "body": "hi"},
			}).Status
		}
		var mu sync.Mutex
		got := map[int]int{}
		var wg sync.WaitGroup
		for k := range 40 {
			wg.Go(func() {
				status := send(k)
				mu.Lock()
				got[status]++
				mu.Unlock()
			})
		}
		wg.Wait()
		if got[201] != 20 || got[429] != 20 || x.Count("messages") != 20 {
			t.Errorf("of 40 at once: %v, stored %d", got, x.Count("messages"))
		}
		res := x.W.Do(request{Method: "POST", Path: "/v1/messages", Token: x.Ada.Token, Body: map[string]any{"to": "channel:team", "body": "hi"}})
		after, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil || after < 1 || after > 60 || res.Status != 429 {
			t.Fatalf("the 41st = %d, Retry-After %q", res.Status, res.Header.Get("Retry-After"))
		}
		x.W.Must(404, request{
			Method: "POST",
			Path:   "/v1/messages",
			Token:  x.Bob.Token,
			Body:   map[string]any{"to": "user:x@y.zz", "body": "hi"},
		}, nil)
		x.W.Advance(time.Duration(after) * time.Second)
		x.Send(x.Ada, "channel:team", "after the wait")
		// The day's limit: nine more full minutes.
		total := 21
		for total < 200 {
			x.W.Advance(61 * time.Second)
			for range min(20, 200-total) {
				x.Send(x.Ada, "channel:team", "more")
				total++
			}
		}
		x.W.Advance(61 * time.Second)
		res = x.W.Do(request{Method: "POST", Path: "/v1/messages", Token: x.Ada.Token, Body: map[string]any{"to": "channel:team", "body": "hi"}})
		if after, _ := strconv.Atoi(res.Header.Get("Retry-After")); res.Status != 429 || after < 80_000 || after > 86_400 {
			t.Errorf("the 201st of a day = %d, Retry-After %d", res.Status, after)
		}
		x.Send(x.Bob, "channel:team", "others may")
		for k := range 11 {
			want := 201
			if k == 10 {
				want = 429
			}
			x.W.Must(want, request{
				Method: "POST",
				Path:   "/v1/questions",
				Token:  x.Cyd.Token,
				Body:   map[string]any{"to": "user:" + x.Bob.Email, "question": "why?"},
			}, nil)
		}
		if n := x.Count("questions"); n != 10 {
			t.Errorf("%d questions stored", n)
		}
	})
}

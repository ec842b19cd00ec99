package ops_test

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
)

// Every form of a target, right and wrong. What is refused stores nothing and
// says what to do.
func TestTargetsAndWhatBecomesOfThem(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		live := x.intent(x.bob, apiRepo, "Rework tokens", "src/token.go")
		closed := x.intent(x.bob, apiRepo, "Done", "src/done.go")
		x.w.Must(200, request{
			Method: "POST",
			Path:   "/v1/intents/" + closed.Ref + "/close",
			Token:  x.bob.token,
			Body:   map[string]any{"outcome": "merged"},
		}, nil)
		own := x.intent(x.ada, apiRepo, "Mine", "docs/x.md")
		clash := x.conflict(x.bob, x.cyd)
		x.w.Must(201, request{
			Method: "POST",
			Path:   "/v1/repos",
			Token:  x.ada.token,
			Body:   map[string]any{"full_name": "other/web", "provider": "gitlab"},
		}, nil)
		theirs := x.send(x.bob, "user:"+x.cyd.Email, "between us")
		mine := x.send(x.bob, "user:"+x.ada.Email, "hello")
		stranger := newTeam(t, x.w, "Strangers")
		foreign := stranger.send(stranger.ada, "user:"+stranger.bob.Email, "secret")
		team := x.send(x.bob, "channel:team", "all")

		for _, tt := range []struct {
			name, to string
			status   int
			stored   string // the message's to
			says     string // in the problem
		}{
			{"a person", "user:" + x.bob.Email, 201, "user:" + x.bob.Email, ""},
			{"a person in any case", "USER:" + strings.ToUpper(x.bob.Email), 201, "user:" + x.bob.Email, ""},
			{"an unknown person", "user:nobody@example.com", 404, "", "who_is_online"},
			{"somebody of another org", "user:" + stranger.bob.Email, 404, "", "who_is_online"},
			{"oneself", "user:" + x.ada.Email, 400, "", "session_id"},
			{"nobody after the colon", "user:", 400, "", "user:<email>"},
			{"a bare address", x.bob.Email, 400, "", "user:" + x.bob.Email},
			{"a live intent", "intent:" + live.Ref, 201, "intent:" + live.Ref, ""},
			{"a live intent by number", "intent:" + strconv.Itoa(live.Number), 201, "intent:" + live.Ref, ""},
			{"a closed intent", "intent:" + closed.Ref, 409, "", "user:" + x.bob.Email},
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
			x.w.Advance(time.Hour) // out of the way of the limits
			before := x.count("messages")
			res := x.w.Do(request{Method: "POST", Path: "/v1/messages", Token: x.ada.token, Body: map[string]any{"to": tt.to, "body": "hi"}})
			if res.Status != tt.status {
				t.Errorf("%s: %d, want %d\n%s", tt.name, res.Status, tt.status, res.Body)
				continue
			}
			if tt.status != 201 {
				contains(t, tt.name, string(res.Body), tt.says)
				if n := x.count("messages"); n != before {
					t.Errorf("%s: %d messages were stored", tt.name, n-before)
				}
				continue
			}
			var m coord.Message
			res.JSON(t, &m)
			if m.To != tt.stored || m.From.Kind != coord.SenderUser || m.From.User.ID != x.ada.ID {
				t.Errorf("%s: to %q from %+v, want to %q", tt.name, m.To, m.From, tt.stored)
			}
		}
		x.w.Advance(time.Hour)
		x.w.Must(200, request{
			Method: "POST",
			Path:   "/v1/conflicts/" + clash.Ref + "/actions",
			Token:  x.bob.token,
			Body:   map[string]any{"action": "resolved"},
		}, nil)
		res := x.w.Must(409, request{
			Method: "POST",
			Path:   "/v1/messages",
			Token:  x.ada.token,
			Body:   map[string]any{"to": "conflict:" + clash.Ref, "body": "hi"},
		}, nil)
		contains(t, "a settled conflict", string(res.Body), "user:<email>")
	})
}

// conflict makes two people collide.
func (x *team) conflict(a, b person) coord.Conflict {
	x.Helper()
	path := "src/" + uuid.NewString()[:8] + ".go"
	titles := []string{"Rework the parser", "Translate what users read"}
	for k, p := range []person{a, b} {
		x.w.Must(201, request{Method: "POST", Path: "/v1/intents", Token: p.token, Body: map[string]any{"title": titles[k], "repo": apiRepo,
			"branch": uuid.NewString()[:8], "mode": "exclusive", "scope": map[string]any{"paths": []string{path}}}}, nil)
	}
	var out wire.Page[coord.Conflict]
	x.w.Must(200, request{Method: "GET", Path: "/v1/conflicts?mine=true&status=live", Token: b.token}, &out)
	if len(out.Items) == 0 {
		x.Fatal("two exclusive claims on a file do not collide")
	}
	return out.Items[0]
}

// An intent's message reaches its owner, a conflict's both parties, each in a
// thread about it.
func TestMessagesAboutARecordReachItsPeople(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		i := x.intent(x.bob, apiRepo, "Rework tokens", "src/token.go")
		m := x.send(x.ada, "intent:"+i.Ref, "careful with the cache")
		if m.About == nil || *m.About != (coord.About{Kind: "intent", Ref: i.Ref}) {
			t.Errorf("about = %+v", m.About)
		}
		if got := x.inbox(x.bob, "").Items; len(got) != 1 || got[0].ID != m.ID {
			t.Errorf("the owner's inbox = %v", bodies(got))
		}
		clash := x.conflict(x.bob, x.cyd)
		x.send(x.ada, "conflict:"+clash.Ref, "talk to each other")
		for _, p := range []person{x.bob, x.cyd} {
			if got := x.inbox(p, "?unread_only=true").Items; len(got) != 1 || got[0].Body != "talk to each other" {
				t.Errorf("%s's inbox = %v", p.Name, bodies(got))
			}
		}
		var c coord.Conversation
		x.w.Must(200, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID, Token: x.bob.token}, &c)
		if c.Kind != coord.Direct || c.Name != x.ada.Name || c.To != "thread:"+c.ID || len(c.Participants) != 2 || c.MessageCount != 1 ||
			c.LastMessage.ID != m.ID {
			t.Errorf("conversation = %+v", c)
		}
		x.w.Must(404, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID, Token: x.cyd.token}, nil)
		x.w.Must(404, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID + "/messages", Token: x.cyd.token}, nil)
		x.w.Must(403, request{
			Method: "POST",
			Path:   "/v1/conversations/" + m.ConversationID + "/messages",
			Token:  x.cyd.token,
			Body:   map[string]any{"body": "me too"},
		}, nil)
	})
}

func TestAThreadIsPagedBackwards(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		first := x.send(x.ada, "user:"+x.bob.Email, "m0")
		path := "/v1/conversations/" + first.ConversationID + "/messages"
		for k := 1; k < 7; k++ {
			x.w.Must(201, request{Method: "POST", Path: path, Token: x.ada.token, Body: map[string]any{"body": fmt.Sprint("m", k)}}, nil)
		}
		var got []string
		before, pages := "", 0
		for {
			var p wire.Page[coord.Message]
			x.w.Must(200, request{Method: "GET", Path: path + "?limit=3" + before, Token: x.bob.token}, &p)
			got = append(bodies(p.Items), got...)
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
			x.w.Must(400, request{Method: "GET", Path: path + "?before=" + bad, Token: x.bob.token}, nil)
		}
		other := x.send(x.ada, "channel:team", "elsewhere")
		x.w.Must(400, request{Method: "GET", Path: path + "?before=" + other.ID, Token: x.bob.token}, nil)
	})
}

// A person's reading in the dashboard and their agents' reading are apart.
func TestReadingInTheDashboardHidesNothingFromAgents(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		m := x.send(x.ada, "user:"+x.bob.Email, "lunch?")
		cookie := request{Method: "GET", Path: "/v1/messages?unread_only=true", Cookie: x.w.Cookie(x.bob.User), Org: x.o.Slug}
		var page wire.Page[coord.Message]
		if x.w.Must(200, cookie, &page); len(page.Items) != 1 || page.Items[0].ReadAt != nil {
			t.Errorf("first look = %+v", page.Items)
		}
		if x.w.Must(200, cookie, &page); len(page.Items) != 0 {
			t.Errorf("the dashboard shows %v again as unread", bodies(page.Items))
		}
		agent := x.agent(x.bob, apiRepo)
		var in wire.Inbox
		x.must(agent.token, "inbox", nil, &in)
		if len(in.Items) != 1 || !strings.Contains(in.Items[0].Body, "lunch?") {
			t.Errorf("the agent's inbox = %v", bodies(in.Items))
		}
		if x.must(agent.token, "inbox", nil, &in); len(in.Items) != 0 {
			t.Errorf("the agent's inbox repeats %v", bodies(in.Items))
		}
		if x.must(agent.token, "inbox", map[string]any{"unread_only": false}, &in); len(in.Items) != 1 {
			t.Errorf("read messages are gone: %v", bodies(in.Items))
		}
		// And the other way round.
		x.send(x.ada, "user:"+x.bob.Email, "dinner?")
		x.must(agent.token, "inbox", nil, nil)
		if x.w.Must(200, cookie, &page); len(page.Items) != 1 {
			t.Errorf("what an agent read is hidden from the person: %v", bodies(page.Items))
		}
		// The sender sees each apart.
		var sent wire.Page[coord.Message]
		x.w.Must(200, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID + "/messages", Token: x.ada.token}, &sent)
		r := sent.Items[0].Receipts
		if len(r) != 1 || r[0].ReadAt == nil || r[0].AgentReadAt == nil || r[0].DeliveredAt == nil || r[0].AckedAt != nil {
			t.Errorf("receipts = %+v", r)
		}
		if x.w.Must(200, request{
			Method: "GET",
			Path:   "/v1/conversations/" + m.ConversationID + "/messages",
			Token:  x.bob.token,
		}, &sent); len(sent.Items[0].Receipts) != 0 {
			t.Errorf("a recipient sees receipts: %+v", sent.Items[0].Receipts)
		}
	})
}

func TestAcks(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		var m coord.Message
		x.w.Must(201, request{
			Method: "POST",
			Path:   "/v1/messages",
			Token:  x.ada.token,
			Body:   map[string]any{"to": "user:" + x.bob.Email, "body": "freeze", "requires_ack": true},
		}, &m)
		ack := func(p person, id string) request {
			return request{Method: "POST", Path: "/v1/messages/" + id + "/ack", Token: p.token}
		}
		var first, second wire.Acked
		x.w.Must(200, ack(x.bob, m.ID), &first)
		x.w.Advance(time.Minute)
		x.w.Must(200, ack(x.bob, m.ID), &second)
		if first != second || first.ID != m.ID || first.AckedAt == 0 {
			t.Errorf("acked %+v, then %+v", first, second)
		}
		for name, r := range map[string]request{
			"the sender":    ack(x.ada, m.ID),
			"somebody else": ack(x.cyd, m.ID),
			"an unknown id": ack(x.bob, uuid.NewString()),
			"no id":         ack(x.bob, "x"),
		} {
			if res := x.w.Do(r); res.Status != 404 {
				t.Errorf("an ack of %s = %d", name, res.Status)
			}
		}
		x.w.Must(403, request{Method: "POST", Path: "/v1/messages/" + m.ID + "/ack", Token: x.o.Service}, nil)
		var page wire.Page[coord.Message]
		x.w.Must(200, request{Method: "GET", Path: "/v1/conversations/" + m.ConversationID + "/messages", Token: x.ada.token}, &page)
		if acks := page.Items[0].Acks; len(acks) != 1 || acks[0].User.ID != x.bob.ID || acks[0].AckedAt != first.AckedAt {
			t.Errorf("acks = %+v", acks)
		}
		post := x.send(x.ada, "channel:team", "read this")
		x.must(x.agent(x.cyd, apiRepo).token, "message_ack", map[string]any{"message": post.ID}, nil)
	})
}

// A repo's channel concerns those who work in it, and those of whom nobody
// knows where they work.
func TestChannels(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		inAPI, inWeb := x.agent(x.bob, apiRepo), x.agent(x.cyd, webRepo)
		x.send(x.ada, "channel:"+apiRepo, "api: freeze at noon")
		x.send(x.ada, "channel:team", "team: lunch at noon")
		for _, tt := range []struct {
			name  string
			token string
			want  []string // newest first
		}{
			{"an agent in the repo", inAPI.token, []string{"team: lunch at noon", "api: freeze at noon"}},
			{"an agent in another repo", inWeb.token, []string{"team: lunch at noon"}},
			{"somebody never seen at work", x.o.Tokens[coord.Viewer], []string{"team: lunch at noon", "api: freeze at noon"}},
		} {
			var page wire.Page[coord.Message]
			x.w.Must(200, request{Method: "GET", Path: "/v1/messages", Token: tt.token}, &page)
			if got := bodies(page.Items); !slices.Equal(got, tt.want) {
				t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
			}
		}
		x.send(x.ada, "#api", "api: freeze is over")
		var list wire.Channels
		x.must(inAPI.token, "channels", nil, &list)
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
		x.must(inAPI.token, "channel_read", map[string]any{"channel": "#" + apiRepo}, &posts)
		if len(posts.Items) != 2 || !strings.Contains(posts.Items[1].Body, "is over") {
			t.Errorf("posts = %v", bodies(posts.Items))
		}
		x.must(inAPI.token, "channels", nil, &list)
		if list.Items[0].NewCount != 0 {
			t.Errorf("%d posts are new after reading", list.Items[0].NewCount)
		}
		if bad := x.tool(inAPI.token, "channel_read", map[string]any{"channel": "nothing"}, nil); bad == nil || bad.Status != 404 {
			t.Errorf("an unknown channel = %+v", bad)
		}
		var all wire.Page[coord.Conversation]
		x.w.Must(200, request{Method: "GET", Path: "/v1/conversations?kind=channel&limit=2", Token: x.cyd.token}, &all)
		if len(all.Items) != 2 || all.NextCursor == nil {
			t.Fatalf("first page = %+v", all)
		}
		x.w.Must(200, request{Method: "GET", Path: "/v1/conversations?kind=channel&limit=2&cursor=" + *all.NextCursor, Token: x.cyd.token}, &all)
		if len(all.Items) != 1 || all.NextCursor != nil || all.Items[0].To != "channel:"+webRepo {
			t.Errorf("second page = %+v", all)
		}
		x.w.Must(400, request{Method: "GET", Path: "/v1/conversations?cursor=x", Token: x.cyd.token}, nil)
		x.w.Must(400, request{Method: "GET", Path: "/v1/conversations?limit=101", Token: x.cyd.token}, nil)
	})
}

// What one agent of a person writes reaches their other agents, and not
// itself.
func TestOnePersonsAgentsTalkToEachOther(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		one, two := x.agent(x.ada, apiRepo), x.agent(x.ada, apiRepo)
		x.must(one.token, "message_send", map[string]any{"to": "user:" + x.ada.Email, "body": "I have the migrations"}, nil)
		x.must(one.token, "message_send", map[string]any{"to": "channel:team", "body": "hands off the migrations"}, nil)
		var in wire.Inbox
		if x.must(one.token, "inbox", nil, &in); len(in.Items) != 0 || in.Unread != 0 {
			t.Errorf("the sender reads its own %v", bodies(in.Items))
		}
		if x.must(two.token, "inbox", nil, &in); len(in.Items) != 2 {
			t.Errorf("the other agent reads %v", bodies(in.Items))
		}
		var page wire.Page[coord.Message]
		if x.w.Must(200, request{
			Method: "GET",
			Path:   "/v1/messages?unread_only=true",
			Cookie: x.w.Cookie(x.ada.User),
			Org:    x.o.Slug,
		}, &page); len(page.Items) != 0 {
			t.Errorf("the person has to read what their own agent wrote: %v", bodies(page.Items))
		}
		reply := x.hook(two, wire.HookPrompt, map[string]any{"prompt_excerpt": "go on"})
		if strings.Contains(reply.InjectContext, "migrations") {
			t.Errorf("what was read in the inbox is told again:\n%s", reply.InjectContext)
		}
	})
}

func TestLimitsAreExactOverReplicas(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		worlds := []*daemontest.World{x.w}
		if strings.HasPrefix(t.Name(), "TestLimitsAreExactOverReplicas/postgres") {
			worlds = append(worlds, x.w.Replica())
		}
		send := func(k int) int {
			return worlds[k%len(worlds)].Do(request{
				Method: "POST",
				Path:   "/v1/messages",
				Token:  x.ada.token,
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
		if got[201] != 20 || got[429] != 20 || x.count("messages") != 20 {
			t.Errorf("of 40 at once: %v, stored %d", got, x.count("messages"))
		}
		res := x.w.Do(request{Method: "POST", Path: "/v1/messages", Token: x.ada.token, Body: map[string]any{"to": "channel:team", "body": "hi"}})
		after, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil || after < 1 || after > 60 || res.Status != 429 {
			t.Fatalf("the 41st = %d, Retry-After %q", res.Status, res.Header.Get("Retry-After"))
		}
		x.w.Must(404, request{
			Method: "POST",
			Path:   "/v1/messages",
			Token:  x.bob.token,
			Body:   map[string]any{"to": "user:x@y.zz", "body": "hi"},
		}, nil)
		x.w.Advance(time.Duration(after) * time.Second)
		x.send(x.ada, "channel:team", "after the wait")
		// The day's limit: nine more full minutes.
		total := 21
		for total < 200 {
			x.w.Advance(61 * time.Second)
			for range min(20, 200-total) {
				x.send(x.ada, "channel:team", "more")
				total++
			}
		}
		x.w.Advance(61 * time.Second)
		res = x.w.Do(request{Method: "POST", Path: "/v1/messages", Token: x.ada.token, Body: map[string]any{"to": "channel:team", "body": "hi"}})
		if after, _ := strconv.Atoi(res.Header.Get("Retry-After")); res.Status != 429 || after < 80_000 || after > 86_400 {
			t.Errorf("the 201st of a day = %d, Retry-After %d", res.Status, after)
		}
		x.send(x.bob, "channel:team", "others may")
		for k := range 11 {
			want := 201
			if k == 10 {
				want = 429
			}
			x.w.Must(want, request{
				Method: "POST",
				Path:   "/v1/questions",
				Token:  x.cyd.token,
				Body:   map[string]any{"to": "user:" + x.bob.Email, "question": "why?"},
			}, nil)
		}
		if n := x.count("questions"); n != 10 {
			t.Errorf("%d questions stored", n)
		}
	})
}

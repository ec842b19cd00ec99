package outgoing_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/notify/slacktest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// withChat runs a test with a team whose org has a channel, on every database.
func withChat(t *testing.T, test func(*testing.T, *team, *slacktest.Channel)) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.StartWith(t, daemon.Config{Database: dsn, Allow: "127.0.0.1", PublicURL: "https://svc.example"})
		x := &team{teamtest.New(t, w, "Acme")}
		c := slacktest.Start(t)
		x.slack(200, "PUT", "", map[string]any{"webhook_url": c.URL})
		test(t, x, c)
	})
}

func (x *team) slack(status int, method, tail string, body any) (out wire.SlackStatus) {
	x.Helper()
	res := x.W.Do(request{Method: method, Path: "/v1/integrations/slack" + tail, Token: x.Ada.Token, Body: body})
	if res.Status != status {
		x.Fatalf("%s slack%s = %d %s", method, tail, res.Status, res.Body)
	}
	if status == 200 {
		res.JSON(x, &out)
	}
	return out
}

// collide makes Ada and Bob claim one definition, and returns the conflict.
func (x *team) collide(repo, path, symbol string) string {
	x.Helper()
	for _, p := range []teamtest.Person{x.Ada, x.Bob} {
		var out wire.Declared
		x.W.Must(201, request{Method: "POST", Path: "/v1/intents", Token: p.Token, Body: map[string]any{
			"title": "Work on " + symbol, "repo": repo, "branch": "b-" + p.Name + symbol,
			"scope": map[string]any{"symbols": []string{path + "#" + symbol}}}}, &out)
		if len(out.Conflicts) > 0 {
			return out.Conflicts[0].Ref
		}
	}
	x.Fatalf("no conflict about %s", symbol)
	return ""
}

// heard waits for so many posts, while time passes.
func (x *team) heard(c *slacktest.Channel, n int) {
	x.Helper()
	await.True(x, fmt.Sprintf("%d posts", n), func() bool {
		if len(c.Posts()) < n {
			x.pass()
		}
		return len(c.Posts()) >= n
	})
	if got := len(c.Posts()); got != n {
		x.Fatalf("%d posts, want %d: %s", got, n, c.Text())
	}
}

// A post names the definition, the file and the conflict's page; a repo has a
// channel of its own if it is given one, and others' do not hear of it.
func TestPostsNameTheFileAndGoToTheRepoChannel(t *testing.T) {
	withChat(t, func(t *testing.T, x *team, org *slacktest.Channel) {
		own := slacktest.Start(t)
		status := x.slack(200, "PUT", "/repos/acme%2Fapi", map[string]any{"webhook_url": own.URL})
		if len(status.Repos) != 1 || status.Repos[0].Repo.FullName != "acme/api" || !status.Connected {
			t.Fatalf("status = %+v", status)
		}
		ref := x.collide("acme/api", "src/pay.go", "Charge")
		x.heard(own, 1)
		teamtest.Contains(t, "the post", fmt.Sprint(own.Posts()[0]), "<https://svc.example/conflicts/"+ref+"|"+ref+">",
			"`Charge` in `src/pay.go`", "acme/api", x.Ada.Name, x.Bob.Name)
		if n := len(org.Posts()); n != 0 {
			t.Errorf("the org's channel heard of it, too: %s", org.Text())
		}
		other := x.collide(teamtest.WebRepo, "src/app.ts", "render")
		x.heard(org, 1)
		teamtest.Contains(t, "the org's post", org.Text(), other, "render", "src/app.ts")
		if len(own.Posts()) != 1 {
			t.Errorf("the repo's channel heard of another: %s", own.Text())
		}
		x.slack(202, "POST", "/test?repo=acme%2Fapi", nil)
		x.heard(own, 2)
		teamtest.Contains(t, "the greeting", own.Text(), "acme/api")

		// One that is gone is told to admins; taken away, its posts go to the org's.
		own.Answers(404)
		x.slack(202, "POST", "/test?repo=acme%2Fapi", nil)
		await.True(t, "the trouble is shown", func() bool {
			s := x.slack(200, "GET", "", nil)
			return s.Repos[0].LastError != nil && s.LastError == nil
		})
		x.slack(200, "PUT", "/repos/acme%2Fapi", map[string]any{"webhook_url": nil})
		x.slack(409, "POST", "/test?repo=acme%2Fapi", nil)
		third := x.collide("acme/api", "src/tax.go", "Rate")
		x.heard(org, 2)
		teamtest.Contains(t, "the org's second post", fmt.Sprint(org.Posts()[1]), third)
		if strings.Contains(org.Text(), ref) {
			t.Errorf("what the repo's channel was told is told again: %s", org.Text())
		}
		for _, bad := range []string{"acme%2Fnone", "00000000-0000-4000-8000-000000000000"} {
			x.slack(404, "PUT", "/repos/"+bad, map[string]any{"webhook_url": own.URL})
		}
		x.slack(400, "PUT", "/repos/acme%2Fapi", map[string]any{"webhook_url": "ftp://x"})
	})
}

// Slack asks to wait two seconds, and is left alone for two, not for sixty.
func TestRetryAfterOfSlackIsObeyed(t *testing.T) {
	withChat(t, func(t *testing.T, x *team, c *slacktest.Channel) {
		c.Waits(2)
		x.collide("acme/api", "src/pay.go", "Charge")
		await.True(t, "Slack asks to wait", func() bool {
			if c.Turned() == 0 {
				x.pass()
			}
			s := x.slack(200, "GET", "", nil)
			return s.LastError != nil && strings.HasSuffix(*s.LastError, "to wait 2s")
		})
		turned := c.Turned()
		c.Answers(200)
		x.W.Advance(2500 * time.Millisecond)
		await.True(t, "the post", func() bool { return len(c.Posts()) == 1 })
		if turned != 1 {
			t.Errorf("%d posts within the two seconds, want 1", turned)
		}
		if s := x.slack(200, "GET", "", nil); s.LastError != nil {
			await.True(t, "the trouble has passed", func() bool { return x.slack(200, "GET", "", nil).LastError == nil })
		}
	})
}

// In quiet hours nothing is posted; afterwards what is still open comes as one
// post. Posts are as far apart as the org wants them.
func TestQuietHoursAndOnePostInsteadOfMany(t *testing.T) {
	withChat(t, func(t *testing.T, x *team, c *slacktest.Channel) {
		clock := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("15:04") }
		for _, bad := range []map[string]any{
			{"quiet": map[string]any{"from": "19:00", "until": "19:00", "zone": "UTC"}},
			{"quiet": map[string]any{"from": "19:00", "until": "08:00", "zone": "Mars/Olympus"}},
			{"quiet": map[string]any{"from": "19:00", "until": "08:00", "zone": "Local"}},
			{"quiet": map[string]any{"from": "7pm", "until": "08:00", "zone": "UTC"}},
			{"every_minutes": 0}, {"every_minutes": 1441}, {"every_minutes": nil},
		} {
			res := x.W.Do(request{Method: "PATCH", Path: "/v1/integrations/slack", Token: x.Ada.Token, Body: bad})
			if res.Status != 400 {
				t.Errorf("%v = %d %s", bad, res.Status, res.Body)
			}
		}
		s := x.slack(200, "PATCH", "", map[string]any{"every_minutes": 60,
			"quiet": map[string]any{"from": clock(-time.Hour), "until": clock(3 * time.Hour), "zone": "UTC"}})
		if s.EveryMinutes != 60 || s.Quiet == nil || s.Quiet.Weekends {
			t.Fatalf("status = %+v", s)
		}
		first, settled := x.collide("acme/api", "src/pay.go", "Charge"), x.collide("acme/api", "src/pay.go", "Refund")
		x.W.Must(200, request{Method: "POST", Path: "/v1/conflicts/" + settled + "/override", Cookie: x.W.Cookie(x.Ada.User),
			Body: map[string]any{"reason": "agreed by phone"}}, nil)
		x.newsWaits(2 * time.Hour)
		x.W.Advance(time.Hour)
		second := x.collide("acme/web", "src/app.ts", "render")
		x.newsWaits(time.Hour)
		if len(c.Posts()) != 0 {
			t.Fatalf("posted in quiet hours: %s", c.Text())
		}
		x.heard(c, 1)
		teamtest.Contains(t, "the post", c.Text(), first, second)
		if strings.Contains(c.Text(), settled+"|") {
			t.Errorf("what was settled in the night is told: %s", c.Text())
		}
		// Then an hour between two posts, whatever happens.
		for i := range 12 {
			x.collide("acme/api", "src/more.go", fmt.Sprint("F", i))
		}
		x.newsWaits(40 * time.Minute)
		x.heard(c, 2)
		teamtest.Contains(t, "the flood", fmt.Sprint(c.Posts()[1]), "and 4 other happenings: acme/api 4")
		if got := x.slack(200, "PATCH", "", map[string]any{"quiet": nil}); got.Quiet != nil || got.EveryMinutes != 60 {
			t.Errorf("quiet hours taken away: %+v", got)
		}
		var p problem.Body
		x.W.Do(request{Method: "PATCH", Path: "/v1/integrations/slack", Token: x.O.Tokens[coord.Member], Body: map[string]any{}}).JSON(t, &p)
		if p.Status != 403 {
			t.Errorf("a member changes it: %+v", p)
		}
	})
}

// newsWaits waits until the next post is put off by at least so long.
func (x *team) newsWaits(d time.Duration) {
	x.Helper()
	await.True(x, "the post waits "+d.String(), func() bool {
		return x.chatDue() >= d
	})
}

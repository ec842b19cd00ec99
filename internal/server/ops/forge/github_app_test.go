package forge_test

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
)

func TestMakingTheApp(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		m := x.manifest("?owner=acme-inc")
		if !strings.HasPrefix(m.URL, x.gh.URL+"/organizations/acme-inc/settings/apps/new?state=") {
			t.Errorf("the manifest goes to %s", m.URL)
		}
		if mine := x.manifest(""); !strings.HasPrefix(mine.URL, x.gh.URL+"/settings/apps/new?state=") || mine.URL == x.manifest("").URL {
			t.Errorf("without an owner it goes to %s, each time the same", mine.URL)
		}
		hook, _ := m.Manifest["hook_attributes"].(map[string]any)
		if m.Manifest["public"] != false || !strings.HasSuffix(m.Manifest["redirect_url"].(string), "/v1/github/app/callback") ||
			!strings.HasSuffix(hook["url"].(string), "/v1/github/webhook") {
			t.Errorf("manifest = %v", m.Manifest)
		}
		for query, field := range map[string]string{"?owner=a/b": "owner", "?format=xml": "format"} {
			res := x.W.Do(request{Method: "GET", Path: "/v1/github/app/manifest" + query, Token: x.Ada.Token})
			var b problem.Body
			res.JSON(t, &b)
			if res.Status != 400 || b.Errors[0].Path != field {
				t.Errorf("%s = %d %s", query, res.Status, res.Body)
			}
		}
		page := x.W.Must(200, request{Method: "GET", Path: "/v1/github/app/manifest?format=html", Cookie: x.W.Cookie(x.Ada.User)}, nil)
		if ct := page.Header.Get("Content-Type"); !strings.HasPrefix(ct, "text/html") ||
			!strings.Contains(page.Header.Get("Content-Security-Policy"), "default-src 'none'") ||
			page.Header.Get("X-Frame-Options") != "DENY" || page.Header.Get("Referrer-Policy") != "same-origin" {
			t.Errorf("the page is %s, %v", ct, page.Header)
		}
		x.inTwoOrgs(t)
		teamtest.Contains(t, "the page", string(page.Body), `method="post"`, `name="manifest"`, x.gh.URL+"/settings/apps/new?state=")

		// What comes back and is not as it should be makes no app.
		u, _ := url.Parse(m.URL)
		tampered := u.Query().Get("state")
		tampered = tampered[:len(tampered)-2] + "AA"
		for name, tt := range map[string]struct {
			r      request
			status int
		}{
			"a state that we did not make": {
				request{Method: "GET", Path: "/v1/github/app/callback?code=x&state=" + url.QueryEscape(tampered)},
				403,
			},
			"no state":                         {request{Method: "GET", Path: "/v1/github/app/callback?code=x"}, 403},
			"a code that GitHub does not know": {callback(m, "guess"), 302},
		} {
			res := x.W.Do(tt.r)
			if res.Status != tt.status || res.Status == 302 && !strings.HasSuffix(res.Header.Get("Location"), "/settings/github?made=failed") {
				t.Errorf("%s = %d %s %s", name, res.Status, res.Header.Get("Location"), res.Body)
			}
		}
		teamtest.Contains(t, "the log", x.W.Log.String(), "GitHub did not hand over the app")
		for _, path := range []string{"/v1/github/app/callback?code=x&state=%3Cb%3E", "/v1/github/app/manifest?format=html"} {
			teamtest.WantPage(t, x.W, request{Method: "GET", Path: path}, "The GitHub app was not made", `href="/settings/github"`)
		}
		late := x.manifest("")
		x.W.Advance(61 * time.Minute)
		if res := x.W.Do(callback(late, x.gh.code())); res.Status != 403 {
			t.Errorf("after an hour = %d %s", res.Status, res.Body)
		}
		demoted := x.manifest("")
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error { return tx.SetRole(ctx, x.O.ID, x.Ada.ID, coord.Member) })
		if res := x.W.Do(callback(demoted, x.gh.code())); res.Status != 403 {
			t.Errorf("by somebody who is no admin any more = %d %s", res.Status, res.Body)
		}
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error { return tx.SetRole(ctx, x.O.ID, x.Ada.ID, coord.Owner) })
		if n := x.Count("github_apps"); n != 1 {
			t.Errorf("there are %d apps", n)
		}
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			var sealed string
			err := tx.QueryRowContext(ctx, `SELECT secrets FROM github_apps`).Scan(&sealed)
			if strings.Contains(sealed, "PRIVATE KEY") || strings.Contains(sealed, x.gh.secret) || sealed == "" {
				t.Errorf("the secrets lie open in the database: %s", sealed)
			}
			return err
		})
	})
}

// inTwoOrgs checks that a browser of somebody in two orgs, which goes to the
// page by itself, says by its address which is meant.
func (x *githubTeam) inTwoOrgs(t *testing.T) {
	both := x.W.Member(x.O, coord.Admin)
	other := x.W.Org("Second")
	x.W.Write(other.ID, func(ctx context.Context, tx *store.Tx) error {
		return tx.InsertMember(ctx, other.ID, both.ID, coord.Member)
	})
	cookie := x.W.Cookie(both)
	for org, want := range map[string]int{"": 400, "&org=" + x.O.Slug: 200, "&org=second": 403, "&org=nowhere": 403} {
		if res := x.W.Do(request{Method: "GET", Path: "/v1/github/app/manifest?format=html" + org, Cookie: cookie}); res.Status != want {
			t.Errorf("the page with %q = %d, want %d: %s", org, res.Status, want, res.Body)
		}
	}
}

func TestOneFlowMakesOneApp(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error { // GitHub's number is unique
			_, err := tx.ExecContext(ctx, `UPDATE github_apps SET app_id = 1`)
			return err
		})
		m := x.manifest("")
		x.W.Must(302, callback(m, x.gh.code()), nil)
		if res := x.W.Do(callback(m, x.gh.code())); res.Status != 409 {
			t.Errorf("a second time = %d %s", res.Status, res.Body)
		}
		if n := x.Count("github_apps"); n != 2 {
			t.Errorf("there are %d apps", n)
		}
	})
}

// overlapping makes two people's edits collide and opens the first one's pull
// request.
func (x *githubTeam) overlapping() (second agent) {
	x.Helper()
	ana, _ := x.works(x.Cyd, "feature", "a.go")
	bob, _ := x.works(x.Bob, "bobs", "a.go")
	x.changes(ana, "feature", lines("a.go", "b1", "n1", 10, 3))
	x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
	x.tell(x.gh.pullRequest("opened", 12, "feature", t0, nil))
	return bob
}

func (x *githubTeam) policy(report string) {
	x.Helper()
	x.W.Must(200, request{
		Method: "PUT",
		Path:   "/v1/policies",
		Token:  x.Ada.Token,
		Body:   map[string]any{"rules": map[string]any{"pull_request_report": report}},
	}, nil)
}

func TestACheckRunTellsOfConflicts(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.policy("check")
		bob := x.overlapping()
		await.True(t, "the check tells of the conflict", func() bool {
			c := x.gh.lastCheck()
			return c["conclusion"] == "neutral" && c["head_sha"] == "head-1" && c["name"] == "svc"
		})
		first := x.gh.lastCheck()["id"]
		same := lines("a.go", "b1", "b1", 1, 1)
		same.Status, same.Hunks = coord.FileUnchanged, nil
		x.changes(bob, "bobs", same)
		await.True(t, "the check says that the conflict is over", func() bool { return x.gh.lastCheck()["conclusion"] == "success" })
		if x.gh.lastCheck()["id"] != first || len(x.gh.said(12)) != 0 {
			t.Errorf("the check was not changed in place: %v, comments %v", x.gh.lastCheck(), x.gh.said(12))
		}
		// A new head has no check of its own yet.
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		await.True(t, "the check tells of the new conflict", func() bool { return x.gh.lastCheck()["conclusion"] == "neutral" })
		x.tell(x.gh.pullRequest("synchronize", 12, "feature", t0.Add(time.Hour), map[string]any{
			"head": map[string]any{"ref": "feature", "sha": "head-2", "repo": map[string]any{"full_name": "acme/api"}},
		}))
		await.True(t, "the new head has a check", func() bool { return x.gh.lastCheck()["head_sha"] == "head-2" })
	})
}

// A check can be required only if every pull request gets one.
func TestEveryPullRequestHasACheck(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.policy("check")
		x.tell(x.gh.pullRequest("opened", 31, "nobody-knows-it", t0, nil))
		await.True(t, "a pull request without conflicts has a check", func() bool {
			c := x.gh.lastCheck()
			return c["conclusion"] == "success" && c["head_sha"] == "head-1"
		})
		x.settled()
		writes := 0
		x.gh.set(func() { writes = x.gh.writes })
		x.tell(x.gh.delivery("check_run", map[string]any{
			"action":       "rerequested",
			"check_run":    map[string]any{"id": 1, "name": "svc", "head_sha": "head-1", "pull_requests": []any{map[string]any{"number": 31}}},
			"repository":   hosted("acme/api", 99),
			"installation": map[string]any{"id": 77},
		}))
		await.True(t, "the check runs again", func() (again bool) {
			x.gh.set(func() { again = x.gh.writes > writes })
			return again
		})
	})
}

// What is taken back from review is worked on again.
func TestADraftTakesItsIntentBack(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		_, i := x.works(x.Ada, "feature", "a.go")
		x.tell(x.gh.pullRequest("opened", 12, "feature", t0, nil))
		x.is("opened", i.Ref, coord.IntentInReview)
		x.tell(x.gh.pullRequest("converted_to_draft", 12, "feature", t0.Add(time.Minute), map[string]any{"draft": true}))
		x.is("a draft again", i.Ref, coord.IntentActive)
		x.tell(x.gh.pullRequest("ready_for_review", 12, "feature", t0.Add(2*time.Minute), nil))
		x.is("ready", i.Ref, coord.IntentInReview)
	})
}

func TestAPolicySwitchesTheReportOff(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.policy("off")
		x.overlapping()
		x.settled()
		if said := x.gh.said(12); len(said) != 0 || len(x.gh.lastCheck()) != 0 {
			t.Errorf("the pull request says %v", said)
		}
	})
}

// The comment is one, whatever happens to it or to us.
func TestTheCommentIsFoundAgain(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob := x.overlapping()
		await.True(t, "the comment is there", func() bool { return len(x.gh.said(12)) == 1 })
		x.settled()
		// We crashed after it was written: its number is lost.
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE pulls SET report_kind = '', report_id = 0, report_hash = ''`)
			return err
		})
		x.changes(bob, "bobs", lines("a.go", "b1", "n3", 10, 2))
		x.tell(x.gh.pullRequest("edited", 12, "feature", t0.Add(time.Minute), nil))
		x.settled()
		if said := x.gh.said(12); len(said) != 1 {
			t.Fatalf("there are %d comments", len(said))
		}
		// A person deleted it while the conflict lives.
		x.gh.set(func() { clear(x.gh.comments) })
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE pulls SET report_hash = ''`)
			return err
		})
		x.tell(x.gh.pullRequest("edited", 12, "feature", t0.Add(2*time.Minute), nil))
		await.True(t, "the comment is back", func() bool { return len(x.gh.said(12)) == 1 })
		x.settled()
		// What says nothing new is not written again.
		var before, after int
		x.gh.set(func() { before = x.gh.writes })
		x.tell(x.gh.pullRequest("edited", 12, "feature", t0.Add(3*time.Minute), nil))
		x.settled()
		x.gh.set(func() { after = x.gh.writes })
		if after != before {
			t.Errorf("the same text was written again")
		}
	})
}

// What git merges and the compiler does not: of two open pull requests one takes
// away what the other newly uses. Each says so and names the other, as long as it
// is open.
func TestOpenPullRequestsTellOfBreaksBetweenThem(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		ana, mine := x.works(x.Cyd, "feature", "a.go")
		bob, theirs := x.works(x.Bob, "bobs", "b.go")
		gone := lines("a.go", "b1", "n1", 10, 3)
		gone.Symbols = []coord.SymbolFacts{{Key: "sym:go:a.go#Total", Kind: "function", Exported: true, Change: coord.Removed,
			Compatibility: coord.Breaking, Lines: &coord.LineCount{Start: 10, Count: 3}}}
		use := lines("b.go", "b2", "n2", 1, 1)
		use.References = []coord.Reference{{Key: "sym:go:a.go#Total", Line: 4, In: []string{"Use"}}}
		x.changes(ana, "feature", gone)
		x.changes(bob, "bobs", use)
		x.tell(x.gh.pullRequest("opened", 12, "feature", t0, nil))
		says := func(number int, words ...string) func() bool {
			return func() bool {
				said := x.gh.said(number)
				return len(said) == 1 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(said[0], w) })
			}
		}
		await.True(t, "the first tells of the break", says(12, "contract break with "+theirs.Ref+":"))
		x.tell(x.gh.pullRequest("opened", 13, "bobs", t0.Add(time.Minute), nil))
		await.True(t, "the first names the second", says(12, "contract break with "+theirs.Ref+" (pull request 13)", "1 conflict"))
		await.True(t, "the second names the first", says(13, "contract break with "+mine.Ref+" (pull request 12)", "1 conflict"))
		x.tell(x.gh.pullRequest("closed", 13, "bobs", t0.Add(2*time.Minute), nil))
		await.True(t, "the second is named no more", says(12, "contract break with "+theirs.Ref+":", "1 conflict"))
	})
}

func TestStrangersReadNoNames(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		ana, _ := x.works(x.Cyd, "feature", "a.go")
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(ana, "feature", lines("a.go", "b1", "n1", 10, 3))
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		d := x.gh.pullRequest("opened", 12, "feature", t0, nil)
		d.body = []byte(strings.ReplaceAll(string(d.body), `"private":true`, `"private":false`))
		x.tell(d)
		await.True(t, "the comment is there", func() bool { return len(x.gh.said(12)) == 1 })
		said := x.gh.said(12)[0]
		teamtest.Contains(t, "the comment", said, theirs.Ref, "edit overlap")
		for _, name := range []string{x.Bob.Name, x.Cyd.Name, "a.go", "bobs"} {
			if strings.Contains(said, name) {
				t.Errorf("the comment names %s to strangers:\n%s", name, said)
			}
		}
	})
}

// An app that lost its rights stops trying and says so.
func TestAnAppWithoutRightsGivesUp(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.gh.set(func() { x.gh.deny = true })
		x.overlapping()
		await.True(t, "the job has failed", func() bool {
			return strings.Contains(x.W.Metrics(), `svc_jobs{kind="pull",state="failed"} 1`)
		})
		await.True(t, "the log says why", func() bool {
			return strings.Contains(x.W.Log.String(), "Resource not accessible by integration")
		})
	})
}

// Apps and their secrets are one org's: another sees nothing of them.
func TestAppsBelongToOneOrg(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		other := x.W.Org("Other")
		var s wire.GitHubStatus
		x.W.Must(200, request{Method: "GET", Path: "/v1/github/app", Token: other.Owner()}, &s)
		if s.Configured || len(s.Apps)+len(s.Installations) != 0 {
			t.Errorf("another org sees %+v", s)
		}
	})
}

// A forgotten app is gone with its secrets: what it signs is refused, its pull
// requests say nothing more, and no job goes on for it.
func TestAnAppIsForgotten(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		bob := x.overlapping()
		await.True(t, "the comment is there", func() bool { return len(x.gh.said(12)) == 1 })
		x.tell(x.gh.delivery("installation", map[string]any{
			"action":       "created",
			"installation": installation(77, t0),
			"repositories": []any{map[string]any{"full_name": "acme/api"}},
		}))
		x.settled()
		gone := request{Method: "DELETE", Path: "/v1/github/app/" + x.status().Apps[0].ID}
		o := x.W.Org("Other")
		owner := o.Users[coord.Owner]
		other := x.W.Token(o, &owner, coord.ServiceScopes()...)
		for name, tt := range map[string]struct {
			token  string
			status int
		}{
			"a member":        {x.Cyd.Token, 403},
			"a service token": {x.W.Token(x.O, nil, coord.ScopeReposRead), 403},
			"an agent":        {x.Ada.Token, 403},
			"another org":     {other, 404},
		} {
			gone.Token = tt.token
			if res := x.W.Do(gone); res.Status != tt.status {
				t.Errorf("%s = %d %s", name, res.Status, res.Body)
			}
		}
		gone.Token = x.Own(x.Bob)
		x.W.Must(204, gone, nil)
		x.W.Must(404, gone, nil)
		if s := x.status(); s.Configured || len(s.Apps)+len(s.Installations) != 0 {
			t.Errorf("afterwards = %+v", s)
		}
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			var n int
			err := tx.QueryRowContext(ctx, `SELECT (SELECT COUNT(*) FROM github_apps) + (SELECT COUNT(*) FROM github_installations)`).Scan(&n)
			if n != 0 {
				t.Errorf("%d rows are left", n)
			}
			return err
		})
		if res := x.W.Do(x.gh.request(x.gh.pullRequest("edited", 12, "feature", t0.Add(time.Hour), nil))); res.Status != 403 {
			t.Errorf("its webhook = %d %s", res.Status, res.Body)
		}
		before := x.gh.said(12)
		x.changes(bob, "bobs", lines("a.go", "b1", "n3", 10, 2))
		x.W.Advance(16 * time.Minute) // when GitHub would be asked what we missed
		x.settled()
		if after := x.gh.said(12); len(after) != 1 || after[0] != before[0] {
			t.Errorf("its pull request says %v", after)
		}
		x.makeApp()
		if s := x.status(); len(s.Apps) != 1 {
			t.Errorf("made again = %+v", s)
		}
	})
}

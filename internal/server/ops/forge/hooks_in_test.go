package forge_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
)

func signature(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

// Whatever is not GitHub's, or not for the first time, changes nothing, and
// the log says why.
func TestWebhooksOfGitHubThatAreRefused(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		_, i := x.works(x.Cyd, "feature", "a.go")
		good := x.gh.pullRequest("opened", 1, "feature", t0, nil)
		old := hmac.New(sha1.New, []byte(x.gh.secret))
		old.Write(good.body)
		with := func(d delivery, header map[string]string) delivery { d.header = header; return d }
		changed := good
		changed.body = bytes.Replace(good.body, []byte(`"feature"`), []byte(`"main"`), 1)
		forged := with(changed, map[string]string{"X-Hub-Signature-256": signature(x.gh.secret, good.body)})
		for _, tt := range []struct {
			name   string
			d      delivery
			status int
			log    string
		}{
			{"without a signature", with(good, map[string]string{"X-Hub-Signature-256": ""}), 403, "it is not signed"},
			{
				"with the old kind of signature",
				with(good, map[string]string{"X-Hub-Signature-256": "", "X-Hub-Signature": "sha1=" + hex.EncodeToString(old.Sum(nil))}),
				403,
				"it is not signed",
			},
			{
				"the old kind under the new name",
				with(good, map[string]string{"X-Hub-Signature-256": "sha1=" + hex.EncodeToString(old.Sum(nil))}),
				403,
				"it is not signed",
			},
			{
				"signed with another secret",
				with(good, map[string]string{"X-Hub-Signature-256": signature("guess", good.body)}),
				403,
				"does not match the secret",
			},
			{
				"signed with no secret",
				with(good, map[string]string{"X-Hub-Signature-256": signature("", good.body)}),
				403,
				"does not match the secret",
			},
			{"a signature of another body", forged, 403, "does not match the secret"},
			{
				"for an app that is not ours",
				with(good, map[string]string{"X-GitHub-Hook-Installation-Target-ID": "99"}),
				403,
				"does not match the secret",
			},
			{"no JSON", x.raw("pull_request", []byte("{")), 400, "cannot be read"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				res := x.W.Do(x.gh.request(tt.d))
				var b problem.Body
				res.JSON(t, &b)
				if res.Status != tt.status || b.Detail == "" {
					t.Errorf("answered %d %s", res.Status, res.Body)
				}
				teamtest.Contains(t, "the log", x.logLine(tt.d.id), "refused a webhook", "provider=github", tt.log)
			})
		}
		if now := x.intentNow(i.Ref); now.Status != coord.IntentActive || x.Count("pulls") != 0 {
			t.Errorf("the intent is %s and %d pull requests are known", now.Status, x.Count("pulls"))
		}

		// Without the header that names the app, its secret is found all the same.
		if got := x.tell(with(good, map[string]string{"X-GitHub-Hook-Installation-Target-Type": ""})); got.Status != "done" {
			t.Errorf("the first time = %+v", got)
		}
		before := x.Count("events")
		renamed := good
		renamed.id = uuid.NewString()
		sameName := x.gh.pullRequest("closed", 1, "feature", t0.Add(time.Hour), nil)
		sameName.id = good.id
		for name, d := range map[string]delivery{"again": good, "under another name": renamed, "another under the same name": sameName} {
			if got := x.tell(d); got.Status != "duplicate" {
				t.Errorf("%s = %+v", name, got)
			}
			teamtest.Contains(t, "the log", x.logLine(d.id), "left a webhook aside", "duplicate")
		}
		stale := x.gh.pullRequest("closed", 1, "feature", t0.Add(-time.Hour), nil)
		if got := x.tell(stale); got.Status != "ignored" {
			t.Errorf("an older one = %+v", got)
		}
		teamtest.Contains(t, "the log", x.logLine(stale.id), "older than what is known")
		for _, d := range []delivery{x.raw("ping", []byte(`{"zen":"x"}`)), x.raw("star", []byte(`{}`)),
			x.gh.pullRequest("labeled", 1, "feature", t0.Add(2*time.Hour), nil),
			x.raw("pull_request", []byte(`{"action":"opened"}`)), x.raw("push", []byte(`{"ref":"refs/tags/v1"}`)),
			x.raw("push", []byte(`{}`)), x.gh.push("gone", "a", strings.Repeat("0", 40))} {
			if got := x.tell(d); got.Status != "ignored" || got.Reason == "" {
				t.Errorf("%s %s = %+v", d.event, d.body, got)
			}
		}
		if now := x.intentNow(i.Ref); now.Status != coord.IntentInReview || x.Count("events") != before {
			t.Errorf("the intent is %s; %d events became %d", now.Status, before, x.Count("events"))
		}
	})
}

func (x *githubTeam) raw(event string, body []byte) delivery {
	return delivery{event: event, id: uuid.NewString(), body: body}
}

// logLine returns what the service logged of a delivery.
func (x *team) logLine(id string) string {
	var out []string
	for line := range strings.SplitSeq(x.W.Log.String(), "\n") {
		if strings.Contains(line, "delivery="+id) {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

func TestARepositoryThatIsNotOursIsLeftAside(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		d := x.gh.pullRequest("opened", 1, "feature", t0, nil)
		d.body = bytes.ReplaceAll(d.body, []byte("acme/api"), []byte("acme/else"))
		if got := x.tell(d); got.Status != "ignored" || !strings.Contains(got.Reason, "acme/else") {
			t.Errorf("a repository that is not registered = %+v", got)
		}
		d = x.gh.pullRequest("opened", 1, "feature", t0, nil)
		d.body = bytes.ReplaceAll(d.body, []byte("https://github.com/"), []byte("https://github.example.com/"))
		if got := x.tell(d); got.Status != "ignored" {
			t.Errorf("a repository of the same name on another host = %+v", got)
		}
	})
}

func TestInstallationsFollowGitHub(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		event := func(kind, action string, at time.Time, more map[string]any) delivery {
			p := map[string]any{"action": action, "installation": installation(77, at)}
			for k, v := range more {
				p[k] = v
			}
			return x.gh.delivery(kind, p)
		}
		repos := func(names ...string) (out []any) {
			for _, n := range names {
				out = append(out, map[string]any{"full_name": n})
			}
			return out
		}
		want := func(n, repos int) {
			t.Helper()
			s := x.status()
			if len(s.Installations) != n || n > 0 && s.Installations[0].Repos != repos {
				t.Fatalf("installations = %+v, want %d with %d repos", s.Installations, n, repos)
			}
		}
		s := x.status()
		if !s.Configured || len(s.Apps) != 1 || s.Apps[0].InstallURL != x.gh.URL+"/github-apps/svc-acme/installations/new" ||
			s.Apps[0].LastDeliveryAt != nil {
			t.Errorf("status = %+v", s)
		}
		created := event("installation", "created", t0, map[string]any{"repositories": repos("acme/api")})
		x.tell(created)
		want(1, 1)
		if x.status().Apps[0].LastDeliveryAt == nil {
			t.Error("no delivery is noted")
		}
		x.tell(event("installation_repositories", "added", t0.Add(time.Minute), map[string]any{
			"repositories_added": repos("acme/web", "acme/api", "acme/old"),
		}))
		want(1, 3)
		x.tell(event("installation_repositories", "removed", t0.Add(2*time.Minute), map[string]any{"repositories_removed": repos("acme/old")}))
		want(1, 2)
		if got := x.tell(event("installation", "suspend", t0, nil)); got.Status != "ignored" {
			t.Errorf("an older event = %+v", got)
		}
		x.tell(event("installation", "deleted", t0.Add(3*time.Minute), nil))
		want(0, 0)
		created = event("installation", "created", t0.Add(4*time.Minute), map[string]any{"repositories": repos("acme/api")})
		if got := x.tell(created); got.Status != "ignored" {
			t.Errorf("one that was removed comes back: %+v", got)
		}
		want(0, 0)
	})
}

// GitHub does not send again what did not arrive; we ask it to.
func TestMissedWebhooksAreAskedForAgain(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		at := func(d time.Duration) time.Time { return time.Now().Add(d) }
		sent := func(id int, guid string, status int, ago time.Duration) map[string]any {
			return map[string]any{"id": id, "guid": guid, "status_code": status, "delivered_at": at(-ago)}
		}
		x.gh.set(func() {
			x.gh.failed = []map[string]any{sent(9, "fresh", 503, time.Minute), sent(8, "later", 200, time.Minute),
				sent(7, "later", 502, 2*time.Minute), sent(6, "twice", 0, 3*time.Minute),
				sent(5, "twice", 504, 4*time.Minute), sent(4, "refused", 403, 5*time.Minute), sent(3, "ancient", 500, 100*time.Hour)}
		})
		x.W.Advance(16 * time.Minute)
		await.True(t, "GitHub was asked", func() bool { return len(x.status().Installations) == 1 })
		var got string
		x.gh.set(func() { got = strings.Join(x.gh.again, " ") })
		if got != "9 6" {
			t.Errorf("asked again for %q, want 9 and 6", got)
		}
		if i := x.status().Installations[0]; i.Repos != 2 || i.Account != "acme" {
			t.Errorf("the installation nobody told us of = %+v", i)
		}
	})
}

// gitlab lets GitLab's webhooks in and returns where to and with which secret.
func (x *team) gitlab(token *string) (to, secret string) {
	x.Helper()
	var out wire.HostStatus
	x.W.Must(200, request{
		Method: "PUT",
		Path:   "/v1/integrations/gitlab",
		Token:  x.Own(x.Ada),
		Body:   map[string]any{"signing_token": token},
	}, &out)
	if out.WebhookURL == nil || out.Secret == nil {
		x.Fatalf("connecting GitLab = %+v", out)
	}
	_, path, _ := strings.Cut(*out.WebhookURL, "/v1/")
	return "/v1/" + path, *out.Secret
}

func mergeRequest(action, state, branch string, number int, at time.Time, repo string, more ...map[string]any) []byte {
	attributes := map[string]any{
		"iid":               number,
		"action":            action,
		"state":             state,
		"source_branch":     branch,
		"target_branch":     "main",
		"source_project_id": 5,
		"target_project_id": 5,
		"url":               "https://gitlab.com/" + repo + "/-/merge_requests/" + fmt.Sprint(number),
		"updated_at":        at.UTC().Format("2006-01-02 15:04:05 MST"),
		"last_commit":       map[string]any{"id": "c1"},
	}
	for _, m := range more {
		maps.Copy(attributes, m)
	}
	body, _ := json.Marshal(map[string]any{
		"object_kind":       "merge_request",
		"project":           map[string]any{"path_with_namespace": repo, "web_url": "https://gitlab.com/" + repo, "default_branch": "main"},
		"object_attributes": attributes,
	})
	return body
}

func TestMergeRequestsOfGitLab(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		x.W.Must(201, request{
			Method: "POST",
			Path:   "/v1/repos",
			Token:  x.Ada.Token,
			Body:   map[string]any{"full_name": "group/sub/app", "provider": "gitlab"},
		}, nil)
		var made wire.Declared
		declare := func(branch string) string {
			x.W.Must(201, request{
				Method: "POST",
				Path:   "/v1/intents",
				Token:  x.Cyd.Token,
				Body: map[string]any{"title": branch, "repo": "group/sub/app", "branch": branch,
					"scope": map[string]any{"paths": []string{branch + ".go"}}},
			}, &made)
			return made.Intent.Ref
		}
		kept, closed, signed, upper := declare("kept"), declare("closed"), declare("signed"), declare("upper")
		to, secret := x.gitlab(nil)
		send := func(body []byte, header map[string]string) (out wire.HookReceipt, status int) {
			res := x.W.Do(request{Method: "POST", Path: to, Body: body, Header: header})
			json.Unmarshal(res.Body, &out)
			return out, res.Status
		}
		token := func(s string) map[string]string {
			return map[string]string{"X-Gitlab-Token": s, "X-Gitlab-Event": "Merge Request Hook", "X-Gitlab-Event-UUID": uuid.NewString()}
		}
		opened := mergeRequest("open", "opened", "kept", 3, t0, "group/sub/app")
		for name, h := range map[string]map[string]string{
			"no token":       token(""),
			"a wrong token":  token("whsec_x"),
			"half the token": token(secret[:20]),
		} {
			if _, status := send(opened, h); status != 403 {
				t.Errorf("%s = %d", name, status)
			}
			teamtest.Contains(t, "the log", x.logLine(h["X-Gitlab-Event-UUID"]), "refused a webhook", "provider=gitlab")
		}
		if res := x.W.Do(request{
			Method: "POST",
			Path:   "/v1/gitlab/webhook?hook=" + uuid.NewString(),
			Body:   opened,
			Header: token(secret),
		}); res.Status != 403 {
			t.Errorf("a way in that is not there = %d", res.Status)
		}
		if got, _ := send(opened, token(secret)); got.Status != "done" || x.intentNow(kept).Status != coord.IntentInReview ||
			*x.intentNow(kept).PRNumber != 3 {
			t.Errorf("opened = %+v, the intent is %s", got, x.intentNow(kept).Status)
		}
		if got, _ := send(opened, token(secret)); got.Status != "duplicate" {
			t.Errorf("opened again = %+v", got)
		}
		send(mergeRequest("merge", "merged", "upper", 5, t0.Add(time.Minute), "group/sub/app", map[string]any{"target_branch": "kept"}),
			token(secret))
		if i := x.intentNow(upper); i.Status != coord.IntentInReview || i.PRNumber == nil || *i.PRNumber != 5 {
			t.Errorf("merged into another branch: the intent is %s, number %v", i.Status, i.PRNumber)
		}
		if got := x.Inbox(x.Cyd, "").Items; len(got) != 1 ||
			!strings.Contains(got[0].Body, "Merge request !5 of "+upper+" was merged into kept, not into main") {
			t.Errorf("its owner is told %v", got)
		}
		send(mergeRequest("merge", "merged", "kept", 3, t0.Add(time.Hour), "group/sub/app"), token(secret))
		for _, ref := range []string{kept, upper} {
			if i := x.intentNow(ref); i.Status != coord.IntentMerged {
				t.Errorf("merged: the intent %s is %s", ref, i.Status)
			}
		}
		send(mergeRequest("close", "closed", "closed", 4, t0, "group/sub/app"), token(secret))
		if i := x.intentNow(closed); i.Status != coord.IntentActive || len(x.Inbox(x.Cyd, "").Items) != 2 {
			t.Errorf("closed: the intent is %s, messages %v", i.Status, x.Inbox(x.Cyd, "").Items)
		}
		for name, body := range map[string]string{
			"another kind":   `{"object_kind":"note"}`,
			"another action": `{"object_kind":"merge_request","object_attributes":{"action":"approved","state":"opened"}}`,
			"a push": `{"object_kind":"push","ref":"refs/heads/main","project":{"path_with_namespace":"group/sub/app",` +
				`"web_url":"https://gitlab.com/group/sub/app","default_branch":"main"},"commits":[]}`,
		} {
			if got, status := send([]byte(body), token(secret)); status != 200 || got.Status != "ignored" {
				t.Errorf("%s = %d %+v", name, status, got)
			}
		}
		if _, status := send([]byte("{"), token(secret)); status != 400 {
			t.Errorf("no JSON = %d", status)
		}
		x.signedByGitLab(t, send, secret, signed)

		x.W.Must(204, request{Method: "DELETE", Path: "/v1/integrations/gitlab", Token: x.Own(x.Ada)}, nil)
		if _, status := send(opened, token(secret)); status != 403 {
			t.Errorf("after GitLab was disconnected = %d", status)
		}
	})
}

// signedByGitLab sends what newer versions of GitLab sign.
func (x *team) signedByGitLab(t *testing.T, send func([]byte, map[string]string) (wire.HookReceipt, int), secret, ref string) {
	wh, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(id string, at time.Time, body []byte) map[string]string {
		s, err := wh.Sign(id, at, body)
		if err != nil {
			t.Fatal(err)
		}
		return map[string]string{"webhook-id": id, "webhook-timestamp": fmt.Sprint(at.Unix()), "webhook-signature": s}
	}
	body := mergeRequest("open", "opened", "signed", 9, t0, "group/sub/app")
	forged := sign("forged", time.Now(), []byte("x"))
	forged["X-Gitlab-Token"] = secret // what it carries does not mend a bad signature
	for name, tt := range map[string]struct {
		header map[string]string
		log    string
	}{
		"stale":  {sign("stale", time.Now().Add(-6*time.Minute), body), "more than five minutes ago"},
		"future": {sign("future", time.Now().Add(6*time.Minute), body), "more than five minutes ago"},
		"forged": {forged, "does not match"},
		"another time": {
			map[string]string{
				"webhook-id":        "moved",
				"webhook-timestamp": fmt.Sprint(time.Now().Unix()),
				"webhook-signature": sign("moved", time.Now().Add(-time.Hour), body)["webhook-signature"],
			},
			"does not match",
		},
	} {
		if _, status := send(body, tt.header); status != 403 {
			t.Errorf("%s = %d", name, status)
		}
		teamtest.Contains(t, "the log of "+name, x.logLine(tt.header["webhook-id"]), tt.log)
	}
	if got, _ := send(body, sign("good", time.Now(), body)); got.Status != "done" || x.intentNow(ref).Status != coord.IntentInReview {
		t.Errorf("signed well = %+v", got)
	}
	if got, _ := send(body, sign("good", time.Now().Add(time.Second), body)); got.Status != "duplicate" {
		t.Errorf("sent again = %+v", got)
	}
}

func TestASigningTokenOfGitLabsOwn(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		for _, bad := range []string{"hush", "whsec_!", "whsec_aGk="} {
			res := x.W.Do(request{Method: "PUT", Path: "/v1/integrations/gitlab", Token: x.Own(x.Ada), Body: map[string]any{"signing_token": bad}})
			var b problem.Body
			res.JSON(t, &b)
			if res.Status != 400 || len(b.Errors) != 1 || b.Errors[0].Path != "signing_token" {
				t.Errorf("%s = %d %s", bad, res.Status, res.Body)
			}
		}
		mine := "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32))
		path, secret := x.gitlab(&mine)
		if secret != mine {
			t.Errorf("the secret is %s", secret)
		}
		again, _ := x.gitlab(nil)
		if again != path {
			t.Errorf("the address changed from %s to %s", path, again)
		}
		var got wire.HostStatus
		x.W.Must(200, request{Method: "GET", Path: "/v1/integrations/gitlab", Token: x.Ada.Token}, &got)
		if !got.Connected || got.Secret != nil {
			t.Errorf("afterwards = %+v", got)
		}
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			var sealed string
			err := tx.QueryRowContext(ctx, `SELECT secret FROM gitlab_hooks WHERE org_id = $1`, x.O.ID).Scan(&sealed)
			if strings.Contains(sealed, "whsec_") {
				t.Error("the secret lies open in the database")
			}
			return err
		})
	})
}

package forge_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v4"
	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// A fakeGitHub stands in for a GitHub Enterprise server: it speaks HTTP, takes
// only what its app may do, and remembers what was written.
type fakeGitHub struct {
	*httptest.Server
	key    *rsa.PrivateKey
	secret string

	mu       sync.Mutex
	codes    map[string]bool // good once
	next     int64
	comments map[int64]*ghComment
	checks   map[int64]map[string]any
	files    []map[string]any  // of the next comparison
	touched  []map[string]any  // files of a pull request
	blobs    map[string]string // by path, before it
	writes   int
	deny     bool // the app lost its rights
	failed   []map[string]any
	again    []string         // deliveries asked for again
	pulls    []map[string]any // that it lists, those that changed last first
	statuses []map[string]any // of commits
	person   string           // whose token is taken
	head     string           // where main is
	between  []string         // commits that a comparison lists
	compared []string         // what was asked to be compared
	email    string           // of who wrote the commits of a comparison
}

type ghComment struct {
	ID     int64          `json:"id"`
	Number string         `json:"-"`
	Body   string         `json:"body"`
	User   map[string]any `json:"user"`
}

// theKey is shared: making one takes a while.
var theKey = sync.OnceValue(func() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
})

func newFakeGitHub(t testing.TB) *fakeGitHub {
	g := &fakeGitHub{
		key:      theKey(),
		secret:   "hush-" + uuid.NewString(),
		codes:    map[string]bool{},
		comments: map[int64]*ghComment{},
		checks:   map[int64]map[string]any{},
		blobs:    map[string]string{},
		touched:  []map[string]any{},
		next:     100,
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v3/app-manifests/{code}/conversions", g.convert)
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", g.asApp(func(w http.ResponseWriter, r *http.Request) {
		teamtest.Answer(w, 201, map[string]any{"token": "ghs_" + r.PathValue("id"), "expires_at": time.Now().Add(time.Hour)})
	}))
	mux.HandleFunc("GET /api/v3/app/installations", g.asApp(func(w http.ResponseWriter, r *http.Request) {
		teamtest.Answer(w, 200, []any{installation(77, time.Now())})
	}))
	mux.HandleFunc("GET /api/v3/app/hook/deliveries", g.asApp(func(w http.ResponseWriter, r *http.Request) {
		teamtest.Answer(w, 200, g.failed)
	}))
	mux.HandleFunc("POST /api/v3/app/hook/deliveries/{id}/attempts", g.asApp(func(w http.ResponseWriter, r *http.Request) {
		g.again = append(g.again, r.PathValue("id"))
		teamtest.Answer(w, 202, map[string]any{})
	}))
	mux.HandleFunc("GET /api/v3/installation/repositories", g.asInstallation(func(w http.ResponseWriter, r *http.Request) {
		teamtest.Answer(w, 200, map[string]any{
			"total_count":  2,
			"repositories": []any{map[string]any{"full_name": "acme/api"}, map[string]any{"full_name": "acme/web"}},
		})
	}))
	mux.HandleFunc("GET /api/v3/repos/acme/api/issues/{n}/comments", g.asInstallation(g.listComments))
	mux.HandleFunc("POST /api/v3/repos/acme/api/issues/{n}/comments", g.asInstallation(g.comment))
	mux.HandleFunc("PATCH /api/v3/repos/acme/api/issues/comments/{id}", g.asInstallation(g.comment))
	mux.HandleFunc("POST /api/v3/repos/acme/api/check-runs", g.asInstallation(g.check))
	mux.HandleFunc("PATCH /api/v3/repos/acme/api/check-runs/{id}", g.asInstallation(g.check))
	mux.HandleFunc("GET /api/v3/repos/acme/api/compare/{range}", g.asInstallation(func(w http.ResponseWriter, r *http.Request) {
		g.compared = append(g.compared, r.PathValue("range"))
		commits := []map[string]any{}
		for _, sha := range g.between {
			commits = append(commits, map[string]any{"sha": sha, "author": map[string]any{"login": "octocat"},
				"commit": map[string]any{"author": map[string]any{"name": "Mona", "email": g.email}}})
		}
		teamtest.Answer(w, 200, map[string]any{"files": g.files, "commits": commits, "total_commits": len(commits),
			"merge_base_commit": map[string]any{"sha": "parted"}})
	}))
	mux.HandleFunc("GET /api/v3/repos/acme/api/pulls/{n}/files", g.asInstallation(func(w http.ResponseWriter, r *http.Request) {
		teamtest.Answer(w, 200, g.touched)
	}))
	mux.HandleFunc("GET /api/v3/repos/acme/api/contents/{path...}", g.asInstallation(func(w http.ResponseWriter, r *http.Request) {
		sha, ok := g.blobs[r.PathValue("path")]
		if !ok {
			teamtest.Answer(w, 404, map[string]any{"message": "Not Found"})
			return
		}
		teamtest.Answer(w, 200, map[string]any{"type": "file", "path": r.PathValue("path"), "sha": sha})
	}))
	g.withoutApp(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("GitHub was asked for %s %s", r.Method, r.URL)
		teamtest.Answer(w, 404, map[string]any{"message": "Not Found"})
	})
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

// set changes what GitHub answers.
func (g *fakeGitHub) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

func (g *fakeGitHub) code() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := uuid.NewString()
	g.codes[c] = true
	return c
}

func (g *fakeGitHub) convert(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.codes[r.PathValue("code")] {
		teamtest.Answer(w, 404, map[string]any{"message": "Not Found"})
		return
	}
	delete(g.codes, r.PathValue("code"))
	text := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(g.key)})
	teamtest.Answer(w, 201, map[string]any{
		"id":             4711,
		"slug":           "svc-acme",
		"name":           "svc acme",
		"owner":          map[string]any{"login": "acme"},
		"html_url":       g.URL + "/github-apps/svc-acme",
		"client_id":      "Iv1",
		"client_secret":  "cs-hush",
		"webhook_secret": g.secret,
		"pem":            string(text),
	})
}

// asApp serves whoever shows a token signed with the app's key.
func (g *fakeGitHub) asApp(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		text := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		claims := &jwt.RegisteredClaims{}
		if _, err := jwt.ParseWithClaims(text, claims, func(*jwt.Token) (any, error) {
			return &g.key.PublicKey, nil
		}); err != nil || claims.Issuer != "4711" {
			teamtest.Answer(w, 401, map[string]any{"message": "Bad credentials"})
			return
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		next(w, r)
	}
}

// asInstallation serves whoever shows an installation's token.
func (g *fakeGitHub) asInstallation(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		defer g.mu.Unlock()
		asked := r.Header.Get("Authorization")
		switch {
		case asked != "Bearer ghs_77" && (g.person == "" || asked != "Bearer "+g.person):
			teamtest.Answer(w, 401, map[string]any{"message": "Bad credentials"})
		case g.deny:
			teamtest.Answer(w, 403, map[string]any{"message": "Resource not accessible by integration"})
		default:
			next(w, r)
		}
	}
}

func (g *fakeGitHub) listComments(w http.ResponseWriter, r *http.Request) {
	out := []*ghComment{}
	for _, c := range g.comments {
		if c.Number == r.PathValue("n") {
			out = append(out, c)
		}
	}
	teamtest.Answer(w, 200, out)
}

func (g *fakeGitHub) comment(w http.ResponseWriter, r *http.Request) {
	var in ghComment
	json.NewDecoder(r.Body).Decode(&in)
	g.writes++
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	c := g.comments[id]
	switch {
	case id != 0 && c == nil:
		teamtest.Answer(w, 404, map[string]any{"message": "Not Found"})
		return
	case c == nil:
		g.next++
		c = &ghComment{ID: g.next, Number: r.PathValue("n"), User: map[string]any{"id": 5, "type": "Bot", "login": "svc-acme[bot]"}}
		g.comments[c.ID] = c
	}
	c.Body = in.Body
	teamtest.Answer(w, 200, c)
}

func (g *fakeGitHub) check(w http.ResponseWriter, r *http.Request) {
	var in map[string]any
	json.NewDecoder(r.Body).Decode(&in)
	g.writes++
	id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if id == 0 {
		g.next++
		id = g.next
		g.checks[id] = map[string]any{"id": id}
	}
	for k, v := range in {
		g.checks[id][k] = v
	}
	teamtest.Answer(w, 200, map[string]any{"id": id})
}

// withoutApp adds what a token of a person is for, and what both are.
func (g *fakeGitHub) withoutApp(mux *http.ServeMux) {
	repo := func(w http.ResponseWriter, _ *http.Request) {
		teamtest.Answer(w, 200, map[string]any{"id": 99, "full_name": "acme/api", "html_url": g.URL + "/acme/api", "default_branch": "main",
			"private": true})
	}
	mux.HandleFunc("GET /api/v3/repos/acme/api", g.asInstallation(repo))
	mux.HandleFunc("GET /api/v3/repositories/99", g.asInstallation(repo))
	mux.HandleFunc("GET /api/v3/repos/acme/api/git/ref/heads/main", g.asInstallation(func(w http.ResponseWriter, _ *http.Request) {
		if g.head == "" {
			teamtest.Answer(w, 404, map[string]any{"message": "Not Found"})
			return
		}
		teamtest.Answer(w, 200, map[string]any{"ref": "refs/heads/main", "object": map[string]any{"type": "commit", "sha": g.head}})
	}))
	mux.HandleFunc("GET /api/v3/repos/acme/api/pulls", g.asInstallation(func(w http.ResponseWriter, r *http.Request) {
		out := []map[string]any{}
		for _, p := range g.pulls {
			if state := r.URL.Query().Get("state"); state == "all" || p["state"] == state {
				out = append(out, p)
			}
		}
		teamtest.Answer(w, 200, out)
	}))
	mux.HandleFunc("GET /api/v3/user", g.asInstallation(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("GitHub-Authentication-Token-Expiration", "2027-03-01 12:00:00 UTC")
		teamtest.Answer(w, 200, map[string]any{"id": 5, "login": "ada-lovelace", "type": "User"})
	}))
	mux.HandleFunc("POST /api/v3/repos/acme/api/statuses/{sha}", g.asInstallation(func(w http.ResponseWriter, r *http.Request) {
		in := map[string]any{"sha": r.PathValue("sha"), "id": len(g.statuses) + 1}
		json.NewDecoder(r.Body).Decode(&in)
		g.statuses = append(g.statuses, in)
		teamtest.Answer(w, 201, in)
	}))
}

// comments of a pull request, in no order.
func (g *fakeGitHub) said(number int) (out []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, c := range g.comments {
		if c.Number == strconv.Itoa(number) {
			out = append(out, c.Body)
		}
	}
	return out
}

func (g *fakeGitHub) lastCheck() map[string]any {
	g.mu.Lock()
	defer g.mu.Unlock()
	return maps.Clone(g.checks[g.next])
}

func installation(id int64, at time.Time) map[string]any {
	return map[string]any{
		"id":                   id,
		"app_id":               4711,
		"account":              map[string]any{"login": "acme"},
		"repository_selection": "selected",
		"created_at":           at,
		"updated_at":           at,
	}
}

// A delivery is a webhook about to be sent.
type delivery struct {
	event  string
	id     string
	body   []byte
	header map[string]string // over what belongs there
}

func (g *fakeGitHub) delivery(event string, payload map[string]any) delivery {
	body, err := json.Marshal(payload)
	if err != nil {
		panic(err)
	}
	return delivery{event: event, id: uuid.NewString(), body: body}
}

// request signs a delivery.
func (g *fakeGitHub) request(d delivery) request {
	mac := hmac.New(sha256.New, []byte(g.secret))
	mac.Write(d.body)
	h := map[string]string{"X-GitHub-Event": d.event, "X-GitHub-Delivery": d.id, "X-GitHub-Hook-Installation-Target-Type": "integration",
		"X-GitHub-Hook-Installation-Target-ID": "4711", "X-Hub-Signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))}
	for k, v := range d.header {
		h[k] = v
	}
	return request{Method: "POST", Path: "/v1/github/webhook", Body: d.body, Header: h}
}

// pullRequest is an event of a pull request from a branch of acme/api.
func (g *fakeGitHub) pullRequest(action string, number int, branch string, at time.Time, more map[string]any) delivery {
	repo := map[string]any{"full_name": "acme/api", "html_url": "https://github.com/acme/api", "default_branch": "main", "private": true}
	pr := map[string]any{
		"number":     number,
		"state":      "open",
		"html_url":   fmt.Sprint("https://github.com/acme/api/pull/", number),
		"updated_at": at.UTC().Format(time.RFC3339),
		"head":       map[string]any{"ref": branch, "sha": "head-1", "repo": repo},
		"base":       map[string]any{"ref": "main", "repo": repo},
	}
	if action == "closed" {
		pr["state"] = "closed"
	}
	for k, v := range more {
		pr[k] = v
	}
	return g.delivery("pull_request", map[string]any{
		"action":       action,
		"number":       number,
		"pull_request": pr,
		"repository":   repo,
		"installation": map[string]any{"id": 77},
	})
}

func (g *fakeGitHub) push(branch, before, after string, paths ...string) delivery {
	return g.delivery("push", map[string]any{
		"ref":          "refs/heads/" + branch,
		"before":       before,
		"after":        after,
		"installation": map[string]any{"id": 77},
		"repository": map[string]any{
			"full_name":      "acme/api",
			"html_url":       "https://github.com/acme/api",
			"default_branch": "main",
			"private":        true,
		},
		"commits": []any{map[string]any{"id": after, "modified": paths}},
	})
}

// tell sends a webhook that has to be taken.
func (x *githubTeam) tell(d delivery) (out wire.HookReceipt) {
	x.Helper()
	x.W.Must(200, x.gh.request(d), &out)
	return out
}

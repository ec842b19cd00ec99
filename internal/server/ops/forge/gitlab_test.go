package forge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

const labToken = "glpat-0123456789abcdefghij"

// A fakeGitLab stands in for a GitLab below a path of its host: it takes only
// its token, and remembers what was written.
type fakeGitLab struct {
	*httptest.Server
	mu      sync.Mutex
	taken   bool // the token is good
	scopes  []string
	notes   []labNote
	diffs   []map[string]any
	blobs   map[string]string // by path and commit
	merges  []map[string]any  // that it lists
	states  []map[string]any  // of commits
	touched []map[string]any  // files of the merge request
	head    string            // where main is
}

type labNote struct {
	ID     int64          `json:"id"`
	Body   string         `json:"body"`
	Author map[string]any `json:"author"`
}

func newFakeGitLab(t testing.TB) *fakeGitLab {
	g := &fakeGitLab{taken: true, scopes: []string{"api"}, blobs: map[string]string{}}
	const api, project = "/lab/api/v4/", "projects/acme%2Fapi/"
	mux := http.NewServeMux()
	handle := func(method, path string, next http.HandlerFunc) {
		mux.HandleFunc(method+" "+api+path, func(w http.ResponseWriter, r *http.Request) {
			g.mu.Lock()
			defer g.mu.Unlock()
			if !g.taken || r.Header.Get("PRIVATE-TOKEN") != labToken {
				teamtest.Answer(w, 401, map[string]any{"message": "401 Unauthorized"})
				return
			}
			next(w, r)
		})
	}
	handle("GET", "personal_access_tokens/self", func(w http.ResponseWriter, _ *http.Request) {
		teamtest.Answer(w, 200, map[string]any{"id": 3, "name": "svc", "active": true, "scopes": g.scopes, "expires_at": "2027-03-01"})
	})
	handle("GET", "user", func(w http.ResponseWriter, _ *http.Request) { teamtest.Answer(w, 200, map[string]any{"id": 42}) })
	handle("GET", project+"merge_requests/12/notes", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "1" { // pages may hold less than was asked for
			w.Header().Set("X-Next-Page", "2")
			teamtest.Answer(w, 200, []labNote{{1, "<!-- svc: conflicts --> quoted", map[string]any{"id": 7}}})
			return
		}
		teamtest.Answer(w, 200, g.notes)
	})
	handle("POST", project+"merge_requests/12/notes", func(w http.ResponseWriter, r *http.Request) {
		n := labNote{ID: int64(100 + len(g.notes)), Author: map[string]any{"id": 42}}
		json.NewDecoder(r.Body).Decode(&n)
		g.notes = append(g.notes, n)
		teamtest.Answer(w, 201, n)
	})
	handle("PUT", project+"merge_requests/12/notes/{id}", func(w http.ResponseWriter, r *http.Request) {
		for i := range g.notes {
			if fmt.Sprint(g.notes[i].ID) == r.PathValue("id") {
				json.NewDecoder(r.Body).Decode(&g.notes[i])
				teamtest.Answer(w, 200, g.notes[i])
				return
			}
		}
		teamtest.Answer(w, 404, map[string]any{"message": "404 Not found"})
	})
	handle("GET", project+"repository/compare", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("from") != "p0" && q.Get("from") != "parted" || q.Get("straight") != "true" {
			t.Errorf("GitLab was asked to compare %v", q)
		}
		teamtest.Answer(w, 200, map[string]any{"diffs": g.diffs, "commits": []any{map[string]any{"id": q.Get("to"), "author_name": "Mona",
			"author_email": "mona@elsewhere.example"}}})
	})
	handle("GET", project+"repository/merge_base", func(w http.ResponseWriter, r *http.Request) {
		if refs := r.URL.Query()["refs[]"]; len(refs) != 2 || refs[0] != "main" {
			t.Errorf("GitLab was asked where %v parted", refs)
		}
		teamtest.Answer(w, 200, map[string]any{"id": "parted"})
	})
	handle("GET", project+"merge_requests/12/diffs", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("page") == "1" {
			w.Header().Set("X-Next-Page", "2")
			teamtest.Answer(w, 200, []any{})
			return
		}
		teamtest.Answer(w, 200, g.touched)
	})
	handle("GET", project+"repository/branches/main", func(w http.ResponseWriter, r *http.Request) {
		if g.head == "" {
			teamtest.Answer(w, 404, map[string]any{"message": "404 Branch Not Found"})
			return
		}
		teamtest.Answer(w, 200, map[string]any{"name": "main", "commit": map[string]any{"id": g.head}})
	})
	for _, at := range []string{strings.TrimSuffix(project, "/"), "projects/5"} { // by name and by number
		g.project(handle, at)
	}
	handle("POST", project+"statuses/{sha}", func(w http.ResponseWriter, r *http.Request) {
		in := map[string]any{"sha": r.PathValue("sha"), "id": len(g.states) + 1}
		json.NewDecoder(r.Body).Decode(&in)
		g.states = append(g.states, in)
		teamtest.Answer(w, 201, in)
	})
	handle("HEAD", project+"repository/files/{path}", func(w http.ResponseWriter, r *http.Request) {
		if id := g.blobs[r.PathValue("path")+"@"+r.URL.Query().Get("ref")]; id != "" {
			w.Header().Set("X-Gitlab-Blob-Id", id)
			return
		}
		w.WriteHeader(404)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, api) {
			t.Errorf("GitLab was asked for %s %s", r.Method, r.URL)
		}
		teamtest.Answer(w, 404, map[string]any{"message": "404 Not Found"})
	})
	g.Server = httptest.NewServer(mux)
	t.Cleanup(g.Close)
	return g
}

// project serves a project and its merge requests.
func (g *fakeGitLab) project(handle func(method, path string, next http.HandlerFunc), at string) {
	handle("GET", at, func(w http.ResponseWriter, _ *http.Request) {
		teamtest.Answer(w, 200, map[string]any{"id": 5, "path_with_namespace": "acme/api", "web_url": g.URL + "/lab/acme/api",
			"default_branch": "main", "visibility": "private"})
	})
	handle("GET", at+"/merge_requests", func(w http.ResponseWriter, r *http.Request) {
		out := []map[string]any{}
		for _, m := range g.merges {
			if state := r.URL.Query().Get("state"); state == "all" || m["state"] == state {
				out = append(out, m)
			}
		}
		teamtest.Answer(w, 200, out)
	})
}

func (g *fakeGitLab) set(change func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	change()
}

// said are the notes that we wrote.
func (g *fakeGitLab) said() (out []string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, n := range g.notes {
		out = append(out, n.Body)
	}
	return out
}

// A gitlabTeam is a team whose repository is on a GitLab, which has let its
// webhooks in.
type gitlabTeam struct {
	*team
	lab        *fakeGitLab
	to, secret string
}

func onGitLab(t *testing.T, test func(*testing.T, *gitlabTeam)) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		x := &gitlabTeam{
			team: newTeam(t, daemontest.StartWith(t, daemon.Config{Database: dsn, Allow: "127.0.0.1"}), "Acme"),
			lab:  newFakeGitLab(t),
		}
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.ExecContext(ctx, `UPDATE repos SET provider = 'gitlab' WHERE full_name = $1`, apiRepo)
			return err
		})
		test(t, x)
	})
}

// send tells what GitLab tells, of a project that is cloned from elsewhere
// than its page is at.
func (x *gitlabTeam) send(body map[string]any) (out wire.HookReceipt) {
	x.Helper()
	body["project"] = map[string]any{
		"path_with_namespace": "acme/api",
		"web_url":             x.lab.URL + "/lab/acme/api",
		"git_ssh_url":         "git@github.com:acme/api.git",
		"default_branch":      "main",
	}
	x.W.Must(200, request{
		Method: "POST",
		Path:   x.to,
		Body:   body,
		Header: map[string]string{"X-Gitlab-Token": x.secret, "X-Gitlab-Event-UUID": uuid.NewString()},
	}, &out)
	return out
}

func (x *gitlabTeam) merge(action, state, branch string, at time.Time, more ...map[string]any) {
	x.Helper()
	var body map[string]any
	json.Unmarshal(mergeRequest(action, state, branch, 12, at, "acme/api", append(more, map[string]any{
		"url": x.lab.URL + "/lab/acme/api/-/merge_requests/12",
	})...), &body)
	x.send(body)
}

func (x *gitlabTeam) put(token any, url string) daemontest.Response {
	return x.W.Do(request{
		Method: "PUT",
		Path:   "/v1/integrations/gitlab/token",
		Token:  x.Own(x.Ada),
		Body:   map[string]any{"token": token, "url": url},
	})
}

// The story of a merge request: it tells of a conflict and of its end in one
// note, and a push to the default branch asks for a rebase.
func TestAMergeRequestTellsOfConflicts(t *testing.T) {
	onGitLab(t, func(t *testing.T, x *gitlabTeam) {
		x.to, x.secret = x.gitlab(nil)
		ana, _ := x.works(x.Cyd, "feature", "a.go")
		bob, theirs := x.works(x.Bob, "bobs", "a.go")
		x.changes(ana, "feature", lines("a.go", "b1", "n1", 10, 3))
		x.changes(bob, "bobs", lines("a.go", "b1", "n2", 11, 1))
		x.merge("open", "opened", "feature", t0)
		push := map[string]any{"object_kind": "push", "ref": "refs/heads/main", "before": "p0", "after": "p1", "total_commits_count": 25,
			"commits": []any{map[string]any{"id": "p1", "modified": []string{"b.go"}}}}
		if got := x.send(push); got.Status != "ignored" || !strings.Contains(got.Reason, "cannot be looked up") {
			t.Errorf("a push without a token = %+v", got)
		}
		x.settled()
		if said := x.lab.said(); len(said) != 0 {
			t.Fatalf("without a token it says %v", said)
		}

		x.connect(t)
		await.True(t, "the merge request tells of the conflict", func() bool {
			said := x.lab.said()
			return len(said) == 1 && strings.Contains(said[0], theirs.Ref) && strings.Contains(said[0], "1 conflict with other work")
		})
		x.settled()
		x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error { // we crashed after it was written
			_, err := tx.ExecContext(ctx, `UPDATE pulls SET report_kind = '', report_id = 0, report_hash = ''`)
			return err
		})
		same := lines("a.go", "b1", "b1", 1, 1)
		same.Status, same.Hunks = coord.FileUnchanged, nil
		x.merge("update", "opened", "feature", t0.Add(time.Minute))
		x.settled()
		x.changes(ana, "feature", same)
		await.True(t, "the note says that the conflict is over", func() bool {
			said := x.lab.said()
			return len(said) == 1 && strings.Contains(said[0], "No conflicts with other work any more")
		})

		x.lab.set(func() {
			x.lab.diffs = []map[string]any{
				{"old_path": "a.go", "new_path": "a.go", "diff": "--- a/a.go\n+++ b/a.go\n@@ -10,3 +10,1 @@\n-a\n-b\n-c\n+d\n"},
				{"old_path": "z.go", "new_path": "z.go", "diff": "@@ -1 +1 @@\n-a\n+b\n"},
			}
			x.lab.blobs["a.go@p0"], x.lab.blobs["a.go@p1"] = "b1", "n9"
		})
		push["checkout_sha"] = "p1"                      // another body: the first was heard
		push["message"] = strings.Repeat("long ", 2<<20) // and a large one, as of thousands of commits
		if got := x.send(push); got.Status != "done" {
			t.Errorf("a push = %+v", got)
		}
		x.settled()
		x.wantRebase(theirs.Ref, "Somebody merged", 1)

		x.lab.set(func() { x.lab.taken = false })
		x.changes(ana, "feature", lines("a.go", "b1", "n5", 10, 3))
		await.True(t, "it is noted that GitLab refused the token", func() bool {
			var got wire.HostStatus
			x.W.Must(200, request{Method: "GET", Path: "/v1/integrations/gitlab", Token: x.Ada.Token}, &got)
			return got.Token != nil && got.Token.RefusedAt != nil
		})
	})
}

// connect gives the service a token, after some that will not do.
func (x *gitlabTeam) connect(t *testing.T) {
	web := x.lab.URL + "/lab"
	for name, tt := range map[string]struct {
		token, url, field, says string
	}{
		"a token that GitLab does not know": {"glpat-wrong-wrong", web, "token", "does not take it"},
		"a token with a line in it":         {"glpat-0123\n4567", web, "token", ""},
		"no GitLab":                         {labToken, x.lab.URL + "/other", "url", "no GitLab answers there"},
		"no address":                        {labToken, "gitlab", "url", "web address"},
		"an address that is too much":       {labToken, web + "?x=y", "url", "where GitLab is"},
	} {
		res := x.put(tt.token, tt.url)
		var b problem.Body
		res.JSON(t, &b)
		if res.Status != 400 || len(b.Errors) != 1 || b.Errors[0].Path != tt.field || !strings.Contains(b.Errors[0].Message, tt.says) {
			t.Errorf("%s = %d %s", name, res.Status, res.Body)
		}
	}
	x.lab.set(func() { x.lab.scopes = []string{"read_api"} })
	if res := x.put(labToken, web); res.Status != 400 || !strings.Contains(string(res.Body), "needs api") {
		t.Errorf("a token that may not write = %d %s", res.Status, res.Body)
	}
	x.lab.set(func() { x.lab.scopes = []string{"api"} })
	res := x.put(labToken, web+"/")
	var got wire.HostStatus
	res.JSON(t, &got)
	if res.Status != 200 || got.Token == nil || got.Token.URL != web || got.Token.Name != "svc" || got.Token.ExpiresAt == nil ||
		strings.Contains(string(res.Body), labToken) {
		t.Errorf("a good token = %d %s", res.Status, res.Body)
	}
	x.W.Write(x.O.ID, func(ctx context.Context, tx *store.Tx) error {
		kept, err := tx.HostToken(ctx, coord.GitLab, x.O.ID)
		if kept == nil || strings.Contains(kept.Token, labToken) {
			t.Error("the token lies open in the database, or nowhere")
		}
		return err
	})
}

func TestATokenForGitLabIsForgotten(t *testing.T) {
	onGitLab(t, func(t *testing.T, x *gitlabTeam) {
		if res := x.put(labToken, x.lab.URL+"/lab"); res.Status != 409 {
			t.Errorf("before GitLab is connected = %d %s", res.Status, res.Body)
		}
		for _, forget := range []func(){
			func() { x.put(nil, "https://gitlab.com") },
			func() {
				x.W.Must(204, request{Method: "DELETE", Path: "/v1/integrations/gitlab", Token: x.Own(x.Ada)}, nil)
			},
		} {
			x.gitlab(nil)
			x.connect(t)
			forget()
			if n := x.Count("gitlab_tokens"); n != 0 {
				t.Errorf("%d tokens are left", n)
			}
		}
	})
}

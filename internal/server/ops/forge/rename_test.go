package forge_test

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

const firstCommit = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"

// repository is GitHub's event of something that happened to a repository.
func (g *fakeGitHub) repository(action, name string, id int, changes map[string]any) delivery {
	owner, _, _ := strings.Cut(name, "/")
	return g.delivery("repository", map[string]any{
		"action":       action,
		"changes":      changes,
		"repository":   hosted(name, id),
		"organization": map[string]any{"login": owner},
		"installation": map[string]any{"id": 77},
	})
}

func hosted(name string, id int) map[string]any {
	return map[string]any{
		"id":             id,
		"full_name":      name,
		"html_url":       "https://github.com/" + name,
		"clone_url":      "https://github.com/" + name + ".git",
		"ssh_url":        "git@github.com:" + name + ".git",
		"default_branch": "main",
		"private":        true,
	}
}

func (x *team) repos() (names []string) {
	x.Helper()
	for _, r := range x.reposInFull() {
		names = append(names, r.FullName)
	}
	return names
}

func (x *team) reposInFull() []coord.Repo {
	x.Helper()
	var out wire.Page[coord.Repo]
	x.W.Must(200, request{Method: "GET", Path: "/v1/repos", Token: x.Ada.Token}, &out)
	return out.Items
}

func (x *team) repo(name string) (r coord.Repo) {
	x.Helper()
	x.W.Must(200, request{Method: "GET", Path: "/v1/repos/" + url.PathEscape(name), Token: x.Ada.Token}, &r)
	return r
}

// twins are what admins are asked to look at.
func (x *team) twins() (titles []string) {
	x.Helper()
	var out wire.Attention
	x.W.Must(200, request{Method: "GET", Path: "/v1/attention", Token: x.Bob.Token}, &out)
	for _, i := range out.Items {
		if i.Kind == coord.AttentionTwins {
			titles = append(titles, i.Title)
		}
	}
	return titles
}

// edits has an agent change the first lines of a file that others have, too.
func (x *team) edits(a agent) {
	x.Helper()
	x.changes(a, "b-"+a.External[:6], lines("pay/charge.go", "blob1", "blob-"+a.External[:6], 1, 5))
}

// clone is an agent in a clone of a repository with a history.
func (x *team) clone(p person, repo string) agent {
	x.Helper()
	a := agent{Person: person{User: p.User, Token: x.W.Token(x.O, &p.User, coord.Scopes()...)}, External: uuid.NewString(), Repo: repo}
	a.Session = *x.starts(a, firstCommit).SessionID
	return a
}

func (x *team) starts(a agent, root string) wire.HookReply {
	x.Helper()
	at := teamtest.HookRequest(a, wire.HookSessionStart, nil).Body.(map[string]any)["repo"].(map[string]any)
	at["root_commits"] = []string{root}
	return x.Hook(a, wire.HookSessionStart, map[string]any{"repo": at})
}

// A repository that is renamed on GitHub stays one: clones with the old and
// the new address meet.
func TestARenamedRepositoryStaysOne(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		old := x.Agent(x.Ada, apiRepo)
		x.edits(old)
		id := x.repo(apiRepo).ID
		x.tell(x.gh.repository("renamed", "acme/core", 99, map[string]any{"repository": map[string]any{"name": map[string]any{"from": "api"}}}))
		x.edits(x.Agent(x.Bob, "acme/core"))
		if got := x.repos(); !slices.Equal(got, []string{"acme/core", "acme/web"}) {
			t.Errorf("repos after the rename: %v", got)
		}
		if n := len(x.conflicts("?status=live").Items); n != 1 {
			t.Errorf("%d conflicts between the old and the new address", n)
		}
		r := x.repo("acme/api")
		if r.ID != id || r.FullName != "acme/core" || !slices.Equal(r.FormerNames, []string{"acme/api"}) || r.HostID == nil ||
			len(r.Remotes) != 2 {
			t.Errorf("by its old name it is %+v", r)
		}
		// Moved to another owner, and nobody told us: the next event shows it.
		push := x.gh.push("main", "b", "c", "x.go")
		push.body = []byte(strings.ReplaceAll(string(push.body), `"full_name":"acme/api","html_url":"https://github.com/acme/api"`,
			`"id":99,"full_name":"newco/core","html_url":"https://github.com/newco/core"`))
		x.tell(push)
		if r := x.repo(id); r.FullName != "newco/core" || !slices.Contains(r.Remotes, "github.com/newco/core") {
			t.Errorf("after it moved it is %+v", r)
		}
		x.edits(old) // whose clone still has the first address
		if n := len(x.repos()); n != 2 {
			t.Errorf("%d repos in the end", n)
		}
	})
}

// What takes the old name of a renamed repository is another one.
func TestAnOldNameThatIsTakenIsAnotherRepository(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		x.tell(x.gh.repository("renamed", "acme/core", 99, map[string]any{"repository": map[string]any{"name": map[string]any{"from": "api"}}}))
		body, _ := json.Marshal(map[string]any{"ref": "refs/heads/main", "before": "a", "after": "b", "repository": hosted("acme/api", 100)})
		x.tell(delivery{event: "push", id: uuid.NewString(), body: body})
		x.Agent(x.Bob, apiRepo)
		if got := x.repos(); !slices.Equal(got, []string{"acme/api", "acme/core", "acme/web"}) {
			t.Errorf("repos: %v", got)
		}
		if got := x.twins(); len(got) > 0 {
			t.Errorf("they are taken for one: %v", got)
		}
	})
}

// A client came with the new address before the host told of it: an admin is
// told of the two records, makes one of them, and the conflict is found.
func TestTwoRecordsOfOneRepositoryAreMerged(t *testing.T) {
	onGitHub(t, func(t *testing.T, x *githubTeam) {
		mine := x.Intent(x.Ada, apiRepo, "Describe it", "docs/**")
		old := x.clone(x.Ada, apiRepo)
		x.edits(old)
		fresh := x.clone(x.Bob, "acme/core")
		x.edits(fresh)
		if n := len(x.conflicts("").Items); n != 0 {
			t.Fatalf("%d conflicts between two records", n)
		}
		if got := x.twins(); !slices.Equal(got, []string{"acme/api and acme/core look like one repository"}) {
			t.Errorf("admins are told %q", got)
		}
		x.tell(x.gh.repository("renamed", "acme/core", 99, map[string]any{"repository": map[string]any{"name": map[string]any{"from": "api"}}}))
		if got := x.twins(); !slices.Equal(got, []string{"acme/api and acme/core are one repository"}) {
			t.Errorf("after the host spoke, admins are told %q", got)
		}
		from, into := x.repo("acme/core"), x.repo("acme/api")
		if len(into.SameAs) != 1 || into.SameAs[0].ID != from.ID {
			t.Errorf("acme/api is the same as %+v", into.SameAs)
		}
		x.W.Must(403, request{Method: "POST", Path: "/v1/repos/" + from.ID + "/merge", Token: x.Cyd.Token,
			Body: map[string]any{"into": into.ID}}, nil)
		var one coord.Repo
		x.W.Must(200, request{Method: "POST", Path: "/v1/repos/" + from.ID + "/merge", Token: x.Own(x.Bob),
			Body: map[string]any{"into": into.ID, "full_name": "acme/core"}}, &one)
		if one.ID != into.ID || one.FullName != "acme/core" || len(one.Remotes) != 2 || len(one.SameAs) != 0 || one.HostID == nil {
			t.Errorf("merged into %+v", one)
		}
		if got := x.repos(); !slices.Equal(got, []string{"acme/core", "acme/web"}) {
			t.Errorf("repos: %v", got)
		}
		live := x.conflicts("?status=live").Items
		if len(live) == 0 || live[0].Repo.ID != into.ID {
			t.Fatalf("conflicts after the merge: %+v", live)
		}
		if got := x.twins(); len(got) > 0 {
			t.Errorf("still asked: %v", got)
		}
		if i := x.intentNow(mine.Ref); i.Repo.FullName != "acme/core" {
			t.Errorf("the intent is in %+v", i.Repo)
		}
		if r := x.repo(from.ID); r.ID != into.ID {
			t.Errorf("its old id leads to %+v", r)
		}
		// Both go on as the sessions they were, and both are told.
		for _, a := range []agent{old, fresh} {
			reply := x.Hook(a, wire.HookPrompt, map[string]any{"prompt_excerpt": "go on"})
			if reply.SessionID == nil || *reply.SessionID != a.Session {
				t.Errorf("the session %s became %v", a.Session, reply.SessionID)
			}
			teamtest.Contains(t, "what "+a.Repo+" is told", reply.InjectContext, live[0].Ref)
		}
	})
}

// A clone whose remote was set to the new address is still the same clone; one
// that merely begins with the same commit may be a fork.
func TestAClientNoticesARename(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		a := x.clone(x.Ada, apiRepo)
		a.Repo = "acme/core" // git remote set-url
		if reply := x.starts(a, firstCommit); reply.SessionID == nil || *reply.SessionID != a.Session {
			t.Errorf("the session %s became %v", a.Session, reply.SessionID)
		}
		b := x.clone(x.Bob, "acme/core")
		x.edits(a)
		x.edits(b)
		if n := len(x.conflicts("?status=live").Items); n != 1 || len(x.repos()) != 2 {
			t.Errorf("%d conflicts, repos %v", n, x.repos())
		}
		x.clone(x.Cyd, "cyd/core")
		if got := x.twins(); len(got) != 1 {
			t.Errorf("twins: %v", got)
		}
		x.W.Must(204, request{Method: "POST", Path: "/v1/repos/" + x.repo("cyd/core").ID + "/apart", Token: x.Own(x.Ada),
			Body: map[string]any{"other": apiRepo}}, nil)
		x.clone(x.Cyd, "cyd/core")
		if got := x.twins(); len(got) != 0 {
			t.Errorf("after they were told apart: %v", got)
		}
	})
}

func TestGitLabTellsOfRenames(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		x.W.Must(201, request{Method: "POST", Path: "/v1/repos", Token: x.Ada.Token,
			Body: map[string]any{"full_name": "group/app", "provider": "gitlab"}}, nil)
		to, secret := x.gitlab(nil)
		x.W.Must(200, request{Method: "POST", Path: to,
			Body: map[string]any{"event_name": "project_rename", "name": "Shop", "path": "shop", "path_with_namespace": "group/shop",
				"project_id": 74, "old_path_with_namespace": "group/app", "project_visibility": "private"},
			Header: map[string]string{"X-Gitlab-Token": secret, "X-Gitlab-Event": "System Hook", "X-Gitlab-Instance": "https://gitlab.com"}}, nil)
		r := x.repo("group/app")
		if r.FullName != "group/shop" || !slices.Contains(r.Remotes, "gitlab.com/group/shop") || r.HostID == nil || *r.HostID != "gitlab.com#74" {
			t.Errorf("after GitLab's system hook: %+v", r)
		}
		x.W.Must(200, request{Method: "POST", Path: to,
			Body: map[string]any{"event_name": "project_transfer", "name": "Shop", "path": "shop", "path_with_namespace": "sales/shop",
				"project_id": 74, "old_path_with_namespace": "group/shop", "project_visibility": "private"},
			Header: map[string]string{"X-Gitlab-Token": secret, "X-Gitlab-Event": "System Hook", "X-Gitlab-Instance": "https://gitlab.com"}}, nil)
		if r := x.repo("group/shop"); r.FullName != "sales/shop" || *r.HostID != "gitlab.com#74" {
			t.Errorf("after it went to another group: %+v", r)
		}
	})
}

func TestARepoIsRenamedArchivedAndRemoved(t *testing.T) {
	onTeams(t, func(t *testing.T, x *team) {
		at := "/v1/repos/" + x.repo(apiRepo).ID
		patch := func(status int, body map[string]any) (r coord.Repo) {
			x.W.Must(status, request{Method: "PATCH", Path: at, Token: x.Own(x.Ada), Body: body}, &r)
			return r
		}
		patch(409, map[string]any{"full_name": "acme/web"})
		patch(400, map[string]any{"full_name": "acme/../web"})
		a := x.Agent(x.Cyd, apiRepo)
		if r := patch(200, map[string]any{"full_name": "acme/core", "archived": true}); r.ArchivedAt == nil || r.FullName != "acme/core" {
			t.Errorf("archived: %+v", r)
		}
		if reply := x.Hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"a.go"}}); reply.SessionID != nil {
			t.Errorf("an edit in an archived repo: %+v", reply)
		}
		declare := request{Method: "POST", Path: "/v1/intents", Token: x.Cyd.Token, Body: map[string]any{"title": "x", "repo": "acme/core"}}
		x.W.Must(409, declare, nil)
		patch(200, map[string]any{"archived": false})
		var made wire.Declared
		x.W.Must(201, declare, &made)
		x.W.Must(409, request{Method: "DELETE", Path: at, Token: x.Own(x.Ada)}, nil)
		x.W.Must(200, request{Method: "POST", Path: "/v1/intents/" + made.Intent.Ref + "/close", Token: x.Cyd.Token,
			Body: map[string]any{"outcome": "abandoned"}}, nil)
		x.W.Must(204, request{Method: "DELETE", Path: at, Token: x.Own(x.Ada)}, nil)
		x.W.Must(404, request{Method: "GET", Path: at, Token: x.Ada.Token}, nil)
		if got := x.repos(); !slices.Equal(got, []string{"acme/web"}) {
			t.Errorf("repos: %v", got)
		}
		if i := x.intentNow(made.Intent.Ref); i.Repo.FullName != "acme/core" {
			t.Errorf("its history says %+v", i.Repo)
		}
		x.twins() // what looks at all repos still works
		x.Agent(x.Cyd, apiRepo)
		if got := x.repos(); !slices.Equal(got, []string{"acme/api", "acme/web"}) {
			t.Errorf("a client that comes back registers it anew: %v", got)
		}
	})
}

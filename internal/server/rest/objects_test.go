package rest_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
)

// An object is a record that a route with parameters names.
type object struct {
	path string // with the record's id in it
	id   string // what in the path stands for the record
	body any    // with which its own org's owner succeeds
}

// objects makes, for each route with path parameters, a record of an org to
// call it on. A row without one here fails TestEveryRow.
var objects = map[string]func(*testing.T, *daemontest.World, *daemontest.Org) object{
	"PATCH /v1/members/{userId}": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		return object{"/v1/members/" + id, id, map[string]any{"role": "viewer"}}
	},
	"DELETE /v1/members/{userId}": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		return object{"/v1/members/" + id, id, nil}
	},
	"DELETE /v1/invites/{id}": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/invites", map[string]any{"role": "member"})
		return object{"/v1/invites/" + id, id, nil}
	},
	"DELETE /v1/tokens/{id}": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/tokens", map[string]any{"name": "laptop"})
		return object{"/v1/tokens/" + id, id, nil}
	},
	"GET /v1/projects/{id}": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		id := project(w, o)
		return object{"/v1/projects/" + id, id, nil}
	},
	"DELETE /v1/projects/{id}": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		id := project(w, o)
		return object{"/v1/projects/" + id, id, nil}
	},
	"POST /v1/projects/{id}/repos": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		id := project(w, o)
		return object{"/v1/projects/" + id + "/repos", id, map[string]any{"repos": []string{repo(w, o)}}}
	},
	"DELETE /v1/projects/{id}/repos/{repo}": func(t *testing.T, w *daemontest.World, o *daemontest.Org) object {
		name := repo(w, o)
		id := create(w, o, "/v1/projects", map[string]any{"name": name, "repos": []string{name}})
		return object{"/v1/projects/" + id + "/repos/" + url.PathEscape(name), id, nil}
	},
}

// good has bodies with which an owner succeeds, for routes without path
// parameters. GET routes need none.
var good = map[string]any{
	"PATCH /v1/org":     map[string]any{"data_mode": "metadata_only"},
	"POST /v1/members":  map[string]any{"email": "new@example.com", "role": "member"},
	"POST /v1/invites":  map[string]any{"role": "member"},
	"POST /v1/tokens":   map[string]any{"name": "laptop"},
	"POST /v1/repos":    map[string]any{"full_name": "acme/good"},
	"POST /v1/projects": map[string]any{"name": "Good", "repos": []string{}},
}

func create(w *daemontest.World, o *daemontest.Org, path string, body any) string {
	var made struct{ ID string }
	w.Must(http.StatusCreated, daemontest.Request{Method: "POST", Path: path, Token: o.Owner(), Body: body}, &made)
	return made.ID
}

func project(w *daemontest.World, o *daemontest.Org) string {
	return create(w, o, "/v1/projects", map[string]any{"name": unique("project"), "repos": []string{}})
}

func repo(w *daemontest.World, o *daemontest.Org) string {
	name := unique("acme/repo")
	create(w, o, "/v1/repos", map[string]any{"full_name": name})
	return name
}

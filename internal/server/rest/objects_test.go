package rest_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store"
)

// An object is a record that a route with parameters names.
type object struct {
	path string // with the record's id in it
	id   string // what in the path stands for the record
	body any    // with which its own org's owner succeeds
}

// objects makes, for each route with path parameters, a record of an org to
// call it on. A row without one here fails TestEveryRow.
var objects = map[string]maker{
	"PATCH /v1/members/{userId}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		return object{"/v1/members/" + id, id, map[string]any{"role": "viewer"}}
	},
	"DELETE /v1/members/{userId}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		return object{"/v1/members/" + id, id, nil}
	},
	"POST /v1/members/{userId}/unbind": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error { return tx.Bind(ctx, id, "https://id.example.com "+id) })
		return object{"/v1/members/" + id + "/unbind", id, nil}
	},
	"POST /v1/members/{userId}/erase": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		return object{"/v1/members/" + id + "/erase", id, nil}
	},
	"POST /v1/members/{userId}/export": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		return object{"/v1/members/" + id + "/export", id, nil}
	},
	"DELETE /v1/auth/passkeys/{id}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		k := store.Passkey{ID: uuid.NewString(), UserID: o.Users[coord.Owner].ID, Credential: uuid.NewString(), Name: "laptop"}
		w.Write("signin", func(ctx context.Context, tx *store.Tx) error { return tx.InsertPasskey(ctx, k) })
		return object{"/v1/auth/passkeys/" + k.ID, k.ID, nil}
	},
	"GET /scim/v2/Users/{id}":     onPerson(nil),
	"PUT /scim/v2/Users/{id}":     onPerson([]byte(`{"userName": "NAME"}`)),
	"PATCH /scim/v2/Users/{id}":   onPerson([]byte(`{"Operations": [{"op": "replace", "path": "active", "value": "False"}]}`)),
	"DELETE /scim/v2/Users/{id}":  onPerson(nil),
	"GET /scim/v2/Groups/{id}":    onGroup(nil),
	"PUT /scim/v2/Groups/{id}":    onGroup([]byte(`{"displayName": "NAME"}`)),
	"PATCH /scim/v2/Groups/{id}":  onGroup([]byte(`{"Operations": [{"op": "remove", "path": "members"}]}`)),
	"DELETE /scim/v2/Groups/{id}": onGroup(nil),
	"POST /v1/invites/{id}/resend": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/invites", map[string]any{"role": "member"})
		return object{"/v1/invites/" + id + "/resend", id, nil}
	},
	"DELETE /v1/invites/{id}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/invites", map[string]any{"role": "member"})
		return object{"/v1/invites/" + id, id, nil}
	},
	"DELETE /v1/tokens/{id}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/tokens", map[string]any{"name": "laptop"})
		return object{"/v1/tokens/" + id, id, nil}
	},
	"GET /v1/projects/{id}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := project(w, o)
		return object{"/v1/projects/" + id, id, nil}
	},
	"DELETE /v1/projects/{id}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := project(w, o)
		return object{"/v1/projects/" + id, id, nil}
	},
	"POST /v1/projects/{id}/repos": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := project(w, o)
		return object{"/v1/projects/" + id + "/repos", id, map[string]any{"repos": []string{repo(w, o)}}}
	},
	"PUT /v1/projects/{id}/prefixes": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		name := repo(w, o)
		id := create(w, o, "/v1/projects", map[string]any{"name": name, "repos": []string{name}})
		return object{"/v1/projects/" + id + "/prefixes", id,
			map[string]any{"prefixes": []any{map[string]any{"repo": name, "other": name, "prefix": "/api"}}}}
	},
	"DELETE /v1/projects/{id}/repos/{repo}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		name := repo(w, o)
		id := create(w, o, "/v1/projects", map[string]any{"name": name, "repos": []string{name}})
		return object{"/v1/projects/" + id + "/repos/" + url.PathEscape(name), id, nil}
	},
	"DELETE /v1/github/app/{id}": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id, owner := uuid.NewString(), o.Users[coord.Owner].ID
		w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
			// a GitHub has each number once
			return tx.InsertGitHubApp(ctx, store.GitHubApp{ID: id, OrgID: o.ID, AppID: 1, Web: id, Flow: id, CreatedBy: owner})
		})
		return object{"/v1/github/app/" + id, id, nil}
	},
	"GET /v1/sessions/{id}":        onSession(""),
	"POST /v1/sessions/{id}/end":   onSession("/end"),
	"GET /v1/intents/{ref}":        onIntent("", nil),
	"PATCH /v1/intents/{ref}":      onIntent("", map[string]any{"title": "Another title"}),
	"POST /v1/intents/{ref}/close": onIntent("/close", map[string]any{"outcome": "merged"}),
	"POST /v1/intents/{ref}/adopt": func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		r := repo(w, o)
		n, _ := declare(w, o, coord.Owner, r)
		return object{"/v1/intents/" + coord.IntentRef(n) + "/adopt", strconv.Itoa(n), map[string]any{"session_id": sessionIn(w, o, r)}}
	},
	"POST /v1/intents/{ref}/handoff": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		return onIntent("/handoff", map[string]any{"to": o.Users[coord.Member].Email})(t, w, o)
	},
	"GET /v1/conflicts/{ref}":           onConflict("", nil),
	"POST /v1/conflicts/{ref}/actions":  onConflict("/actions", map[string]any{"action": "ack"}),
	"POST /v1/conflicts/{ref}/feedback": onConflict("/feedback", map[string]any{"verdict": "useful"}),
	"POST /v1/conflicts/{ref}/override": onConflict("/override", map[string]any{"reason": "we agreed"}),
	"POST /v1/repos/{repo}/index": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		name := repo(w, o)
		return object{"/v1/repos/" + url.PathEscape(name) + "/index", url.PathEscape(name), map[string]any{"files": []any{}, "complete": true}}
	},
	"GET /v1/repos/{repo}":         onRepo("", nil),
	"GET /v1/repos/{repo}/gaps":    onRepo("/gaps", nil),
	"GET /v1/repos/{repo}/landing": onRepo("/landing", nil),
	"PATCH /v1/repos/{repo}":       onRepo("", map[string]any{"default_branch": "trunk"}),
	"DELETE /v1/repos/{repo}":      onRepo("", nil),
	"POST /v1/repos/{repo}/merge": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		return onRepo("/merge", map[string]any{"into": repo(w, o)})(t, w, o)
	},
	"POST /v1/repos/{repo}/apart": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		a := create(w, o, "/v1/repos", map[string]any{"full_name": unique("acme/repo")})
		b := create(w, o, "/v1/repos", map[string]any{"full_name": unique("acme/repo")})
		w.Write(o.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.NoteTwins(ctx, o.ID, a, b, "roots")
			return err
		})
		return object{"/v1/repos/" + a + "/apart", a, map[string]any{"other": b}}
	},
	"POST /v1/messages/{id}/ack": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id, _ := message(w, o)
		return object{"/v1/messages/" + id + "/ack", id, nil}
	},
	"GET /v1/conversations/{id}":           inThread("", nil),
	"GET /v1/conversations/{id}/messages":  inThread("/messages", nil),
	"POST /v1/conversations/{id}/messages": inThread("/messages", map[string]any{"body": "Yes"}),
	"POST /v1/questions/{id}/answers": func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		var made struct{ ID string }
		w.Must(http.StatusCreated, daemontest.Request{Method: "POST", Path: "/v1/questions", Token: o.Tokens[coord.Member],
			Body: map[string]any{"to": "user:" + o.Users[coord.Owner].Email, "question": "Why?"}}, &made)
		return object{"/v1/questions/" + made.ID + "/answers", made.ID, map[string]any{"answer": "Because"}}
	},
}

// message sends one from a member to the owner.
func message(w *daemontest.World, o *daemontest.Org) (id, thread string) {
	var made struct {
		ID     string `json:"id"`
		Thread string `json:"conversation_id"`
	}
	w.Must(http.StatusCreated, daemontest.Request{Method: "POST", Path: "/v1/messages", Token: o.Tokens[coord.Member],
		Body: map[string]any{"to": "user:" + o.Users[coord.Owner].Email, "body": "Hello", "requires_ack": true}}, &made)
	return made.ID, made.Thread
}

// inThread calls a route on a direct thread of the owner.
func inThread(tail string, body any) maker {
	return func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		_, id := message(w, o)
		return object{"/v1/conversations/" + id + tail, id, body}
	}
}

// queries has what GET routes cannot do without, beyond what their schema says.
var queries = map[string]func(*daemontest.World, *daemontest.Org) url.Values{
	"GET /v1/contracts/lookup": func(w *daemontest.World, o *daemontest.Org) url.Values {
		return url.Values{"key": {"http:GET /users"}, "repo": {repo(w, o)}}
	},
	"GET /v1/live": func(w *daemontest.World, o *daemontest.Org) url.Values {
		return url.Values{"repo": {repo(w, o)}, "path": {"auth/login.go"}}
	},
	"GET /v1/territory": func(w *daemontest.World, o *daemontest.Org) url.Values { return url.Values{"repo": {repo(w, o)}} },
	"GET /v1/unsubscribe": func(w *daemontest.World, o *daemontest.Org) url.Values {
		token, _ := w.D.Ops.Ground.Config.Vault.Seal("unsubscribe digest", o.ID+" "+o.Users[coord.Owner].ID)
		return url.Values{"token": {token}}
	},
	"GET /v1/search": func(*daemontest.World, *daemontest.Org) url.Values { return url.Values{"q": {"tokens"}} },
}

type maker = func(testing.TB, *daemontest.World, *daemontest.Org) object

// onIntent calls a route on an intent of the org's owner.
func onIntent(tail string, body any) maker {
	return func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		n, _ := declare(w, o, coord.Owner, repo(w, o))
		return object{"/v1/intents/" + coord.IntentRef(n) + tail, strconv.Itoa(n), body}
	}
}

// onPerson calls a route of a directory on somebody.
func onPerson(body any) maker {
	return func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := w.Member(o, coord.Member).ID
		return object{"/scim/v2/Users/" + id, id, named(body)}
	}
}

// named is a body whose NAME is one that nothing else has.
func named(body any) any {
	if text, ok := body.([]byte); ok {
		return bytes.ReplaceAll(text, []byte("NAME"), []byte(unique("named")))
	}
	return body
}

// onGroup calls one on a group.
func onGroup(body any) maker {
	return func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/scim/v2/Groups", map[string]any{"displayName": unique("group"),
			"members": []any{map[string]any{"value": w.Member(o, coord.Member).ID}}})
		return object{"/scim/v2/Groups/" + id, id, named(body)}
	}
}

// onRepo calls a route on a repo.
func onRepo(tail string, body any) maker {
	return func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := create(w, o, "/v1/repos", map[string]any{"full_name": unique("acme/repo")})
		return object{"/v1/repos/" + id + tail, id, body}
	}
}

// sessionIn starts a session of an agent of the org's owner.
func sessionIn(w *daemontest.World, o *daemontest.Org, repo string) string {
	var hook struct {
		SessionID string `json:"session_id"`
	}
	w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: o.Owner(), Body: map[string]any{
		"event": "session_start", "session": map[string]any{"external_id": unique("x"), "tool": "codex"},
		"repo": map[string]any{"remote_fingerprints": []string{"github.com/" + repo}, "branch": "main"}}}, &hook)
	return hook.SessionID
}

// onSession calls a route on a session of an agent of the org's owner.
func onSession(tail string) maker {
	return func(_ testing.TB, w *daemontest.World, o *daemontest.Org) object {
		id := sessionIn(w, o, repo(w, o))
		return object{"/v1/sessions/" + id + tail, id, nil}
	}
}

// onConflict calls a route on a conflict between an owner and a member.
func onConflict(tail string, body any) maker {
	return func(t testing.TB, w *daemontest.World, o *daemontest.Org) object {
		name := repo(w, o)
		declare(w, o, coord.Owner, name)
		_, conflicts := declare(w, o, coord.Member, name)
		if len(conflicts) != 1 {
			t.Fatalf("two claims of one file made %d conflicts", len(conflicts))
		}
		return object{"/v1/conflicts/" + coord.ConflictRef(conflicts[0]) + tail, strconv.Itoa(conflicts[0]), body}
	}
}

// declare claims a file and returns the intent's number and its conflicts'.
func declare(w *daemontest.World, o *daemontest.Org, role coord.Role, repo string) (number int, conflicts []int) {
	var made struct {
		Intent    struct{ Number int }
		Conflicts []struct{ Number int }
	}
	w.Must(http.StatusCreated, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: o.Tokens[role],
		Body: map[string]any{"title": string(role), "repo": repo, "mode": "exclusive",
			"scope": map[string]any{"paths": []string{"a.go"}}}}, &made)
	for _, c := range made.Conflicts {
		conflicts = append(conflicts, c.Number)
	}
	return made.Intent.Number, conflicts
}

// good has bodies with which an owner succeeds, for routes without path
// parameters. GET routes need none.
var good = map[string]any{
	"PATCH /v1/org":                     map[string]any{"data_mode": "metadata_only"},
	"POST /v1/members":                  map[string]any{"email": "new@example.com", "role": "member"},
	"POST /scim/v2/Users":               map[string]any{"userName": "scim@example.com"},
	"POST /scim/v2/Groups":              map[string]any{"displayName": "svc-viewer"},
	"POST /v1/invites":                  map[string]any{"role": "member"},
	"POST /v1/tokens":                   map[string]any{"name": "laptop"},
	"POST /v1/repos":                    map[string]any{"full_name": "acme/good"},
	"POST /v1/projects":                 map[string]any{"name": "Good", "repos": []string{}},
	"POST /v1/attention/mute":           map[string]any{"what": "kind", "id": "invite"},
	"POST /v1/attention/dismiss":        map[string]any{"ids": []string{"message:x:y"}},
	"PUT /v1/integrations/github":       nil,
	"DELETE /v1/integrations/github":    nil,
	"PUT /v1/integrations/github/token": map[string]any{"token": nil},
	"PUT /v1/integrations/gitlab":       map[string]any{},
	"DELETE /v1/integrations/gitlab":    nil,
	"PUT /v1/integrations/gitlab/token": map[string]any{"token": nil},
	"PUT /v1/policies":                  map[string]any{"rules": map[string]any{"session_idle_minutes": 10}},
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

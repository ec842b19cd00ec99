package e2e

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// A breaking is something that one repository provides and another uses, and
// a change that breaks it.
type breaking struct {
	name          string
	provider      string // file of the providing repository
	before, after string
	user          string // file of the using repository
	uses          string
	beside        map[string]string // further files: "api/..." or "web/..."
	key           string            // what the warning names
	line          string            // where it is used
	was, is       string            // the old form, and the new one or what is said instead
}

var breaks = []breaking{
	{
		name: "a route is renamed", provider: "src/server.js", user: "src/client.ts",
		before: "const app = require('express')();\napp.get('/users/:id', (req, res) => {\n  res.json({ id: req.params.id, name: 'x' });\n});\n",
		after:  "const app = require('express')();\napp.get('/people/:id', (req, res) => {\n  res.json({ id: req.params.id });\n});\n",
		uses:   "export async function loadUser(id: string) {\n  const r = await fetch(`/users/${id}`);\n  return r.json();\n}\n",
		key:    "http:GET /users/{}", line: "line 2", was: "was `GET /users/{} {id, name string}`", is: "http:GET /people/{} stands in its place",
	},
	{
		name: "a reply loses a field", provider: "src/server.js", user: "src/client.ts",
		before: "const app = require('express')();\napp.get('/users/:id', (req, res) => {\n  res.json({ id: req.params.id, name: 'x' });\n});\n",
		after:  "const app = require('express')();\napp.get('/users/:id', (req, res) => {\n  res.json({ id: req.params.id });\n});\n",
		uses:   "export async function loadUser(id: string) {\n  const r = await fetch(`/users/${id}`);\n  return r.json();\n}\n",
		key:    "http:GET /users/{}", line: "line 2", was: "was `GET /users/{} {id, name string}`", is: "is now `GET /users/{} {id}`",
	},
	{
		name: "a column is dropped", provider: "migrations/001_users.sql", user: "app/report.py",
		before: "CREATE TABLE users (\n  id BIGINT PRIMARY KEY,\n  email TEXT NOT NULL,\n  nickname TEXT\n);\n",
		after:  "CREATE TABLE users (\n  id BIGINT PRIMARY KEY,\n  email TEXT NOT NULL\n);\n",
		uses:   "def report(db):\n    return db.execute(\"SELECT nickname FROM users\").fetchall()\n",
		key:    "db:public.users", line: "line 2", was: "nickname", is: "is now `public.users {email",
	},
	{
		name: "a column is dropped by a migration", provider: "migrations/002_drop.sql", user: "app/report.py",
		before: "-- nothing yet\n",
		after:  "ALTER TABLE users DROP COLUMN nickname;\n",
		uses:   "def report(db):\n    db.execute(\"SELECT id FROM users\")\n    return db.execute(\"SELECT nickname FROM users\").fetchall()\n",
		key:    "db:public.users", line: "line 3", was: "changed `db:public.users`", is: "drops nickname",
	},
	{
		name: "an environment variable is no longer defined", provider: ".env.example", user: "src/config.ts",
		before: "API_URL=https://example.com\nAPI_KEY=secret\n",
		after:  "API_URL=https://example.com\n",
		uses:   "export const key = process.env.API_KEY;\n",
		key:    "config:API_KEY", line: "line 1", was: "was `API_KEY`", is: "removed `config:API_KEY`",
	},
	{
		name: "a protobuf field gets another number", provider: "proto/acme/v1/user.proto", user: "src/profile.ts",
		before: protoText("string full_name = 2;\n  repeated string tags = 3;"),
		after:  protoText("string full_name = 4;\n  repeated string tags = 3;"),
		uses:   "import { type User } from './gen/acme/v1/user_pb';\n\nexport const title = (u: User) => u.fullName;\n",
		key:    "proto:acme.v1.User", line: "line 3", was: "2:full_name? string", is: "4:full_name? string",
	},
	{
		name: "a protobuf field is dropped", provider: "proto/acme/v1/user.proto", user: "client/main.go",
		before: protoText("string full_name = 2;\n  repeated string tags = 3;"),
		after:  protoText("string full_name = 2;"),
		uses: "package main\n\nimport userv1 \"github.com/acme/protos/gen/go/acme/v1\"\n\nfunc tags(u *userv1.User) []string { " +
			"return u.GetTags() }\n",
		key: "proto:acme.v1.User", line: "line 5", was: "3:tags? repeated string", is: "is now `acme.v1.User {1:id? int64, 2:full_name? string}`",
	},
	{
		name:     "a method of a protobuf service is removed",
		provider: "proto/acme/v1/user.proto",
		user:     "app/client.py",
		before:   protoText("") + "service Users {\n  rpc Get(User) returns (User);\n  rpc Drop(User) returns (User);\n}\n",
		after:    protoText("") + "service Users {\n  rpc Get(User) returns (User);\n}\n",
		uses:     "from acme.v1 import user_pb2_grpc\n\nstub = user_pb2_grpc.UsersStub(channel)\nstub.Drop(user)\n",
		key:      "proto:acme.v1.Users/Drop",
		line:     "line 4",
		was:      "was `acme.v1.Users/Drop (request User) {response User}`",
		is:       "removed `proto:acme.v1.Users/Drop`",
	},
	{
		name:     "an exported function of a package is removed",
		provider: "src/token.ts",
		user:     "src/login.ts",
		before:   "export function parseToken(text: string): string {\n  return text.trim();\n}\n",
		after:    "export function readToken(text: string): string {\n  return text.trim();\n}\n",
		uses:     "import { parseToken } from '@acme/api';\n\nexport const login = (t: string) => parseToken(t);\n",
		beside:   map[string]string{"api/package.json": `{"name": "@acme/api"}`, "web/package.json": `{"name": "@acme/web"}`},
		key:      "pkg:npm:@acme/api#parseToken",
		line:     "line 3",
		was:      "was `function parseToken(text: string): string`",
		is:       "readToken looks like its new name",
	},
	{
		name: "an exported function of a Go module is removed", provider: "token/token.go", user: "main.go",
		before: "package token\n\nfunc Parse(text string) {}\n",
		after:  "package token\n",
		uses:   "package main\n\nimport \"github.com/acme/api/token\"\n\nfunc main() { token.Parse(\"x\") }\n",
		beside: map[string]string{"api/go.mod": "module github.com/acme/api\n", "web/go.mod": "module github.com/acme/web\n"},
		key:    "pkg:go:github.com/acme/api/token#Parse", line: "line 5", was: "was `func Parse(text string)`", is: "removed `pkg:go:",
	},
}

// A field that goes is told where a type says that it is used, and to nobody
// else: the mapper stands in another file than the route.
func TestAFieldBreaksThoseWhoUseIt(t *testing.T) {
	svc := program(t, "svc")
	const mapper = "src/mapper.js"
	const before = "exports.toView = (o) => ({ id: o.id, total: o.total, note: o.note });\n"
	routes := "const express = require('express');\nconst { toView } = require('./mapper');\nconst router = express.Router();\n" +
		"router.get('/orders/:id', (req, res) => {\n  res.json({ order: toView(load(req.params.id)) });\n});\n"
	uses := "import axios from 'axios';\n\ninterface Order { id: string; total: number }\n\n" +
		"export const load = (id: string) => axios.get<{ order: Order }>(`/orders/${id}`);\n"
	s := newServer(t, t.TempDir())
	api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), map[string]string{mapper: before, "src/routes.js": routes})
	web := newCheckout(t, s, svc, "web", s.token("bob@example.com"), map[string]string{"src/api.ts": uses})
	s.post("/v1/members", `{"email":"eve@example.com","name":"Eve Elm"}`, nil)
	web.write("src/api.ts", strings.ReplaceAll(uses, "load", "fetchOrder"))
	web.run("git", "commit", "-q", "-am", "name it better", "--author", "Eve <Eve@Example.com>")
	api.hook("SessionStart", "")
	web.hook("SessionStart", "")
	s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil)
	web.svc("index")

	api.write(mapper, "exports.toView = (o) => ({ id: o.id, total: o.total });\n") // nobody uses the note
	if told := api.hook("PostToolUse", mapper); strings.Contains(told, "contract_break") {
		t.Errorf("a field that nobody uses breaks: %s", told)
	}
	api.write(mapper, "exports.toView = (o) => ({ id: o.id, sum: o.total, note: o.note });\n")
	told := api.hook("PostToolUse", mapper)
	for _, want := range []string{"contract_break", "http:GET /orders/{}", "order.total", "src/api.ts", "which Eve Elm changed last",
		"message Eve Elm"} {
		if !strings.Contains(told, want) {
			t.Errorf("who renamed a field was not told of %q: %s", want, told)
		}
	}
}

// Routes that differ by a prefix are probably one; once an admin has said so by
// the command, they are, and it is remembered for the two repositories.
func TestAPrefixThatAnAdminConfirms(t *testing.T) {
	svc := program(t, "svc")
	const server = "src/server.js"
	route := func(at string) string {
		return "const app = require('express')();\napp.get('" + at + "', (req, res) => {\n  res.json({ id: 1 });\n});\n"
	}
	s := newServer(t, t.TempDir())
	api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), map[string]string{server: route("/api/v1/orders/:id")})
	web := newCheckout(t, s, svc, "web", s.token("bob@example.com"),
		map[string]string{"src/c.ts": "export const load = (id: string) => fetch(`/orders/${id}`);\n"})
	api.hook("SessionStart", "")
	web.hook("SessionStart", "")
	s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil)
	web.svc("index")
	api.write(server, route("/api/v1/bills/:id"))
	if told := api.hook("PostToolUse", server); !strings.Contains(told, "probably") {
		t.Errorf("a route that differs by its prefix is not told as probable: %s", told)
	}
	said := func() string { return s.conflicts(t)[0].Explanation }
	if out, err := api.try(api.bin, "repos", "prefix", "acme/api", "acme/web", "api/v1/"); err == nil ||
		!strings.Contains(out, s.URL+"/projects/") || !strings.Contains(said(), "probably") {
		t.Errorf("svc repos prefix with a token that agents can use says %s, and then %s", out, said())
	}
	api.env = append(api.env, "SVC_TOKEN="+s.own("olga@example.com"))
	if out := api.svc("repos", "prefix", "acme/api", "acme/web", "api/v1/"); !strings.Contains(out, "are the same") {
		t.Errorf("svc repos prefix says %s", out)
	}
	if strings.Contains(said(), "probably") {
		t.Errorf("although an admin confirmed the prefix: %s", said())
	}
	api.svc("repos", "prefix", "acme/web", "acme/api", "/api/v1", "--remove")
	if !strings.Contains(said(), "probably") {
		t.Errorf("the admin's word was taken back: %s", said())
	}
}

// Many services have users and a login: a route of the same name does not make
// one call the other. That is only probable until something else ties the two.
func TestStrangersWithRoutesThatAllHave(t *testing.T) {
	svc := program(t, "svc")
	const server = "src/server.js"
	routes := func(all ...string) string {
		text := "const app = require('express')();\n"
		for _, r := range all {
			text += "app.post('" + r + "', (req, res) => {\n  res.json({ id: 1 });\n});\n"
		}
		return text
	}
	for name, c := range map[string]struct {
		other string
		sure  bool
	}{"stranger": {"/telescopes/:id", false}, "backend": {"/orders/:id", true}} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, t.TempDir())
			api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), map[string]string{server: routes("/users/login", c.other)})
			web := newCheckout(t, s, svc, "web", s.token("bob@example.com"), map[string]string{"src/c.ts": "import axios from 'axios';\n" +
				"export const enter = (b: object) => axios.post('/users/login', b);\n" +
				"export const order = (id: string) => axios.post(`/orders/${id}`);\n"})
			mail := newCheckout(t, s, svc, "mail", s.token("bob@example.com"), map[string]string{server: routes("/users/login")})
			for _, at := range []*checkout{api, web, mail} {
				at.hook("SessionStart", "")
			}
			s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web","acme/mail"]}`, nil)
			web.svc("index")
			api.write(server, routes("/sessions/begin", c.other))
			told := api.hook("PostToolUse", server)
			if !strings.Contains(told, "/users/login") || strings.Contains(told, "probably") == c.sure {
				t.Errorf("sure should be %v: %s", c.sure, told)
			}
		})
	}
}

// A change is made in several files, one after the other. What was told between
// two of them is over when the last one makes it whole.
func TestAChangeThroughSeveralFilesIsJudgedAsAWhole(t *testing.T) {
	svc := program(t, "svc")
	const mapper, more = "src/mapper.js", "src/more.js"
	files := map[string]string{
		mapper: "const { more } = require('./more');\n\nexports.toView = (o) => ({ id: o.id, total: o.total, ...more(o) });\n",
		more:   "exports.more = (o) => ({ note: o.note });\n",
		"src/routes.js": "const express = require('express');\nconst { toView } = require('./mapper');\nconst router = express.Router();\n" +
			"router.get('/orders/:id', (req, res) => {\n  res.json({ order: toView(load(req.params.id)) });\n});\n",
	}
	uses := "import axios from 'axios';\n\ninterface Order { id: string; total: number }\n\n" +
		"export const load = (id: string) => axios.get<{ order: Order }>(`/orders/${id}`);\n"
	s := newServer(t, t.TempDir())
	api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), files)
	web := newCheckout(t, s, svc, "web", s.token("bob@example.com"), map[string]string{"src/api.ts": uses})
	api.hook("SessionStart", "")
	web.hook("SessionStart", "")
	s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil)
	web.svc("index")

	api.write(mapper, "const { more } = require('./more');\n\nexports.toView = (o) => ({ id: o.id, ...more(o) });\n")
	if told := api.hook("PostToolUse", mapper); !strings.Contains(told, "order.total") {
		t.Errorf("a field that is gone is not told: %s", told)
	}
	api.write(more, "exports.more = (o) => ({ note: o.note, total: o.total });\n")
	api.hook("PostToolUse", more)
	for _, c := range s.conflicts(t) {
		if c.Kind == coord.ContractBreak && c.Status != coord.ConflictResolved {
			t.Errorf("although the field came back in another file, %s is %s", c.Ref, c.Status)
		}
	}
}

func protoText(fields string) string {
	return "syntax = \"proto3\";\npackage acme.v1;\n\nmessage User {\n  int64 id = 1;\n  " + fields + "\n}\n"
}

// An agent in one repository breaks what another repository uses: both are
// told, with the place, and when the change is undone the conflict is over.
func TestBreaksAcrossRepositories(t *testing.T) {
	svc := program(t, "svc")
	for _, b := range breaks {
		t.Run(b.name, func(t *testing.T) { playBreak(t, svc, b) })
	}
}

func playBreak(t *testing.T, svc string, b breaking) {
	s := newServer(t, t.TempDir())
	files := map[string]map[string]string{"api": {b.provider: b.before}, "web": {b.user: b.uses}}
	for name, text := range b.beside {
		repo, file, _ := strings.Cut(name, "/")
		files[repo][file] = text
	}
	api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), files["api"])
	web := newCheckout(t, s, svc, "web", s.token("bob@example.com"), files["web"])
	api.hook("SessionStart", "")
	web.hook("SessionStart", "")
	s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil)
	web.svc("index")

	// The one who breaks it is told of live code that uses it, and where.
	api.write(b.provider, b.after)
	told := api.hook("PostToolUse", b.provider)
	for _, want := range []string{b.key, "acme/web", b.user, b.line, b.was, b.is} {
		if !strings.Contains(told, want) {
			t.Errorf("the agent that broke %s was not told of %q: %s", b.key, want, told)
		}
	}
	// The one who uses it is told at its next edit, with file, line, old and new.
	web.write(b.user, b.uses+"\n")
	told = web.hook("PostToolUse", b.user)
	for _, want := range []string{b.key, b.user, b.line, "acme/api", b.was, b.is} {
		if !strings.Contains(told, want) {
			t.Errorf("the agent that uses %s was not told of %q: %s", b.key, want, told)
		}
	}
	// Undone, it is over.
	api.write(b.provider, b.before)
	api.hook("PostToolUse", b.provider)
	found := 0
	for _, c := range s.conflicts(t) {
		if c.Kind != coord.ContractBreak {
			continue
		}
		found++
		if c.Status != coord.ConflictResolved || c.Resolution == nil || *c.Resolution != coord.ResolvedCleared {
			t.Errorf("after the change was undone %s is %s", c.Ref, c.Status)
		}
	}
	if found == 0 {
		t.Error("no break is on record")
	}
}

// In one repository, a definition that one agent removes while another begins
// to use it merges cleanly and fails afterwards.
func TestARemovedDefinitionThatAnotherBeginsToUse(t *testing.T) {
	svc := program(t, "svc")
	const lib, user = "lib/token.ts", "src/login.ts"
	const before = "export function parseToken(text: string): string {\n  return text.trim();\n}\n\nexport function other(): number " +
		"{\n  return 1;\n}\n"
	s := newServer(t, t.TempDir())
	olga := newCheckout(t, s, svc, "api", s.token("olga@example.com"), map[string]string{lib: before})
	bob := newCheckout(t, s, svc, "api", s.token("bob@example.com"), map[string]string{lib: before})
	olga.hook("SessionStart", "")
	bob.hook("SessionStart", "")
	olga.write(lib, "export function other(): number {\n  return 1;\n}\n")
	olga.hook("PostToolUse", lib)
	bob.write(user, "import { parseToken } from '../lib/token';\n\nexport const login = (t: string) => parseToken(t);\n")
	told := bob.hook("PostToolUse", user)
	for _, want := range []string{"contract_break", "parseToken", user} {
		if !strings.Contains(told, want) {
			t.Errorf("who begins to use a removed definition is not told of %q: %s", want, told)
		}
	}
	olga.write(lib, before)
	olga.hook("PostToolUse", lib)
	for _, c := range s.conflicts(t) {
		if c.Kind == coord.ContractBreak && c.Status != coord.ConflictResolved {
			t.Errorf("after the definition came back %s is %s", c.Ref, c.Status)
		}
	}
}

func (s *server) conflicts(t *testing.T) []coord.Conflict {
	res, err := s.web.Get(s.URL + "/v1/conflicts")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var page wire.Page[coord.Conflict]
	if err := json.NewDecoder(res.Body).Decode(&page); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("conflicts: %s, %v", res.Status, err)
	}
	return page.Items
}

// A checkout is a repository with an agent at work in it.
type checkout struct {
	t    *testing.T
	dir  string
	bin  string
	env  []string
	name string
}

func newCheckout(t *testing.T, s *server, svc, name, token string, files map[string]string) *checkout {
	c := &checkout{t: t, dir: filepath.Join(t.TempDir(), name), bin: svc, name: name}
	c.env = append(os.Environ(), "SVC_SERVER="+s.URL, "SVC_TOKEN="+token, "SVC_CONFIG_DIR="+filepath.Join(t.TempDir(), "config"),
		"SVC_NO_UPDATE_CHECK=1", "SVC_NO_BROWSER=1", patient,
		"GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@example.com", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@example.com",
		"GIT_CONFIG_GLOBAL=/dev/null")
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	c.run("git", "init", "-q", "-b", "main")
	c.run("git", "remote", "add", "origin", "git@github.com:acme/"+name+".git")
	for file, text := range files {
		c.write(file, text)
	}
	c.run("git", "add", "-A")
	c.run("git", "commit", "-q", "-m", "start")
	return c
}

func (c *checkout) write(file, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c *checkout) run(name string, args ...string) string {
	c.t.Helper()
	out, err := c.try(name, args...)
	if err != nil {
		c.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return out
}

// try is run for a command that may fail.
func (c *checkout) try(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (c *checkout) svc(args ...string) string { return c.run(c.bin, args...) }

// hook sends one of Claude Code's events and returns what the agent is told.
// A hook that failed open says nothing, so the log must be empty.
func (c *checkout) hook(event, file string) string {
	c.t.Helper()
	payload := map[string]any{
		"session_id":      "s-" + c.name,
		"transcript_path": "/tmp/none",
		"cwd":             c.dir,
		"hook_event_name": event,
		"source":          "startup",
	}
	if file != "" {
		payload["tool_name"] = "Edit"
		payload["tool_input"] = map[string]any{"file_path": filepath.Join(c.dir, file), "old_string": "a", "new_string": "b"}
		payload["tool_response"] = map[string]any{"filePath": filepath.Join(c.dir, file)}
	}
	text, err := json.Marshal(payload)
	if err != nil {
		c.t.Fatal(err)
	}
	cmd := exec.Command(c.bin, "hook", "--tool", "claude_code", "--event", event)
	cmd.Dir, cmd.Env, cmd.Stdin = c.dir, c.env, strings.NewReader(string(text))
	out, err := cmd.Output()
	if err != nil {
		c.t.Fatalf("hook %s: %v", event, err)
	}
	if failed := c.failedOpen(); failed != "" {
		c.t.Fatalf("hook %s fails open: %s", event, failed)
	}
	return peerMarks.ReplaceAllString(string(out), "`")
}

// peerMarks wrap what others chose, where it is more than a plain name.
var peerMarks = regexp.MustCompile(`⟦peer:[^⟧]*⟧ | ⟦/peer:[^⟧]*⟧`)

// failedOpen returns and forgets what the hook's log says.
func (c *checkout) failedOpen() string {
	for _, kv := range c.env {
		if dir, ok := strings.CutPrefix(kv, "SVC_CONFIG_DIR="); ok {
			path := filepath.Join(dir, "hook.log")
			text, err := os.ReadFile(path)
			if err == nil {
				os.Remove(path)
				return string(text)
			}
		}
	}
	return ""
}

// A client that no rule knows: its requests go through functions of its own, in
// a language of its own. The routes of the provider find them.
func TestAProviderFindsItsUsersByTheirTexts(t *testing.T) {
	svc := program(t, "svc")
	const server = "src/server.js"
	routes := func(parcels string) string {
		return "const app = require('express')();\n" +
			"app.get('/api/v1/orders/:id/" + parcels + "', (req, res) => {\n  res.json({ id: 1 });\n});\n" +
			"app.post('/api/v1/orders/:id/" + parcels + "', (req, res) => {\n  res.json({ id: 1 });\n});\n" +
			"app.get('/api/v1/depots/:id/shelves', (req, res) => {\n  res.json({ id: 1 });\n});\n" +
			"app.get('/api/v1/carriers', (req, res) => {\n  res.json({ id: 1 });\n});\n" +
			"app.get('/api/v1/tariffs/:id', (req, res) => {\n  res.json({ id: 1 });\n});\n" +
			"app.get('/api/v1/users', (req, res) => {\n  res.json({ id: 1 });\n});\n"
	}
	s := newServer(t, t.TempDir())
	api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), map[string]string{server: routes("parcels")})
	tool := newCheckout(t, s, svc, "tool", s.token("bob@example.com"), map[string]string{"parcels.py": "class Client:\n" +
		"    async def parcels(self, order):\n        return await self._talk('GET', f'orders/{order}/parcels')\n\n" +
		"    async def send(self, order):\n        return await self._talk('POST', f'orders/{order}/parcels')\n\n" +
		"    async def shelves(self, depot):\n        return await self._talk('GET', 'depots/' + depot + '/shelves')\n\n" +
		"    async def carriers(self):\n        return await self._talk('GET', 'carriers')\n\n" +
		"    async def tariff(self, t):\n        return await self._talk('GET', 'tariffs/%s' % t)\n"})
	other := newCheckout(t, s, svc, "other", s.token("bob@example.com"), map[string]string{"main.go": "package main\n\n" +
		"func users() { call(\"GET\", \"/users\") }\n"})
	for _, at := range []*checkout{api, tool, other} {
		at.hook("SessionStart", "")
	}
	s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/tool","acme/other"]}`, nil)
	for _, at := range []*checkout{api, tool, other} {
		at.svc("index")
	}
	api.write(server, strings.Replace(routes("parcels"), "app.get('/api/v1/orders/:id/parcels'", "app.get('/api/v1/orders/:id/boxes'", 1))
	told := api.hook("PostToolUse", server)
	const want = " probably uses it at parcels.py line 3 (a path of its shape is put together there)"
	if !strings.Contains(told, want) || strings.Contains(told, "line 6") {
		t.Errorf("the one who changed a route was told: %s", told)
	}
	api.write(server, strings.Replace(routes("parcels"), "/api/v1/users", "/api/v1/people", 1))
	if told := api.hook("PostToolUse", server); strings.Contains(told, "main.go") {
		t.Errorf("a route that all services have ties nobody: %s", told)
	}
}

package e2e

import (
	"strings"
	"testing"
)

// lostFields are fields that one program gives and another has a name for, in
// programs of which svc reads little more than that. What is between the signs
// goes.
var lostFields = []struct{ name, provider, before, user, uses, at string }{
	{"Kotlin data class", "app/routes.py", "import lib\n\ndef view(u):\n    return {\"home\": u.home«, \"display_name\": u.name»}\n",
		"src/User.kt", "@Serializable\ndata class User(\n    val home: String,\n    @SerialName(\"display_name\") val shown: String,\n)\n",
		"line 4"},
	{"Swift Codable", "internal/model/user.go",
		"package model\n\ntype User struct {\n\tHome string `json:\"home\"`\n«\tDisplayName string `json:\"display_name\"`\n»}\n",
		"App/User.swift", "struct User: Codable {\n    let home: String\n    let displayName: String?\n}\n", "line 3"},
	{"Go struct", "app/serializers/user_serializer.rb",
		"class UserSerializer < ActiveModel::Serializer\n  attributes :home«, :display_name»\nend\n",
		"client/user.go", "package client\n\ntype User struct {\n\tDisplayName string `json:\"display_name\"`\n}\n", "line 4"},
	{"zod object", "src/main/java/UserDto.java", "public class UserDto {\n    private String home;\n«    private String displayName;\n»}\n",
		"src/user.ts", "import { z } from 'zod'\n\nexport const User = z.object({ home: z.string(), displayName: z.string() })\n", "line 3"},
	{"Rails serialiser", "src/views.js", "exports.view = (u) => ({ home: u.home«, displayName: u.name» });\n",
		"app/models/remote_user.rb", "class RemoteUser\n  def initialize(h)\n    @shown = h['displayName']\n  end\nend\n", "line 3"},
	{"TypeScript interface", "src/User.cs",
		"public class User {\n    public string Home { get; set; }\n«    public string DisplayName { get; set; }\n»}\n",
		"src/api.ts", "export interface User {\n  home: string;\n  displayName?: string;\n}\n", "line 3"},
	{"Python dataclass", "src/User.php", "<?php\nreturn [\n  'home' => $u->home,\n«  'display_name' => $u->name,\n»];\n",
		"app/user.py", "from dataclasses import dataclass\n\n@dataclass\nclass User:\n    home: str\n    display_name: str\n", "line 6"},
	{"Python dict", "src/user.rs", "pub struct User {\n    pub home: String,\n«    pub display_name: String,\n»}\n",
		"app/show.py", "def show(user):\n    return user[\"display_name\"]\n", "line 2"},
	{"a value", "src/state.ts", "export type State = 'draft'« | 'in_review'» | 'done';\n",
		"src/State.kt", "enum class State {\n    DRAFT,\n    IN_REVIEW,\n    DONE\n}\n", "line 3"},
	{"a name that many have, in a type of that name", "src/user.ts", "export interface UserDto {\n  home: string;\n«  nickname: string;\n»}\n",
		"src/User.kt", "data class User(\n    val home: String,\n    val nickname: String,\n)\n", "line 3"},
	{"another kind of value", "src/user.ts", "export interface User {\n  home: string;\n  age_group: «number»string;\n}\n",
		"src/User.kt", "data class User(\n    val home: String,\n    val ageGroup: Int,\n)\n", "line 3"},
}

// Whoever takes a field away hears who has its name in the repositories that are
// linked, in whatever language and spelling; who is at work there hears it, too;
// and when it comes back it is over.
func TestFieldsByName(t *testing.T) {
	svc := program(t, "svc")
	for _, c := range lostFields {
		t.Run(c.name, func(t *testing.T) {
			head, rest, _ := strings.Cut(c.before, "«")
			gone, tail, ok := strings.Cut(rest, "»")
			if !ok {
				t.Fatal("nothing goes")
			}
			before := head + gone + tail
			if strings.HasPrefix(tail, "string") { // of two types one stays
				before = head + gone + tail[len("string"):]
			}
			after := head + tail
			s := newServer(t, t.TempDir())
			api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), map[string]string{c.provider: before})
			web := newCheckout(t, s, svc, "web", s.token("bob@example.com"), map[string]string{c.user: c.uses})
			api.hook("SessionStart", "")
			web.hook("SessionStart", "")
			s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil)
			web.svc("index")

			api.write(c.provider, after)
			told := api.hook("PostToolUse", c.provider)
			for _, want := range []string{"contract_break", c.provider, "acme/web", c.user, c.at, "probably"} {
				if !strings.Contains(told, want) {
					t.Errorf("who took it away was not told of %q: %s", want, told)
				}
			}
			web.write(c.user, c.uses+"\n")
			told = web.hook("PostToolUse", c.user)
			for _, want := range []string{c.provider, "acme/api", c.user, c.at, "probably"} {
				if !strings.Contains(told, want) {
					t.Errorf("who has it was not told of %q: %s", want, told)
				}
			}
			api.write(c.provider, before)
			api.hook("PostToolUse", c.provider)
			for _, x := range s.conflicts(t) {
				if x.Severity == "block" || x.Status != "resolved" {
					t.Errorf("it came back, and %s is %s, %s", x.Ref, x.Status, x.Severity)
				}
			}
		})
	}
}

// harmless are edits of a program that leave what others may know of it as it
// is, or change what nobody else has.
var harmless = []struct{ name, file, before, after string }{
	{"a field more", "src/user.ts", "export interface User {\n  displayName: string;\n}\n",
		"export interface User {\n  displayName: string;\n  shoeSize: number;\n}\n"},
	{"another order", "src/order.ts", "export interface Order {\n  orderTotal: number;\n  orderNote: string;\n}\n",
		"export interface Order {\n  orderNote: string;\n  orderTotal: number;\n}\n"},
	{"a remark", "src/remark.ts", "// orderTotal: in cents\nexport interface Remark {\n  text: string;\n}\n",
		"export interface Remark {\n  text: string;\n}\n"},
	{"a local variable", "src/local.js", "module.exports = (u) => {\n  const displayName = u.n;\n  return displayName;\n};\n",
		"module.exports = (u) => {\n  const shown = u.n;\n  return shown;\n};\n"},
	{"a parameter", "src/Param.kt", "fun show(displayName: String) = println(displayName)\n", "fun show(shown: String) = println(shown)\n"},
	{"a function", "app/f.py", "def display_name(u):\n    return u\n", "def shown_name(u):\n    return u\n"},
	{"the name of a type", "m/m.go", "package m\n\ntype Account struct {\n\tDisplayName string `json:\"display_name\"`\n}\n",
		"package m\n\ntype Person struct {\n\tDisplayName string `json:\"display_name\"`\n}\n"},
	{"the name of a field that goes by a tag", "m/tag.go", "package m\n\ntype T struct {\n\tOrderTotal int `json:\"order_total\"`\n}\n",
		"package m\n\ntype T struct {\n\tSum int `json:\"order_total\"`\n}\n"},
	{"a field that nobody has", "src/nobody.ts", "export interface N {\n  warehouseSlot: string;\n  id: string;\n}\n",
		"export interface N {\n  id: string;\n}\n"},
	{"a name that all have", "src/all.ts", "export interface Shelf {\n  title: string;\n  id: string;\n}\n",
		"export interface Shelf {\n  id: string;\n}\n"},
	{"a name that many have, in another type", "src/many.ts", "export interface Shelf {\n  nickname: string;\n  id: string;\n}\n",
		"export interface Shelf {\n  id: string;\n}\n"},
	{"a test", "src/user.test.ts", "const u = { displayName: 'x', orderTotal: 1 };\n", "const u = {};\n"},
	{"a value's own type", "src/opt.ts", "export interface O {\n  orderTotal: number;\n}\n",
		"export interface O {\n  orderTotal?: number;\n}\n"},
	{"a log message", "app/log.py", "def f(u):\n    log.info(\"display_name\", u)\n", "def f(u):\n    log.info(\"shown\", u)\n"},
}

// What changes nothing for others is told nobody, whatever names they have.
func TestHarmlessChangesOfNames(t *testing.T) {
	svc := program(t, "svc")
	s := newServer(t, t.TempDir())
	files := map[string]string{}
	for _, c := range harmless {
		files[c.file] = c.before
	}
	api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), files)
	web := newCheckout(t, s, svc, "web", s.token("bob@example.com"), map[string]string{
		"src/User.kt": "data class User(val displayName: String, val nickname: String, val title: String, val orderTotal: Int)\n",
		"src/show.ts": "export const show = (u: any) => u.displayName + u.orderTotal + u.orderNote + u.nickname + u.title;\n"})
	api.hook("SessionStart", "")
	web.hook("SessionStart", "")
	s.post("/v1/projects", `{"name":"shop","repos":["acme/api","acme/web"]}`, nil)
	web.svc("index")
	for _, c := range harmless {
		api.write(c.file, c.after)
		if told := api.hook("PostToolUse", c.file); strings.Contains(told, "contract_break") {
			t.Errorf("%s is told as a break: %s", c.name, told)
		}
		api.write(c.file, c.before)
		api.hook("PostToolUse", c.file)
	}
	// The control: what all have is told where a type of that name has it.
	api.write("src/user.ts", "export interface User {\n  id: string;\n}\n")
	if told := api.hook("PostToolUse", "src/user.ts"); !strings.Contains(told, "contract_break") {
		t.Errorf("the control is not told: %s", told)
	}
}

// Who takes a field away hears of three places and how many there are, and that
// a client which a tool wrote is to be made again. What is told in between two
// files of one change is over when the second has it.
func TestWhoHasAField(t *testing.T) {
	svc := program(t, "svc")
	const user, more = "src/user.ts", "src/base.ts"
	before := "export interface User {\n  home: string;\n  displayName: string;\n}\n"
	after := "export interface User {\n  home: string;\n  fullName: string;\n}\n"
	s := newServer(t, t.TempDir())
	api := newCheckout(t, s, svc, "api", s.token("olga@example.com"), map[string]string{user: before,
		more: "export interface Base {\n}\n",
		"src/server.js": "const app = require('express')();\n" +
			"app.get('/telescopes/:id/eyepieces', (req, res) => {\n  res.json(find(req));\n});\n"})
	web := newCheckout(t, s, svc, "web", s.token("bob@example.com"), map[string]string{
		"a/one.ts":   "export const one = (u: any) => u.displayName;\n",
		"b/two.ts":   "export const two = (u: any) => u.displayName;\n",
		"c/three.ts": "export const three = (u: any) => u.displayName;\n",
		"d/four.ts":  "export const four = (u: any) => u.displayName;\n",
		"e/load.ts":  "export const load = (id: string) => fetch(`/telescopes/${id}/eyepieces`);\n",
	})
	ios := newCheckout(t, s, svc, "ios", s.token("bob@example.com"), map[string]string{
		"Api/User.swift": "// User.swift\n// Auto-generated by the tool for clients\n\nstruct User: Codable {\n    let displayName: String\n}\n",
		"Api/Load.swift": "func load(id: String) {\n    get(path: \"/telescopes/\\(id)/eyepieces\")\n}\n",
	})
	mail := newCheckout(t, s, svc, "mail", s.token("bob@example.com"), map[string]string{ // which has nothing to do with it
		"src/mail.ts": "export const mail = (u: any) => u.displayName;\n"})
	for _, at := range []*checkout{api, web, ios, mail} {
		at.hook("SessionStart", "")
	}
	s.post("/v1/projects", `{"name":"sky","repos":["acme/api","acme/web","acme/ios","acme/mail"]}`, nil)
	for _, at := range []*checkout{api, web, ios, mail} {
		at.svc("index")
	}
	api.write(user, after)
	told := api.hook("PostToolUse", user)
	if strings.Contains(told, "acme/mail") {
		t.Errorf("who shares nothing but the name is told of: %s", told)
	}
	for _, want := range []string{"a/one.ts line 1, b/two.ts line 1, c/three.ts line 1 and one more place", "acme/web", "acme/ios",
		"Api/User.swift line 5 (generated: regenerate it)", "`displayName`", "fullName stands in its place"} {
		if !strings.Contains(told, want) {
			t.Errorf("who took it away is not told of %q: %s", want, told)
		}
	}
	api.write(more, "export interface Base {\n  displayName: string;\n}\n")
	api.hook("PostToolUse", more)
	for _, x := range s.conflicts(t) {
		if x.Status != "resolved" {
			t.Errorf("it only moved, and %s is %s", x.Ref, x.Status)
		}
	}
}

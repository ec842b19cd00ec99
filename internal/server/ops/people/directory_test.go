package people_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A directory is what an identity provider sends.
type directory struct {
	*testing.T
	w     *daemontest.World
	o     *daemontest.Org
	token string
}

func newDirectory(t *testing.T, dsn string) *directory {
	w := daemontest.Start(t, dsn)
	o := w.Org("Acme")
	var made wire.CreatedToken
	w.Must(201, request{Method: "POST", Path: "/v1/tokens", Token: o.Owner(), Body: wire.CreateToken{Name: "directory",
		Kind: coord.ServiceToken, Scopes: []coord.Scope{coord.ScopeSCIM}}}, &made)
	return &directory{t, w, o, made.Plaintext}
}

// sends sends a request as identity providers do, and reads the answer into to.
func (d *directory) sends(status int, method, path, body string, to any) string {
	d.Helper()
	r := request{Method: method, Path: "/scim/v2" + path, Token: d.token,
		Header: map[string]string{"Content-Type": "application/scim+json; charset=utf-8"}}
	if body != "" {
		r.Body = []byte(body)
	}
	res := d.w.Do(r)
	if res.Status != status {
		d.Fatalf("%s %s = %d, want %d\n%s\n%s", method, path, res.Status, status, body, res.Body)
	}
	if status != 204 && res.Header.Get("Content-Type") != "application/scim+json" {
		d.Errorf("%s %s is %s", method, path, res.Header.Get("Content-Type"))
	}
	if status >= 400 {
		var e wire.SCIMError
		res.JSON(d, &e)
		if e.Status != fmt.Sprint(status) || e.Detail == "" || len(e.Schemas) != 1 || e.Schemas[0] != wire.SCIMErrorSchema {
			d.Errorf("%s %s: the error is %s", method, path, res.Body)
		}
		return e.SCIMType
	}
	if to != nil {
		res.JSON(d, to)
	}
	return ""
}

func (d *directory) find(filter string) wire.SCIMPage[wire.SCIMUser] {
	d.Helper()
	var page wire.SCIMPage[wire.SCIMUser]
	d.sends(200, "GET", "/Users?filter="+url.QueryEscape(filter), "", &page)
	return page
}

func (d *directory) role(user string) coord.Role {
	d.Helper()
	var members wire.Page[coord.Membership]
	d.w.Must(200, request{Method: "GET", Path: "/v1/members?limit=100", Token: d.o.Owner()}, &members)
	for _, m := range members.Items {
		if m.ID == user {
			return m.Role
		}
	}
	return ""
}

// Okta's own test of a service (its "SCIM 2.0 SPEC Test"), step by step.
func TestADirectoryAsOktaTestsIt(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		d := newDirectory(t, dsn)
		var page wire.SCIMPage[wire.SCIMUser]
		d.sends(200, "GET", "/Users?count=1&startIndex=1", "", &page)
		if len(page.Resources) != 1 || page.ItemsPerPage != 1 || page.StartIndex != 1 || page.TotalResults != 5 ||
			page.Resources[0].Emails[0].Value == "" || !bool(page.Resources[0].Active) || page.Resources[0].Name.GivenName == "" {
			t.Fatalf("the users are %+v", page)
		}
		d.sends(200, "GET", "/Users/"+page.Resources[0].ID, "", nil)
		if none := d.find(`userName eq "nobody@example.com"`); none.TotalResults != 0 || none.Resources == nil {
			t.Errorf("nobody is %+v", none)
		}
		d.sends(404, "GET", "/Users/00919288221112222", "", nil)
		body := `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User"],"userName":"Ada.Okta@example.com","name":{"givenName":"Ada",
			"familyName":"Okta"},"emails":[{"primary":true,"value":"ada.mail@example.com","type":"work"}],"displayName":"Ada Okta","active":true}`
		var ada wire.SCIMUser
		d.sends(201, "POST", "/Users", body, &ada)
		if ada.UserName != "Ada.Okta@example.com" || ada.Name.FamilyName != "Okta" || ada.Emails[0].Value != "ada.mail@example.com" ||
			d.role(ada.ID) != coord.Member {
			t.Errorf("made %+v, a %s", ada, d.role(ada.ID))
		}
		if kind := d.sends(409, "POST", "/Users", body, nil); kind != "uniqueness" {
			t.Errorf("twice: %s", kind)
		}
		if found := d.find(`userName eq "ADA.OKTA@EXAMPLE.COM"`); found.TotalResults != 1 || found.Resources[0].ID != ada.ID {
			t.Errorf("in capitals: %+v", found)
		}
		d.sends(200, "GET", "/Groups", "", nil)
		res := d.w.Do(request{Method: "GET", Path: "/scim/v2/Users", Header: map[string]string{"Authorization": "non-token"}})
		var e wire.SCIMError
		res.JSON(t, &e)
		if res.Status != 401 || e.Status != "401" || e.Detail == "" {
			t.Errorf("without a token: %d %s", res.Status, res.Body)
		}
		// Its updates and its deactivation.
		put := strings.ReplaceAll(body, `"Ada"`, `"Adele"`)
		d.sends(200, "PUT", "/Users/"+ada.ID, strings.ReplaceAll(put, "Ada Okta", "Adele Okta"), &ada)
		if ada.DisplayName != "Adele Okta" || ada.Name.GivenName != "Adele" {
			t.Errorf("changed to %+v", ada)
		}
		d.sends(200, "PATCH", "/Users/"+ada.ID, `{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
			"Operations":[{"op":"replace","value":{"active":false}}]}`, &ada)
		if bool(ada.Active) || d.role(ada.ID) != "" {
			t.Errorf("deactivated: %+v, a %s", ada, d.role(ada.ID))
		}
		if found := d.find(`active eq false and userName eq "ada.okta@example.com"`); found.TotalResults != 1 {
			t.Errorf("deactivated, she is not found: %+v", found)
		}
		d.sends(200, "PUT", "/Users/"+ada.ID, body, &ada)
		if !bool(ada.Active) || d.role(ada.ID) != coord.Member {
			t.Errorf("again: %+v", ada)
		}
		d.sends(204, "DELETE", "/Users/"+ada.ID, "", nil)
		d.sends(404, "GET", "/Users/"+ada.ID, "", nil)
		for path, want := range map[string]string{"/ServiceProviderConfig": `"patch":{"supported":true`, "/ResourceTypes": `"endpoint":"/Users"`,
			"/Schemas": `"name":"userName"`} {
			res := d.w.Must(200, request{Method: "GET", Path: "/scim/v2" + path, Token: d.token}, nil)
			if !strings.Contains(string(res.Body), want) {
				t.Errorf("%s lacks %s: %s", path, want, res.Body)
			}
		}
		d.sends(404, "GET", "/Me", "", nil)
	})
}

// The requests of Entra, as its documentation has them.
func TestADirectoryAsEntraUsesIt(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		d := newDirectory(t, dsn)
		patch := func(path string, ops ...string) string {
			return d.sends(200, "PATCH", path,
				`{"schemas":["urn:ietf:params:scim:api:messages:2.0:PatchOp"],"Operations":[`+strings.Join(ops, ",")+`]}`, nil)
		}
		var u wire.SCIMUser
		d.sends(201, "POST", "/Users?aadOptscim062020", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:User",
			"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"],"externalId":"0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
			"userName":"Test_User_ab6490ee@example.com","active":true,"emails":[{"primary":true,"type":"work","value":"newuser@example.com"}],
			"meta":{"resourceType":"User"},"name":{"formatted":"givenName familyName","familyName":"familyName","givenName":"givenName"},
			"roles":[],"urn:ietf:params:scim:schemas:extension:enterprise:2.0:User":{"department":"Sales"}}`, &u)
		if found := d.find(`externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"`); found.TotalResults != 1 || found.Resources[0].ID != u.ID {
			t.Fatalf("by its id there: %+v", found)
		}
		if found := d.find(`emails[type eq "work"].value eq "newuser@example.com"`); found.TotalResults != 1 {
			t.Errorf("by the address: %+v", found)
		}
		patch("/Users/"+u.ID, `{"op":"Replace","path":"emails[type eq \"work\"].value","value":"updatedEmail@example.com"}`,
			`{"op":"Replace","path":"name.familyName","value":"updatedFamilyName"}`, `{"op":"Add","path":"displayName","value":"New Name"}`)
		patch("/Users/"+u.ID, `{"op":"Replace","path":"userName","value":"5b50642d@example.com"}`)
		d.sends(200, "GET", "/Users/"+u.ID, "", &u)
		if u.Emails[0].Value != "updatedemail@example.com" || u.Name.FamilyName != "updatedFamilyName" || u.DisplayName != "New Name" ||
			u.UserName != "5b50642d@example.com" || u.ExternalID == "" || !bool(u.Active) {
			t.Errorf("patched to %+v", u)
		}
		var g wire.SCIMGroup
		d.sends(201, "POST", "/Groups", `{"schemas":["urn:ietf:params:scim:schemas:core:2.0:Group"],"externalId":"8aa1a0c0",
			"displayName":"SVC-Admin","meta":{"resourceType":"Group"}}`, &g)
		d.sends(409, "POST", "/Groups", `{"displayName":"svc-admin"}`, nil)
		patch("/Groups/"+g.ID, `{"op":"Add","path":"members","value":[{"$ref":null,"value":"`+u.ID+`"}]}`)
		if role := d.role(u.ID); role != coord.Admin {
			t.Errorf("in svc-admin: %s", role)
		}
		var seen map[string]any
		d.sends(200, "GET", "/Groups/"+g.ID+"?excludedAttributes=members", "", &seen)
		if _, there := seen["members"]; there {
			t.Errorf("members were to be left out: %v", seen)
		}
		var groups wire.SCIMPage[wire.SCIMGroup]
		d.sends(200, "GET", "/Groups?filter="+url.QueryEscape(`displayName eq "svc-admin"`), "", &groups)
		if groups.TotalResults != 1 || len(groups.Resources[0].Members) != 1 {
			t.Errorf("groups: %+v", groups)
		}
		patch("/Users/"+u.ID, `{"op":"Replace","path":"active","value":"False"}`)
		if role := d.role(u.ID); role != "" {
			t.Errorf("deactivated: %s", role)
		}
		patch("/Users/"+u.ID, `{"op":"Replace","path":"active","value":"True"}`)
		if role := d.role(u.ID); role != coord.Admin {
			t.Errorf("back again: %s", role)
		}
		patch("/Groups/"+g.ID, `{"op":"Remove","path":"members[value eq \"`+u.ID+`\"]"}`)
		if role := d.role(u.ID); role != coord.Member {
			t.Errorf("out of svc-admin: %s", role)
		}
		patch("/Groups/"+g.ID, `{"op":"Add","path":"members","value":[{"value":"`+u.ID+`"}]}`)
		patch("/Groups/"+g.ID, `{"op":"Remove","path":"members","value":[{"value":"`+u.ID+`"}]}`)
		patch("/Groups/"+g.ID, `{"op":"Replace","path":"displayName","value":"svc-viewer"}`,
			`{"op":"Add","path":"members","value":[{"value":"`+u.ID+`"}]}`)
		if role := d.role(u.ID); role != coord.Viewer {
			t.Errorf("in svc-viewer: %s", role)
		}
		d.sends(204, "DELETE", "/Groups/"+g.ID, "", nil)
		if role := d.role(u.ID); role != coord.Member {
			t.Errorf("without the group: %s", role)
		}
	})
}

// Deactivating ends all that a person has in the org, at once; what would leave
// it without an owner is refused.
func TestDeactivatingEndsEverything(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		d := newDirectory(t, dsn)
		who := d.o.Users[coord.Member]
		cookie, token := d.w.Cookie(who), d.o.Tokens[coord.Member]
		streams := []io.Reader{
			d.w.Open(request{Method: "GET", Path: "/v1/stream", Token: token}),
			d.w.Open(request{Method: "GET", Path: "/v1/stream", Cookie: cookie, Org: d.o.Slug}),
		}
		var hook wire.HookReply
		d.w.Must(200, request{Method: "POST", Path: "/v1/hooks/evaluate", Token: token, Body: map[string]any{"event": "session_start",
			"session": map[string]any{"external_id": "x", "tool": "codex"},
			"repo":    map[string]any{"remote_fingerprints": []string{"github.com/acme/api"}, "branch": "main"}}}, &hook)
		d.sends(200, "PATCH", "/Users/"+who.ID, `{"Operations":[{"op":"replace","path":"active","value":false}]}`, nil)
		for _, s := range streams { // to its end
			if _, err := io.Copy(io.Discard, s); err != nil {
				t.Errorf("a stream broke instead of ending: %v", err)
			}
		}
		d.w.Must(401, request{Method: "GET", Path: "/v1/me", Token: token}, nil)
		d.w.Must(401, request{Method: "GET", Path: "/v1/me", Cookie: cookie, Org: d.o.Slug}, nil)
		var sessions struct{ Items []map[string]any }
		d.w.Must(200, request{Method: "GET", Path: "/v1/sessions?active=true", Token: d.o.Owner()}, &sessions)
		if len(sessions.Items) != 0 {
			t.Errorf("sessions live on: %v", sessions.Items)
		}
		d.sends(200, "PATCH", "/Users/"+who.ID, `{"Operations":[{"op":"replace","path":"active","value":true}]}`, nil)
		d.w.Must(401, request{Method: "GET", Path: "/v1/me", Token: token}, nil) // ended is ended
		owner := d.o.Users[coord.Owner].ID
		for _, gone := range [][2]string{{"PATCH", `{"Operations":[{"op":"replace","path":"active","value":"False"}]}`}, {"DELETE", ""},
			{"PUT", `{"userName":"owner-acme@example.com","active":false}`}} {
			d.sends(409, gone[0], "/Users/"+owner, gone[1], nil)
		}
		if d.role(owner) != coord.Owner {
			t.Error("the last owner is gone")
		}
		var g wire.SCIMGroup // nor by a group
		d.sends(201, "POST", "/Groups", `{"displayName":"svc-viewer","members":[{"value":"`+owner+`"}]}`, &g)
		if d.role(owner) != coord.Owner {
			t.Error("a group took the last owner's role")
		}
	})
}

// Only an owner makes a directory's token, which opens nothing else; and what it
// sends has limits.
func TestADirectorysTokenAndItsLimits(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		d := newDirectory(t, dsn)
		make := func(token string) int {
			return d.w.Do(request{Method: "POST", Path: "/v1/tokens", Token: token, Body: wire.CreateToken{Name: "x", Kind: coord.ServiceToken,
				Scopes: []coord.Scope{coord.ScopeSCIM}}}).Status
		}
		if got := make(d.o.Tokens[coord.Admin]); got != 403 {
			t.Errorf("an admin makes one: %d", got)
		}
		d.w.Must(403, request{Method: "GET", Path: "/v1/members", Token: d.token}, nil)
		d.w.Must(403, request{Method: "GET", Path: "/scim/v2/Users", Token: d.o.Tokens[coord.Admin]}, nil)
		long := strings.Repeat("x", 300)
		for body, kind := range map[string]string{
			`{`:                             "invalidSyntax",
			`{"userName":""}`:               "invalidValue",
			`{"userName":"not an address"}`: "invalidValue",
			`{"userName":"a@example.com","displayName":"` + long + `"}`:    "invalidValue",
			`{"userName":"a@example.com","name":{"givenName":"a\u202eb"}}`: "invalidValue",
			`{"userName":"a@example.com","active":"perhaps"}`:              "invalidSyntax",
			`{"userName":"a@example.com","emails":[{"value":"nowhere"}]}`:  "invalidValue",
		} {
			if got := d.sends(400, "POST", "/Users", body, nil); got != kind {
				t.Errorf("%s: %s, want %s", body, got, kind)
			}
		}
		if got := d.sends(400, "GET", "/Users?filter=userName", "", nil); got != "invalidFilter" {
			t.Errorf("a broken filter: %s", got)
		}
		user := d.o.Users[coord.Member].ID
		for ops, kind := range map[string]string{`[]`: "invalidValue", `[{"op":"remove"}]`: "invalidPath",
			`[{"op":"move","path":"a"}]`:               "invalidSyntax",
			`[{"op":"replace","path":"a[","value":1}]`: "invalidPath"} {
			if got := d.sends(400, "PATCH", "/Users/"+user, `{"Operations":`+ops+`}`, nil); got != kind {
				t.Errorf("%s: %s, want %s", ops, got, kind)
			}
		}
		if got := d.sends(400, "POST", "/Groups", `{"displayName":"x","members":[{"value":"`+d.w.Org("Other").Users[coord.Owner].ID+`"}]}`,
			nil); got != "invalidValue" {
			t.Errorf("another org's person in a group: %s", got)
		}
		// Pages, also out of range.
		for query, want := range map[string][2]int{"startIndex=0&count=2": {1, 2}, "startIndex=4": {4, 2}, "startIndex=99": {6, 0},
			"count=0": {1, 0}, "count=-1": {1, 0}, "count=100000": {1, 5}} {
			var page wire.SCIMPage[json.RawMessage]
			d.sends(200, "GET", "/Users?"+query, "", &page)
			if page.TotalResults != 5 || page.StartIndex != want[0] || page.ItemsPerPage != want[1] || len(page.Resources) != want[1] {
				t.Errorf("%s: %d from %d of %d", query, page.ItemsPerPage, page.StartIndex, page.TotalResults)
			}
		}
		// A person of two orgs is not for one directory to rename, nor an account elsewhere to take in.
		if got := d.sends(409, "POST", "/Users", `{"userName":"owner-other@example.com"}`, nil); got != "uniqueness" {
			t.Errorf("an account of another org: %s", got)
		}
	})
}

package scim_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/scim"
)

func read(t *testing.T, text string) (out map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(text, err)
	}
	return out
}

const bjensen = `{"id": "2819c223", "userName": "bjensen", "externalId": "Bj1", "active": true,
	"title": "Tour Guide", "userType": "Employee",
	"name": {"familyName": "O'Malley", "givenName": "Barbara"}, "meta": {"lastModified": "2012-05-13T04:42:34Z"},
	"emails": [{"value": "bjensen@example.com", "type": "work", "primary": true}, {"value": "babs@jensen.org", "type": "home"}],
	"schemas": ["urn:ietf:params:scim:schemas:core:2.0:User"]}`

// The filters of RFC 7644, section 3.4.2.2, and what Okta and Entra send.
func TestFilters(t *testing.T) {
	for filter, want := range map[string]bool{
		`userName eq "bjensen"`:         true,
		`userName Eq "BJensen"`:         true,
		`userName eq "john"`:            false,
		`name.familyName co "O'Malley"`: true,
		`userName sw "J"`:               false,
		`urn:ietf:params:scim:schemas:core:2.0:User:userName sw "bj"`: true,
		`title pr`:    true,
		`nickName pr`: false,
		`meta.lastModified gt "2011-05-13T04:42:34Z"`:                                               true,
		`meta.lastModified ge "2013-05-13T04:42:34Z"`:                                               false,
		`meta.lastModified lt "2011-05-13T04:42:34Z"`:                                               false,
		`title pr and userType eq "Employee"`:                                                       true,
		`title pr or userType eq "Intern"`:                                                          true,
		`schemas eq "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"`:                   false,
		`userType eq "Employee" and (emails co "example.com" or emails.value co "example.org")`:     true,
		`userType eq "Employee" and (emails.value co "example.com" or emails.value co "x.org")`:     true,
		`userType ne "Employee" and not (emails.value co "example.com" or emails.value co "x.org")`: false,
		`userType eq "Employee" and (emails.type eq "work")`:                                        true,
		`userType eq "Employee" and emails[type eq "work" and value co "@example.com"]`:             true,
		`emails[type eq "work" and value co "@jensen.org"] or userName eq "x"`:                      false,
		`emails[type eq "work"].value eq "bjensen@example.com"`:                                     true,
		`emails[type eq "home"].value eq "bjensen@example.com"`:                                     false,
		`externalId eq "Bj1"`:   true,
		`externalId eq "bj1"`:   false,
		`active eq true`:        true,
		`active eq "True"`:      true,
		`active eq false`:       false,
		`not (active eq false)`: true,
		`userName eq "b\"j"`:    false,
	} {
		f, err := scim.ParseFilter(filter)
		if err != nil {
			t.Errorf("%s: %v", filter, err)
		} else if f(read(t, bjensen)) != want {
			t.Errorf("%s = %v", filter, !want)
		}
	}
	for _, filter := range []string{"", "userName", "userName eq", `userName xx "a"`, `userName eq "a" and`, `(userName eq "a"`,
		`emails[type eq "a"`, `userName eq 'a'`, `eq "a"`, `userName eq "a" userName`, `"`, `not`, `[`} {
		if _, err := scim.ParseFilter(filter); problem.KindOf(err) != problem.Validation {
			t.Errorf("%q: %v", filter, err)
		}
	}
}

// The patches of RFC 7644, section 3.5.2, and those of Okta and Entra.
func TestPatches(t *testing.T) {
	for name, x := range map[string]struct{ have, ops, want string }{
		"a member is added": {`{"members": [{"value": "a"}]}`,
			`[{"op": "add", "path": "members", "value": [{"display": "Babs", "value": "b"}]}]`,
			`{"members": [{"value": "a"}, {"display": "Babs", "value": "b"}]}`},
		"one who is there already": {`{"members": [{"value": "a"}]}`, `[{"op": "Add", "path": "members", "value": [{"value": "a"}]}]`,
			`{"members": [{"value": "a"}]}`},
		"without a path": {`{"userName": "x"}`,
			`[{"op": "add", "value": {"emails": [{"value": "b@x.org", "type": "home"}], "nickname": "Babs"}}]`,
			`{"userName": "x", "emails": [{"value": "b@x.org", "type": "home"}], "nickname": "Babs"}`},
		"one member is removed": {`{"members": [{"value": "a"}, {"value": "b"}]}`,
			`[{"op": "remove", "path": "members[value eq \"a\"]"}]`,
			`{"members": [{"value": "b"}]}`},
		"all are": {`{"members": [{"value": "a"}]}`, `[{"op": "remove", "path": "members"}]`, `{}`},
		"Entra's older way to remove one": {`{"members": [{"value": "a"}, {"value": "b"}]}`,
			`[{"op": "Remove", "path": "members", "value": [{"value": "b"}]}]`, `{"members": [{"value": "a"}]}`},
		"all by one filter": {`{"emails": [{"type": "work", "value": "a@example.com"}, {"type": "home", "value": "b"}]}`,
			`[{"op": "remove", "path": "emails[type eq \"work\" and value ew \"example.com\"]"}]`,
			`{"emails": [{"type": "home", "value": "b"}]}`},
		"members are replaced": {`{"members": [{"value": "a"}]}`, `[{"op": "replace", "path": "members", "value": [{"value": "b"}]}]`,
			`{"members": [{"value": "b"}]}`},
		"one address": {`{"emails": [{"type": "work", "value": "a"}, {"type": "home", "value": "b"}]}`,
			`[{"op": "replace", "path": "emails[type eq \"work\"].value", "value": "c"}]`,
			`{"emails": [{"type": "work", "value": "c"}, {"type": "home", "value": "b"}]}`},
		"an address that was not there": {`{}`, `[{"op": "Add", "path": "emails[type eq \"work\"].value", "value": "c"}]`,
			`{"emails": [{"type": "work", "value": "c"}]}`},
		"Okta deactivates": {`{"active": true}`, `[{"op": "replace", "value": {"active": false}}]`,
			`{"active": false}`},
		"Entra deactivates": {`{"active": true}`, `[{"op": "Replace", "path": "active", "value": "False"}]`,
			`{"active": "False"}`},
		"a part of a name": {`{"name": {"givenName": "A", "familyName": "B"}}`,
			`[{"op": "Replace", "path": "name.familyName", "value": "C"}]`, `{"name": {"givenName": "A", "familyName": "C"}}`},
		"names of paths": {`{"name": {"givenName": "A"}}`,
			`[{"op": "Replace", "value": {"name.familyName": "C", "DISPLAYNAME": "D"}}]`,
			`{"name": {"givenName": "A", "familyName": "C"}, "DISPLAYNAME": "D"}`},
		"the case of a name does not count": {`{"displayName": "A"}`, `[{"op": "replace", "path": "displayname", "value": "B"}]`,
			`{"displayName": "B"}`},
		"a full name": {`{"userName": "a"}`,
			`[{"op": "replace", "path": "urn:ietf:params:scim:schemas:core:2.0:User:userName", "value": "b"}]`, `{"userName": "b"}`},
		"an extension is passed over": {`{"userName": "a"}`,
			`[{"op": "add", "path": "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department", "value": "b"}]`,
			`{"userName": "a"}`},
	} {
		var ops []scim.Operation
		if err := json.Unmarshal([]byte(x.ops), &ops); err != nil {
			t.Fatal(name, err)
		}
		r := read(t, x.have)
		if err := scim.Apply(r, ops); err != nil || !reflect.DeepEqual(r, read(t, x.want)) {
			got, _ := json.Marshal(r)
			t.Errorf("%s: %s, %v; want %s", name, got, err, x.want)
		}
	}
	for name, op := range map[string]scim.Operation{"no such op": {Op: "move", Path: "a"}, "nothing to remove": {Op: "remove"},
		"no object": {Op: "add", Value: "x"}, "an open bracket": {Op: "add", Path: "a[b eq 1"}, "no filter": {Op: "add", Path: "a[b].c"},
		"two words": {Op: "add", Path: "a b"}, "none that is meant": {Op: "replace", Path: `a[b eq "1" and c eq "2"]`, Value: 1}} {
		if err := scim.Apply(map[string]any{}, []scim.Operation{op}); problem.KindOf(err) != problem.Validation {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A filter that nests as deep as a body has room for is refused, wherever it
// stands.
func TestFiltersAreBounded(t *testing.T) {
	deep := strings.Repeat("(", 1<<20)
	if _, err := scim.ParseFilter(deep); problem.KindOf(err) != problem.Validation {
		t.Errorf("a filter: %v", err)
	}
	err := scim.Apply(read(t, bjensen), []scim.Operation{{Op: "remove", Path: "emails[" + deep + "]"}})
	if problem.KindOf(err) != problem.Validation {
		t.Errorf("a path: %v", err)
	}
}

// Whatever a directory sends, it is read or refused.
func FuzzPatch(f *testing.F) {
	f.Add("add", `emails[type eq "work"].value`, `"a@example.com"`)
	f.Add("Replace", "", `{"name.givenName": "Ana", "active": "False"}`)
	f.Add("remove", `members[value eq "x" and not (display pr)]`, `null`)
	f.Fuzz(func(t *testing.T, op, path, value string) {
		var v any
		if json.Unmarshal([]byte(value), &v) != nil {
			return
		}
		r := read(t, bjensen)
		if filter, err := scim.ParseFilter(path); err == nil {
			filter(r)
		}
		_ = scim.Apply(r, []scim.Operation{{Op: op, Path: path, Value: v}})
		if _, err := json.Marshal(r); err != nil {
			t.Errorf("%q %q %q makes what is no JSON: %v", op, path, value, err)
		}
	})
}

package daemontest

import (
	"net/http"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

// Password is what people have who came in over HTTP.
const Password = "a long enough one"

// SignedUp makes a team as strangers do, all over HTTP: its owner signs up by a
// link, the others accept invites. The service runs with sign-up by invitation.
func (w *World) SignedUp(name string) *Org {
	w.t.Helper()
	o := &Org{Users: map[coord.Role]coord.User{}, Tokens: map[coord.Role]string{}}
	owner := "owner-" + strings.ToLower(name)
	link, err := w.D.Ops.People.InviteToSignUp(w.t.Context(), owner+"@example.com")
	if err != nil {
		w.t.Fatal(err)
	}
	var in wire.SignedIn
	res := w.Must(http.StatusCreated, Request{Method: "POST", Path: "/v1/auth/sign-up/finish",
		Body: wire.FinishSignUp{Code: codeOf(link), Org: name, Name: owner, Password: Password}}, &in)
	o.Org, o.Users[coord.Owner] = in.Orgs[0].Org, *in.User
	cookie := CookieOf(res)
	for _, role := range coord.Roles() {
		if role != coord.Owner {
			o.Users[role] = w.Joins(o, cookie, string(role)+"-"+o.Slug, role)
		}
		email := o.Users[role].Email
		o.Tokens[role] = w.issue(o, cookie, wire.CreateToken{Name: "test", Kind: coord.PersonalToken, UserEmail: &email, Scopes: coord.Scopes()})
	}
	o.Service = w.issue(o, cookie, wire.CreateToken{Name: "test", Kind: coord.ServiceToken, Scopes: coord.ServiceScopes()})
	return o
}

// Joins lets somebody accept an invite into an org, by whoever has the cookie:
// with a new account, or with the one they have.
func (w *World) Joins(o *Org, cookie, name string, role coord.Role) coord.User {
	w.t.Helper()
	email := name + "@example.com"
	var invite coord.Invite
	w.Must(http.StatusCreated, Request{Method: "POST", Path: "/v1/invites", Cookie: cookie, Org: o.Slug,
		Body: wire.CreateInvite{Role: role, Email: &email}}, &invite)
	var in wire.SignedIn
	w.Must(http.StatusOK, Request{Method: "POST", Path: "/v1/auth/accept-invite",
		Body: wire.AcceptInvite{Code: codeOf(*invite.URL), Name: name, Password: Password}}, &in)
	return *in.User
}

func (w *World) issue(o *Org, cookie string, t wire.CreateToken) string {
	w.t.Helper()
	var made wire.CreatedToken
	w.Must(http.StatusCreated, Request{Method: "POST", Path: "/v1/tokens", Cookie: cookie, Org: o.Slug, Body: t}, &made)
	return made.Plaintext
}

func codeOf(link string) string {
	_, code, _ := strings.Cut(link, "#")
	return code
}

// CookieOf returns the value of the cookie with which an answer signs in.
func CookieOf(r Response) string {
	for _, c := range (&http.Response{Header: r.Header}).Cookies() {
		if strings.HasSuffix(c.Name, "svc_session") {
			return c.Value
		}
	}
	return ""
}

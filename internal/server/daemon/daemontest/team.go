package daemontest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A Team is a running svcd with an org and its owner.
type Team struct {
	*daemon.Daemon
	T     testing.TB
	Owner *Person
}

// Each runs test against the service on each database.
func Each(t *testing.T, test func(*testing.T, *Team)) {
	t.Helper()
	storetest.EachDSN(t, func(t *testing.T, dsn string) { test(t, StartTeam(t, dsn)) })
}

// StartTeam runs the service on a database until the test ends.
func StartTeam(t testing.TB, dsn string) *Team {
	t.Helper()
	s := &Team{Daemon: Run(t, dsn), T: t}
	made, err := s.Ops.People.Bootstrap(t.Context(), "Acme", "owner@example.com", "Olga Owner")
	if err != nil {
		t.Fatal(err)
	}
	s.Owner = &Person{s: s, Email: made.User.Email, ID: made.User.ID, Token: made.Token, Role: coord.Owner}
	return s
}

// Run starts a daemon on a database, for tests of several replicas.
func Run(t testing.TB, dsn string) *daemon.Daemon {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	if os.Getenv("SVC_TEST_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	d, err := daemon.Start(t.Context(), daemon.Config{
		Addr: "127.0.0.1:0",
		Data: t.TempDir(),

		MetricsAddr: "off",

		SecretKey: SecretKey,
		Database:  dsn,
		PublicURL: "http://127.0.0.1:0",
		Version:   "test",
	}, log)
	if err != nil {
		t.Fatal(err)
	}
	d.Ops.Moments.Doubt = patience
	t.Cleanup(func() { d.Stop() })
	return d
}

// SignIn lets the owner choose a password and returns the headers of a browser
// that is signed in.
func (s *Team) SignIn() []string {
	s.T.Helper()
	link, err := s.Ops.People.RenewSignInLink(s.T.Context(), s.Owner.Email)
	if err != nil {
		s.T.Fatal(err)
	}
	_, code, _ := strings.Cut(link, "#")
	a := s.Owner.Call("POST /v1/auth/accept-invite", wire.AcceptInvite{Code: code, Name: "Olga Owner", Password: "a long enough one"})
	if a.Status != 200 {
		s.T.Fatalf("signing in = %d: %s", a.Status, a.Body)
	}
	cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	return []string{"Authorization", "", "Cookie", cookie, "X-Svc-CSRF", "1"}
}

// A Person is a member with a token of every scope.
type Person struct {
	s     *Team
	ID    string
	Email string
	Token string
	Role  coord.Role
	// URL, if set, is the replica they speak to.
	URL string
}

// Add makes a member with a token of every scope.
func (s *Team) Add(name string, role coord.Role) *Person {
	s.T.Helper()
	email := strings.ToLower(name) + "@example.com"
	m := Do[coord.Membership](s.Owner, 201, "POST /v1/members", wire.AddMember{Email: email, Name: name, Role: role})
	tok := Do[wire.CreatedToken](s.Owner, 201, "POST /v1/tokens", wire.CreateToken{
		Name:      name,
		Kind:      coord.PersonalToken,
		UserEmail: &email,
		Scopes:    coord.Scopes(),
	})
	return &Person{s: s, ID: m.ID, Email: email, Token: tok.Plaintext, Role: role}
}

// Answer is what the service said.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call sends a request as p: route is such as "POST /v1/intents", body nil, a
// string, or a value to encode.
func (p *Person) Call(route string, body any, headers ...string) Answer {
	p.s.T.Helper()
	method, path, _ := strings.Cut(route, " ")
	var r io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			p.s.T.Fatal(err)
		}
		r = bytes.NewReader(j)
	}
	base := p.URL
	if base == "" {
		base = p.s.URL
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(p.s.T.Context()), method, base+path, r)
	if err != nil {
		p.s.T.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.Token)
	if r != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.s.T.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.s.T.Fatal(err)
	}
	return Answer{resp.StatusCode, resp.Header, text}
}

// Do is Call with an expected status; it returns the decoded answer.
func Do[T any](p *Person, status int, route string, body any, headers ...string) (out T) {
	p.s.T.Helper()
	a := p.Call(route, body, headers...)
	if a.Status != status {
		p.s.T.Fatalf("%s as %s = %d, want %d: %s", route, p.Email, a.Status, status, a.Body)
	}
	if len(a.Body) > 0 {
		if err := json.Unmarshal(a.Body, &out); err != nil {
			p.s.T.Fatalf("%s: %v in %s", route, err, a.Body)
		}
	}
	return out
}

package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
)

// FlowLifetime is how long somebody may take at the OpenID provider.
const FlowLifetime = 10 * time.Minute

// discoverAgain is how long a provider that could not be reached is left alone.
const discoverAgain = 5 * time.Second

// An OIDC signs people in through an OpenID provider.
//
// A sign-in under way is kept in the browser alone: its cookie holds a secret
// from which state, nonce and PKCE verifier are derived. Only the browser that
// began can finish, on any replica, and nothing has to be stored.
type OIDC struct {
	Provider

	config   oauth2.Config
	client   *http.Client
	mu       sync.Mutex
	provider *oidc.Provider
	failed   error     // of the last try to reach the provider
	retry    time.Time // when to try again
}

// A Provider is how an OpenID provider is set up.
type Provider struct {
	Name         string `json:"name"` // as the sign-in page shows it
	Issuer       string `json:"issuer"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	// TrustEmail takes addresses as verified whatever the provider says of
	// them: for one at which people cannot choose theirs.
	TrustEmail bool `json:"trust_email"`
	// GroupsClaim is where the provider names the groups somebody is in, and
	// Roles what they are here by them.
	GroupsClaim string                `json:"groups_claim"`
	Roles       map[string]coord.Role `json:"roles"`
	// Domains are those whose verified addresses may join without an invite.
	Domains []string `json:"domains"`
	// Replaces is the issuer whose place this one takes: who was bound there
	// is bound here by the verified address.
	Replaces string `json:"replaces"`
}

// NewOIDC returns a way to sign in through a provider. It is asked about
// itself at the first sign-in, so that it may be down when we start.
func NewOIDC(p Provider, callback string) *OIDC {
	scopes := []string{oidc.ScopeOpenID, "email", "profile"}
	if p.GroupsClaim == "" {
		p.GroupsClaim = "groups"
	}
	return &OIDC{Provider: p, client: &http.Client{Timeout: 5 * time.Second},
		config: oauth2.Config{ClientID: p.ClientID, ClientSecret: p.ClientSecret, RedirectURL: callback, Scopes: scopes}}
}

// An Identity is whom the provider says somebody is.
type Identity struct {
	Issuer   string
	Subject  string // unique among all issuers
	Email    string // empty unless the provider has verified it
	Name     string
	Groups   []string
	At       coord.Time // when they signed in there; zero if it does not say
	ReturnTo string     // path in the dashboard
}

func (o *OIDC) discover(ctx context.Context) (context.Context, *oidc.Provider, error) {
	ctx = oidc.ClientContext(ctx, o.client)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.provider != nil {
		return ctx, o.provider, nil
	}
	// Those who come while it is down must not wait for it one by one.
	if time.Now().After(o.retry) {
		o.provider, o.failed = oidc.NewProvider(context.WithoutCancel(ctx), o.Issuer) // it is for others, too
		o.retry = time.Now().Add(discoverAgain)
	}
	if o.provider == nil {
		return ctx, nil, fmt.Errorf("%w (%w)", &problem.Error{
			Kind:       problem.Unavailable,
			Detail:     "the OpenID provider cannot be reached; try again",
			RetryAfter: discoverAgain,
		}, o.failed)
	}
	return ctx, o.provider, nil
}

// Start returns where to send the browser, and what its cookie must hold. With
// choose the provider asks which account is meant, whoever is signed in there;
// with fresh it asks for a proof again.
func (o *OIDC) Start(ctx context.Context, returnTo string, choose, fresh bool) (location, flow string, err error) {
	_, p, err := o.discover(ctx)
	if err != nil {
		return "", "", err
	}
	if !strings.HasPrefix(returnTo, "/") || strings.HasPrefix(returnTo, "//") || strings.Contains(returnTo, "\\") {
		returnTo = "/"
	}
	flow = NewSecret().Text
	cfg := o.config
	cfg.Endpoint = p.Endpoint()
	cfg.Scopes = append(slices.Clone(cfg.Scopes), o.groupScopes(p)...)
	options := []oauth2.AuthCodeOption{oidc.Nonce(derive(flow, "nonce")), oauth2.S256ChallengeOption(derive(flow, "verifier"))}
	switch {
	case fresh: // whoever is asked for max_age has to say when that was
		age := strconv.Itoa(int(FreshFor / time.Second))
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", age))
	case choose:
		options = append(options, oauth2.SetAuthURLParam("prompt", "select_account"))
	}
	return cfg.AuthCodeURL(o.stateOf(flow, returnTo), options...), flow, nil
}

// groupScopes asks for groups, where they matter and the provider has a scope
// for them; others tell them unasked or not at all.
func (o *OIDC) groupScopes(p *oidc.Provider) []string {
	var offers struct {
		Scopes []string `json:"scopes_supported"`
	}
	if len(o.Roles) == 0 || p.Claims(&offers) != nil || !slices.Contains(offers.Scopes, o.GroupsClaim) {
		return nil
	}
	return []string{o.GroupsClaim}
}

// EndSession returns where a browser signs out of the provider itself, or ""
// if it offers no such thing.
func (o *OIDC) EndSession(ctx context.Context, back string) (string, error) {
	_, p, err := o.discover(ctx)
	if err != nil {
		return "", err
	}
	var offers struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := p.Claims(&offers); err != nil || offers.EndSession == "" {
		return "", err
	}
	to, err := url.Parse(offers.EndSession)
	if err != nil {
		return "", err
	}
	q := to.Query()
	q.Set("client_id", o.ClientID)
	q.Set("post_logout_redirect_uri", back)
	to.RawQuery = q.Encode()
	return to.String(), nil
}

// derive makes one of a flow's values from its secret.
func derive(flow, what string) string {
	m := hmac.New(sha256.New, []byte(flow))
	m.Write([]byte(what))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

// stateOf names the provider, too: a code that one gave is of no use at
// another.
func (o *OIDC) stateOf(flow, returnTo string) string {
	return derive(flow, "state "+o.Issuer+" "+o.ClientID+" "+returnTo) + "." + base64.RawURLEncoding.EncodeToString([]byte(returnTo))
}

// Began reports whether a sign-in that comes back began at this provider.
func (o *OIDC) Began(flow, state string) bool {
	_, encoded, _ := strings.Cut(state, ".")
	back, err := base64.RawURLEncoding.DecodeString(encoded)
	return flow != "" && err == nil && subtle.ConstantTimeCompare([]byte(state), []byte(o.stateOf(flow, string(back)))) == 1
}

// Finish tells who came back from the provider.
func (o *OIDC) Finish(ctx context.Context, flow, state, code string) (id Identity, err error) {
	_, encoded, _ := strings.Cut(state, ".")
	back, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil || !o.Began(flow, state) {
		return id, ErrNotBegun
	}
	ctx, p, err := o.discover(ctx)
	if err != nil {
		return id, err
	}
	cfg := o.config
	cfg.Endpoint = p.Endpoint()
	token, err := cfg.Exchange(ctx, code, oauth2.VerifierOption(derive(flow, "verifier")))
	if err != nil {
		return id, refused(err)
	}
	raw, _ := token.Extra("id_token").(string)
	proof, err := p.Verifier(&oidc.Config{ClientID: cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return id, refused(err)
	}
	if subtle.ConstantTimeCompare([]byte(proof.Nonce), []byte(derive(flow, "nonce"))) != 1 {
		return id, refused(fmt.Errorf("nonce does not match"))
	}
	said, err := o.claims(ctx, p, token, proof)
	if err != nil {
		return id, refused(err)
	}
	id = Identity{Issuer: proof.Issuer, Subject: proof.Issuer + " " + proof.Subject, Name: text(said, "name"), ReturnTo: string(back),
		Groups: list(said[o.GroupsClaim])}
	if id.Name == "" {
		id.Name = text(said, "preferred_username")
	}
	if at, ok := said["auth_time"].(float64); ok {
		id.At = coord.Time(at * 1000)
	}
	if o.TrustEmail || truth(said["email_verified"]) {
		id.Email = text(said, "email")
	}
	return id, nil
}

// claims returns what the provider says of somebody: in the token, and what is
// not in there at its userinfo endpoint. Thin tokens name the subject alone.
func (o *OIDC) claims(ctx context.Context, p *oidc.Provider, token *oauth2.Token, proof *oidc.IDToken) (map[string]any, error) {
	said := map[string]any{}
	if err := proof.Claims(&said); err != nil {
		return nil, err
	}
	azp, named := said["azp"]
	if named && azp != o.ClientID || !named && len(proof.Audience) > 1 {
		return nil, fmt.Errorf("the token was made out to %v for %v", azp, proof.Audience)
	}
	_, mail := said["email"]
	_, groups := said[o.GroupsClaim]
	if mail && said["email_verified"] != nil && (groups || len(o.Roles) == 0) || p.UserInfoEndpoint() == "" {
		return said, nil
	}
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		if mail { // what the token says will do, as far as it goes
			return said, nil
		}
		return nil, fmt.Errorf("userinfo: %w", err)
	}
	if info.Subject != proof.Subject {
		return nil, fmt.Errorf("userinfo is about %q, the token about %q", info.Subject, proof.Subject)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil {
		return nil, err
	}
	if mail && more["email"] != said["email"] { // whether another address is verified says nothing of this one
		delete(more, "email_verified")
	}
	for name, value := range more {
		if _, there := said[name]; !there {
			said[name] = value
		}
	}
	return said, nil
}

func text(claims map[string]any, name string) string {
	s, _ := claims[name].(string)
	return strings.TrimSpace(s)
}

// truth reads a boolean that some providers write as a text.
func truth(v any) bool {
	s, isText := v.(string)
	return v == true || isText && strings.EqualFold(s, "true")
}

// list reads the names of groups: a list, or one text.
func list(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return strings.Fields(strings.ReplaceAll(v, ",", " "))
	case []any:
		for _, x := range v {
			if s, ok := x.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// ErrNotBegun is for a browser that comes back without having been sent.
var ErrNotBegun = problem.Newf(problem.Forbidden, "this sign-in was not begun in this browser, or took too long; begin again")

// refused hides what went wrong at the provider from the browser; the cause
// is for the log.
func refused(err error) error {
	return fmt.Errorf("%w (%w)", problem.Newf(problem.Forbidden, "the OpenID provider did not confirm this sign-in; begin again"), err)
}

// FlowCookieName is the name of the cookie of a sign-in under way.
func (a *Authenticator) FlowCookieName() string {
	if a.secure {
		return "__Host-svc_oidc"
	}
	return "svc_oidc"
}

// FlowCookie returns the cookie of a sign-in under way; with an empty secret,
// one that deletes it.
func (a *Authenticator) FlowCookie(flow string) *http.Cookie {
	c := a.Cookie(flow)
	c.Name = a.FlowCookieName()
	if flow != "" {
		c.MaxAge = int(FlowLifetime / time.Second)
	}
	return c
}

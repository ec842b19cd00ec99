package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

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
	Name string // as the sign-in page shows it

	issuer   string
	config   oauth2.Config
	client   *http.Client
	mu       sync.Mutex
	provider *oidc.Provider
	failed   error     // of the last try to reach the provider
	retry    time.Time // when to try again
}

// NewOIDC returns a way to sign in through the issuer. The provider is asked
// about itself at the first sign-in, so that it may be down when we start.
func NewOIDC(name, issuer, clientID, clientSecret, callback string) *OIDC {
	return &OIDC{Name: name, issuer: issuer, client: &http.Client{Timeout: 5 * time.Second},
		config: oauth2.Config{
			ClientID:     clientID,
			ClientSecret: clientSecret,
			RedirectURL:  callback,
			Scopes:       []string{oidc.ScopeOpenID, "email", "profile"},
		}}
}

// An Identity is whom the provider says somebody is.
type Identity struct {
	Subject  string // unique among all issuers
	Email    string // empty unless the provider has verified it
	Name     string
	ReturnTo string // path in the dashboard
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
		o.provider, o.failed = oidc.NewProvider(context.WithoutCancel(ctx), o.issuer) // it is for others, too
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

// Start returns where to send the browser, and what its cookie must hold.
func (o *OIDC) Start(ctx context.Context, returnTo string) (location, flow string, err error) {
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
	return cfg.AuthCodeURL(stateOf(flow, returnTo), oidc.Nonce(derive(flow, "nonce")),
		oauth2.S256ChallengeOption(derive(flow, "verifier"))), flow, nil
}

// derive makes one of a flow's values from its secret.
func derive(flow, what string) string {
	m := hmac.New(sha256.New, []byte(flow))
	m.Write([]byte(what))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func stateOf(flow, returnTo string) string {
	return derive(flow, "state "+returnTo) + "." + base64.RawURLEncoding.EncodeToString([]byte(returnTo))
}

// Finish tells who came back from the provider.
func (o *OIDC) Finish(ctx context.Context, flow, state, code string) (id Identity, err error) {
	_, encoded, _ := strings.Cut(state, ".")
	back, err := base64.RawURLEncoding.DecodeString(encoded)
	if flow == "" || err != nil || subtle.ConstantTimeCompare([]byte(state), []byte(stateOf(flow, string(back)))) != 1 {
		return id, problem.Newf(problem.Forbidden, "this sign-in was not begun in this browser, or took too long; begin again")
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
	var claims struct {
		Email    string `json:"email"`
		Verified bool   `json:"email_verified"`
		Name     string `json:"name"`
	}
	if err := proof.Claims(&claims); err != nil {
		return id, refused(err)
	}
	id = Identity{Subject: proof.Issuer + " " + proof.Subject, Name: claims.Name, ReturnTo: string(back)}
	if claims.Verified {
		id.Email = claims.Email
	}
	return id, nil
}

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

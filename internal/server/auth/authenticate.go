package auth

import (
	"context"
	"crypto/sha256"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/trail"
)

// How long a dashboard sign-in lasts.
const (
	SessionIdle     = 14 * 24 * time.Hour
	SessionLifetime = 30 * 24 * time.Hour
)

const (
	cacheFor   = time.Second      // how stale a token's standing may be on another replica
	touchEvery = 60 * time.Second // how often last_used_at is written
	trustFor   = 5 * time.Minute  // how long a token is believed if the database does not say, to decide on an edit
	askFor     = 100 * time.Millisecond
	lookFor    = 10 * time.Second // how long the database is asked after that
)

// An Authenticator tells who sent a request.
type Authenticator struct {
	store  *store.Store
	secure bool // whether we are reached over TLS
	cross  *http.CrossOriginProtection

	mu      sync.Mutex
	cache   map[[sha256.Size]byte]entry // by token hash
	changes int                         // how often a standing changed; what was read before is not remembered
	touched map[string]coord.Time       // by token id, when last_used_at was last noted
	pending map[string]coord.Time       // by token id, to be written
}

type entry struct {
	caller  coord.Caller
	expires *coord.Time
	until   time.Time
}

// New returns an Authenticator. secure tells whether the public address is
// https, which decides the cookie's name and flags.
func New(s *store.Store, publicURL string) *Authenticator {
	a := &Authenticator{store: s, secure: strings.HasPrefix(publicURL, "https://"), cross: http.NewCrossOriginProtection(),
		cache: map[[sha256.Size]byte]entry{}, touched: map[string]coord.Time{}, pending: map[string]coord.Time{}}
	return a
}

var errToken = problem.Newf(problem.Unauthorized,
	"the token is missing, invalid, expired or revoked; run svc login, or send Authorization: Bearer svc_...")

var errSignedOut = problem.Newf(problem.Unauthorized, "you are signed out; sign in again")

// Caller tells who sent r: by bearer token if there is one, else by cookie. For
// whoever is about to edit, an answer that comes late is none: if the database
// is silent, a token is believed that was good of late.
func (a *Authenticator) Caller(r *http.Request, editing bool) (coord.Caller, error) {
	ctx, step := trail.In(r.Context(), trail.Authentication)
	defer step.End()
	who, err := a.caller(ctx, r, editing)
	if err == nil {
		trail.Of(ctx).By(who.OrgID, who.UserID, who.TokenID)
	}
	return who, err
}

func (a *Authenticator) caller(ctx context.Context, r *http.Request, editing bool) (coord.Caller, error) {
	header := r.Header.Get("Authorization")
	if header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") {
			return coord.Caller{}, errToken
		}
		return a.byToken(ctx, strings.TrimSpace(token), editing)
	}
	cookie, err := r.Cookie(a.CookieName())
	if err != nil {
		return coord.Caller{}, errToken
	}
	return a.byCookie(ctx, r, cookie.Value)
}

func (a *Authenticator) byToken(ctx context.Context, token string, editing bool) (coord.Caller, error) {
	key := sum(token)
	now := time.Now()
	a.mu.Lock()
	e, ok := a.cache[key]
	changes := a.changes
	a.mu.Unlock()
	if !ok || now.After(e.until) {
		if !WellFormed(token) {
			return coord.Caller{}, errToken
		}
		look := func(ctx context.Context) (entry, error) { return a.look(ctx, token, key, changes) }
		var err error
		if ok && editing && now.Before(e.until.Add(trustFor)) {
			e, err = orBelieve(ctx, e, look)
		} else {
			e, err = look(ctx)
		}
		if err != nil {
			return coord.Caller{}, err
		}
	}
	if e.expires != nil && *e.expires <= a.store.Now() {
		return coord.Caller{}, errToken
	}
	a.noteUse(e.caller.TokenID)
	return e.caller, nil
}

// orBelieve looks whose a token is, and believes what was known of it if that
// takes too long or the database is away. It goes on to look: a token that was
// revoked is believed for as long as the database is silent, not longer.
func orBelieve(ctx context.Context, known entry, look func(context.Context) (entry, error)) (entry, error) {
	type answer struct {
		entry
		err error
	}
	done := make(chan answer, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookFor)
		defer cancel()
		e, err := look(ctx)
		done <- answer{e, err}
	}()
	late := time.NewTimer(askFor)
	defer late.Stop()
	known.caller.Believed = true
	select {
	case <-ctx.Done():
		return entry{}, ctx.Err()
	case <-late.C:
		return known, nil
	case a := <-done:
		if a.err != nil && problem.KindOf(a.err) == problem.Unavailable {
			return known, nil
		}
		return a.entry, a.err
	}
}

// look asks the database whose a token is.
func (a *Authenticator) look(ctx context.Context, token string, key [sha256.Size]byte, changes int) (entry, error) {
	var c *coord.Caller
	var expires *coord.Time
	err := a.store.Read(ctx, func(tx *store.Tx) (err error) {
		c, expires, err = tx.CallerByToken(ctx, HashOf(token))
		return err
	})
	if err != nil {
		return entry{}, err
	}
	if c == nil {
		a.mu.Lock()
		delete(a.cache, key)
		a.mu.Unlock()
		return entry{}, errToken
	}
	e := entry{*c, expires, time.Now().Add(cacheFor)}
	a.remember(key, e, changes)
	return e, nil
}

// remember keeps what was read, unless a standing changed meanwhile: it may
// be of before the change.
func (a *Authenticator) remember(key [sha256.Size]byte, e entry, changes int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.changes != changes {
		return
	}
	if len(a.cache) > 10_000 {
		clear(a.cache)
	}
	a.cache[key] = e
}

// Forget drops what is remembered of an org's tokens, so that a revocation
// here is felt at once. Other replicas hear of it through the event log, and
// at the latest when what they remember is a second old.
func (a *Authenticator) Forget(org string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changes++
	for key, e := range a.cache {
		if e.caller.OrgID == org {
			delete(a.cache, key)
		}
	}
}

func (a *Authenticator) noteUse(id string) {
	now := a.store.Now()
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.touched[id]) >= touchEvery {
		a.touched[id] = now
		a.pending[id] = now
	}
}

// Flush writes the noted uses of tokens. It is called now and then, and at
// shutdown: last_used_at must not cost a write per request.
func (a *Authenticator) Flush(ctx context.Context) error {
	a.mu.Lock()
	uses := a.pending
	a.pending = map[string]coord.Time{}
	now := a.store.Now()
	maps.DeleteFunc(a.touched, func(_ string, at coord.Time) bool { return now.Sub(at) >= touchEvery })
	a.mu.Unlock()
	if len(uses) == 0 {
		return nil
	}
	err := a.store.Write(ctx, "tokens", func(tx *store.Tx) error {
		for id, at := range uses {
			if err := tx.TouchToken(ctx, id, at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // not written: the next time
		a.mu.Lock()
		for id, at := range uses {
			a.pending[id] = max(a.pending[id], at)
		}
		a.mu.Unlock()
	}
	return err
}

// CookieName is the name of the dashboard's cookie. The __Host- prefix makes
// browsers refuse it from any other host, but only works over TLS.
func (a *Authenticator) CookieName() string {
	if a.secure {
		return "__Host-svc_session"
	}
	return "svc_session"
}

// Cookie returns the cookie for a new sign-in; with an empty secret, one that
// deletes it.
func (a *Authenticator) Cookie(secret string) *http.Cookie {
	c := &http.Cookie{
		Name:     a.CookieName(),
		Value:    secret,
		Path:     "/",
		HttpOnly: true,
		Secure:   a.secure,
		SameSite: http.SameSiteLaxMode,
		MaxAge:   int(SessionLifetime / time.Second),
	}
	if secret == "" {
		c.MaxAge = -1
	}
	return c
}

func (a *Authenticator) byCookie(ctx context.Context, r *http.Request, secret string) (coord.Caller, error) {
	if err := a.sameSite(r); err != nil {
		return coord.Caller{}, err
	}
	c := coord.Caller{Via: coord.ViaCookie}
	var touch bool
	err := a.store.Read(ctx, func(tx *store.Tx) error {
		w, err := tx.WebSession(ctx, HashOf(secret), tx.Now.Add(-SessionIdle))
		if err != nil {
			return err
		}
		if w == nil {
			return errSignedOut
		}
		touch = tx.Now.Sub(w.LastSeenAt) > 5*time.Minute
		u, err := tx.AccountByID(ctx, w.UserID)
		if err != nil {
			return err
		}
		if u == nil || u.Disabled {
			return errSignedOut
		}
		c.CookieID, c.UserID, c.Email, c.Name, c.ProvedAt = w.ID, u.ID, u.Email, u.Name, w.ProvedAt
		c.SignedInBy, c.Second, c.HasSecond = w.Method, w.Second, u.Second
		if !u.HasWayIn() && !u.Second { // they came by a link or a folder, and have nothing to prove it with
			c.ProvedAt = tx.Now
		}
		return a.chooseOrg(ctx, tx, orgOf(r), &c)
	})
	if err == nil && touch {
		err = a.store.Write(ctx, "signin", func(tx *store.Tx) error { return tx.TouchWebSession(ctx, c.CookieID) })
	}
	return c, err
}

// orgOf returns the org that a request names. A browser that goes to a page by
// itself sends no header, so reading takes the query too.
func orgOf(r *http.Request) string {
	if slug := r.Header.Get("X-Svc-Org"); slug != "" || r.Method != http.MethodGet {
		return slug
	}
	return r.URL.Query().Get("org")
}

// chooseOrg fills in the org that the dashboard acts in: the one named by
// X-Svc-Org or the query, or the only one there is.
func (a *Authenticator) chooseOrg(ctx context.Context, tx *store.Tx, slug string, c *coord.Caller) error {
	orgs, err := tx.OrgsOf(ctx, c.UserID)
	if err != nil {
		return err
	}
	for _, o := range orgs {
		if o.Slug == slug || slug == "" && len(orgs) == 1 {
			c.OrgID, c.OrgSlug, c.DataMode, c.Role = o.ID, o.Slug, o.DataMode, o.Role
			c.Lacks = o.Lack(c.SignedInBy, c.Second, c.HasSecond)
			return nil
		}
	}
	if slug != "" {
		return problem.Newf(problem.Forbidden, "you are not a member of an org called %s", slug)
	}
	return nil // signed in, acting in no org; Call refuses what needs one
}

// sameSite refuses writes that another site may have sent with our cookie.
func (a *Authenticator) sameSite(r *http.Request) error {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return nil
	}
	if r.Header.Get("X-Svc-CSRF") != "1" {
		return problem.Newf(problem.Forbidden, "writes with a cookie need the header X-Svc-CSRF: 1")
	}
	if err := a.cross.Check(r); err != nil {
		return problem.Newf(problem.Forbidden, "this write came from another site")
	}
	return nil
}

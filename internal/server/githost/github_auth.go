package githost

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v4"
)

// An installationToken is what an app acts with at one of its installations. It
// is good for an hour, and got anew shortly before.
type installationToken struct {
	mu    sync.Mutex
	text  string
	until time.Time
}

// earlier is how long before its end a token is replaced: clocks differ.
const earlier = time.Minute

// authorization returns the token that a request is sent with.
func (g *GitHub) authorization(ctx context.Context, a Access) (string, error) {
	if a.Token != "" {
		return a.Token, nil
	}
	app, err := appToken(a)
	if err != nil || a.Installation == 0 {
		return app, err
	}
	g.mu.Lock()
	t := g.tokens[a]
	if t == nil {
		t = &installationToken{}
		g.tokens[a] = t
	}
	g.mu.Unlock()
	t.mu.Lock() // one asks for it, others wait
	defer t.mu.Unlock()
	if time.Until(t.until) > earlier {
		return t.text, nil
	}
	var made struct {
		Token     string
		ExpiresAt time.Time `json:"expires_at"`
	}
	path := "app/installations/" + strconv.FormatInt(a.Installation, 10) + "/access_tokens"
	if _, err := g.ask(ctx, a.API, app, http.MethodPost, path, nil, nil, &made); err != nil {
		return "", err
	}
	t.text, t.until = made.Token, made.ExpiresAt
	return t.text, nil
}

// appToken signs that a request is the app's, which is believed for minutes.
func appToken(a Access) (string, error) {
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(a.PEM))
	if err != nil {
		return "", fmt.Errorf("the app's private key: %w", err)
	}
	now := time.Now()
	return jwt.NewWithClaims(jwt.SigningMethodRS256, jwt.RegisteredClaims{
		Issuer:    strconv.FormatInt(a.AppID, 10),
		IssuedAt:  jwt.NewNumericDate(now.Add(-time.Minute)), // GitHub's clock may be behind
		ExpiresAt: jwt.NewNumericDate(now.Add(5 * time.Minute)),
	}).SignedString(key)
}

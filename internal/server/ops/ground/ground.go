// Package ground has what all operations share: the transaction, the change
// that carries the live index through it and settles the conflicts it touches,
// events, cursors, the dashboard's addresses, and the ways to put a message or
// a mail into a transaction.
//
// It offers no operation of its own and decides nothing about people, work or
// talk: what only one room needs belongs there.
package ground

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/shape"
	"github.com/svc-hq/svc/internal/server/auth"
	"github.com/svc-hq/svc/internal/server/billing"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/githost"
	"github.com/svc-hq/svc/internal/server/leases"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/memory"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/vault"
)

// Config is what operations need to know of the installation.
type Config struct {
	PublicURL string       // where people reach the dashboard, without a trailing slash
	OIDC      []*auth.OIDC // the OpenID providers, as the sign-in page lists them
	Vault     *vault.Vault
	Outbound  *outbound.Client
	Stripe    *billing.Stripe // nil if billing is not configured
	GitHub    *githost.GitHub
	GitLab    *githost.GitLab
	GitHubURL string                                           // on which GitHub new apps are made
	Mail      bool                                             // whether mail can be sent
	SignUp    coord.SignUp                                     // who makes orgs; off if empty
	Ready     map[string]func(context.Context) (string, error) // how what works in the background fares
}

// A Ground is the installation as operations see it. Every room's Service
// embeds the same one.
type Ground struct {
	Store  *store.Store
	Log    *eventlog.Log
	Live   *live.Set
	Memory *memory.Set
	Leases *leases.Hub
	Logger *slog.Logger
	Config Config
	// Forget is told of an org whose callers' standing changed.
	Forget func(org string)
	// Unruled lets agents end what others hold exclusively, so that a test can
	// show that the rule is needed. It is set before the first request.
	Unruled bool
}

// New returns a Ground on s.
func New(s *store.Store, log *eventlog.Log, l *live.Set, logger *slog.Logger, cfg Config) *Ground {
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	return &Ground{
		Store:  s,
		Log:    log,
		Live:   l,
		Memory: memory.New(s),
		Leases: leases.New(s, log, l, logger),
		Logger: logger,
		Config: cfg,
		Forget: func(string) {},
	}
}

// NewID returns an id that sorts by the time it was made.
func NewID() string { return uuid.Must(uuid.NewV7()).String() }

// Read runs fn on the state of one moment.
func (s *Ground) Read(ctx context.Context, fn func(*store.Tx) error) error {
	return s.Store.Read(ctx, fn)
}

// Write runs fn in a transaction of the caller's org.
func (s *Ground) Write(ctx context.Context, who coord.Caller, fn func(*store.Tx) error) error {
	return s.Store.Write(ctx, who.OrgID, fn)
}

// actorOf returns who an event is by.
func actorOf(who coord.Caller) coord.Entity {
	switch {
	case who.Via == coord.ViaSystem:
		return coord.Entity{Kind: "system", ID: "svc"}
	case who.SessionID != "":
		return coord.Entity{Kind: "session", ID: who.SessionID}
	case who.UserID != "":
		return coord.Entity{Kind: "user", ID: who.UserID}
	}
	return coord.Entity{Kind: "service", ID: who.TokenID}
}

// A Happening is an event before it has an id.
type Happening struct {
	Type    coord.EventType
	Subject coord.Entity
	Repo    string // id, where the event is about one
	Payload any    // of the type that wire.Events has for it
}

// subject returns what an event is about: the noun of its type, by id.
func subject(t coord.EventType, id string) coord.Entity {
	return coord.Entity{Kind: t.Noun(), ID: id}
}

// Emit writes an event into the log as part of tx.
func Emit(ctx context.Context, tx *store.Tx, who coord.Caller, h Happening) error {
	return tx.Emit(ctx, coord.Event{
		OrgID:   who.OrgID,
		Type:    h.Type,
		Actor:   actorOf(who),
		Subject: h.Subject,
		RepoID:  h.Repo,
		Facts:   h.Payload,
	})
}

// Tell is emit for the common case: an event about one record.
func Tell(ctx context.Context, tx *store.Tx, who coord.Caller, t coord.EventType, id, repo string, payload any) error {
	return Emit(ctx, tx, who, Happening{Type: t, Subject: subject(t, id), Repo: repo, Payload: payload})
}

// System is the service itself, acting in an org.
func System(org string) coord.Caller { return coord.Caller{OrgID: org, Via: coord.ViaSystem} }

// cursor makes an opaque cursor from the last row's key.
func cursor(key ...any) *string {
	b, _ := json.Marshal(key)
	c := base64.RawURLEncoding.EncodeToString(b)
	return &c
}

// Uncursor reads a cursor into key; an empty one changes nothing.
func Uncursor(c string, key ...any) error {
	if c == "" {
		return nil
	}
	bad := problem.InvalidField("cursor", "is not a cursor of this list; start without one")
	b, err := base64.RawURLEncoding.Strict().DecodeString(c)
	if err != nil {
		return bad
	}
	var parts []json.RawMessage
	if json.Unmarshal(b, &parts) != nil || len(parts) != len(key) || bytes.Contains(b, []byte(`\u0000`)) {
		return bad
	}
	for i, p := range parts {
		if json.Unmarshal(p, key[i]) != nil {
			return bad
		}
	}
	return nil
}

// Page cuts rows, read with one more than limit, to a page.
func Page[T any](rows []T, limit int, key func(T) []any) (items []T, next *string) {
	if len(rows) <= limit {
		return rows, nil
	}
	rows = rows[:limit]
	return rows, cursor(key(rows[limit-1])...)
}

// WantUUID makes a path parameter that cannot be an id a 404, like an unknown
// one.
func WantUUID(id, missing string) error {
	if !shape.IsUUID(id) {
		return problem.Newf(problem.NotFound, "%s", missing)
	}
	return nil
}

// FirstError returns the first error there is. Its arguments are all carried
// out: it is for writes of one transaction, which fails as a whole.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Optional returns nil for an empty text.
func Optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Clip cuts s to at most n bytes, between characters.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Moment reads a time from a query, 0 if there is none.
func Moment(field, text string) (t coord.Time, err error) {
	if text == "" {
		return 0, nil
	}
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return 0, problem.InvalidField(field, "%v", err)
	}
	return t, nil
}

// Package ops is what the service does: one method per operation, one file
// per noun. An operation validates, opens one transaction, decides, and
// returns; it knows nothing of HTTP, tools or SQL.
package ops

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
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/memory"
	"github.com/svc-hq/svc/internal/server/outbound"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/vault"
)

// Config is what operations need to know of the installation.
type Config struct {
	PublicURL string     // where people reach the dashboard, without a trailing slash
	OIDC      *auth.OIDC // nil if no OpenID provider is configured
	Vault     *vault.Vault
	Outbound  *outbound.Client
	Stripe    *billing.Stripe // nil if billing is not configured
	GitHub    *githost.GitHub
	GitLab    *githost.GitLab
	GitHubURL string                                // on which GitHub new apps are made
	Mail      bool                                  // whether mail can be sent
	JobsReady func(context.Context) (string, error) // how the background work fares
}

// A Service carries out operations.
type Service struct {
	store  *store.Store
	log    *eventlog.Log
	live   *live.Set
	memory *memory.Set
	logger *slog.Logger
	cfg    Config
	waits  waits
	lines  lines
	beats  beats
	// toolCalls are when sessions' agents last called a tool.
	toolCalls beats
	admitted  admitted
	// Forget is told of an org whose callers' standing changed.
	Forget func(org string)
}

// New returns a Service on s.
func New(s *store.Store, log *eventlog.Log, l *live.Set, logger *slog.Logger, cfg Config) *Service {
	cfg.PublicURL = strings.TrimSuffix(cfg.PublicURL, "/")
	return &Service{store: s, log: log, live: l, memory: memory.New(s), logger: logger, cfg: cfg, waits: waits{open: map[string]int{}}, lines: lines{open: map[string]*line{}, watch: map[string]*lookout{}}, Forget: func(string) {}}
}

// newID returns an id that sorts by the time it was made.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// read runs fn on the state of one moment.
func (s *Service) read(ctx context.Context, fn func(*store.Tx) error) error {
	return s.store.Read(ctx, fn)
}

// write runs fn in a transaction of the caller's org.
func (s *Service) write(ctx context.Context, who coord.Caller, fn func(*store.Tx) error) error {
	return s.store.Write(ctx, who.OrgID, fn)
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

// A happening is an event before it has an id.
type happening struct {
	Type    coord.EventType
	Subject coord.Entity
	Repo    string // id, where the event is about one
	Payload map[string]any
}

// subject returns what an event is about: the noun of its type, by id.
func subject(t coord.EventType, id string) coord.Entity {
	noun, _, _ := strings.Cut(string(t), ".")
	return coord.Entity{Kind: noun, ID: id}
}

// emit writes an event into the log as part of tx.
func emit(ctx context.Context, tx *store.Tx, who coord.Caller, h happening) error {
	return tx.Emit(ctx, coord.Event{OrgID: who.OrgID, Type: h.Type, Actor: actorOf(who), Subject: h.Subject, RepoID: h.Repo, Payload: h.Payload})
}

// tell is emit for the common case: an event about one record.
func tell(ctx context.Context, tx *store.Tx, who coord.Caller, t coord.EventType, id, repo string, payload map[string]any) error {
	return emit(ctx, tx, who, happening{Type: t, Subject: subject(t, id), Repo: repo, Payload: payload})
}

// system is the service itself, acting in an org.
func system(org string) coord.Caller { return coord.Caller{OrgID: org, Via: coord.ViaSystem} }

// cursor makes an opaque cursor from the last row's key.
func cursor(key ...any) *string {
	b, _ := json.Marshal(key)
	c := base64.RawURLEncoding.EncodeToString(b)
	return &c
}

// uncursor reads a cursor into key; an empty one changes nothing.
func uncursor(c string, key ...any) error {
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

// page cuts rows, read with one more than limit, to a page.
func page[T any](rows []T, limit int, key func(T) []any) (items []T, next *string) {
	if len(rows) <= limit {
		return rows, nil
	}
	rows = rows[:limit]
	return rows, cursor(key(rows[limit-1])...)
}

// wantUUID makes a path parameter that cannot be an id a 404, like an unknown
// one.
func wantUUID(id, missing string) error {
	if !shape.IsUUID(id) {
		return problem.Newf(problem.NotFound, "%s", missing)
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// clip cuts s to at most n bytes, between characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

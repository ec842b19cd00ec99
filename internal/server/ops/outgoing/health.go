package outgoing

import (
	"context"
	"errors"
	"maps"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// GetHealth tells that the process runs.
func (s *Service) GetHealth(context.Context, coord.Caller, wire.None) (wire.Health, error) {
	return wire.Health{Status: "ok"}, nil
}

// GetReady tells whether the service can do its work.
func (s *Service) GetReady(ctx context.Context, _ coord.Caller, _ wire.None) (wire.Ready, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	out := wire.Ready{Status: "ready", Checks: map[string]wire.Check{}}
	checks := map[string]func(context.Context) (string, error){"database": s.checkDatabase, "migrations": s.checkMigrations}
	maps.Copy(checks, s.Config.Ready)
	for name, check := range checks {
		start := time.Now()
		detail, err := check(ctx)
		c := wire.Check{OK: err == nil, Detail: detail, MS: int(time.Since(start).Milliseconds())}
		if err != nil {
			s.Logger.WarnContext(ctx, "not ready", "check", name, "err", err)
			c.Detail = "failed; see the server's log"
			if fault := new(store.Fault); errors.As(err, &fault) {
				c.Detail = fault.Error() + "; see the server's log"
			}
			out.Status = "unavailable"
		}
		out.Checks[name] = c
	}
	return out, nil
}

func (s *Service) checkDatabase(ctx context.Context) (string, error) {
	return s.Store.Name(), s.Store.Ready(ctx)
}

func (s *Service) checkMigrations(ctx context.Context) (string, error) {
	pending, err := s.Store.Pending(ctx)
	if len(pending) > 0 {
		return "pending: " + strings.Join(pending, ", "), err
	}
	return "up to date", err
}

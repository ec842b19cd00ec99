package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/store"
)

const auditUsage = `usage: svcd audit [--org SLUG] [--before YYYY-MM-DD] [--data FOLDER | --database URL]

Prints the event log, oldest first, one event as JSON on each line, while the
server runs or not. Events older than the policy's retention_days are
forgotten: run this before, and keep what it prints.

Example:
  svcd audit --before 2026-01-01 > audit-2025.jsonl
`

// auditPage is how many events are read at once.
const auditPage = 500

func audit(ctx context.Context, env Env, args []string) error {
	at, rest, err := places(env, "audit", auditUsage, args, "org", "before", "data", "database")
	if err != nil {
		return err
	}
	if len(rest) > 0 {
		return usageError{fmt.Errorf("audit takes no argument %q; svcd audit --help tells more", rest[0])}
	}
	var before coord.Time
	if at["before"] != "" {
		day, err := time.Parse(time.DateOnly, at["before"])
		if err != nil {
			return usageError{fmt.Errorf("--before %q is not a date such as 2026-01-31", at["before"])}
		}
		before = coord.TimeOf(day)
	}
	cfg, err := databaseOf(env, "audit", at)
	if err != nil {
		return err
	}
	st, err := store.Existing(ctx, cfg.Database)
	if err != nil {
		return err
	}
	defer st.Close()
	var orgs []coord.Org
	if err := st.Read(ctx, func(tx *store.Tx) (err error) {
		orgs, err = tx.Orgs(ctx)
		return err
	}); err != nil {
		return err
	}
	found := false
	for _, o := range orgs {
		if at["org"] == "" || at["org"] == o.Slug {
			found = true
			if err := printEvents(ctx, env, st, o.ID, before); err != nil {
				return err
			}
		}
	}
	if !found && at["org"] != "" {
		return fmt.Errorf("there is no org %q", at["org"])
	}
	return nil
}

// printEvents prints an org's events, page by page: nothing waits for it.
func printEvents(ctx context.Context, env Env, st *store.Store, org string, before coord.Time) error {
	out := json.NewEncoder(env.Stdout)
	for last := int64(0); ; {
		var page []coord.Event
		if err := st.Read(ctx, func(tx *store.Tx) (err error) {
			page, err = tx.EventsAfter(ctx, org, last, auditPage)
			return err
		}); err != nil {
			return err
		}
		for _, e := range page {
			last = e.Seq
			if before > 0 && e.OccurredAt >= before {
				continue
			}
			if err := out.Encode(e); err != nil {
				return err
			}
		}
		if len(page) < auditPage {
			return nil
		}
	}
}

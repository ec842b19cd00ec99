package outgoing

import (
	"context"
	"strconv"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/eventlog"
	"github.com/svc-hq/svc/internal/server/ops/ground"
	"github.com/svc-hq/svc/internal/server/ops/work"
	"github.com/svc-hq/svc/internal/server/store"
)

// ListEvents returns the audit log, newest first.
func (s *Service) ListEvents(ctx context.Context, who coord.Caller, in wire.ListEvents) (out wire.Page[coord.Event], err error) {
	want := store.EventFilter{Types: in.Type, Subject: in.Subject, Limit: in.Limit + 1}
	if err := ground.Uncursor(in.Cursor, &want.Before); err != nil {
		return out, err
	}
	if want.Since, err = ground.Moment("since", in.Since); err != nil {
		return out, err
	}
	if want.Until, err = ground.Moment("until", in.Until); err != nil {
		return out, err
	}
	err = s.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Events(ctx, who.OrgID, want)
		out.Items, out.NextCursor = ground.Page(rows, in.Limit, func(e coord.Event) []any { return []any{e.Seq} })
		return err
	})
	return out, err
}

// A Following is a stream of events that a caller asked for.
type Following struct {
	*eventlog.Sub
	types map[coord.EventType]bool
	repos map[string]bool
}

// Wants reports whether the caller asked for e.
func (f *Following) Wants(e *coord.Event) bool {
	return (len(f.types) == 0 || f.types[e.Type]) && (len(f.repos) == 0 || f.repos[e.RepoID])
}

// FollowEvents begins a stream: from now on, or after the id to resume from.
func (s *Service) FollowEvents(ctx context.Context, who coord.Caller, in wire.Stream) (*Following, error) {
	f := &Following{types: map[coord.EventType]bool{}, repos: map[string]bool{}}
	for _, t := range in.Types {
		f.types[t] = true
	}
	var newest int64
	err := s.Read(ctx, func(tx *store.Tx) (err error) {
		if newest, err = tx.LastSeq(ctx, who.OrgID); err != nil {
			return err
		}
		for _, sel := range in.Repos {
			r, err := work.RepoField(ctx, tx, who, "repos", sel)
			if err != nil {
				return err
			}
			f.repos[r.ID] = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if in.LastEventID == "" {
		f.Sub, err = s.Log.FollowNow(ctx, who.OrgID)
		return f, err
	}
	after, err := strconv.ParseInt(in.LastEventID, 10, 64)
	if err != nil || after < 0 {
		return nil, problem.InvalidField("last_event_id", "must be the id of an event")
	}
	// An id we have not reached comes from before a backup was restored:
	// waiting for the log to pass it would swallow events.
	f.Sub = s.Log.Follow(who.OrgID, min(after, newest))
	return f, nil
}

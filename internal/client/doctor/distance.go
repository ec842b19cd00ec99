package doctor

import (
	"context"
	"slices"
	"time"

	"github.com/svc-hq/svc/internal/core/wire"
)

// trips is how many round trips a hook needs that asks the server itself: to
// connect, for TLS, and for the question.
const trips = 3

// checkDistance says how far away the server is, who decides edits, and whether
// that is quick enough for a hook.
func checkDistance(ctx context.Context, p *Patient) []Check {
	const name = "distance"
	if p.Edge == nil {
		return nil
	}
	edge, wanted := p.Edge(ctx)
	if edge == nil {
		trip, err := p.trip(ctx)
		away := trip.Round(time.Millisecond)
		switch {
		case err != nil:
			return one(name, Warn, "", "not known: %v", err)
		case !wanted:
			return one(name, OK, "", "Server %s away; it decides every edit", away)
		case trips*trip > slow:
			return one(name, Warn, "svc edge start", "Server %s away, and nothing on this machine answers for it: edits need %s and go on "+
				"unchecked after %s", away, trips*away, slow)
		}
		return one(name, OK, "", "Server %s away; hooks ask it directly", away)
	}
	away := time.Duration(edge.TripMS) * time.Millisecond
	if edge.TripMS == 0 { // nobody has asked through it yet
		if trip, err := p.trip(ctx); err == nil {
			away = trip.Round(time.Millisecond)
		}
	}
	switch {
	case edge.Problem != "":
		return one(name, Warn, "", "Server cannot be reached (%s); edits go on unchecked until it can, and %d reports wait to be sent",
			edge.Problem, edge.Spooled)
	case p.leased(edge.Repos):
		return one(name, OK, "", "Server %s away; decisions are made on this machine (lease valid)", away)
	case away > slow:
		return one(name, Warn, "", "Server %s away, and this machine has no lease to decide: edits go on unchecked after %s", away, slow)
	}
	return one(name, OK, "", "Server %s away; it decides every edit, over a connection that stays open", away)
}

// trip measures a round trip: the first question may have to connect.
func (p *Patient) trip(ctx context.Context) (time.Duration, error) {
	if p.Remote == nil {
		return 0, p.RemoteErr
	}
	var start time.Time
	for range 2 {
		start = p.Now()
		if _, err := p.Remote.Health(ctx); err != nil {
			return 0, err
		}
	}
	return p.Now().Sub(start), nil
}

// leased reports whether the edge may decide by itself: here, or where its
// person's agents work now.
func (p *Patient) leased(repos []wire.EdgeFollowReport) bool {
	return slices.ContainsFunc(repos, func(r wire.EdgeFollowReport) bool { return r.LeaseMS > 0 })
}

package doctor

import (
	"context"
	"strings"
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
	case len(leased(edge.Repos)) > 0:
		return one(name, OK, "", "Server %s away; this machine decides edits of %s (lease valid), and asks it about others", away,
			strings.Join(leased(edge.Repos), ", "))
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

// leased names the repositories in which the edge may decide by itself: there
// its person's agents have worked lately.
func leased(repos []wire.EdgeFollowReport) (out []string) {
	for _, r := range repos {
		if r.LeaseMS > 0 {
			out = append(out, r.Repo)
		}
	}
	return out
}

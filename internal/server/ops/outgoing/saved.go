package outgoing

import (
	"context"
	"fmt"
	"math"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/policy"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/store"
)

// maxSaved is how many of the conflicts behind the figure are listed.
const maxSaved = 500

// savedIn returns the time saved in a window, with all that it is made of:
// coord.Saving decides what counts, and two pieces of work count once a day.
func savedIn(ctx context.Context, tx *store.Tx, org string, w store.StatsWindow) (out wire.TimeSaved, err error) {
	rules, err := tx.Policies(ctx, org)
	if err != nil {
		return out, err
	}
	p := policy.Merge(rules[""])
	out = wire.TimeSaved{TimeSavedItems: []wire.SavedTime{}, TimeSavedHidden: p.TimeSavedMinutes == 0, TimeSavedIn: p.TimeSavedCurrency,
		TimeSavedBasis: fmt.Sprintf("An estimate: %d minutes for each conflict that warned or stopped somebody and was ended by a person, "+
			"a rebase, a wait or a change of plan, once a day for two pieces of work; less %d minutes for each false alarm.",
			p.TimeSavedMinutes, coord.MinutesPerFalseAlarm)}
	if out.TimeSavedHidden {
		out.TimeSavedBasis = ""
		return out, nil
	}
	ended, err := tx.EndedConflicts(ctx, org, w)
	if err != nil {
		return out, err
	}
	seen := map[string]bool{}
	total := 0
	for _, c := range ended { // newest first
		by, counts := coord.Saving(c.Ended)
		minutes := p.TimeSavedMinutes
		if by == coord.FalseAlarm {
			minutes = -coord.MinutesPerFalseAlarm
		}
		pair := fmt.Sprint(c.Pair(), by == coord.FalseAlarm, c.ClosedAt.Std().Format("2006-01-02"))
		if !counts || seen[pair] {
			continue
		}
		seen[pair] = true
		total += minutes
		out.TimeSavedCount++
		if len(out.TimeSavedItems) < maxSaved {
			out.TimeSavedItems = append(out.TimeSavedItems, wire.SavedTime{Ref: c.Ref, Kind: c.Kind, Severity: c.Severity, Repo: c.Repo,
				Parties: c.Parties, By: by, Who: c.LastBy(), Minutes: minutes, SeenAt: c.FirstSeenAt, EndedAt: *c.ClosedAt})
		}
	}
	out.TimeSavedMinutes = max(0, total)
	out.TimeSavedWorth = math.Round(float64(out.TimeSavedMinutes)*p.TimeSavedMinuteWorth*100) / 100
	return out, nil
}

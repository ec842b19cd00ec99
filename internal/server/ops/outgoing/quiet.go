package outgoing

import (
	"time"
	_ "time/tzdata" // a container or Windows need not have the zones

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/problem"
	"github.com/svc-hq/svc/internal/core/wire"
)

// checkQuiet refuses quiet hours that cannot be meant.
func checkQuiet(q *wire.QuietHours) error {
	if q == nil {
		return nil
	}
	if _, err := zoneOf(q); err != nil {
		return problem.InvalidField("quiet.zone", "is no time zone that is known here; write it as Europe/Berlin or UTC")
	}
	if q.From == q.Until {
		return problem.InvalidField("quiet.until", "must be another time than from: nothing would ever be posted")
	}
	return nil
}

// zoneOf reads the zone. "Local" would be the server's, which nobody means.
func zoneOf(q *wire.QuietHours) (*time.Location, error) {
	if q.Zone == "Local" {
		return nil, problem.InvalidField("quiet.zone", "is none")
	}
	return time.LoadLocation(q.Zone)
}

// FreeAt returns when something may be posted that comes up now: now, or the
// end of the quiet hours.
func FreeAt(q *wire.QuietHours, now coord.Time) coord.Time {
	if q == nil {
		return now
	}
	zone, err := zoneOf(q)
	if err != nil { // it was known when it was set
		return now
	}
	t := now.Std().In(zone)
	for range 8 { // a weekend between two nights is the longest there is
		end, quiet := quietUntil(q, t)
		if !quiet {
			break
		}
		t = end
	}
	return max(now, coord.TimeOf(t.Add(time.Millisecond-1).Truncate(time.Millisecond)))
}

// quietUntil returns when the quiet time that t is in ends, by the clock on
// the wall: a night in which clocks change is longer or shorter.
func quietUntil(q *wire.QuietHours, t time.Time) (end time.Time, quiet bool) {
	day := func(days int, clock string) time.Time {
		at, _ := time.Parse("15:04", clock) // its pattern was checked
		return time.Date(t.Year(), t.Month(), t.Day()+days, at.Hour(), at.Minute(), 0, 0, t.Location())
	}
	if q.Weekends && (t.Weekday() == time.Saturday || t.Weekday() == time.Sunday) {
		return day(1, "00:00"), true
	}
	clock := t.Format("15:04")
	switch {
	case q.From < q.Until && clock >= q.From && clock < q.Until, q.From > q.Until && clock < q.Until:
		return later(t, day(0, q.Until)), true
	case q.From > q.Until && clock >= q.From:
		return day(1, q.Until), true
	}
	return t, false
}

// later is the end of a quiet time, which is after t even where the clock
// shows an hour twice.
func later(t, end time.Time) time.Time {
	if !end.After(t) {
		return end.Add(time.Hour)
	}
	return end
}

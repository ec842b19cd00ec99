package outgoing_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/ops/outgoing"
)

func TestWhenQuietHoursEnd(t *testing.T) {
	night := wire.QuietHours{From: "19:00", Until: "08:00", Zone: "Europe/Berlin"}
	weekend := night
	weekend.Weekends = true
	for _, tt := range []struct {
		q         wire.QuietHours
		now, want string
	}{
		{night, "2026-11-18T12:00:00Z", "2026-11-18T12:00:00.000Z"},
		{night, "2026-11-18T18:00:00Z", "2026-11-19T07:00:00.000Z"}, // 19:00 there
		{night, "2026-11-18T17:59:59Z", "2026-11-18T17:59:59.000Z"},
		{night, "2026-11-19T06:59:59Z", "2026-11-19T07:00:00.000Z"},
		{night, "2026-11-19T07:00:00Z", "2026-11-19T07:00:00.000Z"},
		{weekend, "2026-11-20T20:00:00Z", "2026-11-23T07:00:00.000Z"}, // Friday evening to Monday
		{weekend, "2026-11-21T12:00:00Z", "2026-11-23T07:00:00.000Z"},
		{night, "2026-03-28T20:00:00Z", "2026-03-29T06:00:00.000Z"}, // clocks go forward
		{night, "2026-10-24T20:00:00Z", "2026-10-25T07:00:00.000Z"}, // and back
		{wire.QuietHours{From: "12:00", Until: "13:30", Zone: "UTC"}, "2026-11-18T13:00:00Z", "2026-11-18T13:30:00.000Z"},
	} {
		now, _ := time.Parse(time.RFC3339, tt.now)
		if got := outgoing.FreeAt(&tt.q, coord.TimeOf(now)).String(); got != tt.want {
			t.Errorf("%+v at %s ends %s, want %s", tt.q, tt.now, got, tt.want)
		}
	}
}

// Whatever the hours, zone and moment: where a quiet time ends it is not
// quiet, and before that it is.
func TestQuietTimesEndWhereTheyEnd(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/Santiago"}
	for range 3000 {
		at := func() string { return fmt.Sprintf("%02d:%02d", rand.IntN(24), rand.IntN(60)) }
		q := wire.QuietHours{From: at(), Until: at(), Zone: zones[rand.IntN(len(zones))], Weekends: rand.IntN(2) == 0}
		if q.From == q.Until {
			continue
		}
		now := coord.TimeOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(rand.Int64N(int64(2 * 365 * 24 * time.Hour)))))
		end := outgoing.FreeAt(&q, now)
		if again := outgoing.FreeAt(&q, end); again != end {
			t.Fatalf("%+v at %s ends %s, where it is quiet until %s", q, now, end, again)
		}
		if end > now {
			if mid := now + (end-now)/2; outgoing.FreeAt(&q, mid) != end {
				t.Fatalf("%+v at %s ends %s, but at %s %s", q, now, end, mid, outgoing.FreeAt(&q, mid))
			}
		}
		if end.Sub(now) > 73*time.Hour+24*time.Hour {
			t.Fatalf("%+v at %s ends %s", q, now, end)
		}
	}
}

// Package coord defines what the service is about: intents, conflicts,
// messages, sessions, events, and the people and agents behind them, with the
// rules of their states. It imports only the standard library and does no I/O.
//
// The types are the records that callers see: their JSON form is the contract.
// A field without a value is null, never missing, so that clients in typed
// languages need no special case.
package coord

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Time is a moment in milliseconds since 1970, UTC: what both databases
// store alike and what JSON shows as RFC 3339 with milliseconds.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000Z"

// TimeOf returns t, cut to milliseconds.
func TimeOf(t time.Time) Time { return Time(t.UnixMilli()) }

// Std returns t as the standard library has it, in UTC.
func (t Time) Std() time.Time { return time.UnixMilli(int64(t)).UTC() }

// Add returns t moved by d.
func (t Time) Add(d time.Duration) Time { return t + Time(d.Milliseconds()) }

// Sub returns the time from u to t.
func (t Time) Sub(u Time) time.Duration { return time.Duration(t-u) * time.Millisecond }

// Ptr returns a pointer to a copy of t, for fields that may have no value.
func (t Time) Ptr() *Time { return &t }

func (t Time) String() string { return t.Std().Format(timeLayout) }

// MarshalText writes t as RFC 3339, which JSON quotes.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads RFC 3339 with any precision.
func (t *Time) UnmarshalText(b []byte) error {
	s, err := time.Parse(time.RFC3339, string(b))
	if err != nil {
		return fmt.Errorf("%q is not a time such as 2026-11-15T09:30:00.000Z", b)
	}
	*t = TimeOf(s)
	return nil
}

// IntentRef and ConflictRef are how people and agents name a record.
func IntentRef(n int) string   { return "INT-" + strconv.Itoa(n) }
func ConflictRef(n int) string { return "CF-" + strconv.Itoa(n) }

// MaxRef is the greatest number that a ref can have.
const MaxRef = 999_999_999

// ParseIntentRef reads INT-7 or 7, in any case.
func ParseIntentRef(s string) (int, bool) { return parseRef(s, "INT-") }

// ParseConflictRef reads CF-7 or 7, in any case.
func ParseConflictRef(s string) (int, bool) { return parseRef(s, "CF-") }

func parseRef(s, prefix string) (int, bool) {
	if len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix) {
		s = s[len(prefix):]
	}
	// Only plain digits: Atoi would also take a sign.
	if s = strings.TrimLeft(s, "0"); s == "" || len(s) > 9 || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.Atoi(s)
	return n, err == nil && n > 0
}

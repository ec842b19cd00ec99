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
	"unicode"
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

// Ago tells t as somebody says it at another time: "eleven minutes ago". Readers
// are in many zones, and a model does not know what time it is.
func (t Time) Ago(now Time) string {
	unit, n := "minute", int(now.Sub(t).Minutes())
	switch {
	case n < 1:
		return "just now"
	case n >= 48*60:
		unit, n = "day", n/(24*60)
	case n >= 120:
		unit, n = "hour", n/60
	}
	if n == 1 {
		return "one " + unit + " ago"
	}
	if n > 12 {
		return "about " + InWords(n) + " " + unit + "s ago" // "lines 3-5 25 minutes ago" would not read
	}
	return InWords(n) + " " + unit + "s ago"
}

// Stamp is how a sentence of the record tells a moment: it is read at any time.
const Stamp = "2006-01-02 15:04 UTC"

// AsSeen returns a sentence of the record with its moments as they are seen from
// now: neither a model nor a person is to reckon with UTC.
func AsSeen(text string, now Time) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(text, " at ")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		at, err := time.Parse(Stamp, after[:min(len(Stamp), len(after))])
		if err != nil {
			b.WriteString(" at ")
			text = after
			continue
		}
		// It was at some moment of that minute: the latest does not make it older than it is.
		b.WriteString(" " + min(Time(at.UnixMilli())+59_999, now).Ago(now))
		text = after[len(Stamp):]
	}
}

// InWords returns a number as it stands in a sentence.
func InWords(n int) string {
	small := []string{"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	if n < len(small) {
		return small[n]
	}
	return strconv.Itoa(n)
}

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

// IsName reports whether all of a name can be seen: nothing in it moves the
// cursor, turns the direction of text or has no width. What joins letters of
// some scripts is part of them.
func IsName(s string) bool { return !strings.ContainsFunc(s, hidden) }

// Visible is a name that others gave, without what cannot be seen: nobody who
// would have to change it there can be asked.
func Visible(s string) string {
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, s)
}

func hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != 0x200c && r != 0x200d || r == 0x2028 || r == 0x2029
}

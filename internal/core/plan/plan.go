// Package plan says what each plan allows. It counts nothing and refuses
// nothing: the operations compare it with what is used.
package plan

// Names of the plans. A server without billing runs every org as SelfHosted.
const (
	Free       = "free"
	Team       = "team"
	Business   = "business"
	SelfHosted = "self_hosted"
)

// A Limit is how much a plan allows; 0 is no limit.
type Limit struct {
	Repos      int
	Developers int // active in a calendar month
}

// Near reports whether at least 80 % of a limit are used.
func Near(used, limit int) bool { return limit > 0 && used*100 >= limit*80 }

var limits = map[string]Limit{
	Free:       {3, 5},
	Team:       {25, 25},
	Business:   {250, 250},
	SelfHosted: {},
}

// Limits returns what a plan allows; an unknown one allows what Free does.
func Limits(name string) Limit {
	if l, ok := limits[name]; ok {
		return l
	}
	return limits[Free]
}

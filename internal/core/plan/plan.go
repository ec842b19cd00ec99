// Package plan says what each plan allows.
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

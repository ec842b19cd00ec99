package wire

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/problem"
)

// Limits of lists.
const (
	DefaultLimit = 50
	MaxLimit     = 200
)

// A List asks for a page.
type List struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"1000" doc:"next_cursor of the page before"`
}

// A WholeList takes what lists with pages take. It changes nothing.
type WholeList struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Changes nothing: the list is whole"`
	Cursor string `query:"cursor" maxLength:"1000" doc:"This list has no cursors; next_cursor is always null"`
}

// ChangedSince narrows a list to what changed, for readers who keep the rest.
type ChangedSince struct {
	Since string `query:"changed_since" format:"date-time" doc:"Only what changed since then, closed or not unless status says so"`
}

// IfMatch makes a change only of the version that the caller has seen.
type IfMatch struct {
	Version string `header:"If-Match" maxLength:"200" doc:"The ETag of what was read; if it changed since, the answer is 412 and nothing is written"`
}

// Check refuses a change of another version than the one that was seen.
func (m IfMatch) Check(now string) error {
	if m.Version == "" || m.Version == "*" || m.Version == now {
		return nil
	}
	return problem.Newf(problem.Outdated, "somebody changed it since you read it; read it again and apply your change to that")
}

// Clearing is part of a change that can make fields empty: null does so, and
// what is left out stays. The fields say so with the tag clear.
type Clearing struct {
	Null []string `json:"-"`
}

// NoteNulls takes the names of what the caller gave as null.
func (c *Clearing) NoteNulls(names []string) { c.Null = names }

// Clears reports whether a field is to be empty.
func (c Clearing) Clears(field string) bool { return slices.Contains(c.Null, field) }

// A Page is one page of a list.
type Page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor" doc:"null on the last page"`
}

// All returns an unpaged list.
func All[T any](items []T) Page[T] { return Page[T]{Items: items} }

// None is an empty input or output.
type None struct{}

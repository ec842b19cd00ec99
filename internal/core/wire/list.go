package wire

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

// A Page is one page of a list.
type Page[T any] struct {
	Items      []T     `json:"items"`
	NextCursor *string `json:"next_cursor" doc:"null on the last page"`
}

// All returns an unpaged list.
func All[T any](items []T) Page[T] { return Page[T]{Items: items} }

// None is an empty input or output.
type None struct{}

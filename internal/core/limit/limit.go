// Package limit is for lists that a limit may cut. Whoever reads one sees that
// there is more: what was cut off is unknown, and unknown is not nothing.
package limit

// A List is what was looked at, and whether there is more.
type List[T any] struct {
	Items []T
	Cut   bool // there is more that nobody looked at
}

// First returns the first items of a list.
func First[T any](items []T, most int) List[T] {
	return List[T]{Items: items[:min(len(items), most)], Cut: len(items) > most}
}

// Add adds an item, or notes that there is no room for it.
func (l *List[T]) Add(most int, item T) {
	if len(l.Items) >= most {
		l.Cut = true
		return
	}
	l.Items = append(l.Items, item)
}

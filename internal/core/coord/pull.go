package coord

// A PullState is what became of a pull or merge request.
type PullState string

const (
	PullOpen   PullState = "open"
	PullClosed PullState = "closed" // and not merged
	PullMerged PullState = "merged"
)

// Rank orders the states by how final they are.
func (s PullState) Rank() int {
	switch s {
	case PullClosed:
		return 1
	case PullMerged:
		return 2
	}
	return 0
}

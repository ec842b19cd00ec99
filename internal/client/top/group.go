package top

import (
	"fmt"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/team"
	"github.com/svc-hq/svc/internal/core/coord"
)

// tally says how many agents there are in each state, the worst first.
func tally(all []team.Agent) string {
	count, order := map[coord.AgentState]int{}, []coord.AgentState{}
	for _, a := range all { // which come in the order of their states
		if count[a.State] == 0 {
			order = append(order, a.State)
		}
		count[a.State]++
	}
	parts := make([]string, len(order))
	for i, state := range order {
		parts[i] = fmt.Sprintf("%d %s", count[state], team.States[state])
	}
	return strings.Join(parts, ", ")
}

// byRepo returns the agents of each repository together, the one with the worst
// trouble first.
func byRepo(all []team.Agent) []team.Agent {
	order := map[string]int{}
	for _, a := range all {
		if _, ok := order[a.Repo]; !ok {
			order[a.Repo] = len(order)
		}
	}
	out := slices.Clone(all)
	slices.SortStableFunc(out, func(a, b team.Agent) int { return order[a.Repo] - order[b.Repo] })
	return out
}

// group puts the repository before the first row of each of its agents, with
// how many there are.
func (l *list) group(repos []string) {
	seen := map[string]int{}
	for _, r := range repos {
		seen[r]++
	}
	before := ""
	for i, r := range repos {
		cell := ""
		if r != before {
			cell = fmt.Sprintf("%s (%d)", r, seen[r])
		}
		l.rows[i][0], before = cell, r
	}
}

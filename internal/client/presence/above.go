package presence

import (
	"os"
	"slices"
	"strings"
)

// Above reports whether an agent host is above this process: one whose hooks
// have run on this machine, or a program of one of these names. What an agent
// starts acts for the agent, whoever is logged in.
func (b Book) Above(names []string) bool {
	mine, place := Hosts(), here()
	for _, s := range b.All() {
		if s.Place == place && !s.Ended && s.Firm && len(s.Hosts) > 0 && slices.Contains(mine, s.Hosts[0]) {
			return true
		}
	}
	pid := os.Getppid()
	for range maxParents {
		p, err := look(pid)
		if pid <= 1 || err != nil {
			return false
		}
		if slices.Contains(names, strings.TrimSuffix(strings.ToLower(p.name), ".exe")) {
			return true
		}
		pid = p.parent
	}
	return false
}

package mcpserver

import (
	"fmt"
	"strings"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
)

func contractWords(p wire.ContractPicture) string {
	var s sheet
	if len(p.Contracts) == 0 {
		s.line("Nothing is known of it in %s or its linked repositories.", p.Repo.FullName)
	}
	for i, c := range p.Contracts {
		if i == 5 {
			s.line("and %d more in the structured content.", len(p.Contracts)-i)
			break
		}
		addContract(&s, c)
	}
	for _, l := range p.Limits {
		s.line("(%s)", l)
	}
	return s.done()
}

func addContract(s *sheet, c wire.ContractRecord) {
	s.line("%s: criticality %s, used in %s of %s.", c.Key, c.Criticality.Level,
		counted(c.Criticality.Users, "place", "places"), counted(c.Criticality.Repos, "repository", "repositories"))
	if c.Signature != nil {
		s.line("  signature: %s", *c.Signature)
	}
	addPlaces(s, "provided in", c.Providers)
	addPlaces(s, "used in", c.Users)
	for i, f := range c.InFlight {
		if i == 3 {
			s.line("  and %d more changes in flight.", len(c.InFlight)-i)
			break
		}
		s.line("  IN FLIGHT: %s in %s (%s, %s). Message them before you rely on it.", author(f), f.Path, f.Change, f.Compatibility)
	}
}

func author(f wire.ContractChange) string {
	return party(coord.Party{User: f.By, Intent: f.Intent, Branch: f.Branch, Repo: f.Repo})
}

func addPlaces(s *sheet, how string, places []wire.ContractPlace) {
	var at []string
	for i, p := range places {
		if i == 3 {
			at = append(at, fmt.Sprintf("and %d more", len(places)-i))
			break
		}
		at = append(at, fmt.Sprintf("%s %s:%d", p.Repo.FullName, p.Path, p.Line))
	}
	if len(at) > 0 {
		s.line("  %s %s", how, strings.Join(at, ", "))
	}
}

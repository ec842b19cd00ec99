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
	addUses(s, c.Users)
	for i, f := range c.InFlight {
		if i == 3 {
			s.line("  and %d more changes in flight.", len(c.InFlight)-i)
			break
		}
		s.line("  IN FLIGHT: %s in %s (%s, %s). Message them before you rely on it.", author(f), f.Path, f.Change, f.Compatibility)
	}
}

// hurt is what is said of a place that a change in flight, or one that landed, is
// known to reach; of all others nothing needs to be done.
var hurt = map[coord.UseState]string{coord.UseFails: " fails", coord.UseMayFail: " may fail", coord.UseMoving: " is being moved off it"}

func addUses(s *sheet, uses []wire.ContractUse) {
	var places []string
	moved := 0
	for _, u := range uses {
		if u.State == coord.UseMoved {
			moved++
			continue
		}
		place := fmt.Sprintf("%s %s:%d%s", u.Repo.FullName, u.Path, u.Line, hurt[u.State])
		if u.Owner != nil && hurt[u.State] != "" {
			place += " (" + u.Owner.Name + ")"
		}
		places = append(places, place)
	}
	addList(s, "used in", places)
	if moved > 0 {
		s.line("  %s moved on from it.", counted(moved, "place has", "places have"))
	}
}

func author(f wire.ContractChange) string {
	return party(coord.Party{User: f.By, Intent: f.Intent, Branch: f.Branch, Repo: f.Repo})
}

func addPlaces(s *sheet, how string, places []wire.ContractPlace) {
	var at []string
	for _, p := range places {
		at = append(at, fmt.Sprintf("%s %s:%d", p.Repo.FullName, p.Path, p.Line))
	}
	addList(s, how, at)
}

// addList says where, of many the first three.
func addList(s *sheet, how string, at []string) {
	if n := len(at) - 3; n > 0 {
		at = append(at[:3], fmt.Sprintf("and %d more", n))
	}
	if len(at) > 0 {
		s.line("  %s %s", how, strings.Join(at, ", "))
	}
}

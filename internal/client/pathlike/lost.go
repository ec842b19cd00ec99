package pathlike

import (
	"slices"
	"strconv"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// Lost returns the members that a file had and has no longer, and those that
// hold another kind of value now; came are hashes of those that it got: what one
// file has lost and another got only moved.
func Lost(old, new []Field) (out []coord.LostName, came []string) {
	had, has := membersOf(old), membersOf(new)
	var gained []string
	for _, f := range new {
		word := scope.FieldWord(f.Name)
		if f.Kind == Member && had[coord.FieldName(f.Name)] == nil && !slices.Contains(came, word) && len(came) < coord.MaxCame {
			gained = append(gained, f.Name)
			came = append(came, word)
		}
	}
	told := map[string]bool{}
	for _, f := range old {
		key := coord.FieldName(f.Name)
		if f.Kind != Member || told[key] || len(out) == coord.MaxLost {
			continue
		}
		told[key] = true
		lost := coord.LostName{Word: scope.FieldWord(f.Name), Name: f.Name, Line: f.Line, Telling: scope.Telling(f.Name)}
		if f.Owner != "" {
			lost.Owner = scope.FieldWord(f.Owner)
		}
		switch now := has[key]; {
		case now == nil:
		case !slices.ContainsFunc(new, func(n Field) bool { return n.Kind == Member && n.Name == f.Name }):
			lost.Now = "it is written " + now.Name + " now"
		case f.Type == "" || now.Type == "" || now.Type == f.Type || now.Owner != f.Owner:
			continue
		default:
			lost.Now = "it holds a " + now.Type + " now, which was a " + f.Type
		}
		out = append(out, lost)
	}
	if len(out) == 1 && len(gained) == 1 && out[0].Now == "" {
		out[0].Now = gained[0] + " stands in its place"
	}
	return out, came
}

// membersOf returns the members of a file by name, the first of each.
func membersOf(all []Field) map[string]*Field {
	out := map[string]*Field{}
	for i := range all {
		if key := coord.FieldName(all[i].Name); all[i].Kind == Member && out[key] == nil {
			out[key] = &all[i]
		}
	}
	return out
}

// Names returns what is kept of a file's names: a hash, a letter for where it
// stands, a capital in a file that a tool wrote, and the line, each once, what
// says most first. Of names that all programs have only members are kept.
func Names(all []Field, toolMade bool) []string {
	letters := "mor"
	if toolMade {
		letters = "MOR"
	}
	var out []string
	told := map[string]bool{}
	seen := map[Field]bool{} // a name is mostly written again and again
	for _, kind := range []FieldKind{Member, Owner, Access} {
		for _, f := range all {
			if f.Kind != kind || seen[Field{Name: f.Name, Kind: kind}] {
				continue
			}
			seen[Field{Name: f.Name, Kind: kind}] = true
			if kind == Access && scope.Telling(f.Name) == 0 {
				continue
			}
			word := scope.FieldWord(f.Name)
			if kind == Owner {
				word = scope.FieldWord(scope.OwnerName(f.Name))
			}
			letter := string(letters[kind])
			if kind != Owner && told[letters[:1]+word] || told[letter+word] {
				continue
			}
			told[letter+word] = true
			if len(out) == coord.MaxNames {
				return out
			}
			out = append(out, word+letter+strconv.Itoa(f.Line))
		}
	}
	return out
}

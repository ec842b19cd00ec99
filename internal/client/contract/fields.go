package contract

import (
	"slices"

	"github.com/svc-hq/svc/internal/core/coord"
)

// MaxFields bounds the fields of one contract. A use of more is taken for one
// of everything.
const MaxFields = 200

// lostFields are the fields whose users a change breaks; nil if it breaks
// others too. old may be nil.
func lostFields(old, new *Contract) []coord.ContractField {
	var out []coord.ContractField
	lose := func(name string) { out = append(out, coord.ContractField{Name: name}) }
	was := 0
	if old != nil {
		was = len(old.Ops)
		rest := *old
		rest.Shape.Out = nil
		for _, o := range old.Shape.Out {
			n, ok := find(new.Shape.Out, o)
			if !ok {
				if vanished(o, old, new).Compat == coord.Breaking {
					lose(o.Name)
				}
				continue
			}
			one, other := *old, *new
			one.Shape, other.Shape = Shape{Out: []Prop{o}}, Shape{Out: []Prop{n}}
			if compareShapes(&one, &other).Compat == coord.Breaking {
				lose(o.Name)
			}
		}
		added := *new
		added.Shape.Out = slices.DeleteFunc(slices.Clone(new.Shape.Out), func(n Prop) bool {
			_, ok := find(old.Shape.Out, n)
			return ok
		})
		if compareShapes(&rest, &added).Compat == coord.Breaking {
			return nil
		}
	}
	for _, op := range new.Ops[min(was, len(new.Ops)):] {
		if op.Verdict.Compat != coord.Breaking {
			continue
		}
		if op.column == "" {
			return nil
		}
		lose(op.column)
	}
	if len(out) > MaxFields {
		return nil
	}
	return out
}

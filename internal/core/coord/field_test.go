package coord_test

import (
	"testing"

	"github.com/svc-hq/svc/internal/core/coord"
)

func TestSharedField(t *testing.T) {
	lost := []coord.ContractField{{Name: "full_name"}, {Name: "tags"}}
	for _, c := range []struct {
		name, used string
		want       bool
	}{
		{"the same", "tags", true}, {"in another way", "fullName", true}, {"with a capital", "FullName", true},
		{"another one", "id", false}, {"a longer one", "tagsCount", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			used := []coord.ContractField{{Name: "id", Line: 3}, {Name: c.used, Line: 7}}
			for _, l := range [][]coord.ContractField{lost, coord.HideFields(lost)} {
				for _, u := range [][]coord.ContractField{used, coord.HideFields(used)} {
					if line, ok := coord.SharedField(l, u); ok != c.want || ok && line != 7 {
						t.Errorf("%v of %v: %d, %v", u, l, line, ok)
					}
				}
			}
		})
	}
}

package wire_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/wire"
)

// The schema takes every name of two parts or more that are no folders, and
// nothing else: no rule is left for the server to refuse by.
func TestFullNameIsAsStrictAsItCanBe(t *testing.T) {
	var patterns []*regexp.Regexp
	for _, of := range []any{wire.CreateRepo{}, wire.PatchRepo{}, wire.MergeRepo{}} {
		f, _ := reflect.TypeOf(of).FieldByName("FullName")
		patterns = append(patterns, regexp.MustCompile(f.Tag.Get("pattern")))
	}
	const letters = "aZ9_.~-"
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringOfN(rapid.RuneFrom([]rune(letters+".../// \n\\é%")), 0, 12, -1).Draw(t, "name")
		parts := strings.Split(name, "/")
		want := len(parts) > 1 && !slices.ContainsFunc(parts, func(p string) bool {
			return p == "" || p == "." || p == ".." || strings.Trim(p, letters) != ""
		})
		for _, p := range patterns {
			if got := p.MatchString(name); got != want {
				t.Fatalf("%q: the schema says %v, want %v", name, got, want)
			}
		}
	})
}

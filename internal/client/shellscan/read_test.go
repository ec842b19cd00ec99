package shellscan

import (
	"math"
	"slices"
	"testing"
)

// What a command shows of a file is known, and nothing that it hides from who
// runs it.
func TestReads(t *testing.T) {
	const end = math.MaxInt
	for _, c := range []struct {
		command string
		want    []Read
	}{
		{"cat a.go", []Read{{"a.go", 1, end}}},
		{"cd src && cat -n a.go b.go", []Read{{"src/a.go", 1, end}, {"src/b.go", 1, end}}},
		{"sed -n '40,80p' a.go", []Read{{"a.go", 40, 80}}},
		{"sed -n 7p a.go", []Read{{"a.go", 7, 7}}},
		{"sed -n '40,$p' a.go", []Read{{"a.go", 40, end}}},
		{"nl -ba a.go | sed -n '40,80p'", []Read{{"a.go", 40, 80}}},
		{"head -n 20 a.go", []Read{{"a.go", 1, 20}}},
		{"head -20 a.go", []Read{{"a.go", 1, 20}}},
		{"head a.go", []Read{{"a.go", 1, 10}}},
		{"tail -n +30 a.go", []Read{{"a.go", 30, end}}},
		{"tail -5 a.go", []Read{{"a.go", -4, end}}},
		{"bash -lc 'cat a.go'", []Read{{"a.go", 1, end}}},
		{"cat a.go | head -40", []Read{{"a.go", 1, 40}}},
		{"make test 2>&1; cat a.go 2>/dev/null", []Read{{"a.go", 1, end}}},
		{"cat a.go > b.go", nil},
		{"cat a.go | grep x", nil},
		{"x=$(cat a.go)", nil},
		{"cat a.go | wc -l", nil},
		{"grep -n x a.go", nil},
		{"cat *.go", nil},
		{"sed -i 's/a/b/' a.go", nil},
		{"head -c 20 a.go", nil},
		{"cat a.go | sed -n 1,5p > b.go", nil},
	} {
		if got := Scan(c.command, vars).Reads; !slices.Equal(got, c.want) {
			t.Errorf("%s\n shows %v\n want  %v", c.command, got, c.want)
		}
	}
}

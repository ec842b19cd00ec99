package main

import (
	"slices"
	"strings"
	"testing"
)

const sample = `package p

// F is watched.
func F(a, b int, names []string) bool {
	for _, n := range names {
		if n == "" {
			continue
		}
		note("x" + n)
	}
	if a < b && ok() {
		return true
	}
	return a+7 > b
}
`

func TestMutants(t *testing.T) {
	all, err := mutate("p.go", []byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, m.what)
		if m.in != "F" || m.line == 0 || string(m.text) == sample || !strings.HasPrefix(m.name(), "p.go F: ") {
			t.Errorf("%+v", m)
		}
	}
	slices.Sort(got)
	want := []string{
		`continue -> break`,
		`if a < b && ok() { -> if !(a < b && ok()) {`,
		`if a < b && ok() { -> if a < b || ok() {`,
		`if a < b && ok() { -> if a <= b && ok() {`,
		`if n == "" { -> if n != "" {`,
		`note("x" + n) -> left out`,
		`return a+7 > b -> return a+7 >= b`,
		`return a+7 > b -> return a+8 > b`,
		`return a+7 > b -> return a-7 > b`,
		`return true -> return false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// Every part still has code where the runner looks for it.
func TestPartsAreWhereTheyWere(t *testing.T) {
	t.Chdir("../../..")
	for _, p := range parts {
		if _, err := p.mutants(); err != nil {
			t.Error(err)
		}
	}
}

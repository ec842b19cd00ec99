package grid_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/client/grid"
)

var columns = []grid.Column{
	{Title: "REF"}, {Title: "WHERE", Min: 12, Tail: true}, {Title: "WHO", Min: 8}, {Title: "REPO", Drop: 2}, {Title: "WHY", Min: 10, Drop: 1},
}

func lines(width int, rows ...[]string) []string {
	wide := grid.Fit(columns, rows, width)
	var out []string
	for _, r := range rows {
		out = append(out, strings.TrimRight(grid.Line(columns, wide, r), " "))
	}
	return out
}

func TestWhatMattersSurvivesANarrowTerminal(t *testing.T) {
	row := []string{"CF-3", "internal/auth/login.go", "Alice Ash / Bob Birch", "acme/shop", "Both change the same lines of it"}
	if got := lines(0, row)[0]; got != strings.Join(row, "  ") {
		t.Errorf("whole: %q", got)
	}
	for width, repo := range map[int]bool{120: true, 80: true, 50: false, 32: false} {
		got := lines(width, row)[0]
		if grid.Width(got) > width || !strings.Contains(got, "login.go") || !strings.Contains(got, "Alice") {
			t.Errorf("at %d: %q", width, got)
		}
		if strings.Contains(got, "acme/shop") != repo {
			t.Errorf("at %d the repo is %v: %q", width, !repo, got)
		}
	}
}

func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringN(0, 30, -1)
		row := []string{rapid.StringMatching(`[A-Z]{2}-[0-9]`).Draw(t, "ref"), cell.Draw(t, "where"), cell.Draw(t, "who"), cell.Draw(t, "repo"),
			cell.Draw(t, "why")}
		width := rapid.IntRange(40, 200).Draw(t, "width")
		wide := grid.Fit(columns, [][]string{row}, width)
		if got := grid.Line(columns, wide, row); grid.Width(got) > width {
			t.Fatalf("%d cells in %d: %q", grid.Width(got), width, got)
		}
	})
}

func TestCutKeepsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 20).Draw(t, "n")
		for _, tail := range []bool{false, true} {
			if got := grid.Cut(s, n, tail); grid.Width(got) > n {
				t.Fatalf("%q has %d cells, not %d", got, grid.Width(got), n)
			}
		}
	})
	for s, want := range map[string]int{"abc": 3, "日本": 4, "e\u0301": 1, "🚀": 2, "ﬁn": 2} {
		if got := grid.Width(s); got != want {
			t.Errorf("%q is %d wide, want %d", s, got, want)
		}
	}
}

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// documents scores repositories that hold an API document: the document is
// taken for the truth about their routes, as far as it was kept up to date, and
// for what the calls in the repository may mean.
func (s *score) documents(list string) error {
	data, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	fmt.Print("| repository | routes documented | in code, whole | but for the prefix | missed | " +
		"calls found | of them of a documented route |\n|---|---|---|---|---|---|---|\n")
	var total [6]int
	for repo := range strings.FieldsSeq(string(data)) {
		all, err := s.scan(repo, "HEAD")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			continue
		}
		row := documented(all, s.verbose)
		if row[0] == 0 {
			continue
		}
		fmt.Printf("| %s | %d | %d | %d | %d | %d | %d |\n", repo, row[0], row[1], row[2], row[3], row[4], row[5])
		for i, n := range row {
			total[i] += n
		}
	}
	fmt.Printf("| all | %d | %d (%s) | %d (%s) | %d | %d | %d |\n", total[0], total[1], percent(total[1], total[0]), total[2],
		percent(total[2], total[0]), total[3], total[4], total[5])
	return nil
}

// documented compares the routes of a document with those of the code.
func documented(all []found, verbose bool) (row [6]int) {
	var said, served, called []string
	for _, f := range all {
		if !strings.HasPrefix(f.Key, "http:") || rules.TestPath(f.file) {
			continue
		}
		switch {
		case isDocument(f):
			said = append(said, f.Key)
		case f.Role == coord.Provides:
			served = append(served, f.Key)
		default:
			called = append(called, f.Key)
		}
	}
	for _, keys := range []*[]string{&said, &served, &called} {
		slices.Sort(*keys)
		*keys = slices.Compact(*keys)
	}
	row[0] = len(said)
	for _, k := range said {
		switch {
		case meet([]string{k}, served, scope.ContractsOverlap):
			row[1]++
		case meet([]string{k}, served, scope.RoutesMeet):
			row[2]++
		default:
			row[3]++
			if verbose {
				fmt.Println("  missed:", k)
			}
		}
	}
	row[4] = len(called)
	for _, k := range called {
		if meet([]string{k}, said, scope.ContractsOverlap) || meet([]string{k}, said, scope.RoutesMeet) {
			row[5]++
		} else if verbose {
			fmt.Println("  call of no documented route:", k)
		}
	}
	return row
}

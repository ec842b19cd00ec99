package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

// strangers counts what meets although it is of different programs: the calls of
// each frontend of the API and of each repository of a list with the routes of
// every other repository of the list.
func (s *score) strangers(list string) error {
	data, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	rows, err := table(filepath.Join(s.truth, "repos.tsv"))
	if err != nil {
		return err
	}
	type program struct {
		repo         string
		calls, serve []string
	}
	var all []program
	add := func(repo, commit string) error {
		found, err := s.scan(repo, commit)
		if err != nil {
			return err
		}
		all = append(all, program{repo, routeKeys(found, coord.Uses), routeKeys(found, coord.Provides)})
		return nil
	}
	for repo := range strings.FieldsSeq(string(data)) {
		if err := add(repo, "HEAD"); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	others := len(all)
	for _, r := range rows {
		if r["role"] == "frontend" {
			if err := add(r["repo"], r["commit"]); err != nil {
				return err
			}
		}
	}
	var pairs, calls, sure, common, likely int
	for i, user := range all {
		for j, provider := range all[:others] {
			if i == j || len(user.calls) == 0 || len(provider.serve) == 0 {
				continue
			}
			pairs++
			for _, k := range user.calls {
				calls++
				switch {
				case meet(provider.serve, []string{k}, scope.ContractsOverlap):
					if tied(user.calls, provider.serve) || !scope.CommonRoute(k) {
						sure++
					} else {
						common++
					}
				case meet(provider.serve, []string{k}, scope.RoutesMeet):
					likely++
				default:
					continue
				}
				if s.verbose {
					fmt.Println("  meets:", k, user.repo, provider.repo)
				}
			}
		}
	}
	fmt.Printf("%d pairs of different programs, %d calls: %d meet a route of the same key and are told as sure, "+
		"%d one that all services have, %d one that differs by its prefix\n", pairs, calls, sure, common, likely)
	return nil
}

// tied tells whether something else than what all services have ties two
// programs: then the engine takes a route of theirs for the same.
func tied(calls, serve []string) bool {
	return slices.ContainsFunc(calls, func(k string) bool { return !scope.CommonRoute(k) && meet(serve, []string{k}, scope.ContractsOverlap) })
}

// routeKeys are the routes that a program's own code has in a role.
func routeKeys(all []found, role coord.ContractRole) (out []string) {
	for _, f := range all {
		if f.Role == role && strings.HasPrefix(f.Key, "http:") && !rules.TestPath(f.file) && !isDocument(f) {
			out = append(out, f.Key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

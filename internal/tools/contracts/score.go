package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/rules"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/scope"
)

type score struct {
	ctx            context.Context
	truth, mirrors string
	verbose        bool
	fieldsToo      bool
	only           string
	keep           string
	read           map[string][]found
	texts          map[string]map[string][]coord.Candidate // by repository and file
	spent          time.Duration
	died           int // files that ended their reader
	routes         []route
}

// A route is one of the API's, as the truth has it.
type route struct {
	n, method, path string
	in, out         []string // names of fields, envelopes among them
}

// The ways in which a true route can be among what was found, best first.
const (
	right     = iota // method and whole path
	prefixed         // but for what stands before the API's path
	anyMethod        // the path, for whatever method
	tail             // only the last parts of the path
	document         // only an API document in the repository says so
	missed
	grades
)

var gradeNames = [grades]string{"right", "but for the prefix", "method unknown", "only the tail", "only a document", "missed"}

// A result is what was found of one repository.
type result struct {
	repo        row
	grade       map[string]int      // of each true route, by its number
	keys        map[string][]string // found keys of each true route
	odd         []string            // keys in code that are no true route
	all         int                 // keys in code
	inKnown     int
	inAll       int
	outKnown    int
	outAll      int
	fieldMisses []string
	known       []string // signatures
}

func (s *score) run() error {
	rows, err := table(filepath.Join(s.truth, "routes.tsv"))
	if err != nil {
		return err
	}
	for _, r := range rows {
		clean := func(keys ...string) (out []string) {
			for _, k := range keys {
				for f := range strings.FieldsSeq(r[k]) {
					out = append(out, strings.TrimSuffix(f, "?"))
				}
			}
			return out
		}
		s.routes = append(s.routes, route{r["n"], r["method"], r["path"], clean("in_envelope", "in_fields"), clean("out_envelope", "out_fields")})
	}
	repos, err := table(filepath.Join(s.truth, "repos.tsv"))
	if err != nil {
		return err
	}
	var results []*result
	for _, r := range repos {
		if !strings.Contains(strings.Join([]string{r["repo"], r["role"], r["lang"], r["stack"]}, " "), s.only) {
			continue
		}
		res, err := s.repository(r)
		if err != nil {
			return err
		}
		results = append(results, res)
	}
	for _, role := range []string{"backend", "frontend"} {
		s.print(role, results)
	}
	s.pairs(results)
	if s.only != "" {
		return nil
	}
	if err := s.links(); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "read in %s\n", s.spent.Round(10*time.Millisecond))
	return nil
}

// isDocument tells a contract that an API document or schema states from one
// that was found in code.
func isDocument(f found) bool {
	switch rules.LanguageOf(f.file).Name {
	case "yaml", "json", "proto", "graphql", "sql", "toml", "xml", "":
		return true
	}
	return false
}

// repository grades one repository.
func (s *score) repository(r row) (*result, error) {
	all, err := s.scan(r["repo"], r["commit"])
	if err != nil {
		return nil, err
	}
	role := coord.Provides
	if r["role"] == "frontend" {
		role = coord.Uses
	}
	res := &result{repo: r, grade: map[string]int{}, keys: map[string][]string{}}
	missing := strings.Split(r["missing"], ",")
	meant := map[string]bool{}
	for _, t := range s.routes {
		if slices.Contains(missing, t.n) {
			continue
		}
		best := missed
		for _, f := range all {
			if f.Role != role || !strings.HasPrefix(f.Key, "http:") || rules.TestPath(f.file) {
				continue
			}
			g := grade(f.Key, t, r["prefix"], r["role"])
			if g == missed {
				continue
			}
			if isDocument(f) {
				g = max(g, document)
			} else if g <= anyMethod {
				meant[f.Key] = true
				res.keys[t.n] = append(res.keys[t.n], f.Key)
			}
			best = min(best, g)
		}
		res.grade[t.n] = best
		s.fields(res, t, all, role)
	}
	seen := map[string]bool{}
	for _, f := range all {
		if f.Role == role && strings.HasPrefix(f.Key, "http:") && !rules.TestPath(f.file) && !isDocument(f) && !seen[f.Key] {
			seen[f.Key] = true
			res.all++
			if !meant[f.Key] {
				res.odd = append(res.odd, f.Key+" ("+f.file+")")
			}
		}
	}
	return res, nil
}

// grade tells in which way a key is a true route.
func grade(key string, t route, prefix, role string) int {
	method, path, _ := strings.Cut(strings.TrimPrefix(key, "http:"), " ")
	path = blank(path)
	before, tailed := strings.CutSuffix(path, t.path)
	whole := tailed && (before == "" || !strings.HasSuffix(before, "{}")) && strings.Count(before, "/") <= 3
	switch {
	case whole && method == t.method && (before == prefix || prefix == "*" || role == "frontend" && (before == "" || before == "/api")):
		return right
	case whole && method == t.method && (t.path != "/users" && t.path != "/user" && t.path != "/articles" && t.path != "/tags" ||
		before == "" || !strings.Contains(before[1:], "/")):
		return prefixed
	case whole && method == scope.AnyMethod:
		return anyMethod
	case (method == t.method || method == scope.AnyMethod) && path != "/" && strings.HasSuffix(t.path, path) &&
		len(strings.Trim(path, "/{}")) > 0:
		return tail
	}
	return missed
}

// blank writes every parameter of a route alike.
func blank(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.Contains(p, "{") {
			parts[i] = "{}"
		}
	}
	return strings.Join(parts, "/")
}

// fields counts which of a route's fields are known.
func (s *score) fields(res *result, t route, all []found, role coord.ContractRole) {
	in, out := map[string]bool{}, map[string]bool{}
	for _, f := range all {
		if f.Role != role || !slices.Contains(res.keys[t.n], f.Key) || isDocument(f) {
			continue
		}
		if f.Signature != nil {
			if s.fieldsToo && s.verbose {
				res.known = append(res.known, *f.Signature)
			}
			names(*f.Signature, in, out)
		}
		for _, field := range f.Fields {
			for part := range strings.SplitSeq(field.Name, ".") {
				out[part] = true
			}
		}
	}
	count := func(want []string, known map[string]bool) (n int) {
		for _, w := range want {
			if known[w] {
				n++
			} else if s.fieldsToo {
				res.fieldMisses = append(res.fieldMisses, t.n+"."+w)
			}
		}
		return n
	}
	res.inAll += len(t.in)
	res.outAll += len(t.out)
	res.inKnown += count(t.in, in)
	res.outKnown += count(t.out, out)
}

// names are the fields that a signature lists: "GET /x (a string) {b, c? int}".
func names(signature string, in, out map[string]bool) {
	list := func(open, end byte, into map[string]bool) {
		at := strings.Index(signature, " "+string(open))
		if at < 0 {
			return
		}
		stop := strings.LastIndexByte(signature, end)
		if stop < at {
			return
		}
		for item := range strings.SplitSeq(signature[at+2:stop], ", ") {
			name, _, _ := strings.Cut(item, " ")
			for part := range strings.SplitSeq(strings.TrimSuffix(name, "?"), ".") {
				into[strings.TrimSuffix(strings.TrimSuffix(part, "?"), "[]")] = true
			}
		}
	}
	list('(', ')', in)
	list('{', '}', out)
}

func (s *score) print(role string, results []*result) {
	var total [grades]int
	n, keys, odd, in, inAll, out, outAll := 0, 0, 0, 0, 0, 0, 0
	fmt.Printf("\n| %s | stack | %s | keys, of them no route | fields in, out |\n|---|---|%s---|---|\n", role,
		strings.Join(gradeNames[:], " | "), strings.Repeat("---|", grades))
	for _, r := range results {
		if r.repo["role"] != role {
			continue
		}
		var counts [grades]int
		for _, g := range r.grade {
			counts[g]++
			total[g]++
		}
		n += len(r.grade)
		keys, odd = keys+r.all, odd+len(r.odd)
		in, inAll, out, outAll = in+r.inKnown, inAll+r.inAll, out+r.outKnown, outAll+r.outAll
		fmt.Printf("| %s | %s | %s | %d, %d | %d/%d, %d/%d |\n", r.repo["repo"], r.repo["stack"], cells(counts[:]), r.all, len(r.odd),
			r.inKnown, r.inAll, r.outKnown, r.outAll)
	}
	fmt.Printf("| all (%d) | | %s | %d, %d (precision %s) | %d/%d, %d/%d |\n", n, cells(total[:]), keys, odd, percent(keys-odd, keys),
		in, inAll, out, outAll)
	if !s.verbose {
		return
	}
	for _, r := range results {
		if r.repo["role"] != role {
			continue
		}
		fmt.Printf("\n%s\n", r.repo["repo"])
		for _, t := range s.routes {
			if g, ok := r.grade[t.n]; ok && g != right {
				fmt.Printf("  %-18s %s %s %v\n", gradeNames[g], t.method, t.path, r.keys[t.n])
			}
		}
		for _, o := range r.odd {
			fmt.Println("  no route:", o)
		}
		for _, k := range r.known {
			fmt.Println("  known:", k)
		}
		if len(r.fieldMisses) > 0 {
			fmt.Println("  fields missed:", strings.Join(r.fieldMisses, " "))
		}
	}
}

func cells(counts []int) string {
	words := make([]string, len(counts))
	for i, c := range counts {
		words[i] = fmt.Sprint(c)
	}
	return strings.Join(words, " | ")
}

func percent(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(of))
}

// pairs counts the routes of every backend and frontend under which the two
// meet, under one key or under one that differs only by its prefix, and how
// many of those that meet are no route of both.
func (s *score) pairs(results []*result) {
	exact, likely, all, wrong := 0, 0, 0, 0
	for _, b := range results {
		for _, f := range results {
			if b.repo["role"] != "backend" || f.repo["role"] != "frontend" {
				continue
			}
			for _, t := range s.routes {
				for _, u := range s.routes {
					is := slices.ContainsFunc(b.keys[t.n], func(k string) bool { return meet([]string{k}, f.keys[u.n], scope.RoutesMeet) })
					if is && t.n != u.n && !meet(b.keys[t.n], f.keys[t.n], scope.RoutesMeet) {
						wrong++
					}
				}
				_, served := b.grade[t.n]
				_, used := f.grade[t.n]
				if !served || !used {
					continue
				}
				all++
				switch {
				case meet(b.keys[t.n], f.keys[t.n], scope.ContractsOverlap):
					exact++
				case meet(b.keys[t.n], f.keys[t.n], scope.RoutesMeet):
					likely++
				}
			}
		}
	}
	fmt.Printf("\nlinks between every backend and every frontend: %d of %d (%s), %d of them by the key alone; %d that meet are not one "+
		"route\n",
		exact+likely, all, percent(exact+likely, all), exact, wrong)
}

func meet(provided, used []string, under func(a, b string) bool) bool {
	return slices.ContainsFunc(provided, func(p string) bool {
		return slices.ContainsFunc(used, func(u string) bool { return under(p, u) })
	})
}

// links counts the true links of the systems under which user and provider
// meet.
func (s *score) links() error {
	rows, err := table(filepath.Join(s.truth, "links.tsv"))
	if err != nil {
		return err
	}
	type count struct{ met, all int }
	by := map[string]*count{}
	for _, r := range rows {
		used, err := s.keys(r["user"], r["user_commit"], r["user_under"], coord.Uses)
		if err != nil {
			return err
		}
		provided, err := s.keys(r["provider"], r["provider_commit"], r["provider_under"], coord.Provides)
		if err != nil {
			return err
		}
		kind, _, _ := strings.Cut(r["key"], ":")
		id := r["system"] + ", " + kind
		if by[id] == nil {
			by[id] = &count{}
		}
		by[id].all++
		u, p := about(r["key"], used), about(r["key"], provided)
		if meet(p, u, scope.ContractsOverlap) || meet(p, u, scope.RoutesMeet) {
			by[id].met++
		} else if s.verbose {
			fmt.Printf("  %s: %s %s -> %s: user has %v, provider %v\n", r["system"], r["key"], r["user"]+"/"+r["user_under"], r["provider"], u, p)
		}
	}
	var ids []string
	for id := range by {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	fmt.Print("\n| links of | met |\n|---|---|\n")
	for _, id := range ids {
		fmt.Printf("| %s | %d of %d |\n", id, by[id].met, by[id].all)
	}
	return nil
}

func (s *score) keys(repo, commit, under string, role coord.ContractRole) (out []string, err error) {
	all, err := s.scan(repo, commit)
	for _, f := range all {
		if f.Role == role && strings.HasPrefix(f.file, under) && !rules.TestPath(f.file) {
			out = append(out, f.Key)
		}
	}
	return out, err
}

// about are the keys that may mean the true one.
func about(key string, keys []string) (out []string) {
	for _, k := range keys {
		if k == key || scope.ContractsOverlap(k, key) || strings.HasPrefix(key, "http:") && grade(k, routeOf(key), "", "frontend") <= anyMethod {
			if !slices.Contains(out, k) {
				out = append(out, k)
			}
		}
	}
	return out
}

func routeOf(key string) route {
	method, path, _ := strings.Cut(strings.TrimPrefix(key, "http:"), " ")
	return route{method: method, path: path}
}

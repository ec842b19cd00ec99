package engine_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/core/engine/alike"
	"github.com/svc-hq/svc/internal/core/scope"
)

// A world is what a random sequence of events has left live.
type world struct {
	workers map[string]*engine.Worker
	changes map[string]*engine.Change // by repo, copy and path
	uses    map[string][]engine.Use   // by repo and path
}

var (
	somePaths = []string{"a", "a/b", "a/b/c.go", "a/d.go", "x/y/z.go", "x/[id].ts", "x"}
	someGlobs = []string{
		"a/**", "**/c.go", "a/*", "*", "**", "x/{y,q}/*.go", "a/b/c.go", "x/[iy]*/**", "x/[id].ts", "a/d.go", "?/**/?.go", "a/",
	}
	someSymbols   = []string{"a/b/c.go#F", "a/b/c.go#F.g", "sym:go:a/b/c.go#F", "sym:py:a/b/c.go#F", "a/d.go#G"}
	someContracts = []string{"http:GET /u/{}", "http:ANY /u/{}", "http:POST /u/{}", "db:public.u", "sym:go:a/d.go#G"}
)

// rounds is how many of n random cases are tried: some in short tests.
func rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

func pick[T any](r *rand.Rand, all []T) T { return all[r.IntN(len(all))] }

func randomWorker(r *rand.Rand) *engine.Worker {
	n := 1 + r.IntN(6)
	w := &engine.Worker{ID: fmt.Sprint("w", n), Repo: repoName([]string{"r1", "r1", "r2"}[n%3]), User: user(pick(r, []string{"ana", "bob"})),
		Since: coord.Time(r.IntN(4)), Lineages: []string{fmt.Sprint("l", n%5)}}
	if n%2 == 0 {
		title := pick(r, []string{"Add a login page", "Add login page now", "Other"})
		w.Intent = &engine.Intent{Number: n, Status: coord.IntentActive, Title: title, Task: alike.Of(title, "")}
		if r.IntN(3) == 0 {
			w.Intent.DependsOn = []string{coord.IntentRef(1 + r.IntN(6))}
		}
		if r.IntN(3) == 0 {
			w.Intent.ExternalRef = &coord.ExternalRef{Kind: "x", URL: "https://t/" + fmt.Sprint(r.IntN(2))}
		}
	}
	for range r.IntN(4) {
		mode := pick(r, []coord.Mode{coord.Shared, coord.Shared, coord.Exclusive, coord.Observe})
		switch r.IntN(4) {
		case 0:
			w.Claims = append(w.Claims, engine.ClaimsOf(coord.ScopeSet{Symbols: []string{pick(r, someSymbols)}}, mode)...)
		case 1:
			w.Claims = append(w.Claims, engine.ClaimsOf(coord.ScopeSet{Contracts: []string{pick(r, someContracts)}}, mode)...)
		default:
			set, _ := scope.Canonical("", coord.ScopeSet{Paths: []string{pick(r, someGlobs)}})
			w.Claims = append(w.Claims, engine.ClaimsOf(set, mode)...)
		}
	}
	return w
}

func randomChange(r *rand.Rand) *engine.Change {
	n := 1 + r.IntN(6)
	id := fmt.Sprint("w", n)
	c := &engine.Change{RepoID: []string{"r1", "r1", "r2"}[n%3], Copy: fmt.Sprint("copy", n%4),
		By: []engine.Touch{{Worker: id, Session: id, At: coord.Time(r.IntN(9))}}}
	if r.IntN(3) == 0 {
		c.By = append(c.By, engine.Touch{Worker: fmt.Sprint("w", 1+r.IntN(6)), At: coord.Time(r.IntN(9))})
	}
	f := &c.Facts
	f.Path = pick(r, somePaths)
	f.Status = pick(r, []coord.FileStatus{
		coord.FileModified, coord.FileModified, coord.FileModified, coord.FileAdded, coord.FileDeleted, coord.FileRenamed,
		coord.FileUnchanged,
	})
	f.Binary = r.IntN(12) == 0
	if f.Status != coord.FileAdded {
		f.BaseBlob = opt(pick(r, []string{"b1", "b1", "b2"}))
	}
	if f.Status == coord.FileRenamed {
		f.OldPath = opt(pick(r, somePaths))
	}
	f.NewBlob = opt(pick(r, []string{"", "n1", "n2", "n3"}))
	for at, i := 1+r.IntN(5), 0; i < r.IntN(3); i++ {
		h := coord.Hunk{Start: at, Count: r.IntN(3), LinesHash: pick(r, []string{"x", "y", ""})}
		f.Hunks = append(f.Hunks, h)
		at += h.Count + 1 + r.IntN(4)
	}
	f.Parsed = r.IntN(2) == 0
	for _, key := range someSymbols {
		if f.Parsed && strings.Contains(key, f.Path+"#") && r.IntN(2) == 0 {
			f.Symbols = append(f.Symbols, coord.SymbolFacts{
				Key:           key,
				Exported:      r.IntN(2) == 0,
				Change:        pick(r, []coord.Change{coord.Modified, coord.Signature, coord.Removed, coord.Same}),
				Compatibility: pick(r, []coord.Compatibility{coord.Breaking, coord.Unknown, coord.Compatible}),
			})
		}
	}
	if r.IntN(3) == 0 {
		f.Contracts = append(f.Contracts, coord.ContractFacts{
			Key:           pick(r, someContracts),
			Role:          pick(r, []coord.ContractRole{coord.Provides, coord.Uses}),
			Change:        pick(r, []coord.Change{coord.Modified, coord.Signature, coord.Removed, coord.Added}),
			Compatibility: pick(r, []coord.Compatibility{coord.Breaking, coord.Unknown}),
			Line:          3,
		})
	}
	if r.IntN(4) == 0 {
		f.References = append(f.References, coord.Reference{Key: pick(r, append(someSymbols, someContracts...)), Line: 9})
	}
	return c
}

// step makes one random event happen to the index and to the world.
func (w *world) step(r *rand.Rand, ix *engine.Index) {
	switch r.IntN(8) {
	case 0, 1, 2:
		x := randomWorker(r)
		w.workers[x.ID] = x
		ix.PutWorker(x)
	case 3:
		id := fmt.Sprint("w", 1+r.IntN(6))
		delete(w.workers, id)
		ix.RemoveWorker(id)
	case 4, 5:
		c := randomChange(r)
		key := c.RepoID + " " + c.Copy + " " + c.Facts.Path
		delete(w.changes, key)
		if c.Facts.Status != coord.FileUnchanged {
			w.changes[key] = c
		}
		ix.PutChange(c)
	case 6:
		c := randomChange(r)
		delete(w.changes, c.RepoID+" "+c.Copy+" "+c.Facts.Path)
		ix.RemoveChange(c.RepoID, c.Copy, c.Facts.Path)
	case 7:
		path, repo := pick(r, somePaths), pick(r, []string{"r1", "r2"})
		var uses []engine.Use
		if r.IntN(3) > 0 {
			uses = []engine.Use{{Key: pick(r, someContracts[:4]), Line: 1 + r.IntN(3)}}
		}
		w.uses[repo+" "+path] = uses
		ix.SetUses(repoName(repo), path, uses)
	}
}

// rebuilt makes an index of the world from scratch, in random order.
func (w *world) rebuilt(r *rand.Rand) *engine.Index {
	ix := newWorldIndex()
	var todo []func()
	for _, x := range w.workers {
		todo = append(todo, func() { ix.PutWorker(x) })
	}
	for _, c := range w.changes {
		todo = append(todo, func() { ix.PutChange(c) })
	}
	for key, uses := range w.uses {
		repo, path, _ := strings.Cut(key, " ")
		todo = append(todo, func() { ix.SetUses(repoName(repo), path, uses) })
	}
	r.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
	for _, do := range todo {
		do()
	}
	return ix
}

func newWorldIndex() *engine.Index {
	ix := engine.New()
	ix.SetLinks("r1", []string{"r2"})
	ix.SetLinks("r2", []string{"r1"})
	return ix
}

// told is everything that an index says about a finding.
func told(f engine.Finding) string {
	text, step := engine.Explain(f, "", 0)
	b, err := json.Marshal(map[string]any{
		"kind":       f.Kind,
		"severity":   f.Severity,
		"holder":     f.Holder.ID,
		"challenger": f.Challenger.ID,
		"place":      f.Place,
		"evidence":   f.Evidence,
		"keys":       f.Keys,
		"at":         f.At,
		"text":       text,
		"step":       step,
		"cross":      f.CrossRepo,
		"repo":       f.Repo,
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// detectAll returns what every worker is told, by fingerprint and asker.
func detectAll(ix *engine.Index) map[string]map[string]string {
	out := map[string]map[string]string{}
	for n := 1; n <= 6; n++ {
		id := fmt.Sprint("w", n)
		for _, f := range engine.Detect(ix, id) {
			if out[f.Fingerprint] == nil {
				out[f.Fingerprint] = map[string]string{}
			}
			out[f.Fingerprint][id] = told(f)
		}
	}
	return out
}

// The index that grew event by event says what one built from scratch says,
// in whatever order; both sides of a conflict are told the same one.
func TestIndexIsIncrementalOrderFreeAndSymmetric(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	kinds := map[coord.ConflictKind]int{}
	for sequence := range rounds(4000) {
		ix := newWorldIndex()
		w := world{map[string]*engine.Worker{}, map[string]*engine.Change{}, map[string][]engine.Use{}}
		for range 4 + r.IntN(24) {
			w.step(r, ix)
		}
		grown := detectAll(ix)
		if diff := cmp.Diff(detectAll(w.rebuilt(r)), grown); diff != "" {
			t.Fatalf("sequence %d: rebuilt (-) and grown (+) differ:\n%s", sequence, diff)
		}
		for fingerprint, tellings := range grown {
			texts := map[string]bool{}
			for _, text := range tellings {
				texts[text] = true
			}
			if len(texts) != 1 {
				t.Fatalf("sequence %d: the sides of %s are told different things: %v", sequence, fingerprint, tellings)
			}
			var f struct {
				Kind               coord.ConflictKind
				Holder, Challenger string
			}
			for text := range texts {
				if err := json.Unmarshal([]byte(text), &f); err != nil {
					t.Fatal(err)
				}
			}
			kinds[f.Kind]++
			for _, side := range []string{f.Holder, f.Challenger} {
				if _, ok := tellings[side]; side != "" && !ok {
					t.Fatalf("sequence %d: %s is not told of %v", sequence, side, tellings)
				}
			}
		}
	}
	for _, k := range coord.ConflictKinds() {
		if k != coord.RebaseNeeded && kinds[k] == 0 {
			t.Errorf("no sequence raised %s: the test tells nothing about it", k)
		}
	}
}

// The index is only a shortcut: claims collide exactly where comparing every
// pair says so.
func TestIndexAgreesWithFullScan(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 13))
	for range rounds(4000) {
		ix := engine.New()
		workers := map[string]*engine.Worker{}
		for range 2 + r.IntN(8) {
			w := randomWorker(r)
			w.Repo, w.Lineages = repoName("r1"), nil
			if w.Intent != nil {
				w.Intent = &engine.Intent{Number: w.Intent.Number}
			}
			workers[w.ID] = w
			ix.PutWorker(w)
		}
		for id, w := range workers {
			got := map[string]bool{}
			for _, f := range engine.Detect(ix, id) {
				got[string(f.Kind)+" "+f.Other(id).ID] = true
			}
			want := map[string]bool{}
			for other, o := range workers {
				if other != id {
					for _, kind := range scanned(w, o) {
						want[string(kind)+" "+other] = true
					}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s among %v: scan (-), index (+)\n%s", id, describe(workers), diff)
			}
		}
	}
}

func describe(ws map[string]*engine.Worker) []string {
	var out []string
	for id, w := range ws {
		for _, c := range w.Claims {
			out = append(out, fmt.Sprint(id, " ", c.Kind, " ", c.Selector, " ", c.Mode))
		}
	}
	slices.Sort(out)
	return out
}

// scanned compares every claim of a with every claim of b.
func scanned(a, b *engine.Worker) []coord.ConflictKind {
	var out []coord.ConflictKind
	for _, x := range a.Claims {
		for _, y := range b.Claims {
			kind, meet := claimsMeet(x, y)
			if !meet || x.Mode == coord.Observe || y.Mode == coord.Observe {
				continue
			}
			if x.Mode == coord.Exclusive || y.Mode == coord.Exclusive {
				kind = coord.ExclusiveClaim
			}
			if kind == coord.PathOverlap && (narrowed(a, x, y) || narrowed(b, y, x)) {
				continue
			}
			out = append(out, kind)
		}
	}
	return out
}

// narrowed reports whether x is the file of a's definitions, and y is some
// definition in it: different places of one file.
func narrowed(a *engine.Worker, x, y coord.Claim) bool {
	names := func(w *engine.Worker, file string) bool {
		return slices.ContainsFunc(w.Claims, func(c coord.Claim) bool {
			s, err := scope.ParseSymbol(c.Selector)
			return c.Mode != coord.Observe && err == nil && s.Path == file
		})
	}
	if x.Kind != coord.ClaimPath || !names(a, x.Selector) {
		return false
	}
	s, err := scope.ParseSymbol(y.Selector)
	return y.Kind != coord.ClaimPath && err == nil && s.Path == x.Selector
}

func claimsMeet(x, y coord.Claim) (coord.ConflictKind, bool) {
	gx, ex := scope.ParseGlob(x.Selector)
	gy, ey := scope.ParseGlob(y.Selector)
	sx, notX := scope.ParseSymbol(x.Selector)
	sy, notY := scope.ParseSymbol(y.Selector)
	pathX, pathY := x.Kind == coord.ClaimPath, y.Kind == coord.ClaimPath
	switch {
	case pathX && pathY:
		return coord.PathOverlap, ex == nil && ey == nil && gx.Overlaps(gy)
	case pathX && notY == nil:
		return coord.PathOverlap, gx.Match(sy.Path)
	case pathY && notX == nil:
		return coord.PathOverlap, gy.Match(sx.Path)
	case notX == nil && notY == nil:
		return coord.SymbolOverlap, sx.Overlaps(sy)
	case !pathX && !pathY && notX != nil && notY != nil:
		return coord.ContractOverlap, scope.ContractsOverlap(x.Selector, y.Selector)
	}
	return "", false
}

// Many patterns in one folder are filed apart by pieces of their text; none
// may be lost that way, nor by taking others out.
func TestCrowdedFolderAgreesWithFullScan(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 34))
	part := []string{"ab", "abc", "c", "*", "?", "[ab]", "[!c]", "[]a]", "xyz", "{a,bcd}", "ü"}
	for range 30 {
		ix := engine.New()
		live := map[string]scope.Glob{}
		for i := range 300 {
			id := fmt.Sprint("w", i)
			text := "d/"
			for range 1 + r.IntN(4) {
				text += pick(r, part)
			}
			if r.IntN(5) == 0 {
				text += "/" + pick(r, []string{"**", "*", "abc*"})
			}
			set, bad := scope.Canonical("", coord.ScopeSet{Paths: []string{text}})
			if len(bad) > 0 {
				t.Fatal(bad)
			}
			ix.PutWorker(&engine.Worker{ID: id, Repo: repoName("r1"), Claims: engine.ClaimsOf(set, coord.Shared)})
			live[id], _ = scope.ParseGlob(text)
			if r.IntN(4) == 0 {
				gone := fmt.Sprint("w", r.IntN(i+1))
				ix.RemoveWorker(gone)
				delete(live, gone)
			}
		}
		asker := &engine.Worker{ID: "asker", Repo: repoName("r1")}
		for _, path := range []string{"d/ab", "d/abc", "d/abcabc", "d/xyz", "d/aab/abcd", "d/cab/x", "d/ü", "d/ababab", "d/]a", "d"} {
			var got, want []string
			for _, h := range engine.Holders(ix, asker, engine.Target{Path: path}) {
				got = append(got, h.Worker.ID)
			}
			for id, g := range live {
				if g.Match(path) {
					want = append(want, id)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s: scan (-), index (+)\n%s", path, diff)
			}
		}
		query, _ := scope.ParseGlob("d/*ab{c,}*")
		got := map[string]bool{}
		for _, f := range engine.Check(ix, asker, coord.ScopeSet{Paths: []string{query.String()}}) {
			got[f.Holder.ID+f.Challenger.ID] = true
		}
		n := 0
		for _, g := range live {
			if g.Overlaps(query) {
				n++
			}
		}
		if n != len(got) {
			t.Fatalf("%d overlap, %d found", n, len(got))
		}
	}
}

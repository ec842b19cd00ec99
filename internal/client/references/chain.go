package references

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/svc-hq/svc/internal/client/contract"
	"github.com/svc-hq/svc/internal/client/extract"
	"github.com/svc-hq/svc/internal/client/outline"
	"github.com/svc-hq/svc/internal/client/rules"
)

// What a route is depends on other files than its own: on where it is mounted,
// on types, mappers, constants and settings. When one of those changes, the
// routes are worked out with both versions of it.

const (
	maxChained = 24  // files whose routes are worked out again
	maxNear    = 400 // files that are looked through for them
)

// Before is the repository as it was before some files changed. old holds what
// they held, nil for one that was not there.
func (r *Repo) Before(old map[string][]byte) *Repo {
	return &Repo{files: r.files.Before(old), metadataOnly: r.metadataOnly, rules: r.rules, after: r}
}

// A Chained file has routes that depend on others.
type Chained struct {
	Path     string
	Old, New []contract.Contract
}

// Chained works out the routes of files that did not change, before and after
// others did, and returns those that differ. The files that name what changed
// come first. all is false when time ran out.
func (r *Repo) Chained(before *Repo, changed []Changed, deadline time.Time) (out []Chained, all bool) {
	if r.files.Tree == nil {
		return nil, true
	}
	read := 0
	for _, file := range r.routeFiles(changed) {
		if read == maxChained {
			break
		}
		if time.Now().After(deadline) {
			return out, false
		}
		now := r.readVersion(file)
		if now == nil || !slices.ContainsFunc(now.Contracts, isProvidedRoute) {
			continue
		}
		read++
		was := before.readVersion(file)
		r.Complete(file, now)
		before.Complete(file, was)
		a, b := routesOf(was), routesOf(now)
		if !slices.EqualFunc(a, b, sameRoute) {
			out = append(out, Chained{file, a, b})
		}
	}
	return out, true
}

func routesOf(v *extract.Version) (out []contract.Contract) {
	for _, c := range v.Contracts {
		if isProvidedRoute(c) {
			out = append(out, c)
		}
	}
	return out
}

func sameRoute(a, b contract.Contract) bool {
	return a.Key == b.Key && slices.EqualFunc(a.Shape.In, b.Shape.In, contract.Prop.Same) &&
		slices.EqualFunc(a.Shape.Out, b.Shape.Out, contract.Prop.Same)
}

// near are the source files around one: those of its folder, and of the ones
// above as long as they are not too many.
func (r *Repo) near(file string) []string {
	ends := []string{path.Ext(file)}
	if !outline.CanRead(rules.LanguageOf(file)) { // a setting or a view
		ends = nil
		for _, l := range []string{".java", ".kt", ".py", ".rb", ".php", ".ts", ".js", ".cs", ".go"} {
			if len(r.files.Ending(l)) > 0 {
				ends = append(ends, l)
			}
		}
	}
	var all []string
	for _, end := range ends {
		all = append(all, world{r}.files(&outline.File{Path: "x" + end})...)
	}
	if len(all) <= maxNear {
		return all
	}
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		var some []string
		for _, f := range all {
			if dir == "." || strings.HasPrefix(f, dir+"/") {
				some = append(some, f)
			}
		}
		if len(some) > maxNear || dir == "." {
			return some[:min(len(some), maxNear)]
		}
		if parent := path.Dir(dir); parent != "." {
			count := 0
			for _, f := range all {
				if strings.HasPrefix(f, parent+"/") {
					count++
				}
			}
			if count > maxNear {
				return some
			}
		}
	}
}

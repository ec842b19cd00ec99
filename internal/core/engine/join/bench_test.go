//go:build unix

package join_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/engine/join"
)

// crowd is an org of many repositories, each with routes and texts.
func crowd(repos, texts int) (*join.Org, []string) {
	r := rand.New(rand.NewPCG(7, 7))
	vocabulary := slices.Clone(words)
	for i := range 2_000 {
		vocabulary = append(vocabulary, fmt.Sprint("word", i))
	}
	path := func() string {
		return fmt.Sprintf("/api/%s/{}/%s", vocabulary[r.IntN(len(vocabulary))], vocabulary[r.IntN(len(vocabulary))])
	}
	o := join.NewOrg()
	var keys []string
	for range 200 {
		keys = append(keys, "http:GET "+path(), "http:GET /users/{}", "http:POST /orders")
	}
	for n := range repos {
		repo := fmt.Sprint("repo", n)
		o.SetRoutes(repo, "api.go", keys[n%len(keys):min(len(keys), n%len(keys)+60)])
		for f := range 10 {
			var list []join.Text
			for k := range texts / repos / 10 {
				p := path()
				if k%5 == 0 {
					_, p, _ = strings.Cut(keys[r.IntN(len(keys))], " ")
				}
				list = append(list, join.Text{Path: fmt.Sprint("f", f), Line: k, Form: form(p)})
			}
			o.SetTexts(repo, fmt.Sprint("f", f), list)
		}
	}
	return o, keys
}

// BenchmarkAChangedRoute asks 199 repositories with 50,000 texts about a route,
// when one file of each fifth repository has just changed.
func BenchmarkAChangedRoute(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	o, keys := crowd(200, 50_000)
	runtime.GC()
	runtime.ReadMemStats(&after)
	n, began := 0, spent()
	for b.Loop() {
		n++
		o.SetTexts(fmt.Sprint("repo", n%200), "changed", []join.Text{{Path: "changed", Form: form(fmt.Sprint("x/", n))}})
		for u := range 200 {
			o.Uses("repo0", fmt.Sprint("repo", u), keys[n%60], false)
		}
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MB")
	b.ReportMetric((spent()-began).Seconds()*1000/float64(n), "cpu-ms/route")
}

// spent is the processor time of this process: the machine has other work.
func spent() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

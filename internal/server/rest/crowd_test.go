package rest_test

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// databases are where a benchmark runs.
var databases = []struct {
	name string
	dsn  func(testing.TB) string
}{
	{"sqlite", func(t testing.TB) string { return t.TempDir() + "/svc.db" }},
	{"postgres", storetest.Postgres},
}

// BenchmarkCrowd: 62 people declare the same file and a folder of their own;
// then one edits that file and one closes. It reports what the 58th to 62nd
// declare cost against the 4th to 8th, and what the edit and the end cost
// against the same ones in a crowd of six. Above 4 times for a declare it fails.
func BenchmarkCrowd(b *testing.B) {
	for _, db := range databases {
		b.Run(db.name, func(b *testing.B) {
			dsn := db.dsn(b)
			storetest.Prepare(b, dsn)
			w := daemontest.Start(b, dsn)
			var early, late []time.Duration
			var edit, editFew, end, endFew time.Duration
			bytes := 0
			for n := range 3 * b.N {
				c := newCrowd(w, fmt.Sprintf("Few%d", n), 6)
				for i := range 6 {
					c.declare(i)
				}
				editFew += spent(func() { c.edit(2, 1) })
				endFew += spent(func() { c.end(3) })
				c = newCrowd(w, fmt.Sprintf("Many%d", n), 62)
				for i := range c.tokens {
					took := spent(func() { bytes = c.declare(i) })
					switch {
					case i >= 3 && i < 8:
						early = append(early, took)
					case i >= 57:
						late = append(late, took)
					}
				}
				edit += spent(func() { c.edit(2, 1) })
				end += spent(func() { c.end(3) })
			}
			each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(3*b.N) }
			b.ReportMetric(0, "ns/op")
			sixth, sixtieth := middle(early), middle(late)
			b.ReportMetric(float64(sixth.Microseconds()), "µs-6th")
			b.ReportMetric(float64(sixtieth.Microseconds()), "µs-60th")
			ratio, most := float64(sixtieth)/float64(sixth), 4.0
			b.ReportMetric(ratio, "60th/6th")
			if ratio > most {
				b.Errorf("the 60th of a crowd takes %.2f times the processor of the 6th, %.0f are the most", ratio, most)
			}
			b.ReportMetric(float64(bytes), "answer-B")
			b.ReportMetric(each(edit), "µs-edit")
			b.ReportMetric(float64(edit)/float64(editFew), "edit-60/6")
			b.ReportMetric(each(end), "µs-close")
			b.ReportMetric(float64(end)/float64(endFew), "close-60/6")
		})
	}
}

// BenchmarkChangedFiles: what recording one edit costs in a session that has
// changed 1,000 files before, against one that has changed 10. Target: 1.5.
func BenchmarkChangedFiles(b *testing.B) {
	for _, db := range databases {
		b.Run(db.name, func(b *testing.B) {
			dsn := db.dsn(b)
			storetest.Prepare(b, dsn)
			w := daemontest.Start(b, dsn)
			few, many := newCrowd(w, "Few", 2), newCrowd(w, "Many", 2)
			var took [2]time.Duration
			for i, c := range []*throng{few, many} {
				c.declare(0)
				files := []map[string]any{}
				for n := range []int{10, 1000}[i] {
					files = append(files, changedFile(fmt.Sprintf("own0/part%d/file%d.go", n%20, n), n))
					if len(files) == 100 {
						c.hook(0, wire.HookPostEdit, map[string]any{"version": 1, "files": files})
						files = files[:0]
					}
				}
				if len(files) > 0 {
					c.hook(0, wire.HookPostEdit, map[string]any{"version": 1, "files": files})
				}
			}
			for n := range b.N + 1 {
				for i, c := range []*throng{few, many} {
					d := spent(func() {
						c.hook(0, wire.HookPostEdit, map[string]any{"version": 1, "files": []map[string]any{changedFile("own0/part3/file3.go", 1000+n)}})
					})
					if n > 0 {
						took[i] += d
					}
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(took[0].Microseconds())/float64(b.N), "µs-10")
			b.ReportMetric(float64(took[1].Microseconds())/float64(b.N), "µs-1000")
			ratio, most := float64(took[1])/float64(took[0]), 1.5
			b.ReportMetric(ratio, "1000/10")
			if b.N >= 100 && ratio > most {
				b.Errorf("takes %.2f times the processor with 1,000 files changed, %.1f are the most", ratio, most)
			}
		})
	}
}

// BenchmarkOneOrgDeclares: what 64 people of one org get declared, as a multiple
// of what one of them does. Target: 8 on PostgreSQL, where a commit is a way to
// another process and to the disk.
func BenchmarkOneOrgDeclares(b *testing.B) {
	const people, each = 64, 10
	for _, db := range databases {
		b.Run(db.name, func(b *testing.B) {
			dsn := db.dsn(b)
			storetest.Prepare(b, dsn)
			c := newCrowd(daemontest.Start(b, dsn), "Acme", people)
			turn := 0
			rate := func(people int) float64 {
				var all sync.WaitGroup
				turn++
				start := time.Now()
				for i := range people {
					all.Go(func() {
						for n := range each {
							c.request(i, map[string]any{"branch": fmt.Sprintf("b%d-%d-%d", turn, i, n),
								"scope": map[string]any{"paths": []string{fmt.Sprintf("own%d/%d-%d.go", i, turn, n)}}})
						}
					})
				}
				all.Wait()
				return float64(people*each) / time.Since(start).Seconds()
			}
			rate(1)
			var one, many float64
			for range b.N {
				for range 4 {
					one += rate(1) / 4
				}
				many += rate(people)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(one/float64(b.N), "one/s")
			b.ReportMetric(many/float64(b.N), "many/s")
			b.ReportMetric(many/one, "many/one")
		})
	}
}

func changedFile(path string, n int) map[string]any {
	return map[string]any{"path": path, "status": "modified", "base_blob": strings.Repeat("b", 40), "language": "go",
		"hunks": []map[string]any{{"start": 1 + n%50, "count": 1, "lines_hash": fmt.Sprintf("%016x", n)}}}
}

// TestADeclareListsTheWorst: in a crowd an answer has the ten worst conflicts
// and says how many others there are; the list of all has all of them.
func TestADeclareListsTheWorst(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		c := newCrowd(daemontest.Start(t, dsn), "Acme", 14)
		for i := range 12 {
			c.declare(i)
		}
		c.request(12, map[string]any{"mode": "exclusive", "scope": map[string]any{"paths": []string{"alone/a.go"}}})
		out, _ := c.request(13, map[string]any{"scope": map[string]any{"paths": []string{"src/shared.go", "alone/a.go"}}})
		if len(out.Conflicts) != wire.MostMet || out.MoreConflicts != 3 || out.Conflicts[0].Kind != coord.ExclusiveClaim {
			t.Errorf("lists %d, first %s, and %d more; want the block first of %d, and 3 more",
				len(out.Conflicts), out.Conflicts[0].Kind, out.MoreConflicts, wire.MostMet)
		}
		if out.Intent.Status != coord.IntentBlocked || len(out.Intent.BlockedBy) != 1 || out.Intent.BlockedBy[0].Ref != out.Conflicts[0].Ref {
			t.Errorf("%s is %s by %v, want blocked by %s", out.Intent.Ref, out.Intent.Status, out.Intent.BlockedBy, out.Conflicts[0].Ref)
		}
		var all wire.Page[coord.Conflict]
		path := "/v1/conflicts?limit=100&status=live&intent=" + out.Intent.Ref
		c.w.Must(200, daemontest.Request{Method: "GET", Path: path, Token: c.o.Owner()}, &all)
		if len(all.Items) != 13 {
			t.Errorf("%d conflicts of %s are live, want 13", len(all.Items), out.Intent.Ref)
		}
		c.end(12) // whoever was kept out goes on
		var now coord.Intent
		c.w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents/" + out.Intent.Ref, Token: c.o.Owner()}, &now)
		if now.Status != coord.IntentActive || len(now.BlockedBy) != 0 {
			t.Errorf("after the claim ended %s is %s by %v", now.Ref, now.Status, now.BlockedBy)
		}
	})
}

// spent returns the processor time that fn takes.
func spent(fn func()) time.Duration {
	start := processor()
	fn()
	return processor() - start
}

// A throng is people who work on the same file.
type throng struct {
	w       *daemontest.World
	o       *daemontest.Org
	tokens  []string
	intents []coord.Intent
}

func newCrowd(w *daemontest.World, name string, people int) *throng {
	c := &throng{w: w, o: w.Org(name), intents: make([]coord.Intent, people)}
	for range people {
		u := w.Member(c.o, coord.Member)
		c.tokens = append(c.tokens, w.Token(c.o, &u, coord.Scopes()...))
	}
	for i := range c.tokens { // sessions, so that declaring is an agent's
		c.hook(i, wire.HookSessionStart, nil)
	}
	return c
}

func (c *throng) hook(i int, event wire.HookEvent, analysis any) {
	body := map[string]any{
		"event":   event,
		"session": map[string]any{"tool": "codex", "external_id": fmt.Sprint("agent", i)},
		"repo": map[string]any{
			"remote_fingerprints": []string{"github.com/acme/" + strings.ToLower(c.o.Slug)},
			"branch":              fmt.Sprint("work", i),
			"worktree_hash":       fmt.Sprint("copy", i),
		}}
	if analysis != nil {
		body["analysis"] = analysis
	}
	c.w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/hooks/evaluate", Token: c.tokens[i], Body: body}, nil)
}

func (c *throng) declare(i int) int {
	_, n := c.request(i, map[string]any{"scope": map[string]any{"paths": []string{"src/shared.go", fmt.Sprintf("own%d/**", i)}}})
	return n
}

// request declares the work of one and returns the answer with its length.
func (c *throng) request(i int, more map[string]any) (out wire.Declared, length int) {
	body := map[string]any{
		"title":  fmt.Sprintf("Task %d of module %d", i, i*7),
		"repo":   "acme/" + strings.ToLower(c.o.Slug),
		"branch": fmt.Sprint("work", i),
	}
	maps.Copy(body, more)
	r := c.w.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: c.tokens[i], Body: body}, &out)
	c.intents[i] = out.Intent
	return out, len(r.Body)
}

// edit records that the nth line of the shared file was changed.
func (c *throng) edit(i, n int) {
	c.hook(i, wire.HookPostEdit, map[string]any{"version": 1, "files": []map[string]any{changedFile("src/shared.go", n)}})
}

func (c *throng) end(i int) {
	c.w.Must(200, daemontest.Request{Method: "POST", Path: "/v1/intents/" + c.intents[i].Ref + "/close", Token: c.tokens[i],
		Body: map[string]any{"outcome": "abandoned"}}, nil)
}

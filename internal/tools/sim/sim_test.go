// Package sim plays histories of the real service in one process: its clock, its
// disk and its network are in one hand, and a number decides what happens. See
// CONTRIBUTING.md.
package sim

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/svc-hq/svc/internal/history"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var (
	seed       = flag.Uint64("seed", 1, "of the first history")
	seeds      = flag.Int("seeds", 4, "how many histories")
	operations = flag.Int("operations", 250, "how many operations each has")
)

// TestMain has nobody interrupted who runs: it would be at another place each
// time that a seed is played.
func TestMain(m *testing.M) {
	const calm = "asyncpreemptoff=1"
	if os.Getenv("GODEBUG") != calm {
		if self, err := os.Executable(); err == nil {
			os.Setenv("GODEBUG", calm)
			err = syscall.Exec(self, os.Args, os.Environ())
			fmt.Fprintln(os.Stderr, "histories may differ:", err)
		}
	}
	os.Exit(m.Run())
}

// play plays one history and returns what is wrong with it.
func play(t *testing.T, seed uint64, bad defects, operations int) (w *world, wrong []error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // who runs next is then a matter of who waits since when
	// A lock that is held while a clock is waited for stops the clock: a lock is
	// no wait. The real clock ends that.
	hung := time.AfterFunc(10*time.Minute, func() { panic("the history hangs; " + replay(seed, operations)) })
	defer hung.Stop()
	theTeam(t)
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, seed, bad)
		defer w.close()
		for w.doneNow() < operations && !w.dead {
			w.step()
		}
		wrong = w.end()
	})
	return w, wrong
}

func (w *world) doneNow() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.done
}

// step has one thing happen, and some time pass.
func (w *world) step() {
	switch n := w.r.IntN(1000); {
	case n < 800:
		d, path := w.desks[w.r.IntN(len(w.desks))], w.somePath()
		w.work.Go(func() { d.ask(path) })
	case n < 850:
		d := w.desks[w.r.IntN(len(w.desks))]
		w.work.Go(d.report)
	case n < 900:
		for range 1 + w.r.IntN(3)/2*w.r.IntN(4) { // some at once, which share a commit
			w.claim()
			time.Sleep(time.Duration(w.r.IntN(400)) * time.Microsecond)
		}
	case n < 945:
		w.release()
	case n < 960:
		w.talk()
	case n < 985:
		w.harm(w.desks[w.r.IntN(len(w.desks))])
	case n < 994:
		w.harmStream(w.streams[w.r.IntN(len(w.streams))])
	case n < 998:
		w.cutPower()
	default:
		w.faulty()
		w.restart()
	}
	switch n := w.r.IntN(100); {
	case n < 40: // nearly at the same moment as the next
		time.Sleep(time.Duration(w.r.IntN(2000)) * time.Microsecond)
	case n < 97:
		time.Sleep(time.Duration(w.r.IntN(60)) * time.Millisecond)
	default:
		time.Sleep(time.Duration(w.r.IntN(6000)) * time.Millisecond)
	}
}

func (w *world) faulty() { w.mu.Lock(); w.fault = time.Now(); w.mu.Unlock() }

// calm reports whether all has been well since some time before then.
func (w *world) calm(then time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return then.Sub(w.fault) > 15*time.Second
}

// somePath is mostly one of the latest claims'.
func (w *world) somePath() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.claims); n > 0 && w.r.IntN(5) < 2 {
		return w.claims[n-1-w.r.IntN(min(n, 4))].path
	}
	return fmt.Sprintf("api/f%d.go", w.said+w.r.IntN(4)) // perhaps the next claim's
}

// claim takes an exclusive claim.
func (w *world) claim() {
	w.mu.Lock()
	w.said++
	c := claim{n: w.said, path: fmt.Sprintf("api/f%d.go", w.said), title: fmt.Sprintf("Work number %d", w.said)}
	w.mu.Unlock()
	w.work.Go(func() {
		var made struct{ Intent struct{ Ref string } }
		began := time.Now()
		err := w.writer.Call(w.Context(), w.at, "POST", "/v1/intents", map[string]any{"title": c.title, "repo": teamtest.APIRepo,
			"mode": "exclusive", "branch": c.path, "scope": map[string]any{"paths": []string{c.path}}}, &made)
		w.note("claim of %s: %v", c.path, err)
		if !w.say(history.Intent, c.title, err) {
			return
		}
		w.book.Claimed(c.path)
		c.ref = made.Intent.Ref
		w.mu.Lock()
		w.claims = append(w.claims, c)
		slices.SortFunc(w.claims, func(a, b claim) int { return a.n - b.n }) // whoever was first of those that a lease held up
		w.mu.Unlock()
		if took := time.Since(began); took > time.Second && w.calm(began) {
			w.book.Wrong("the claim of %s took %v, and nothing was wrong", c.path, took)
		}
		w.heardOf(c.title)
	})
}

// heardOf wants every stream to hear soon of what was acknowledged just now.
func (w *world) heardOf(title string) {
	var last int
	now := time.Now()
	if w.service.Ops.Ground.Store.Ask(w.Context(), &last, `SELECT MAX(seq) FROM events`) != nil {
		return
	}
	time.Sleep(bound)
	for _, s := range w.streams {
		if w.calmStream(s) && s.behind(last, now) {
			w.book.Wrong("a stream has not heard of %q %v after it was acknowledged", title, bound)
		}
	}
}

// calmStream reports whether the service and a stream's line have been well.
func (w *world) calmStream(s *stream) bool {
	s.line.mu.Lock()
	defer s.line.mu.Unlock()
	return w.net.reached() != nil && !s.line.cut && !s.line.silent
}

// release gives a claim up.
func (w *world) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.claims) == 0 {
		return
	}
	i := w.r.IntN(len(w.claims))
	c := w.claims[i]
	w.claims = append(w.claims[:i:i], w.claims[i+1:]...)
	w.book.Free(c.path)
	w.work.Go(func() {
		err := w.writer.Call(w.Context(), w.at, "POST", "/v1/intents/"+c.ref+"/close", map[string]any{"outcome": "abandoned"}, nil)
		w.note("release of %s: %v", c.path, err)
		w.say(history.End, c.title, err)
	})
}

func (w *world) talk() {
	w.mu.Lock()
	w.said++
	text := fmt.Sprintf("word-%d.", w.said)
	w.mu.Unlock()
	w.work.Go(func() {
		err := w.writer.Call(w.Context(), w.at, "POST", "/v1/messages", map[string]any{"to": "channel:" + teamtest.APIRepo, "body": text}, nil)
		w.note("message %s: %v", text, err)
		w.say(history.Message, text, err)
	})
}

// harm breaks something about a desk, for a while.
func (w *world) harm(d *desk) {
	w.faulty()
	kind, long := w.r.IntN(6), time.Duration(w.r.IntN(9000))*time.Millisecond
	w.note("%s suffers %d for %v", d.name, kind, long)
	mend := func(do func()) {
		time.AfterFunc(long, func() { d.line.set(do); w.faulty() })
	}
	switch kind {
	case 0: // a partition
		d.line.set(func() { d.line.cut = true })
		d.line.breakOff()
		mend(func() { d.line.cut = false })
	case 1: // a silent line
		d.line.set(func() { d.line.silent = true })
		mend(func() { d.line.silent = false })
	case 2: // what is under way is lost
		d.line.breakOff()
	case 3: // a line that is far away
		d.line.set(func() { d.line.delay = long / 50 })
		mend(func() { d.line.delay = 0 })
	case 4: // the clock on the wall jumps
		d.mu.Lock()
		d.wall = time.Duration(w.r.IntN(7200)-3600) * time.Second
		d.mu.Unlock()
	case 5:
		w.work.Wait() // hooks that are under way die with nobody to hear them
		d.kill()
	}
}

func (w *world) harmStream(s *stream) {
	w.note("a stream is broken off")
	s.mu.Lock()
	s.since = time.Time{}
	s.mu.Unlock()
	s.line.breakOff()
}

// cutPower cuts the service's power now, or in the midst of one of the next
// writes to its disk, and has it come back.
func (w *world) cutPower() {
	w.faulty()
	later := w.r.IntN(60)
	w.note("the power fails, %d writes from now", later)
	if later > 0 {
		left := later
		cut := make(chan struct{})
		w.disk.mu.Lock()
		w.disk.fuse = func() {
			w.mu.Lock()
			left--
			now := left == 0
			w.mu.Unlock()
			if now {
				w.powerCut()
				close(cut)
			}
		}
		w.disk.mu.Unlock()
		for range 3 { // somebody writes
			w.claim()
		}
		select {
		case <-cut:
		case <-time.After(time.Duration(w.r.IntN(2000)) * time.Millisecond):
			w.powerCut()
		}
	} else {
		w.powerCut()
	}
	time.Sleep(time.Duration(w.r.IntN(3000)) * time.Millisecond)
	w.rise()
	w.faulty()
}

// replay is how a history is played again: more than once, since who is first of
// those that run in one moment is not the seed's to say.
func replay(seed uint64, operations int) string {
	const again = "go test ./internal/tools/sim -run TestHistories -seed %d -seeds 1 -operations %d -count 20 -failfast"
	return fmt.Sprintf(again, seed, operations)
}

// Whatever fails, the rules of package history hold.
func TestHistories(t *testing.T) {
	done, here, asked, denied, cuts := 0, 0, 0, 0, 0
	for i := range *seeds {
		s := *seed + uint64(i)
		ok := t.Run(fmt.Sprint("seed ", s), func(t *testing.T) {
			w, wrong := play(t, s, defects{}, *operations)
			for _, err := range wrong[:min(len(wrong), 10)] {
				t.Error(err)
			}
			if t.Failed() {
				t.Logf("the history:\n%s\nto play it again:\n%s", strings.Join(w.trace, "\n"), replay(s, *operations))
			}
			done, here, asked, denied, cuts = done+w.done, here+w.here, asked+w.asked, denied+w.denied, cuts+w.hits
		})
		if !ok {
			break
		}
	}
	t.Logf("%d operations, %d edits decided by edges and %d by the service, %d refused, %d power cuts", done, here, asked, denied, cuts)
	if *seeds > 1 && (here == 0 || asked == 0 || denied == 0 || cuts == 0) && !t.Failed() {
		t.Error("the histories show nothing")
	}
}

// Defects that are planted are found: else the histories would show nothing.
func TestPlantedDefectsAreFound(t *testing.T) {
	const within = 5 // histories
	for name, c := range map[string]struct {
		defects
		says string
	}{
		"a lease kept too long": {defects{longLease: 3 * time.Second}, "was allowed"},
		"a lost wake-up":        {defects{lostWakes: 0.3}, "has not heard of"},
		"an fsync left out":     {defects{lazySyncs: true}, "was acknowledged and is lost"},
	} {
		t.Run(name, func(t *testing.T) {
			for s := range uint64(within) {
				for _, err := range found(t, s+1, c.defects) {
					if strings.Contains(err.Error(), c.says) {
						t.Logf("found by seed %d: %v", s+1, err)
						return
					}
				}
			}
			t.Errorf("not found in %d histories", within)
		})
	}
}

// found is what is wrong with a history that has a defect.
func found(t *testing.T, seed uint64, bad defects) (wrong []error) {
	_, wrong = play(t, seed, bad, 300)
	return wrong
}

// A disk of which some sectors cannot be read is told by readiness, though what
// it tries itself is elsewhere or in memory; and the request is one to try again.
func TestReadinessNoticesSectorsThatCannotBeRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "svc.db")
	storetest.Prepare(t, file)
	disk := newDisk(filepath.Dir(file))
	defer disk.gone()
	var mu sync.Mutex
	whole, breaks := map[int64]bool{}, false
	disk.broken = func(name string, at int64) bool {
		mu.Lock()
		defer mu.Unlock()
		whole[at] = whole[at] || !breaks
		return name == file && !whole[at]
	}
	w := daemontest.StartWith(t, daemon.Config{Database: file, MetricsAddr: "off"})
	o := w.Org("Acme") // since when nobody has anything in memory
	mu.Lock()
	clear(whole)
	mu.Unlock()
	for _, path := range []string{"/readyz", "/v1/me"} {
		w.Must(200, daemontest.Request{Method: "GET", Path: path, Token: o.Owner()}, nil)
	}
	mu.Lock()
	breaks = true
	mu.Unlock()
	w.Must(503, daemontest.Request{Method: "GET", Path: "/v1/projects", Token: o.Owner()}, nil)
	res := w.Must(503, daemontest.Request{Method: "GET", Path: "/readyz"}, nil)
	if !strings.Contains(string(res.Body), "disk I/O error, since ") {
		t.Errorf("it says %s", res.Body)
	}
}

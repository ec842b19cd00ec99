package hook

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/svc-hq/svc/internal/client/hook/spool"
	"github.com/svc-hq/svc/internal/client/host"
	"github.com/svc-hq/svc/internal/client/patience"
)

// Everything a hook opens is bounded, and still a disk can hang or a file be one
// that nobody thought of. Then the hook ends by itself, before its host ends it,
// and says that nobody looked at the edit.

// Limits of one run, over all that it does.
var (
	askLimit  = 4 * time.Second
	tellLimit = 9 * time.Second
	firstLook = 150 * time.Millisecond // most hooks are over by then
)

const (
	nextLook   = 50 * time.Millisecond
	softMemory = 512 << 20
	hardMemory = 3 << 29
)

// errStopped means that a hook took longer, or more memory, than it may.
var errStopped = errors.New("svc hook took too long and was stopped")

// A final is the one answer of a run: of the run itself, or of what ends it.
type final struct {
	taken atomic.Bool
	ended chan int // the exit code, when another has answered
	known atomic.Pointer[host.Call]
}

// guard ends the run if it takes too long or too much memory.
func (r *runner) guard() {
	if r.Exit == nil {
		return
	}
	r.final.ended = make(chan int, 1)
	began := time.Now()
	var look func()
	look = func() {
		debug.SetMemoryLimit(softMemory)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		if time.Since(began) < r.limit() && m.Sys-m.HeapReleased < hardMemory {
			time.AfterFunc(nextLook, look)
			return
		}
		r.giveUp()
	}
	time.AfterFunc(patience.Of(firstLook), look)
}

func (r *runner) limit() time.Duration {
	if c := r.final.known.Load(); c != nil && c.At != host.BeforeTool {
		return patience.Of(tellLimit)
	}
	return patience.Of(askLimit)
}

// giveUp answers in the place of the run, unless it has, and ends the process.
func (r *runner) giveUp() {
	if !r.final.taken.CompareAndSwap(false, true) {
		return
	}
	var out host.Output
	if c := r.final.known.Load(); c != nil {
		out = c.Quiet()
		if c.At == host.BeforeTool && c.Event != "" {
			out, _ = c.Render(host.Answer{Context: uncheckedWords(c, errStopped.Error())})
		}
		noted := make(chan struct{})
		go func() { // what hung may be the disk
			defer close(noted)
			spool.Open(r.TempDir, c.Host.ID, c.Session).Count(spool.FailOpens, 1)
			if dir, err := r.ConfigDir(); err == nil {
				spool.Log{Dir: dir, Tool: c.Host.ID, Event: string(c.Event)}.Note(errStopped)
			}
		}()
		select {
		case <-noted:
		case <-time.After(nextLook):
		}
	}
	code := r.write(out)
	r.Exit(code)
	r.final.ended <- code
}

// print leaves the answer, unless the run was given up.
func (r *runner) print(o host.Output) int {
	if r.final.taken.CompareAndSwap(false, true) {
		return r.write(o)
	}
	return <-r.final.ended
}

// uncheckedWords tells an agent that nobody looked at what it is about to do.
func uncheckedWords(c *host.Call, why string) string {
	what := "edit"
	switch {
	case c.Event == "":
		what = "tool call"
	case c.IsShell():
		what = "command"
	}
	return "svc could not check this " + what + ": " + why + ". Others may be at work in the same place."
}

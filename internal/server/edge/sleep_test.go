package edge_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon/teamtest"
)

// A machine that wakes up decides nothing by a lease of before it slept: the
// monotonic clock stood still, but another one tells. An hour later others may
// have claimed everything.
func TestAMachineThatSleptAsksAgain(t *testing.T) {
	var boot, wall atomic.Int64
	for name, slept := range map[string]func(){
		"by the clock since it was started":        func() { boot.Add(int64(time.Hour)) },
		"by the clock on the wall":                 func() { wall.Add(int64(time.Hour)) },
		"while the clock on the wall was set back": func() { boot.Add(int64(time.Hour)); wall.Add(-int64(time.Hour)) },
	} {
		t.Run(name, func(t *testing.T) {
			each(t, brief, func(t *testing.T, x *teamtest.Team, d *desk) {
				d.edge.Close()
				d.http.Close()
				d.boot = func() time.Duration { return time.Since(started) + time.Duration(boot.Load()) }
				d.wall = func() time.Time { return time.Now().Add(time.Duration(wall.Load())) }
				d.start()
				a := x.Agent(x.Cyd, teamtest.APIRepo)
				d.edit(a, "api/a.go")
				d.line.cut.Store(true) // the network is not back yet
				d.line.CloseClientConnections()
				slept()
				if left := d.edge.Report().Servers[0].Repos[0].LeaseMS; left != 0 {
					t.Errorf("awake again, it holds a lease of %d ms", left)
				}
				if r, step := d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/a.go"}}); step != wire.EdgeUnchecked {
					t.Errorf("awake again, an edit is %s: %+v", step, r)
				}
				d.line.cut.Store(false)
				await.True(t, "the server is asked again", func() bool {
					_, step := d.hook(a, wire.HookPreEdit, map[string]any{"paths": []string{"api/a.go"}})
					return step == wire.EdgeAsked || step == wire.EdgeDecided
				})
			})
		})
	}
}

var started = time.Now()

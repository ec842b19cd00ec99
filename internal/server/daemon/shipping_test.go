package daemon_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/wire"
	"github.com/svc-hq/svc/internal/server/daemon"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/ship"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

// A shipped is a service that ships into a folder.
type shipped struct {
	*daemontest.World
	t   *testing.T
	o   *daemontest.Org
	dir string
}

// often is how often something is done where a test waits for it.
var often = ship.Times{Every: time.Millisecond, Look: 10 * time.Millisecond, Retry: 10 * time.Millisecond, Base: time.Hour}

func startShipping(t *testing.T, times ship.Times, change ...func(*daemon.Config)) *shipped {
	t.Helper()
	s := &shipped{t: t, dir: t.TempDir()}
	cfg := daemon.Config{Database: filepath.Join(t.TempDir(), "svc.db"), ShipTo: s.dir, Ship: &times}
	for _, c := range change {
		c(&cfg)
	}
	s.World = daemontest.StartWith(t, cfg)
	s.o = s.Org("Acme")
	s.Must(201, daemontest.Request{Method: "POST", Path: "/v1/repos", Token: s.o.Owner(),
		Body: map[string]any{"full_name": "acme/api", "provider": "github"}}, nil)
	return s
}

var shipAge = regexp.MustCompile(`(?m)^svc_shipping_age_seconds (\S+)$`)

// age is what the metrics say.
func (s *shipped) age() time.Duration {
	s.t.Helper()
	m := shipAge.FindStringSubmatch(s.Metrics())
	if m == nil {
		s.t.Fatal("no svc_shipping_age_seconds")
	}
	seconds, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		s.t.Fatal(err)
	}
	return time.Duration(seconds * float64(time.Second))
}

// settle waits until all that was written is shipped, and returns a moment at
// which it was.
func (s *shipped) settle() time.Time {
	s.t.Helper()
	written := time.Now()
	await.True(s.t, "that all is shipped", func() bool { return time.Now().Add(-s.age()).After(written) })
	// The folder says of each change, in whole milliseconds, by when it was committed.
	at := time.Now().Add(2 * time.Millisecond)
	await.True(s.t, "the next millisecond", func() bool { return time.Now().After(at) })
	return at
}

// intent writes something that can be seen.
func (s *shipped) intent(title string) {
	s.t.Helper()
	s.Must(201, daemontest.Request{Method: "POST", Path: "/v1/intents", Token: s.o.Owner(),
		Body: map[string]any{"title": title, "repo": "acme/api", "branch": "b-" + title}}, nil)
}

// titles are the intents that a service knows.
func titles(w *daemontest.World, token string) (out []string) {
	var page wire.Page[coord.Intent]
	w.Must(200, daemontest.Request{Method: "GET", Path: "/v1/intents?limit=100", Token: token}, &page)
	for _, i := range page.Items {
		out = append(out, i.Title)
	}
	return out
}

// restored starts a service on what a folder has of a moment.
func (s *shipped) restored(dir string, at time.Time) (*daemontest.World, *svcd) {
	s.t.Helper()
	to := filepath.Join(s.t.TempDir(), "restored.db")
	args := []string{"restore", "--from", dir, "--database", to}
	if !at.IsZero() {
		args = append(args, "--at", at.UTC().Format(time.RFC3339Nano))
	}
	r := run(s.t, nil, args...)
	if r.code != 0 {
		return nil, r
	}
	return daemontest.Start(s.t, to), r
}

// is fails unless a service that was restored knows some intents and no others.
func (s *shipped) is(dir string, at time.Time, want ...string) *svcd {
	s.t.Helper()
	w, r := s.restored(dir, at)
	if w == nil {
		s.t.Fatalf("restore --at %v: exit %d %s", at, r.code, &r.err)
	}
	got := titles(w, s.o.Owner())
	if len(got) != len(want) {
		s.t.Fatalf("restored at %v: %q, want %q", at, got, want)
	}
	for _, title := range want {
		if !strings.Contains(" "+strings.Join(got, " ")+" ", " "+title+" ") {
			s.t.Fatalf("restored at %v: %q, want %q", at, got, want)
		}
	}
	w.Stop()
	return r
}

// copied is the folder as it would be found after a kill.
func copied(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

// files are those of a folder with an ending, by name.
func files(t *testing.T, dir, ending string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"+ending))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Any moment of what was written can be restored, into SQLite and PostgreSQL; by
// whichever process it was written, and however often the log began anew.
func TestAnyMomentIsRestored(t *testing.T) {
	s := startShipping(t, often)
	var moments []time.Time
	var all []string
	for n := range 4 {
		title := fmt.Sprint("T", n)
		s.intent(title)
		all = append(all, title)
		moments = append(moments, s.settle())
		s.Emit(s.o, 300) // by another process than the one that ships, as it were
	}
	want := seen(s.World, s.o.Owner())
	s.settle()
	if v := run(t, nil, "backup", "verify", s.dir); v.code != 0 || !strings.Contains(v.out.String(), "can be restored (1 bases") {
		t.Errorf("verify: exit %d %s%s", v.code, &v.out, &v.err)
	}
	for n, at := range moments {
		s.is(s.dir, at, all[:n+1]...)
	}
	s.Stop()
	storetest.EachEmpty(t, func(t *testing.T, to string) {
		if r := run(t, nil, "restore", "--from", s.dir, "--database", to); r.code != 0 {
			t.Fatalf("restore: exit %d %s", r.code, &r.err)
		}
		compare(t, want, seen(daemontest.Start(t, to), s.o.Owner()))
	})
}

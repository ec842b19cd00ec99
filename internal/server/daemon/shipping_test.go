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
		s.Emit(s.o, 20) // by another process than the one that ships, as it were
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

// What is damaged or missing is told, by verify and by restore, and what was
// shipped before it can be restored; what a kill leaves behind is no damage.
func TestDamageToWhatWasShippedIsTold(t *testing.T) {
	s := startShipping(t, often)
	s.intent("One")
	one := s.settle()
	for _, title := range []string{"Two", "Three"} { // so that the second part is not the last, which may be torn
		s.intent(title)
		s.settle()
	}
	whole := copied(t, s.dir)
	changes := files(t, whole, ".changes")
	if len(changes) != 1 || len(files(t, whole, ".base")) != 1 {
		t.Fatalf("shipped %v", changes)
	}
	text, err := os.ReadFile(changes[0])
	if err != nil {
		t.Fatal(err)
	}
	with := func(ending string, change func(text []byte) []byte) string {
		dir := copied(t, whole)
		file := files(t, dir, ending)[0]
		before, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(file, change(before), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return dir
	}
	flip := func(at int) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= 4; return b }
	}
	for range 2 { // the second time nothing has changed by restoring
		s.is(whole, one, "One")
		s.is(whole, time.Time{}, "One", "Two", "Three")
	}

	// Cut within its last part, as by a kill.
	torn := with(".changes", func(b []byte) []byte { return b[:len(b)-7] })
	if v := run(t, nil, "backup", "verify", torn); v.code != 0 || !strings.Contains(v.out.String(), "ends in the middle, as after a crash") {
		t.Errorf("torn: verify exit %d %s%s", v.code, &v.out, &v.err)
	}
	if r := run(t, nil, "restore", "--from", torn, "--database", filepath.Join(t.TempDir(), "x.db")); r.code != 0 ||
		!strings.Contains(r.err.String(), "ends in the middle, as after a crash: what was written last may not be in it") {
		t.Errorf("torn: restore exit %d %s", r.code, &r.err)
	}
	s.is(torn, one, "One")

	second := strings.Index(string(text[1:]), "svcship1") + 1
	for name, dir := range map[string]string{
		"a flipped byte in the first change":    with(".changes", flip(second/2)),
		"a flipped byte in the length of one":   with(".changes", flip(9)),
		"a flipped byte in the word before one": with(".changes", flip(second)),
		"a change that is gone from the middle": with(".changes", func(b []byte) []byte { return b[second:] }),
		"a flipped byte in the base":            with(".base", flip(5000)),
		"a base that is cut short":              with(".base", func(b []byte) []byte { return b[:len(b)-1] }),
		"a base without anything":               with(".base", func([]byte) []byte { return nil }),
	} {
		v := run(t, nil, "backup", "verify", dir)
		r := run(t, nil, "restore", "--from", dir, "--database", filepath.Join(t.TempDir(), "x.db"))
		if v.code != 1 || r.code != 1 || !strings.Contains(v.err.String(), dir) || !strings.Contains(r.err.String(), dir) {
			t.Errorf("%s: verify %d %s, restore %d %s", name, v.code, &v.err, r.code, &r.err)
		}
	}
}

// A file that is gone from the middle is told, and what was shipped before it can
// be restored, at the moment that the refusal names.
func TestAMissingFileIsTold(t *testing.T) {
	s := startShipping(t, often)
	s.intent("One")
	s.settle()
	for n, title := range []string{"Two", "Three"} { // each in a file of its own
		if err := os.Rename(s.dir, s.dir+".away"); err != nil {
			t.Fatal(err)
		}
		await.True(t, "that it is missed", func() bool { return strings.Count(s.Log.String(), "shipping stopped") > n })
		if err := os.Rename(s.dir+".away", s.dir); err != nil {
			t.Fatal(err)
		}
		s.intent(title)
		s.settle()
	}
	all := files(t, s.dir, ".changes")
	if len(all) < 3 {
		t.Fatalf("shipped %v", all)
	}
	dir := copied(t, s.dir)
	gone := filepath.Join(dir, filepath.Base(all[1]))
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	v := run(t, nil, "backup", "verify", dir)
	if v.code != 1 || !strings.Contains(v.err.String(), gone+" is missing") {
		t.Errorf("verify: exit %d %s", v.code, &v.err)
	}
	r := run(t, nil, "restore", "--from", dir, "--database", filepath.Join(t.TempDir(), "x.db"))
	named := regexp.MustCompile(`--at (\S+) restores what is`).FindStringSubmatch(r.err.String())
	if r.code != 1 || named == nil {
		t.Fatalf("restore: exit %d %s", r.code, &r.err)
	}
	at, err := time.Parse(time.RFC3339, named[1])
	if err != nil {
		t.Fatal(err)
	}
	s.is(dir, at, "One")
}

// The service goes on while the folder is away, says so, keeps SQLite's log
// short, and ships again when the folder is back, empty or as it was.
func TestAFolderGoesAndComesBack(t *testing.T) {
	for _, how := range []string{"empty", "as it was"} {
		t.Run(how, func(t *testing.T) {
			s := startShipping(t, often)
			s.intent("One")
			one := s.settle()
			away := s.dir + ".away"
			if err := os.Rename(s.dir, away); err != nil {
				t.Fatal(err)
			}
			await.True(t, "that the log says so", func() bool { return strings.Contains(s.Log.String(), "shipping stopped") })
			since := s.age()
			s.intent("Two")
			await.True(t, "that the metric says so", func() bool { return s.age() > since+100*time.Millisecond })
			s.WantReady()
			if how == "empty" {
				if err := os.Mkdir(s.dir, 0o700); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Rename(away, s.dir); err != nil {
				t.Fatal(err)
			}
			s.settle()
			s.intent("Three")
			s.settle()
			s.is(s.dir, time.Time{}, "One", "Two", "Three")
			if how == "as it was" {
				s.is(s.dir, one, "One")
			} else if r := run(t, nil, "restore", "--from", s.dir, "--at", one.Format(time.RFC3339Nano), "--database",
				filepath.Join(t.TempDir(), "x.db")); r.code != 1 || !strings.Contains(r.err.String(), "the oldest state in") {
				t.Errorf("a moment of before: exit %d %s", r.code, &r.err)
			}
		})
	}
}

// WantReady fails unless the service says that it is ready.
func (s *shipped) WantReady() {
	s.t.Helper()
	s.Must(200, daemontest.Request{Method: "GET", Path: "/readyz"}, nil)
}

// Two servers do not ship into one folder, at the same time or one after the
// other.
func TestOneServerForOneFolder(t *testing.T) {
	s := startShipping(t, often)
	s.settle()
	for range 2 {
		r := run(t, nil, "serve", "--addr", "127.0.0.1:0", "--metrics-addr", "off", "--data", t.TempDir(), "--ship-to", s.dir)
		if r.code != 1 || !strings.Contains(r.err.String(), "--ship-to") || strings.Contains(r.err.String(), "panic") {
			t.Errorf("another server: exit %d %s", r.code, &r.err)
		}
		s.Stop()
	}
}

// What is older than the window goes once a newer base is whole, and what is in
// the window can be restored.
func TestWhatIsOlderThanTheWindowGoes(t *testing.T) {
	times := often
	times.Base = 50 * time.Millisecond
	s := startShipping(t, times, func(c *daemon.Config) { c.ShipKeep = "1s" })
	s.settle()
	first := files(t, s.dir, ".base")
	s.intent("One")
	await.True(t, "that the first base is gone", func() bool {
		s.settle()
		now := files(t, s.dir, ".base")
		return len(first) > 0 && len(now) > 0 && now[0] != first[0]
	})
	at := s.settle()
	s.intent("Two")
	s.settle()
	s.Stop()
	if v := run(t, nil, "backup", "verify", s.dir); v.code != 0 {
		t.Errorf("verify: exit %d %s%s", v.code, &v.out, &v.err)
	}
	s.is(s.dir, at, "One")
	s.is(s.dir, time.Time{}, "One", "Two")
}

// What cannot be asked for is said in a line.
func TestRestoringSaysWhatIsWrong(t *testing.T) {
	empty := t.TempDir()
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"restore", "--from", empty, "--at", "yesterday"}, 2, "is no moment"},
		{[]string{"restore", "x", "--from", empty}, 2, "not both"},
		{[]string{"restore", "x", "--at", "2026-01-01T00:00:00Z"}, 2, "--at goes with --from"},
		{[]string{"restore", "--from", empty, "--database", filepath.Join(empty, "x.db")}, 1, "no whole base"},
		{[]string{"restore", "--from", filepath.Join(empty, "none"), "--database", filepath.Join(empty, "x.db")}, 1, "no such file"},
		{[]string{"backup", "verify", empty}, 1, "no whole base"},
		{[]string{"serve", "--ship-keep", "1s"}, 2, "a minute or longer"},
		{[]string{"serve", "--ship-to", empty, "--database", "postgres://svc@db/svc"}, 2, "an archive of its own"},
	} {
		s := run(t, nil, tt.args...)
		if s.code != tt.code || !strings.Contains(s.err.String(), tt.want) || strings.Count(s.err.String(), "\n") != 1 {
			t.Errorf("svcd %v: exit %d, %q; want %d and one line with %q", tt.args, s.code, &s.err, tt.code, tt.want)
		}
	}
}

package ship_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/await"
	"github.com/svc-hq/svc/internal/server/ship"
	"github.com/svc-hq/svc/internal/server/store"
)

// A world is a database that is shipped, and what has been written to it.
type world struct {
	t       *testing.T
	dir     string
	file    string
	st      *store.Store
	shipper *ship.Shipper
	content map[string]string
}

var often = ship.Times{Every: time.Millisecond, Look: 5 * time.Millisecond, Retry: 5 * time.Millisecond, Base: time.Hour}

func open(t *testing.T, file string) *store.Store {
	t.Helper()
	st, err := store.Open(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func (w *world) start(times ship.Times) {
	w.t.Helper()
	w.st = open(w.t, w.file)
	var err error
	w.shipper, err = ship.Start(ship.Config{Dir: w.dir, Database: "D", Keep: time.Hour, Log: slog.New(slog.DiscardHandler), Times: &times,
		Lock: func(string) (io.Closer, error) { return os.Create(filepath.Join(w.dir, "lock")) }}, w.st.Tail())
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) stop() {
	w.shipper.Stop(context.Background())
	w.st.Close()
}

// write writes some values, by one of those who have the database open.
func (w *world) write(by *store.Store, r *rand.Rand) {
	w.t.Helper()
	err := by.Write(w.t.Context(), "", func(tx *store.Tx) error {
		for range 1 + r.IntN(20) {
			key, value := fmt.Sprint("k", r.IntN(200)), strings.Repeat(fmt.Sprint(r.IntN(1000)), r.IntN(3000))
			w.content[key] = value
			if err := tx.SetMeta(w.t.Context(), key, value); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// settled waits until all is shipped, and returns a moment by which it is.
func (w *world) settled() time.Time {
	w.t.Helper()
	since := time.Now()
	await.True(w.t, "that all is shipped", func() bool {
		asked := time.Now()
		age, err := w.shipper.Age()
		return err == nil && asked.Add(-age).After(since)
	})
	at := time.Now().Add(2 * time.Millisecond)
	await.True(w.t, "the next millisecond", func() bool { return time.Now().After(at) })
	return at
}

// holds fails unless the state of a moment has some content.
func holds(t *testing.T, dir string, at time.Time, want map[string]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "again.db")
	if _, err := ship.Restore(dir, at, file); err != nil {
		t.Fatal(err)
	}
	st := open(t, file)
	defer st.Close()
	if _, err := st.Sound(t.Context()); err != nil {
		t.Fatal(err)
	}
	err := st.Read(t.Context(), func(tx *store.Tx) error {
		for key, value := range want {
			if got, err := tx.Meta(t.Context(), key); err != nil || got != value {
				return fmt.Errorf("%s is %.20q of %d bytes, want %.20q of %d (%v)", key, got, len(got), value, len(value), err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Whatever happens to SQLite's log, each moment comes back as it was: written by
// two processes, emptied by either, begun anew, with bases on the way, after the
// server was stopped, and after a folder was away.
func TestEachMomentComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 1))
	w := &world{t: t, dir: t.TempDir(), file: filepath.Join(t.TempDir(), "svc.db"), content: map[string]string{}}
	times := often
	times.Base = 300 * time.Millisecond
	w.start(times)
	other := open(t, w.file)
	type moment struct {
		at      time.Time
		content map[string]string
	}
	var moments []moment
	for n := range 60 {
		for range r.IntN(6) {
			by := w.st
			if r.IntN(3) == 0 {
				by = other
			}
			w.write(by, r)
		}
		switch r.IntN(12) {
		case 0:
			if err := w.st.Scrub(t.Context()); err != nil {
				t.Fatal(n, err)
			}
		case 1:
			if err := other.Scrub(t.Context()); err != nil {
				t.Fatal(n, err)
			}
		case 2:
			w.stop()
			w.write(other, r)
			w.start(times)
		case 3:
			other.Close()
			other = open(t, w.file)
		case 4:
			away := w.dir + ".away"
			if err := errors.Join(os.Rename(w.dir, away)); err != nil {
				t.Fatal(err)
			}
			w.write(w.st, r)
			await.True(t, "that the folder is missed", func() bool { _, err := w.shipper.Age(); return err != nil })
			if err := os.Rename(away, w.dir); err != nil {
				t.Fatal(err)
			}
		}
		moments = append(moments, moment{w.settled(), maps.Clone(w.content)})
	}
	w.stop()
	other.Close()
	if _, _, err := ship.Verify(w.dir); err != nil {
		t.Error(err)
	}
	for i, m := range moments {
		if i%4 == 0 || i == len(moments)-1 {
			holds(t, w.dir, m.at, m.content)
		}
	}
	holds(t, w.dir, time.Time{}, w.content)
}

// What was deleted is out of the database's files once it was scrubbed, although
// the log is followed, which keeps SQLite from emptying it; whoever scrubs.
func TestWhatWasScrubbedIsNotInTheLog(t *testing.T) {
	w := &world{t: t, dir: t.TempDir(), file: filepath.Join(t.TempDir(), "svc.db")}
	w.start(often)
	defer w.stop()
	other := open(t, w.file)
	defer other.Close()
	for n, by := range []*store.Store{w.st, other, w.st} {
		for _, value := range []string{fmt.Sprint("a secret of round ", n), "nothing"} {
			err := by.Write(t.Context(), "", func(tx *store.Tx) error { return tx.SetMeta(t.Context(), "k", value) })
			if err != nil {
				t.Fatal(err)
			}
			w.settled()
		}
		if err := by.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"", "-wal"} {
			text, err := os.ReadFile(w.file + end)
			if err != nil || strings.Contains(string(text), "a secret of round") {
				t.Errorf("round %d: svc.db%s has what was scrubbed (%v)", n, end, err)
			}
		}
	}
}

// SQLite's log stays short while it is followed, and while what follows it has
// nowhere to write.
func TestTheLogStaysShort(t *testing.T) {
	for _, how := range []string{"followed", "nowhere to write"} {
		t.Run(how, func(t *testing.T) {
			w := &world{t: t, dir: t.TempDir(), file: filepath.Join(t.TempDir(), "svc.db"), content: map[string]string{}}
			w.start(often)
			defer w.stop()
			w.settled()
			if how != "followed" {
				await.True(t, "that the folder is gone", func() bool { return os.RemoveAll(w.dir) == nil }) // it is written to
			}
			r := rand.New(rand.NewPCG(36, 2))
			most := int64(0)
			for n := range 900 { // some 40 MB
				if how == "followed" && n%100 == 99 {
					w.settled() // whoever follows gets a turn
				}
				w.write(w.st, r)
				info, err := os.Stat(w.file + "-wal")
				if err != nil {
					t.Fatal(err)
				}
				most = max(most, info.Size())
			}
			if most > 48<<20 {
				t.Errorf("the log grew to %d KB", most>>10)
			}
			if how != "followed" {
				return
			}
			at := w.settled()
			if spans, torn, err := ship.Verify(w.dir); err != nil || len(torn) > 0 || len(spans) != 1 || spans[0].Bases != 1 {
				t.Errorf("shipped with gaps: %v %v %v", spans, torn, err)
			}
			holds(t, w.dir, at, w.content)
		})
	}
}

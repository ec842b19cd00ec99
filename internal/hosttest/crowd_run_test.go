//go:build unix

package hosttest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-hq/svc/internal/doctable"
)

// crowdSeeds are the runs that the documentation shows.
var crowdSeeds = []uint64{1, 2, 3}

// crowdWorld is a clone with the crowd's files.
func crowdWorld(t *testing.T, path []string, hosts string) *world {
	t.Helper()
	w := newWorld(t, path)
	w.env = append(w.env, "SVC_PATIENCE=20") // it is not speed that is asked for
	for _, f := range crowdFiles {
		w.write(filepath.Join(w.repo, f), crowdText(f))
	}
	if hosts != "" {
		w.setUp(hosts)
	}
	w.must("git", "add", "-A")
	w.must("git", "commit", "-qm", "work")
	return w
}

// The hooks alone hold in a crowd what its hosts hold, in seconds.
func TestTheCrowdByHooks(t *testing.T) {
	if testing.Short() {
		t.Skip("make test builds the programs and tests with them")
	}
	bin := buildClient(t)
	seeds := drawn([]uint64{1, 2})
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := crowdWorld(t, []string{bin}, "claude_code,codex,factory_droid")
			var seats []seat
			for i := range 2 {
				for _, h := range crowdHosts() {
					seats = append(seats, &hookSeat{w: w, h: h, id: fmt.Sprintf("%s-%d", h.id, i+1)})
				}
			}
			f := newCrowd(t, w.repo, seats, seed).play(seed)
			f.held(t)
		})
	}
}

// held fails for what must not be.
func (f crowdFigures) held(t *testing.T) {
	t.Helper()
	t.Logf("%+v, needless %.0f %%, words %v", f, 100*f.needless(), f.Words)
	if f.Lost > 0 {
		t.Errorf("%d lines of others were lost without a refusal", f.Lost)
	}
	if f.needless() > 0.1 {
		t.Errorf("%d of %d refusals and %d of %d warnings were needless", f.NeedlessRefused, f.Refusals, f.NeedlessWarned, f.Warnings)
	}
	if most := slices.Max(f.Words); most > maxWords {
		t.Errorf("a session got %d words", most)
	}
	if f.Refusals == 0 || f.Writes < f.Turns/4 {
		t.Errorf("the crowd did not meet: %+v", f)
	}
}

// TestHostsCrowd is the crowd of real hosts, with svc and without it.
func TestHostsCrowd(t *testing.T) {
	value := os.Getenv("SVC_TEST_HOSTS")
	if value == "" || value != "1" && !strings.Contains(value, "crowd") {
		return
	}
	lines := map[uint64]string{}
	for _, seed := range drawn(crowdSeeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			with := realCrowd(t, seed, true)
			without := realCrowd(t, seed, false)
			t.Logf("without svc: %+v", without)
			if without.Lost == 0 {
				t.Errorf("nothing would have been lost: the crowd does not meet")
			}
			with.held(t)
			lines[seed] = crowdLine(seed, with, without, time.Now())
		})
	}
	recordCrowd(t, lines)
}

// crowdLine is what the documentation says of a run.
func crowdLine(seed uint64, with, without crowdFigures, day time.Time) string {
	words := slices.Sorted(slices.Values(with.Words))
	return fmt.Sprintf("| %d | %d of %d | %d | %d | %d | %d | %d | %d of %d | %d, %d | %s |\n", seed, with.Writes, with.Turns, without.Lost,
		with.Lost, with.LostAfterRefusal, with.Refusals, with.Warnings, with.NeedlessRefused+with.NeedlessWarned, with.Refusals+with.Warnings,
		words[len(words)/2], words[len(words)-1], day.UTC().Format(time.DateOnly))
}

const crowdHead = "| seed | turns that wrote | lines of others lost without svc | lost with svc, unannounced | lost after a refusal " +
	"| edits stopped | warnings | needless of both | words in a session, median and most | seen on |\n" +
	"|---|---|---|---|---|---|---|---|---|---|\n"

// recordCrowd puts runs into the documentation and leaves the others there.
func recordCrowd(t *testing.T, lines map[uint64]string) {
	t.Helper()
	doc, all := documentedCrowd(t)
	for seed, l := range lines {
		all[seed] = l
	}
	rows := crowdHead
	for _, seed := range slices.Sorted(maps.Keys(all)) {
		rows += all[seed]
	}
	doc.Write(t, rows)
}

func documentedCrowd(t *testing.T) (doctable.Table, map[uint64]string) {
	t.Helper()
	doc := doctable.Read(t, "../../docs/hosts.md", "crowd")
	lines := map[uint64]string{}
	for l := range strings.Lines(doc.Rows) {
		var seed uint64
		if n, _ := fmt.Sscanf(l, "| %d |", &seed); n == 1 {
			lines[seed] = l
		}
	}
	return doc, lines
}

// The documentation shows the crowd's runs, and none in which a line was lost
// unannounced.
func TestTheDocumentedCrowdLostNothing(t *testing.T) {
	_, lines := documentedCrowd(t)
	for _, seed := range crowdSeeds {
		cells := strings.Split(lines[seed], " | ")
		if len(cells) != 10 || cells[3] != "0" || cells[2] == "0" {
			t.Errorf("docs/hosts.md shows of seed %d: %q; make test-hosts", seed, lines[seed])
		}
	}
}

func realCrowd(t *testing.T, seed uint64, with bool) crowdFigures {
	t.Helper()
	notes, folder := listening(t, buildClient(t))
	path := []string{folder}
	for _, h := range crowdHosts() {
		path = append(path, install(t, h)...)
	}
	hosts := ""
	if with {
		hosts = "claude_code,codex,factory_droid"
	}
	w := crowdWorld(t, path, hosts)
	for _, h := range crowdHosts() {
		for name, text := range h.files {
			w.write(filepath.Join(w.home, name), strings.NewReplacer("$REPO", w.repo, "$DIRECT", "").Replace(text))
		}
		if h.accept != nil && with {
			h.accept(w, lookPath(t, w.path(), h.bin))
		}
	}
	var seats []seat
	for i := range 2 {
		for k, h := range crowdHosts() {
			seats = append(seats, sit(w, h, 3*i+k, notes))
		}
	}
	return newCrowd(t, w.repo, seats, seed).play(seed)
}

// drawn are the seeds to play: those that SVC_CROWD_SEEDS names, if it does.
func drawn(seeds []uint64) []uint64 {
	var named []uint64
	for s := range strings.SplitSeq(os.Getenv("SVC_CROWD_SEEDS"), ",") {
		if n, err := strconv.ParseUint(s, 10, 64); err == nil {
			named = append(named, n)
		}
	}
	if len(named) > 0 {
		return named
	}
	return seeds
}

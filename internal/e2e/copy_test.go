package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/gittest"
	"github.com/svc-hq/svc/internal/server/store"
)

// Whatever happens in a working copy, after the next hook that gets through the
// service's record of it is what git says: by edit tool, shell, an editor or
// another tool server, with the service away or restarted, over switches,
// stashes and commits, with hosts killed and two agents side by side.
//
// In CI it plays the same histories every time; by hand others each time, as
// many as SVC_TEST_HISTORIES says. A failure names the one that repeats it,
// with SVC_TEST_SEED.
func TestTheRecordIsTheWorkingCopy(t *testing.T) {
	seed, histories := uint64(20261115), 3
	if os.Getenv("CI") == "" {
		seed = uint64(time.Now().UnixNano())
	}
	if n, err := strconv.Atoi(os.Getenv("SVC_TEST_HISTORIES")); err == nil {
		histories = n
	}
	if n, err := strconv.ParseUint(os.Getenv("SVC_TEST_SEED"), 10, 64); err == nil {
		seed, histories = n, 1
	}
	for i := range histories {
		t.Run(fmt.Sprint(seed+uint64(i)), func(t *testing.T) { newHistory(t, seed+uint64(i)).play(30) })
	}
}

// A history is a clone with what happens in it.
type history struct {
	t      *testing.T
	chance *rand.Rand
	s      *server
	c      *clone
	up     bool
	agents []*agent
	born   int
	calls  int
	log    []string
}

func newHistory(t *testing.T, seed uint64) *history {
	s := newServer(t, t.TempDir())
	h := &history{t: t, chance: rand.New(rand.NewPCG(seed, 1)), s: s, up: true, c: newClone(t, s, s.token("olga@example.com"))}
	for i := range 6 {
		gittest.Write(t, h.c.dir, fmt.Sprintf("d%d/f%d.txt", i%2, i), numbered(12, i))
	}
	gittest.Write(t, h.c.dir, ".gitignore", "*.log\n")
	h.git("add", "-A")
	h.git("commit", "-qm", "base")
	h.git("update-ref", "refs/remotes/origin/main", "HEAD")
	h.agents = []*agent{h.host(), h.host()}
	return h
}

func numbered(n, salt int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d of %d\n", i, salt)
	}
	return b.String()
}

// host starts an agent. Without a service it begins unheard.
func (h *history) host() *agent {
	h.born++
	a := h.c.agent(h.t, fmt.Sprint("session-", h.born))
	a.hook("SessionStart", nil)
	return a
}

// git runs a command that may refuse, as it does over work that would be lost.
func (h *history) git(args ...string) {
	cmd := exec.Command("git", args...)
	cmd.Dir = h.c.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_SYSTEM="+os.DevNull, "GIT_EDITOR=true",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	out, err := cmd.CombinedOutput()
	h.note("git %s (%v) %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) pick(n int) int { return h.chance.IntN(n) }

// change writes, grows, moves or removes a file, and returns its name.
func (h *history) change() string {
	name := fmt.Sprintf("d%d/f%d.txt", h.pick(2), h.pick(8))
	full := filepath.Join(h.c.dir, name)
	data, err := os.ReadFile(full)
	switch {
	case err != nil, h.pick(6) == 0:
		gittest.Write(h.t, h.c.dir, name, numbered(1+h.pick(12), h.pick(100)))
	case h.pick(6) == 0:
		os.Remove(full)
	case h.pick(8) == 0:
		os.Rename(full, full+".log") // which git ignores
	default:
		lines := strings.SplitAfter(string(data), "\n")
		lines[h.pick(len(lines))] = fmt.Sprintf("changed %d\n", h.pick(1000))
		gittest.Write(h.t, h.c.dir, name, strings.Join(lines, ""))
	}
	return name
}

// step lets one thing happen.
func (h *history) step() {
	h.calls++
	id := fmt.Sprint("call-", h.calls)
	i := h.pick(len(h.agents))
	a := h.agents[i]
	switch h.pick(16) {
	case 0, 1, 2:
		name := h.change()
		h.note("%s edits %s", a.session, name)
		a.hook("PostToolUse", map[string]any{"tool_name": "Write", "tool_use_id": id,
			"tool_input": map[string]any{"file_path": h.c.dir + "/" + name}})
	case 3, 4:
		command := map[string]any{"tool_name": "Bash", "tool_use_id": id, "tool_input": map[string]any{"command": "make generate # " + id}}
		a.hook("PreToolUse", command)
		h.note("%s runs a command that writes %s and %s", a.session, h.change(), h.change())
		a.hook("PostToolUse", command)
	case 5, 6:
		h.note("somebody edits %s", h.change())
	case 7:
		if h.up {
			h.s.stop()
		} else {
			h.s.start()
		}
		h.up = !h.up
		h.note("the service is up: %v", h.up)
	case 8:
		h.git("switch", "-q", "-c", fmt.Sprint("topic-", h.calls))
	case 9:
		h.git("switch", "-q", "main")
	case 10:
		h.git("stash", "push", "-q", "-u")
	case 11:
		h.git("stash", "pop", "-q")
	case 12:
		h.git("add", "-A")
		h.git("commit", "-qm", "work")
	case 13:
		if h.pick(2) == 0 {
			h.git("commit", "-qam", "some work")
		} else {
			h.git("checkout", "-q", "--", ".")
		}
	case 14:
		h.note("the host of %s is killed", a.session)
		a.kill()
		h.agents[i] = h.host()
	case 15:
		if h.pick(3) == 0 {
			h.git("update-ref", "refs/remotes/origin/main", "HEAD")
			return
		}
		h.note("%s hears its person", a.session)
		a.hook("UserPromptSubmit", map[string]any{"prompt": "go on"})
	}
}

func (h *history) play(steps int) {
	for n := range steps {
		h.step()
		if n%10 == 9 {
			h.meet()
		}
	}
}

// meet lets a hook get through, and compares.
func (h *history) meet() {
	h.t.Helper()
	if !h.up {
		h.s.start()
		h.up = true
	}
	failures, _ := filepath.Glob(h.c.temp + "/svc-hook-*/failures-*")
	for _, f := range failures { // as if the breaker's pause were over
		os.Remove(f)
	}
	a := h.agents[h.pick(len(h.agents))]
	event := []string{"UserPromptSubmit", "Stop"}[h.pick(2)]
	h.note("%s: %s", a.session, event)
	a.hook(event, map[string]any{"prompt": "go on"})
	if diff := cmp.Diff(h.byGit(), h.byService()); diff != "" {
		h.t.Fatalf("git (-) and the service (+):\n%s\nafter\n%s\n%s", diff, strings.Join(h.log, "\n"), h.hookLog())
	}
}

func (h *history) hookLog() string {
	data, _ := os.ReadFile(filepath.Join(h.c.config, "hook.log"))
	return string(data)
}

// byGit returns what differs from the base: path to blob, "" for what is gone.
func (h *history) byGit() map[string]string {
	h.t.Helper()
	base := gittest.Run(h.t, h.c.dir, "merge-base", "HEAD", "refs/remotes/origin/main")
	names := strings.Fields(gittest.Run(h.t, h.c.dir, "diff", "--name-only", "--no-renames", base) + "\n" +
		gittest.Run(h.t, h.c.dir, "ls-files", "-o", "--exclude-standard"))
	out := map[string]string{}
	for _, n := range names {
		out[n] = ""
		if _, err := os.Lstat(filepath.Join(h.c.dir, n)); err == nil {
			out[n] = gittest.Run(h.t, h.c.dir, "hash-object", n)
			// An untracked file may be the base's own, taken out of the index.
			if old, err := exec.Command("git", "-C", h.c.dir, "rev-parse", "-q", "--verify", base+":"+n).Output(); err == nil &&
				strings.TrimSpace(string(old)) == out[n] {
				delete(out, n)
			}
		}
	}
	return out
}

// byService returns the same of the service's record. Of a renamed file it
// knows both names.
func (h *history) byService() map[string]string {
	h.t.Helper()
	out := map[string]string{}
	err := h.s.d.Ops.Moments.Store.Read(h.t.Context(), func(tx *store.Tx) error {
		orgs, err := tx.Orgs(h.t.Context())
		if err != nil {
			return err
		}
		for _, org := range orgs {
			rows, err := tx.Changes(h.t.Context(), org.ID, "", "")
			if err != nil {
				return err
			}
			for _, row := range rows {
				f := row.Facts
				out[f.Path] = ""
				if f.NewBlob != nil && f.Status != coord.FileDeleted {
					out[f.Path] = *f.NewBlob
				}
				if f.OldPath != nil && !slices.Contains(slices.Collect(maps.Keys(out)), *f.OldPath) {
					out[*f.OldPath] = ""
				}
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return out
}

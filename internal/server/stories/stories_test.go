// Package stories tells what the service does for a team, as stories in text
// files that are played against the real service on each database.
package stories

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

var update = flag.Bool("update", false, "rewrite the expected answers in testdata")

// TestStories plays the stories in testdata, each in an org of its own. A line
// is a command, see commands; an answer follows it between ---- and the next
// empty line.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		for n, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				got := newStory(t, w, fmt.Sprintf("org%d", n)).play(string(want))
				if *update {
					if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				} else if diff := cmp.Diff(string(want), got); diff != "" {
					t.Errorf("%s (- file, + service):\n%s", file, diff)
				}
			})
		}
	})
}

// A story is an org with its people and agents.
type story struct {
	t      *testing.T
	w      *daemontest.World
	org    *daemontest.Org
	people map[string]*person
	agents map[string]*agent
	keyed  bool // its agents' clients send keys of sessions
}

type person struct {
	coord.User
	token string // that agents use
	own   string // that no agent uses
}

// An agent is one session of a person, in one working copy.
type agent struct {
	*person
	name, repo, copy, branch, parent, tool string
	deaf                                   string // its host shows no context
	ignoreCase                             string // of the paths in its working copy
	session                                string // its id, once heard of
}

// key is what only the agent's host has.
func (a *agent) key() string { return "key of " + a.tool + " " + a.name }

func newStory(t *testing.T, w *daemontest.World, slug string) *story {
	return &story{t: t, w: w, org: w.Org(slug), people: map[string]*person{}, agents: map[string]*agent{}}
}

// play runs the commands of a script and returns it with the answers given.
func (s *story) play(script string) string {
	var out strings.Builder
	inAnswer := false
	for line := range strings.Lines(script) {
		text := strings.TrimSpace(line)
		switch {
		case text == "----":
			inAnswer = true
		case inAnswer && text != "":
		case inAnswer:
			inAnswer = false
		case text == "" || strings.HasPrefix(text, "#"):
			out.WriteString(line)
		default:
			out.WriteString(line)
			if answer := s.do(fields(text)); answer != "" {
				out.WriteString("----\n" + s.plain(answer) + "\n")
			}
		}
	}
	return emptyLines.ReplaceAllString(out.String(), "\n\n")
}

var emptyLines = regexp.MustCompile(`\n\n\n+`)

var (
	aTime = regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?( UTC|Z)`)
	aWait = regexp.MustCompile(`after \d+ ms`) // how long it took
	anID  = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	aPeer = regexp.MustCompile(`\n *⟦/?peer:[^⟧]*⟧(\n|$)|⟦/?peer:[^⟧]*⟧`) // on a line of its own, or within one
)

// plain replaces what differs from run to run.
func (s *story) plain(text string) string {
	text = aTime.ReplaceAllString(text, "<time>")
	text = anID.ReplaceAllString(text, "<id>")
	text = aWait.ReplaceAllString(text, "after <n> ms")
	text = strings.ReplaceAll(text, s.w.URL, "<url>")
	text = aPeer.ReplaceAllString(text, "$1")
	return strings.ReplaceAll(text, "@"+s.org.Slug+".", "@")
}

// fields splits a line into words; quoted parts and JSON objects may hold
// spaces.
func fields(line string) (out []string) {
	var word strings.Builder
	quoted, any, depth := false, false, 0
	for _, r := range line {
		switch {
		case r == '{' && !quoted && (depth > 0 || !any):
			depth++
		case r == '}' && depth > 0:
			depth--
		}
		switch {
		case depth > 0:
			word.WriteRune(r)
			any = true
		case r == '"':
			quoted, any = !quoted, true
		case r == ' ' && !quoted:
			if any {
				out = append(out, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(r)
			any = true
		}
	}
	if any {
		out = append(out, word.String())
	}
	return out
}

// split tells plain words from key=value ones.
func split(words []string) (args []string, kv map[string]string) {
	kv = map[string]string{}
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok && !strings.ContainsAny(k, "/ {.") {
			kv[k] = v
		} else {
			args = append(args, w)
		}
	}
	return args, kv
}

func (s *story) do(words []string) string {
	s.t.Helper()
	cmd, ok := commands[words[0]]
	if !ok {
		s.t.Fatalf("no command %q", words[0])
	}
	args, kv := split(words[1:])
	answer := strings.TrimRight(cmd(s, args, kv), "\n")
	if answer != "" {
		answer += "\n"
	}
	return answer
}

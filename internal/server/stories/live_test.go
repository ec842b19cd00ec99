package stories

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/svc-hq/svc/internal/await"
	_ "github.com/svc-hq/svc/internal/chance"
	"github.com/svc-hq/svc/internal/core/coord"
	"github.com/svc-hq/svc/internal/core/engine"
	"github.com/svc-hq/svc/internal/server/daemon/daemontest"
	"github.com/svc-hq/svc/internal/server/live"
	"github.com/svc-hq/svc/internal/server/store"
	"github.com/svc-hq/svc/internal/server/store/storetest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	asked := false
	flag.Visit(func(f *flag.Flag) { asked = asked || f.Name == "rapid.checks" })
	if !asked {
		flag.Set("rapid.checks", "12") // each is a story of many requests
	}
	os.Exit(m.Run())
}

// Whatever a team does, in whatever order: what the service keeps in memory is
// what its records say, on each replica, and its live conflicts are those that
// the engine finds.
func TestWhatIsLiveIsWhatTheRecordsSay(t *testing.T) {
	storetest.EachDSN(t, func(t *testing.T, dsn string) {
		w := daemontest.Start(t, dsn)
		replicas := []*daemontest.World{w}
		if strings.HasPrefix(dsn, "postgres") {
			replicas = append(replicas, w.Replica())
		}
		var n atomic.Int32
		rapid.Check(t, func(rt *rapid.T) {
			s := newStory(t, w, fmt.Sprintf("any%d", n.Add(1)))
			x := newChaos(s)
			late := live.New(w.Store) // hears of several commits at once, as a replica that nobody asks does
			snapshot(rt, late, w, s.org.ID)
			for range rapid.IntRange(8, 40).Draw(rt, "steps") {
				line := x.step(rt)
				rt.Log(line)
				s.w = replicas[rapid.IntRange(0, len(replicas)-1).Draw(rt, "replica")]
				answer := s.do(fields(line))
				s.w = w
				rt.Log(strings.ReplaceAll(answer, "\n", " | "))
				if rapid.IntRange(0, 4).Draw(rt, "look") == 0 {
					agree(rt, replicas[:1], s.org.ID)
				}
				if rapid.IntRange(0, 4).Draw(rt, "look late") == 0 {
					catchUp(rt, late, w, s.org.ID)
				}
			}
			agree(rt, replicas, s.org.ID)
			catchUp(rt, late, w, s.org.ID)
		})
	})
}

// agree compares what replicas know of an org with its records.
func agree(rt *rapid.T, replicas []*daemontest.World, org string) {
	w := replicas[0]
	fresh := live.New(w.Store)
	want := snapshot(rt, fresh, w, org)
	for i, r := range replicas {
		var diff string
		for deadline := time.Now().Add(await.Patience); time.Now().Before(deadline); {
			if diff = cmp.Diff(want, snapshot(rt, r.D.Live, w, org)); diff == "" {
				break // a commit on another replica is heard of in a moment
			}
			time.Sleep(time.Millisecond)
		}
		if diff != "" {
			rt.Fatalf("replica %d knows (- records, + memory):\n%s", i, diff)
		}
	}
	if diff := cmp.Diff(found(rt, fresh, w, org), stored(rt, w, org)); diff != "" {
		rt.Fatalf("live conflicts (- found, + stored):\n%s", diff)
	}
}

// catchUp makes an index hear of what happened and compares it with the records.
func catchUp(rt *rapid.T, late *live.Set, w *daemontest.World, org string) {
	late.Stale([]string{org})
	if diff := cmp.Diff(snapshot(rt, live.New(w.Store), w, org), snapshot(rt, late, w, org)); diff != "" {
		rt.Fatalf("whoever hears late knows (- records, + memory):\n%s", diff)
	}
}

// snapshot writes down everything that an index knows.
func snapshot(rt *rapid.T, set *live.Set, w *daemontest.World, org string) map[string]any {
	out := map[string]any{}
	eachRepo(rt, set, w, org, func(ix *engine.Index, repo coord.Repo) {
		rules, demoted := ix.Rules(repo.ID)
		out["rules "+repo.ID], out["demoted "+repo.ID], out["links "+repo.ID] = text(rules), text(demoted), text(ix.Links(repo.ID))
		for _, id := range ix.Workers(repo.ID) {
			v := *ix.Worker(id)
			v.Lineages = slices.Sorted(slices.Values(v.Lineages))
			v.Session, v.Tool = "", "" // of several sessions, any
			out["worker "+id] = text(v)
			out["changes "+id] = text(ix.Changes(id))
			for _, f := range engine.Detect(ix, id) {
				out["finding of "+id+" "+f.Fingerprint] = text([]any{
					f.Kind, f.Severity, f.Holder.ID, f.Challenger.ID, f.Keys, f.CrossRepo, f.Demoted, f.Place,
				})
			}
		}
	})
	return out
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func eachRepo(rt *rapid.T, set *live.Set, w *daemontest.World, org string, fn func(*engine.Index, coord.Repo)) {
	ctx := context.Background()
	var repos []coord.Repo
	if err := w.Store.Read(ctx, func(tx *store.Tx) (err error) {
		repos, err = tx.Repos(ctx, org)
		return err
	}); err != nil {
		rt.Fatal(err)
	}
	if err := set.View(ctx, org, func(ix *engine.Index) error {
		for _, r := range repos {
			fn(ix, r)
		}
		return nil
	}); err != nil {
		rt.Fatal(err)
	}
}

// found returns what the engine finds, each once.
func found(rt *rapid.T, set *live.Set, w *daemontest.World, org string) map[string]string {
	out := map[string]string{}
	eachRepo(rt, set, w, org, func(ix *engine.Index, repo coord.Repo) {
		for _, id := range ix.Workers(repo.ID) {
			for _, f := range engine.Detect(ix, id) {
				out[f.Fingerprint] = text([]any{f.Kind, f.Severity, f.Holder.ID, f.Challenger.ID, f.Keys})
			}
		}
	})
	return out
}

// stored returns the conflicts on record, without those that rest on an
// attempt alone.
func stored(rt *rapid.T, w *daemontest.World, org string) map[string]string {
	ctx := context.Background()
	out := map[string]string{}
	if err := w.Store.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Conflicts(ctx, org, store.ConflictFilter{Statuses: coord.LiveConflictStatuses()})
		for _, c := range rows {
			if c.AttemptedBy == "" {
				out[c.Fingerprint] = text([]any{c.Kind, c.Severity, c.Holder, c.Challenger, c.Keys})
			}
		}
		return err
	}); err != nil {
		rt.Fatal(err)
	}
	return out
}

// A chaos makes up what a team does next.
type chaos struct{ s *story }

func newChaos(s *story) *chaos {
	for _, line := range []string{
		"person root admin",
		"agent ana2 ana copy=w2 branch=two", "agent sub ana parent=ana copy=copy-ana branch=b-ana",
		"agent near bob copy=copy-bob branch=b-bob tool=codex",
		"agent web cy repo=acme/web", "join ana ana2 sub bob near cy web root",
	} {
		s.do(fields(line))
	}
	return &chaos{s}
}

func (x *chaos) step(rt *rapid.T) string {
	one := func(name string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name) }
	who := one("who", "ana", "ana2", "sub", "bob", "near", "cy", "web", "root")
	path := one("path", "a.go", "b.go", "dir/c.go", "dir/d.go")
	glob := one("glob", "a.go", "b.go", "dir/**", "*.go", "dir/c.go,a.go")
	intent := fmt.Sprint("INT-", rapid.IntRange(1, 4).Draw(rt, "intent"))
	conflict := fmt.Sprint("CF-", rapid.IntRange(1, 5).Draw(rt, "conflict"))
	switch one("what", "declare", "declare", "declare", "update", "update", "close", "handoff", "adopt", "post", "post", "post", "post",
		"pre", "pre", "hook", "hook",
		"policy", "act", "act", "override", "feedback", "advance", "project") {
	case "declare":
		line := fmt.Sprintf("declare %s paths=%s mode=%s", who, glob, one("mode", "shared", "shared", "exclusive", "observe"))
		return line + one("more", "", "", " branch=other", " depends="+intent, " ticket=T-1", " contracts=db:public.users")
	case "update":
		return fmt.Sprintf("update root %s %s=%s", intent, one("change", "add", "remove", "add", "remove"),
			glob) + one("more", "", "", " status=in_review", " depend=INT-1", " undepend=INT-1")
	case "close":
		return fmt.Sprintf("close root %s %s", intent, one("outcome", "merged", "abandoned"))
	case "handoff":
		return fmt.Sprintf("handoff root %s %s", intent, one("to", "ana", "bob", "cy"))
	case "adopt":
		return fmt.Sprintf("adopt %s %s", who, intent)
	case "post":
		return fmt.Sprintf("post %s %s base=b1 hunks=%s", who, path, one("hunks", "1+5:x", "4+4:y", "90+1:z")) +
			one("status", "", "", " status=unchanged", " status=deleted", " status=renamed old=a.go", " symbols=F:signature:breaking",
				" refs=sym:go:a.go#F",
				` contracts="http:GET /u/:id;provides;removed;breaking"`, ` contracts="http:GET /u/{x};uses;added;compatible"`)
	case "pre":
		return fmt.Sprintf("pre %s %s", who, path)
	case "hook":
		return one("event", "start", "prompt", "end", "stop", "plan") + " " + who + one("text", "", ` "work on dir/d.go"`)
	case "policy":
		return "policy root " + one("rules", `{}`, `{"severity":{"path_overlap":"block"}}`, `{"severity":{"edit_overlap":"off"}}`,
			`{"ignore_paths":["dir/**"]}`, `{"auto_draft":false}`,
			`{"cross_repo_contracts":"block"}`, `{"feedback_min_verdicts":1}`) + one("where", "", " repo=acme/api")
	case "act":
		return fmt.Sprintf("act root %s %s", conflict, one("action", "ack", "resolved", "false_positive", "will_rebase", "request_override"))
	case "override":
		return fmt.Sprintf(`override root %s "go on"`, conflict)
	case "feedback":
		return fmt.Sprintf("feedback %s %s %s", who, conflict, one("verdict", "useful", "false_positive"))
	case "advance":
		return "advance " + one("time", "5m", "5m", "13h", "80h")
	}
	return "project root " + one("name", "p1", "p2") + " acme/api,acme/web"
}
